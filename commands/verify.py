"""`orgflowc verify`: does a workflow do what a model says?"""

from __future__ import annotations

import json
import os
import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from orgflow import compiler
from orgflow.commands.completion_values import FILE
from orgflow.commands.options import process_option, resolve_target, source_options, target_option
from orgflow.commands.output import write_stdout
from orgflow.commands.session import Session, exit_code, leave, list_folders_once

from orgflow_ir.diagnostics.core_rules import UnreadableInput
from orgflow_ir.model.source import SourceFile, SourceKind
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.guards import given

if TYPE_CHECKING:
    from orgflow_ir.diagnostics import Diagnostic
    from orgflow_ir.model import Model
    from orgflow_ir.plugins.contracts import Backend
    from orgflow_ir.targets.artifact import Emitted
    from orgflow_ir.targets.verification import Difference, Verification

WIDTH = 80
_REPORTED = ("OF480", "OF481", "OF482", "OF483", "OF484")
_NOT_COMPARED = "OF487"
_LEFT = 38
_HOW = {
    "map": "by the map",
    "notes": "by their notes",
    "id": "by their ids",
    "name": "by their names",
    "graph": "by their neighbours",
    "copy": "as copies",
}


@click.command("verify", short_help="Prove that a workflow behaves like its model.")
@click.argument("model_", metavar="MODEL", type=FILE)
@click.argument("workflows", metavar="WORKFLOW...", nargs=-1, required=True, type=FILE)
@target_option
@click.option(
    "--strict",
    is_flag=True,
    help="Count added steps, changed expressions and paused work as differences.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the result as JSON, with the findings.",
)
@process_option
@source_options
def command(
    model_: str,
    workflows: tuple[str, ...],
    target: str,
    strict: bool,
    as_json: bool,
    process: str | None,
    from_: str | None,
    format_: str,
    verbose: bool,
) -> None:
    """Verify that the workflow in WORKFLOW, as compiled or after edits, behaves like the model in
    MODEL; of a folder, like all models in it. If a model was compiled to several workflows, pass
    all their files or their folder.

    Every state that the target's engine can reach is compared with the states of the model, so
    loops are proved and not sampled. Verdicts: proved, bounded (with the bound), different (with
    both runs in parallel), changed expression (reported, not judged). Exit code 1: different.
    """
    if [model_, *workflows].count("-") > 1:
        raise click.UsageError("only one of MODEL and the WORKFLOWs can be standard input")
    session = Session(format_, verbose=verbose)
    backend, options = resolve_target(target, session.registry, [model_])
    paths = _models_in(model_, session)
    if len(paths) > 1 and process is not None:
        raise click.UsageError(
            f"--process is for one model, and there are {len(paths)}; name the file with the model "
            "of the process"
        )
    if len(paths) > 1:
        list_folders_once()
    found: list[PassContext] = []
    models: list[tuple[Model, PassContext]] = []
    for path in paths:
        ctx = session.context()
        ctx.given = paths
        found.append(ctx)
        model = session.load(path, ctx, from_, process=process)
        if model is not None:
            model = compiler.with_called(model, backend, ctx)
        if model is not None and not ctx.has_errors:
            ctx.options = {**ctx.options, **options}
            models.append((model, ctx))
    results: list[Verification] = []
    source = _together(workflows, models[0][1], session) if models else None
    if source is not None:
        for (model, ctx), made in zip(models, _compiled(models, backend), strict=True):
            some = given(backend, "verify", tuple, model, source, ctx, strict=strict, emitted=made)
            if some is None:
                raise click.UsageError(f"target `{backend.name}` does not support verification")
            results += some
    _without_those_of_others(found)
    for ctx in found:
        session.collect(ctx)
    code = exit_code(session.diagnostics)
    if as_json or format_ == "json":
        write_stdout(as_json_text(results, session.diagnostics))
    elif results:
        write_stdout(as_text(results, backend.name))
    if format_ == "json":
        leave(code)
    if results and session.format == "text":  # the report says it already
        session.diagnostics = [d for d in session.diagnostics if d.code not in _REPORTED]
    session.show()
    leave(code)


def _models_in(model: str, session: Session) -> list[str]:
    """The models that are meant: a folder is that of all models in it, unless a frontend reads it
    as a whole."""
    if model == "-" or not os.path.isdir(model):
        return [model]
    frontends = session.registry.frontends.values()
    if any(SourceKind.FOLDER in frontend.accepts for frontend in frontends):
        return [model]
    from orgflow.commands.inputs import expand

    paths, empty = expand((model,), session)
    if empty:
        ctx = session.context()
        ctx.emit(UnreadableInput, f"there is no model in {model}", help="name a file in it")
        session.collect(ctx)
    return paths


def _together(workflows: Sequence[str], ctx: PassContext, session: Session) -> SourceFile | None:
    """The workflows of all files; `None` after an error."""
    try:
        source = compiler.read_together(workflows)
    except compiler.InputError as error:
        ctx.emit(UnreadableInput, str(error), help=error.help)
        return None
    session.inputs.append(source.path)
    return source


def _compiled(
    models: Sequence[tuple[Model, PassContext]], backend: Backend
) -> Sequence[Emitted | None]:
    """What several models become when they are compiled together; nothing of a model that is
    compared by itself, and where one of them cannot be compiled."""
    alone: list[Emitted | None] = [None] * len(models)
    if len(models) < 2:
        return alone
    made = []
    for model, ctx in models:
        emitted = compiler.emit_anyway(model, backend, ctx)
        if emitted is None:
            return alone
        made.append((model, emitted))
    first = models[0][1]
    quiet = PassContext(registry=first.registry, target=backend.target)
    quiet.options = {**backend.target.default_options, **first.options}
    return backend.link(made, quiet)


def _without_those_of_others(found: Sequence[PassContext]) -> None:
    """Of several models, report a workflow as not compared only if it was compared with none."""
    if len(found) < 2:
        return
    of_none = [{d.message for d in ctx.diagnostics if d.code == _NOT_COMPARED} for ctx in found]
    kept = set.intersection(*of_none)
    for number, ctx in enumerate(found):
        ctx.diagnostics[:] = [
            d
            for d in ctx.diagnostics
            if d.code != _NOT_COMPARED or (number == 0 and d.message in kept)
        ]


def as_text(results: Sequence[Verification], target: str) -> str:
    """The report for people: one block per process, 80 columns."""
    blocks = ["\n".join(_block(result, target)) for result in results]
    return "\n\n".join(blocks) + "\n"


def _block(result: Verification, target: str) -> list[str]:
    what = f"the workflow `{result.workflow}` behaves like the process `{result.label}`"
    looked = f"all {result.states} states were compared"
    said = {
        "proved": f"{what}; {looked}",
        "changed expression": f"{what} if its changed expressions decide like those of the model; "
        f"{looked}",
        "bounded": f"no difference between the workflow `{result.workflow}` and the process "
        f"`{result.label}` was found, but not everything was compared: {result.bound}",
        "different": f"the workflow `{result.workflow}` does not behave like the process "
        f"`{result.label}`"
        if result.workflow
        else f"no workflow implements the process `{result.label}`",
    }[result.verdict.value]
    lines = _wrapped(f"{result.verdict.value}: {said}", "")
    if result.difference is not None:
        lines += _wrapped(result.difference.message, "  ")
        lines += side_by_side(result.difference)
    lines += _matching(result)
    for change in result.changed:
        lines += _wrapped(f"changed: `{change.node}`", "  ")
        lines += _wrapped(f"was {change.was}", "    ") + _wrapped(f"is  {change.now}", "    ")
    if result.added:
        lines += _wrapped("added: " + ", ".join(f"`{n}`" for n in result.added), "  ")
    if result.missing:
        lines += _wrapped("not there: " + ", ".join(f"`{n}`" for n in result.missing), "  ")
    for delay in result.delayed:
        lines += _wrapped(f"{target} takes turns: {delay}", "  ")
    for taken in result.assumed:
        lines += _wrapped(f"assumed: {taken}", "  ")
    return lines


def side_by_side(difference: Difference) -> list[str]:
    """Both runs up to the difference, with the diverging line marked."""
    if not difference.lines:
        return []
    rows = ["", f"  {'model':<{_LEFT}}workflow"]
    last = len(difference.lines) - 1
    for number, line in enumerate(difference.lines):
        left = textwrap.wrap(line.model, _LEFT - 2) or [""]
        right = textwrap.wrap(line.workflow, WIDTH - _LEFT - 3) or [""]
        for at in range(max(len(left), len(right))):
            mark = ">" if number == last and at == 0 else " "
            model = left[at] if at < len(left) else ""
            workflow = right[at] if at < len(right) else ""
            rows.append(f"{mark} {model:<{_LEFT}}{workflow}".rstrip())
    return [*rows, ""]


def _matching(result: Verification) -> list[str]:
    count = Counter(m.how for m in result.matched)
    parts = [f"{n} {_HOW[how]}" for how, n in sorted(count.items(), key=lambda e: -e[1])]
    if not parts:
        return []
    nodes = "node" if len(result.matched) == 1 else "nodes"
    lines = _wrapped(f"{len(result.matched)} {nodes} found: {', '.join(parts)}", "  ")
    unsure = [m for m in result.matched if m.how in ("graph", "copy")]
    for match in unsure:
        lines += _wrapped(f"`{match.node}` stands for {match.element} {_HOW[match.how]}", "    ")
    return lines


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def as_json_text(results: Sequence[Verification], diagnostics: Sequence[Diagnostic] = ()) -> str:
    """The results and all findings as JSON, by `orgflow_ir/schema/verification.schema.json`."""
    from orgflow_ir.reporting.json_reporter import diagnostics_data
    from orgflow_ir.targets.verification import VERIFICATION_VERSION

    said = {
        "format": "orgflow-verification",
        "version": VERIFICATION_VERSION,
        "ok": bool(results) and all(r.ok for r in results),
        "results": [_plain(r) for r in results],
        **diagnostics_data(diagnostics),
    }
    return json.dumps(said, indent=2, ensure_ascii=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {key: _plain(entry) for key, entry in value._asdict().items()}
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    return value
