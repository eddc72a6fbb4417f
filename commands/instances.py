"""`orgflowc instances`: where each open process instance stands on a server."""

from __future__ import annotations

import click
from orgflow.commands.open_work import (
    OpenWorkOptions,
    connect_open_work,
    open_work_options,
    print_document,
    print_rows,
    shown_moment,
    write_note,
)
from orgflow.commands.options import parsed_into

from orgflow_ir.plugins.open_work import OpenPlace


class InstancesOptions(OpenWorkOptions):
    """The options of `instances`."""

    process: str | None


@click.command("instances", short_help="Show where each open process instance stands.")
@click.option("--process", metavar="NAME", help="Only instances of the process of this name.")
@open_work_options
@parsed_into(InstancesOptions)
def command(options: InstancesOptions) -> None:
    """Show the open instances of processes that wait in several places, and where each of them
    waits or works. Times are in UTC. Exit code 3: the server failed.
    """
    with connect_open_work(options) as work:
        instances = [
            instance
            for instance in work.instances()
            if options.process is None or instance.process == options.process
        ]
        if options.as_json:
            print_document("instances", instances)
            return
        if not instances:
            write_note("no process instance is open")
        print_rows(
            ("instance", "case", "process", "since", "where"),
            [
                (
                    instance.id if not first else "", instance.case if not first else "",
                    instance.process if not first else "", shown_moment(place.since),
                    place_text(place),
                )
                for instance in instances
                for first, place in enumerate(instance.places)
            ],
        )  # fmt: skip


def place_text(place: OpenPlace) -> str:
    """One place of an instance in words."""
    due = f" until {shown_moment(place.due)}" if place.due else ""
    lost = ", which the deployed process lacks" if place.lost else ""
    return f"{place.kind} `{place.name}` {place.state}{due}{lost}"
