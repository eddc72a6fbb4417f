"""`orgflowc cancel`: end a process instance."""

from __future__ import annotations

import click
from orgflow.commands.instances import place_text
from orgflow.commands.open_work import (
    OpenWorkOptions,
    connect_open_work,
    open_work_options,
    print_document,
    write_note,
)
from orgflow.commands.options import parsed_into
from orgflow.commands.output import print_text
from orgflow.commands.session import end_command

_NONE_OPEN = 1


class CancelOptions(OpenWorkOptions):
    """The options of `cancel`."""

    instance: str


@click.command("cancel", short_help="End a process instance.")
@click.argument("instance", metavar="INSTANCE")
@open_work_options
@parsed_into(CancelOptions)
def command(options: CancelOptions) -> None:
    """End the process instance INSTANCE, named by its id (`orgflowc instances`) or the caller's own
    id, and print what was open. Steps at work take no effect any more; what they did outside stays.
    Exit code 1: no such instance is open; 3: the server failed.
    """
    code = 0
    with connect_open_work(options) as work:
        try:
            cancelled = work.cancel(options.instance)
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        if options.as_json:
            print_document("cancelled", [cancelled] if cancelled is not None else [])
        elif cancelled is not None:
            places = "".join(f"  {place_text(place)}\n" for place in cancelled.places)
            print_text(f"cancelled  {cancelled.id}  {cancelled.process}\n{places}")
        if cancelled is None:
            write_note(f"no instance {options.instance!r} is open")
            code = _NONE_OPEN
    end_command(code)
