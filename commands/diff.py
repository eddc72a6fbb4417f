"""`orgflowc diff`: the changes from one version to the other (`comparison.schema.json`)."""

from __future__ import annotations

import json
import sys

import click
from orgflow.commands.completion_values import FILE, complete_frontends
from orgflow.commands.output import print_json, print_text, write_stdout
from orgflow.commands.session import Session, end_command, text_width
from orgflow.compilation.input_sources import source_name
from orgflow.compilation.json_lists import read_together
from orgflow.compilation.reading import parse_source, select_frontend
from orgflow.compilation.usage_errors import InputError, UnknownName

from orgflow_ir.comparison.model_changes import compare_models
from orgflow_ir.diagnostics.core_rules import UnreadableInput
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend, Frontend
from orgflow_ir.reporting.json_reporter import diagnostics_data
from orgflow_ir.targets.comparison import Comparison, to_dict
from orgflow_ir.targets.comparison_text import comparison_text

SAME, DIFFERENT, NOT_COMPARED = 0, 1, 2


@click.command("diff", short_help="Show the changes between two versions.")
@click.argument("old", metavar="OLD", type=FILE)
@click.argument("new", metavar="NEW", type=FILE)
@click.option(
    "--from",
    "from_",
    metavar="FRONTEND",
    shell_complete=complete_frontends,
    help="Format of both inputs; required for `-`, otherwise derived from the suffix.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(("text", "json")),
    default="text",
    help="Format of the comparison on standard output. [default: text]",
)
def command(old: str, new: str, from_: str | None, format_: str) -> None:
    """Report the changes from OLD to NEW: first in behaviour, then in nodes and parameters.

    Each is a workflow file, a folder of such files, or a model. Positions, ids and the order of
    keys are ignored. If the two cannot be compared, --format json prints the diagnostics. Exit code
    0: no difference, 1: differences, 2: the two cannot be compared.
    """
    if old == new == "-":
        raise click.UsageError("only one of OLD and NEW can be standard input")
    if from_ is None and "-" in (old, new):
        raise click.UsageError("standard input needs its format: --from FRONTEND")
    session = Session(format_)
    ctx = session.context()
    sources = [_read_input(path, session, ctx) for path in (old, new)]
    comparison = None
    if sources[0] is not None and sources[1] is not None:
        try:
            comparison = diff_sources(sources[0], sources[1], session, ctx, from_)
        except UnknownName as error:
            raise click.UsageError(str(error)) from None
    session.collect(ctx)
    session.diagnostics = [d for d in session.diagnostics if d.severity.value == "error"]
    if comparison is None:
        if format_ == "json":
            write_stdout(session.rendered())
        else:
            session.show()
        end_command(NOT_COMPARED)
    if format_ == "json":
        document = {**to_dict(comparison), **diagnostics_data(session.diagnostics)}
        print_json(json.dumps(document, ensure_ascii=False, indent=1) + "\n")
    else:
        session.show()
        print_text(comparison_text(comparison, text_width(sys.stdout)))
    end_command(DIFFERENT if comparison.differs else SAME)


def _read_input(path: str, session: Session, ctx: PassContext) -> SourceFile | None:
    session.inputs.append(source_name(path))
    try:
        source = read_together([path])
    except InputError as error:
        ctx.emit(UnreadableInput, str(error), help=error.help)
        return None
    session.sources[source.path] = source
    return source


def diff_sources(
    old: SourceFile, new: SourceFile, session: Session, ctx: PassContext, from_: str | None
) -> Comparison | None:
    """Two workflows of one target are compared by that target, everything else as models; `None`
    after an error. Raises `compiler.UnknownName` for a frontend that does not exist."""
    registry = session.registry
    try:
        read = [select_frontend(source, registry, ctx, from_) for source in (old, new)]
    except InputError as error:
        ctx.emit(UnreadableInput, str(error), help=error.help)
        return None
    if read[0] is None or read[1] is None:
        return None
    targets = [_find_target(frontend, registry.backends) for frontend, _ in filter(None, read)]
    if targets[0] is not None and targets[0] is targets[1]:
        return targets[0].diff(old, new, ctx)

    # With the diagram: that only a drawing differs is reported.
    models = [parse_source(*selected, ctx, diagram=True) for selected in filter(None, read)]
    if models[0] is None or models[1] is None:
        return None
    session.models += [model for model in models if model is not None]
    names = (old.path, new.path)
    if targets == [None, None]:
        return compare_models(models[0], models[1], names=names)
    workflow = old.path if targets[0] is not None else new.path
    note = (
        f"{workflow} is a workflow: the model that is read from it is compared, and only the "
        "steps of its structure; `orgflowc verify` compares a workflow exactly"
    )
    return compare_models(
        models[0], models[1], names=names, kind="model and workflow", notes=(note,)
    )


def _find_target(frontend: Frontend | None, backends: dict[str, Backend]) -> Backend | None:
    """The backend of the language that a frontend reads, where it compares by itself."""
    backend = None if frontend is None else backends.get(frontend.name)
    if backend is None or type(backend).diff is Backend.diff:
        return None
    return backend
