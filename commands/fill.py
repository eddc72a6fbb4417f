"""`orgflowc fill`: open tasks of a model, answered by agents and checked by passes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click
from orgflow.backends import DEFAULT_TARGET
from orgflow.commands.completion_values import FILE, complete_targets
from orgflow.commands.filled_work import keep_filled_work
from orgflow.commands.filling import FillRequest, Loaded, fill_models, has_failed
from orgflow.commands.inputs import models_in, without_output
from orgflow.commands.language_model import feedback_option
from orgflow.commands.options import (
    ModelOptions,
    ProcessOptions,
    SourceOptions,
    model_options,
    model_settings,
    parsed_into,
    process_option,
    resolve_target,
    source_options,
)
from orgflow.commands.output import is_folder, keep_input, same_file, write_compiled, write_files
from orgflow.commands.server import SERVER_FAILED
from orgflow.commands.session import Session, end_command, exit_code, list_folders_once
from orgflow.compiler import COMPILE, CompileRequest, run_stages, take_called_processes

from orgflow_ir.decisions.library import SUFFIXES
from orgflow_ir.diagnostics.core_rules import UnreadableInput
from orgflow_ir.model import Model
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.source import SourceFile
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.targets.artifact import Emitted


class FillOptions(ModelOptions, ProcessOptions, SourceOptions):
    """The options of `fill`."""

    inputs: tuple[str, ...]
    target: str
    format_to: str
    output: str | None
    catalogue: str
    no_model: bool
    accept: bool
    agents: tuple[str, ...]
    feedback: str | None


@click.command("fill", short_help="Fill open tasks with operations of the target.")
@click.argument("inputs", metavar="MODEL...", nargs=-1, required=True, type=FILE)
@click.option(
    "--target", default=DEFAULT_TARGET, metavar="T", shell_complete=complete_targets,
    help=f"Whose operations.  [default: {DEFAULT_TARGET}]",
)  # fmt: skip
@click.option(
    "--to", "format_to", default="bpmn", metavar="T", shell_complete=complete_targets,
    help="Format of the filled model. [default: bpmn]",
)  # fmt: skip
@click.option(
    "-o", "output", metavar="FILE|DIR",
    help="Write to this file, or the models to this folder (DIR/), instead of stdout.",
)  # fmt: skip
@click.option(
    "--catalogue", metavar="DIR|URL", default="",
    help="The folder in which the target is installed, or the address of a server. [default: the "
         "installation of `engine install`]",
)  # fmt: skip
@click.option("--no-model", is_flag=True, help="Fill by rules only.")
@click.option("--accept", is_flag=True, help="Use operations that only match the words of a task.")
@click.option(
    "--agent", "agents", metavar="NAME", multiple=True,
    help="Ask this agent first; repeatable.",
)  # fmt: skip
@feedback_option
@model_options
@process_option
@source_options
@parsed_into(FillOptions)
def command(options: FillOptions) -> None:
    """Fill the open tasks of MODEL (a file, or - with --from), and write the filled model; of a
    folder, all models in it.

    A language model selects an operation for each open task, maps variables and sets parameters; it
    also answers conditions, times and lists. Passes check every answer. Unknown values stay
    visible. Without a language model, operations are only proposed. With -o DIR/, models keep their
    names and their places in the folder, and files of decisions are copied. Exit code 3: the
    language model failed.
    """
    keep_input(options.output, *options.inputs, *([options.feedback] if options.feedback else []))
    session = Session.with_options(options)
    backend, _ = resolve_target(options.target, session.registry)
    writer = _Writer(*resolve_target(options.format_to, session.registry, options.inputs))
    paths = _find_models(options, session)
    several = len(paths) != 1
    models = _read_models(options, paths, session, writer)
    executes = writer.backend.target.executes
    decisions = [
        m for m in models if several and not executes and m.path.lower().endswith(SUFFIXES)
    ]
    request = FillRequest(
        backend, model_settings(options), where=options.catalogue, accept=options.accept,
        no_model=options.no_model, feedback=options.feedback, more=options.agents,
        report_open=True, called=executes,
    )  # fmt: skip
    filled = fill_models([m for m in models if m not in decisions], request, session)
    failed = any(has_failed(m.ctx) for m in filled)
    compiled = _compile_models(filled, session, writer)
    try:
        if compiled and several and not executes:
            _write_tree(options.inputs, options.output or "", compiled, decisions, session)
        elif compiled:
            _write_linked(options, paths, compiled, session, writer)
    finally:
        session.show()
    end_command(SERVER_FAILED if failed else exit_code(session.diagnostics))


class _Writer(NamedTuple):
    """The target that filled models are compiled for, and its options."""

    backend: Backend
    options: dict[str, str]


class _Compiled(NamedTuple):
    """The file of a filled model, and what it was compiled to."""

    path: str
    model: Model
    emitted: Emitted


def _find_models(options: FillOptions, session: Session) -> list[str]:
    """The files with models; empty folders are reported. Raises `click.UsageError` for options that
    do not apply to several models."""
    paths, empty = models_in(options.inputs, session)
    paths = without_output(paths, options.inputs, options.output)
    if len(paths) != 1:
        list_folders_once()
        for option, value in (("--process", options.process), ("--feedback", options.feedback)):
            if value is not None:
                raise click.UsageError(
                    f"{option} is for one model, and there are {len(paths)}; name its file"
                )
        if paths and not is_folder(options.output or "", ()):
            raise click.UsageError(f"there are {len(paths)} models; name a folder: -o DIR/")
    ctx = session.context()
    for folder in empty:
        ctx.emit(UnreadableInput, f"there is no model in {folder}", help="name a file in it")
    session.collect(ctx)
    return paths


def _read_models(
    options: FillOptions, paths: Sequence[str], session: Session, writer: _Writer
) -> list[Loaded]:
    """The models without errors."""
    models = []
    for path in paths:
        ctx = session.context()
        ctx.given = paths if len(paths) != 1 else ()
        model = session.load(
            path, ctx, options.from_, diagram=writer.backend.target.wants_diagram,
            process=options.process,
        )  # fmt: skip
        if model is None:
            session.collect(ctx)
        else:
            models.append(Loaded(path, model, ctx))
    return models


def _compile_models(filled: Sequence[Loaded], session: Session, writer: _Writer) -> list[_Compiled]:
    """The filled models without errors, compiled."""
    compiled = []
    for path, model, ctx in filled:
        request = CompileRequest(model, writer.backend, writer.options)
        outcome = run_stages((take_called_processes, *COMPILE), request, ctx)
        session.collect(ctx)
        if outcome.emitted is not None:
            compiled.append(_Compiled(path, outcome.model, outcome.emitted))
    return compiled


def _write_linked(
    options: FillOptions,
    paths: Sequence[str],
    compiled: Sequence[_Compiled],
    session: Session,
    writer: _Writer,
) -> None:
    """Write one model, or several that are linked with each other, and keep the work that people
    implemented in the files that they replace."""
    ctx = session.context()
    ctx.options = {**writer.backend.target.default_options, **writer.options}
    models = [(item.model, item.emitted) for item in compiled]
    several = len(paths) != 1
    together = writer.backend.link(models, ctx) if several else [models[0][1]]
    session.collect(ctx)
    kept = keep_filled_work(together, options.output, writer.backend, session)
    if kept is not None:
        artifacts = [artifact for files in kept for artifact in files.artifacts]
        beside = [artifact for files in kept for artifact in files.beside]
        write_compiled(paths, options.output, artifacts, beside)


def _write_tree(
    inputs: Sequence[str],
    output: str,
    compiled: Sequence[_Compiled],
    decisions: Sequence[Loaded],
    session: Session,
) -> None:
    """Write each model to the place in the output folder that it has below the inputs, and next to
    it the decisions that it refers to. Raises `OutputError` and `click.UsageError`."""
    folders = [path if os.path.isdir(path) else os.path.dirname(path) for path in inputs]
    root = os.path.commonpath([os.path.abspath(folder) for folder in folders])

    def below(path: str) -> str:
        return os.path.relpath(os.path.dirname(os.path.abspath(path)), root)

    files: dict[Path, str | bytes] = {}
    origins: dict[Path, str] = {}
    wanted: list[tuple[str, Path, str | bytes]] = []
    for path, _, emitted in compiled:
        wanted += [(path, Path(below(path), a.path), a.text) for a in emitted.artifacts]
    for file in decisions:
        source = session.sources[file.model.source]
        if isinstance(source, SourceFile):
            wanted.append((file.path, Path(below(file.path), Path(file.path).name), source.data))
    for path, place, text in wanted:
        place = Path(output, place)
        if place in files:
            raise click.UsageError(
                f"{origins[place]} and {path} would both become {place}; fill one of them alone"
            )
        if any(same_file(place, origin) for origin in (path, *origins.values())):
            raise click.UsageError(f"-o {output} would overwrite the input")
        files[place], origins[place] = text, path
    write_files(list(files.items()))
