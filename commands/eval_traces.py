"""The part of `orgflowc eval` that compares an event log with a model."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Final

import click
from orgflow.commands.discover_traces import load_log, parse_columns
from orgflow.commands.eval_options import EvalOptions
from orgflow.commands.output import write_files, write_stdout
from orgflow.commands.session import Session, exit_code
from orgflow.compilation.reading import load_model
from orgflow.evaluation.tables import csv_text

from orgflow_ir.diagnostics.log_rules import BoundedAlignment, UnknownActivity
from orgflow_ir.flow.token_game.trace_alignment import (
    MOST_STATES,
    BehaviourMachine,
    Conformance,
    Deviation,
    measure_conformance,
)
from orgflow_ir.flow.token_game.trace_equivalence import StepsExceeded
from orgflow_ir.mining.log_cleaning import CleanLog, iterate_named
from orgflow_ir.model import Model, Process
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets import executable_processes

COLUMNS: Final = ("kind", "activity", "after", "cases", "share")

_SHOWN: Final = 12


def evaluate_log(options: EvalOptions, model_path: Path) -> int:
    """Compare a log with a model, print fitness, precision and deviations; the exit code.

    Raises:
        click.UsageError: the model has several processes, or a page is asked for.
    """
    if options.html is not None:
        raise click.UsageError("--html is for other suites; -o FILE.csv lists all deviations")
    session = Session()
    ctx = session.context()
    clean = load_log(options.location, parse_columns(options.columns), options.object_type, ctx)
    model = load_model(str(model_path), session.registry, ctx)
    if clean is not None and model is not None:
        process = _choose_process(model)
        conformance = compare_log(clean, model, process, ctx, options.most_states or MOST_STATES)
        if conformance is not None:
            write_stdout(format_conformance(conformance))
            if options.output is not None:
                write_files([(Path(options.output), _format_output(options.output, conformance))])
    session.collect(ctx)
    session.show()
    return exit_code(session.diagnostics)


def _choose_process(model: Model) -> Process:
    processes = [p for p in executable_processes(model) if p.nodes] or [
        p for p in model.processes if p.nodes
    ]
    if len(processes) != 1:
        names = ", ".join(f"`{process.label}`" for process in processes) or "none"
        raise click.UsageError(f"a log is compared with one process; the model has {names}")
    return processes[0]


def compare_log(
    clean: CleanLog, model: Model, process: Process, ctx: PassContext, most_states: int
) -> Conformance | None:
    """The agreement of a log and a process, `None` if the process has too many states.

    Names are compared without regard to case and space.
    """
    machine = BehaviourMachine(model, process)
    own = {_fold_name(name): name for name in sorted(machine.activities)}
    variants: Counter[tuple[str, ...]] = Counter()
    unknown: Counter[str] = Counter()
    for names, cases in iterate_named(clean):
        variants[tuple(own.get(_fold_name(name), name) for name in names)] += len(cases)
        for name in names:
            if _fold_name(name) not in own:
                unknown[name] += len(cases)
    for name, number in unknown.most_common():
        ctx.emit(UnknownActivity, f"the model has no task `{name}`; the log has {number:,} events")
    try:
        conformance = measure_conformance(variants.items(), machine, most_states)
    except StepsExceeded:
        ctx.emit(BoundedAlignment, f"`{process.label}` has too many states to compare with a log")
        return None
    if conformance.unaligned:
        ctx.emit(
            BoundedAlignment,
            f"{conformance.unaligned:,} cases need more than {most_states:,} states to align; "
            "no figure includes them",
        )
    return conformance


def _fold_name(name: str) -> str:
    return " ".join(name.split()).casefold()


def describe_deviation(deviation: Deviation) -> str:
    """A deviation in words."""
    place = f"after `{deviation.after}`" if deviation.after else "at the start"
    if deviation.kind == "log":
        return f"`{deviation.activity}` occurs {place}, where the model does not allow it"
    return f"`{deviation.activity}` is skipped {place}"


def format_conformance(conformance: Conformance) -> str:
    """The figures and the most frequent deviations as lines."""
    cases = conformance.cases or 1
    lines = [
        f"cases      {conformance.cases:>9,}",
        f"fitting    {conformance.fitting:>9,}  {conformance.fitting / cases:.1%}",
        f"fitness    {conformance.fitness:>9.3f}",
        f"precision  {conformance.precision:>9.3f}",
    ]
    if conformance.unaligned:
        lines.append(f"unaligned  {conformance.unaligned:>9,}")
    for deviation, number in list(conformance.deviations.items())[:_SHOWN]:
        lines.append(f"{number:>7,} {number / cases:>6.1%}  {describe_deviation(deviation)}")
    rest = len(conformance.deviations) - _SHOWN
    if rest > 0:
        lines.append(f"{rest:,} more kinds of deviations; -o FILE.csv lists all")
    return "\n".join(lines) + "\n"


def _format_output(path: str, conformance: Conformance) -> str:
    """All deviations as CSV, or all figures as JSON."""
    cases = conformance.cases or 1
    rows = [
        {
            "kind": "extra" if deviation.kind == "log" else "skipped",
            "activity": deviation.activity, "after": deviation.after,
            "cases": number, "share": round(number / cases, 6),
        }
        for deviation, number in conformance.deviations.items()
    ]  # fmt: skip
    if not path.endswith(".json"):
        return csv_text(COLUMNS, rows)
    data = {
        "version": 1, "cases": conformance.cases, "fitting": conformance.fitting,
        "unaligned": conformance.unaligned, "fitness": conformance.fitness,
        "precision": conformance.precision, "events_by_activity": conformance.counts,
        "deviations": rows,
    }  # fmt: skip
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
