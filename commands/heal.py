"""`orgflowc heal`: let interrupted work go on, and report work that does not."""

from __future__ import annotations

import click
from orgflow.commands.open_work import (
    OpenWorkOptions,
    connect_open_work,
    open_work_options,
    print_document,
    print_rows,
    write_note,
)
from orgflow.commands.options import parsed_into
from orgflow.commands.session import end_command

_LEFT = 1


class HealOptions(OpenWorkOptions):
    """The options of `heal`."""

    retry: bool


@click.command("heal", short_help="Let interrupted work go on; report work that does not.")
@click.option(
    "--retry", is_flag=True, help="Also try steps again that failed as often as the limit allows."
)
@open_work_options
@parsed_into(HealOptions)
def command(options: HealOptions) -> None:
    """Find steps whose execution is dead, such as after a crash, and let the next sweep repeat them
    at once instead of after their lease. Report steps that failed too often, work at elements that
    the deployed process does not have, and a support set that is incomplete or does not run.
    Exit code 1: a person has to act; 3: the server failed.
    """
    left = False
    with connect_open_work(options) as work:
        problems = list(work.heal(retry=options.retry))
        left = any(not problem.action for problem in problems)
        if options.as_json:
            print_document("problems", problems)
        elif not problems:
            write_note("nothing to heal")
        else:
            print_rows(
                ("instance", "process", "element", "problem", "action"),
                [
                    (p.instance, p.process, p.element, p.problem, p.action or "a person has to act")
                    for p in problems
                ],
            )
    end_command(_LEFT if left else 0)
