"""`orgflowc fmt`: write files in the canonical form of their notation."""

from __future__ import annotations

from pathlib import Path

import click
from orgflow.commands.completion_values import FILE
from orgflow.commands.options import SourceOptions, parsed_into, source_options
from orgflow.commands.output import write_files, write_stdout
from orgflow.commands.session import Session, end_command, exit_code
from orgflow.compilation.input_sources import open_source, read_in_memory
from orgflow.compilation.reading import select_frontend
from orgflow.compilation.usage_errors import InputError, UnknownName

from orgflow_ir.diagnostics.core_rules import UnreadableInput
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext

STANDARD_INPUT = "-"


class FormatOptions(SourceOptions):
    """The options of `fmt`."""

    files: tuple[str, ...]
    check: bool


@click.command("fmt", short_help="Write files in the canonical form of their notation.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@click.option(
    "--check", is_flag=True, help="Write nothing; exit with 1 if a file is not in canonical form."
)
@source_options
@parsed_into(FormatOptions)
def command(options: FormatOptions) -> None:
    """Write each FILE in the canonical form of its notation, for notations that have one
    (outlines). A file with errors stays as it is. `-` is standard input; its canonical form goes to
    standard output.
    """
    session = Session.with_options(options)
    changed: list[tuple[str, str]] = []
    for path in options.files:
        ctx = session.context()
        texts = _format_file(path, options.from_, session, ctx)
        session.collect(ctx)
        printed = path == STANDARD_INPUT and not options.check
        if texts is not None and (texts[0] != texts[1] or printed):
            changed.append((path, texts[1]))
    try:
        _write_changed(changed, session, check=options.check)
    finally:
        session.show()
    differs = options.check and bool(changed)
    end_command(max(exit_code(session.diagnostics), int(differs)))


def _write_changed(changed: list[tuple[str, str]], session: Session, *, check: bool) -> None:
    """Write the files that are not in canonical form, or name them."""
    for path, text in changed:
        if check:
            session.note(f"{path} is not in canonical form")
        elif path == STANDARD_INPUT:
            write_stdout(text)
    if not check:
        files = [(path, text) for path, text in changed if path != STANDARD_INPUT]
        write_files([(Path(path), text) for path, text in files])
        for path, _ in files:
            session.note(f"wrote {path}")


def _format_file(
    path: str, from_: str | None, session: Session, ctx: PassContext
) -> tuple[str, str] | None:
    """The text of a file and its canonical form; `None` after an error. Raises
    `click.UsageError`."""
    try:
        with open_source(path) as opened:
            selected = select_frontend(opened, session.registry, ctx, from_)
            if selected is None:
                return None
            frontend, source = selected
            if not frontend.formats:
                raise click.UsageError(f"the format `{frontend.name}` has no canonical form")
            file = source if isinstance(source, SourceFile) else read_in_memory(source)
    except InputError as error:
        ctx.emit(UnreadableInput, str(error), help=error.help)
        return None
    except UnknownName as error:
        raise click.UsageError(str(error)) from None
    session.sources[file.path] = file
    text = frontend.format_source(file, ctx)
    if text is None:
        return None
    return file.data.decode("utf-8", "replace"), text
