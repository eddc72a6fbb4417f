"""`orgflowc tasks`: the open user tasks on a server."""

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


class TasksOptions(OpenWorkOptions):
    """The options of `tasks`."""

    assignee: str | None


@click.command("tasks", short_help="List the open user tasks on a server.")
@click.option("--assignee", metavar="WHO", help="Only tasks of this person.")
@open_work_options
@parsed_into(TasksOptions)
def command(options: TasksOptions) -> None:
    """List the open tasks of processes that wait in several places: who completes each, what it is,
    since when it is open, when it is due, and the link to its page. Whoever has the link can
    complete the task. Times are in UTC. Exit code 3: the server failed.
    """
    with connect_open_work(options) as work:
        tasks = [
            task
            for task in work.tasks()
            if options.assignee is None or task.assignee == options.assignee
        ]
        if options.as_json:
            print_document("tasks", tasks)
            return
        if not tasks:
            write_note("no task is open")
        print_rows(
            ("who", "what", "process", "case", "since", "due", "link"),
            [
                (
                    task.assignee or "anybody", task.title, task.process, task.case,
                    shown_moment(task.since), shown_moment(task.due), task.link,
                )
                for task in tasks
            ],
        )  # fmt: skip
