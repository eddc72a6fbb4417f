"""`orgflowc trace`: the runs of a model, one JSON object per line (`schema/run.schema.json`)."""

from __future__ import annotations

import json

import click
from orgflow.commands.completion_values import FILE
from orgflow.commands.options import (
    ProcessOptions,
    SourceOptions,
    parsed_into,
    process_option,
    source_options,
)
from orgflow.commands.output import print_json
from orgflow.commands.session import Session, end_command, exit_code
from orgflow.compilation.model_checks import check_model

from orgflow_ir.flow.token_game.run_json import run_labels, run_to_dict
from orgflow_ir.flow.token_game.runs import enumerate_runs
from orgflow_ir.model import Model
from orgflow_ir.targets import executable_processes


class TraceOptions(ProcessOptions, SourceOptions):
    """The options of `trace`."""

    in_: str
    maximum: int


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
@parsed_into(TraceOptions)
def command(options: TraceOptions) -> None:
    """Print runs of the model in IN, one JSON object per line.

    The runs are chosen so that together they cover every flow. Standard error reports the number of
    covered flows and the flows that cannot be covered.
    """
    session = Session.with_options(options)
    ctx = session.context()
    model = session.load(options.in_, ctx, options.from_, process=options.process)
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
        _print_runs(model, options.maximum, session)
    if session.format != "text":
        session.show()
    end_command(exit_code(session.diagnostics))


def _print_runs(model: Model, maximum: int, session: Session) -> None:
    labels = run_labels(model)
    for process in executable_processes(model):
        runs = enumerate_runs(model, process.id, max_runs=maximum)
        for number, run in enumerate((*runs.runs, *runs.stuck), 1):
            line = run_to_dict(run, labels, number)
            print_json(json.dumps(line, ensure_ascii=False) + "\n")
        taken = "1 run takes" if len(runs.runs) == 1 else f"{len(runs.runs)} runs take"
        session.note(f"{process.label}: {taken} {runs.flows_covered} of {runs.flows_total} flows")
        for flow, reason in runs.uncovered:
            session.note(f"  not taken: {labels.get(flow, flow)} ({reason})")
