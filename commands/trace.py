"""`orgflowc trace`: the runs of a model, one JSON object per line (`schema/run.schema.json`)."""

from __future__ import annotations

import click
from orgflow.commands.completion_values import FILE
from orgflow.commands.options import process_option, source_options
from orgflow.commands.output import write_stdout
from orgflow.commands.session import Session, exit_code, leave
from orgflow.compiler import check_model

from orgflow_ir.model import Model
from orgflow_ir.targets import executable_processes


@click.command("trace", short_help="Print the runs of a model, one per line.")
@click.argument("in_", metavar="IN", type=FILE)
@click.option(
    "--max",
    "maximum",
    type=click.IntRange(1),
    default=32,
    metavar="N",
    help="Maximum number of runs per process. [default: 32]",
)
@process_option
@source_options
def command(
    in_: str, maximum: int, process: str | None, from_: str | None, format_: str, verbose: bool
) -> None:
    """Print runs of the model in IN, one JSON object per line.

    The runs are chosen so that together they cover every flow. Standard error reports the number of
    covered flows and the flows that cannot be covered.
    """
    session = Session(format_, verbose=verbose)
    ctx = session.context()
    model = session.load(in_, ctx, from_, process=process)
    if model is not None:
        check_model(model, ctx)
    session.collect(ctx)
    malformed = any(
        d.severity.value == "error" and d.category is not None and d.category.stops
        for d in session.diagnostics
    )
    if session.format == "text":  # findings first; the lines about the runs come one by one
        session.show()
    if model is not None and not malformed:
        _print_runs(model, maximum, session)
    if session.format != "text":
        session.show()
    leave(exit_code(session.diagnostics))


def _print_runs(model: Model, maximum: int, session: Session) -> None:
    import json

    from orgflow_ir.flow.token_game.run_json import run_labels, run_to_dict
    from orgflow_ir.flow.token_game.runs import enumerate_runs

    labels = run_labels(model)
    for process in executable_processes(model):
        found = enumerate_runs(model, process.id, max_runs=maximum)
        for number, run in enumerate((*found.runs, *found.stuck), 1):
            line = run_to_dict(run, labels, number)
            write_stdout(json.dumps(line, ensure_ascii=False) + "\n")
        taken = "1 run takes" if len(found.runs) == 1 else f"{len(found.runs)} runs take"
        session.note(f"{process.label}: {taken} {found.flows_covered} of {found.flows_total} flows")
        for flow, reason in found.uncovered:
            session.note(f"  not taken: {labels.get(flow, flow)} ({reason})")
