"""`orgflowc fill`: open tasks of a model, answered by agents and checked by passes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from orgflow.backends import DEFAULT_TARGET
from orgflow.commands.compile import with_filled_work, write_compiled
from orgflow.commands.completion_values import FILE, targets
from orgflow.commands.filling import Loaded, fill_models, has_failed
from orgflow.commands.inputs import models_in, without_output
from orgflow.commands.language_model import feedback_option
from orgflow.commands.options import (
    model_flags,
    model_options,
    process_option,
    resolve_target,
    source_options,
)
from orgflow.commands.output import is_folder, keep_input, same_file, write_files
from orgflow.commands.server import SERVER_FAILED
from orgflow.commands.session import Session, exit_code, leave, list_folders_once
from orgflow.compiler import compile_model, with_called

from orgflow_ir.decisions.library import SUFFIXES
from orgflow_ir.diagnostics.core_rules import UnreadableInput
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.targets.artifact import Emitted


@click.command("fill", short_help="Fill open tasks with operations of the target.")
@click.argument("inputs", metavar="MODEL...", nargs=-1, required=True, type=FILE)
@click.option(
    "--target", default=DEFAULT_TARGET, metavar="T", shell_complete=targets,
    help=f"Whose operations.  [default: {DEFAULT_TARGET}]",
)  # fmt: skip
@click.option(
    "--to", "format_to", default="bpmn", metavar="T", shell_complete=targets,
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
def command(
    inputs: tuple[str, ...],
    target: str,
    format_to: str,
    output: str | None,
    catalogue: str,
    no_model: bool,
    accept: bool,
    agents: tuple[str, ...],
    feedback: str | None,
    process: str | None,
    from_: str | None,
    format_: str,
    verbose: bool,
    **more: Any,
) -> None:
    """Fill the open tasks of MODEL (a file, or - with --from), and write the filled model; of a
    folder, all models in it.

    A language model selects an operation for each open task, maps variables and sets parameters; it
    also answers conditions, times and lists. Passes check every answer. Unknown values stay
    visible. Without a language model, operations are only proposed. With -o DIR/, models keep their
    names and their places in the folder, and files of decisions are copied. Exit code 3: the
    language model failed.
    """
    keep_input(output, *inputs, *([feedback] if feedback else []))
    session = Session(format_, verbose=verbose)
    backend, _ = resolve_target(target, session.registry)
    writer, options = resolve_target(format_to, session.registry, inputs)
    paths, empty = models_in(inputs, session)
    paths = without_output(paths, inputs, output)
    several = len(paths) != 1
    if several:
        list_folders_once()
        for option, value in (("--process", process), ("--feedback", feedback)):
            if value is not None:
                raise click.UsageError(
                    f"{option} is for one model, and there are {len(paths)}; name its file"
                )
        if paths and not is_folder(output or "", ()):
            raise click.UsageError(f"there are {len(paths)} models; name a folder: -o DIR/")
    ctx = session.context()
    for folder in empty:
        ctx.emit(UnreadableInput, f"there is no model in {folder}", help="name a file in it")
    session.collect(ctx)
    read = []
    for path in paths:
        ctx = session.context()
        ctx.given = paths if several else ()
        model = session.load(path, ctx, from_, diagram=writer.target.wants_diagram, process=process)
        if model is None:
            session.collect(ctx)
        else:
            read.append(Loaded(path, model, ctx))
    executes = writer.target.executes
    decisions = [
        one for one in read if several and not executes and one.path.lower().endswith(SUFFIXES)
    ]
    filled = fill_models(
        [one for one in read if one not in decisions], backend, session, flags=model_flags(more),
        where=catalogue, accept=accept, no_model=no_model, feedback=feedback, more=agents,
        report_open=True, called=executes,
    )  # fmt: skip
    failed = any(has_failed(one.ctx) for one in filled)
    made = []
    for path, model, ctx in filled:
        model = with_called(model, writer, ctx)
        emitted = compile_model(model, writer, ctx, options=options)
        session.collect(ctx)
        if emitted is not None:
            made.append((path, model, emitted))
    try:
        if made and several and not executes:
            _write_tree(inputs, output or "", made, decisions, session)
        elif made:
            ctx = session.context()
            ctx.options = {**writer.target.default_options, **options}
            linked = [(model, emitted) for _, model, emitted in made]
            together = writer.link(linked, ctx) if several else [linked[0][1]]
            session.collect(ctx)
            kept = with_filled_work(together, output, writer, session)
            if kept is not None:
                artifacts = [one for some in kept for one in some.artifacts]
                beside = [one for some in kept for one in some.beside]
                write_compiled(paths, output, artifacts, beside)
    finally:
        session.show()
    leave(SERVER_FAILED if failed else exit_code(session.diagnostics))


def _write_tree(
    inputs: Sequence[str],
    output: str,
    made: Sequence[tuple[str, Model, Emitted]],
    decisions: Sequence[Loaded],
    session: Session,
) -> None:
    """Write each model to the place in the output folder that it has below the inputs, and next to
    it the decisions that it refers to. Raises `OutputError` and `click.UsageError`."""
    folders = [one if os.path.isdir(one) else os.path.dirname(one) for one in inputs]
    root = os.path.commonpath([os.path.abspath(folder) for folder in folders])

    def below(path: str) -> str:
        return os.path.relpath(os.path.dirname(os.path.abspath(path)), root)

    files: dict[Path, str | bytes] = {}
    origins: dict[Path, str] = {}
    wanted: list[tuple[str, Path, str | bytes]] = []
    for path, _, emitted in made:
        wanted += [(path, Path(below(path), one.path), one.text) for one in emitted.artifacts]
    for one in decisions:
        source = session.sources[one.model.source]
        if isinstance(source, SourceFile):
            wanted.append((one.path, Path(below(one.path), Path(one.path).name), source.data))
    for path, place, text in wanted:
        place = Path(output, place)
        if place in files:
            raise click.UsageError(
                f"{origins[place]} and {path} would both become {place}; fill one of them alone"
            )
        if any(same_file(place, one) for one in (path, *origins.values())):
            raise click.UsageError(f"-o {output} would overwrite the input")
        files[place], origins[place] = text, path
    write_files(list(files.items()))
