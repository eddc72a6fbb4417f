"""What `tasks`, `instances`, `heal` and `cancel` share: the server, the options, and the output."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import click
from orgflow.backends import DEFAULT_TARGET
from orgflow.commands.options import Options, resolve_target, target_option
from orgflow.commands.output import print_json, print_text
from orgflow.commands.server import (
    SERVER_FAILED,
    environment_variable,
    open_connection,
    server_address,
    server_options,
)
from orgflow.commands.session import Session, end_command

from orgflow_ir.model.printable import escape_controls
from orgflow_ir.plugins.engines import RemoteError, ServerAccess
from orgflow_ir.plugins.guards import call_guarded
from orgflow_ir.plugins.open_work import OpenWork, OpenWorkReader

F = TypeVar("F", bound=Callable[..., Any])

_LONGEST_CELL = 90


class OpenWorkOptions(Options):
    """The options of `open_work_options`."""

    engine: str | None
    target: str
    key_file: str | None
    wait: float
    as_json: bool


def open_work_options(function: F) -> F:
    """`--engine`, `--target`, `--json` and the options of a server."""
    function = server_options(function)
    function = click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)
    function = target_option(function)
    return click.option(
        "--engine",
        metavar="URL",
        help=f"Address of {DEFAULT_TARGET}'s editor.  "
        f"[default: {environment_variable(DEFAULT_TARGET, 'URL')}]",
    )(function)


@contextlib.contextmanager
def connect_open_work(options: OpenWorkOptions) -> Iterator[OpenWork]:
    """The open work of the server that the options name. Errors of the server are shown, and end
    the command with 3.

    Raises: click.UsageError: the target has no open work, or no server is named.
    """
    session = Session()
    backend, _ = resolve_target(options.target, session.registry)
    reader: OpenWorkReader | None = call_guarded(backend, "open_work", OpenWorkReader)
    if reader is None:
        raise click.UsageError(f"target `{backend.name}` has no open work on a server")
    address = server_address(options.engine, backend, "--engine")
    ctx = session.context()
    failed = False
    with open_connection(
        reader.connect(ServerAccess(address, options.key_file, options.wait), ctx)
    ) as work:
        if work is not None:
            try:
                yield work
            except RemoteError as error:
                error.report(ctx)
                failed = True
    if ctx.diagnostics:
        session.collect(ctx)
        session.show()
    if work is None or failed:
        end_command(SERVER_FAILED)


def print_rows(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table of texts with two spaces between columns."""
    if not rows:
        return
    cells = [[_shorten_cell(cell) for cell in row] for row in (heads, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(heads))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]
    print_text("".join(f"{line}\n" for line in lines))


def print_document(name: str, rows: Sequence[Any]) -> None:
    """One JSON document with a list of records."""
    document = {"version": 1, name: [plain_record(row) for row in rows]}
    print_json(json.dumps(document, ensure_ascii=False, indent=2) + "\n")


def plain_record(value: Any) -> Any:
    """A record as JSON: an object by the names of its fields."""
    if hasattr(value, "_asdict"):
        return {name: plain_record(part) for name, part in value._asdict().items()}
    if isinstance(value, tuple):
        return [plain_record(part) for part in value]
    return value


def write_note(line: str) -> None:
    """A line for people on standard error."""
    click.echo(escape_controls(line), err=True)


def shown_moment(moment: str) -> str:
    """A moment for people: to the minute, in UTC."""
    return moment[:16].replace("T", " ") if moment else ""


def _shorten_cell(cell: str) -> str:
    one_line = " ".join(cell.split())
    # Links stay whole: they are copied.
    if "://" in one_line or len(one_line) <= _LONGEST_CELL:
        return one_line
    return f"{one_line[: _LONGEST_CELL - 1]}…"
