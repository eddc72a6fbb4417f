"""Hold the machine to a recorded run: decisions come from the record, all else is predicted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from model_simulation import Simulation, simulate
from orgflow.backends.n8n.engine.runs import EngineRun
from orgflow.backends.n8n.engine_model.config import Phase, Place, trimmed_counts
from orgflow.backends.n8n.engine_model.model import EngineModel
from orgflow.backends.n8n.engine_model.outcome import (
    FAILS,
    RUNS,
    Emits,
    Opens,
    Outcome,
    Resumes,
    Stays,
)
from orgflow.backends.n8n.node_types.behaviour import Counts


class Recorded(NamedTuple):
    """A node run of a record.

    Attributes:
        workflow: id of its workflow, None for the main one.
        node: its name.
        outputs: items on each output.
        failed: whether it threw, also where the run went on.
        stayed: whether it is a wait that was never resumed.
        in_process: for a wait: whether n8n slept; None where the record does not say.
        answered: for a wait: whether an answer ended it; None where the record does not say.
    """

    workflow: str | None
    node: str
    outputs: Counts
    failed: bool = False
    stayed: bool = False
    in_process: bool | None = None
    answered: bool | None = None


class Disagreement(NamedTuple):
    """Where the machine and a record part.

    Attributes:
        at: the place in the order.
        recorded: what the record says there, in words.
        predicted: what the machine says.
    """

    at: int
    recorded: str
    predicted: str


class _Parted(Exception):
    """The machine runs another node than the record."""


def record_of(run: EngineRun) -> tuple[Recorded, ...]:
    """The record of a run of the local engine."""
    slept = {wait.opened_at: wait.in_process for wait in run.waits}
    return tuple(
        Recorded(
            entry.workflow,
            entry.node,
            entry.outputs,
            failed=entry.status == "error",
            stayed=entry.status == "waiting",
            in_process=slept.get(place),
        )
        for place, entry in enumerate(run.order)
    )


def replay(
    machine: EngineModel,
    trigger: str,
    record: Sequence[Recorded],
    status: str,
    *,
    items: int = 1,
    detached: list[tuple[str, int]] | None = None,
) -> Disagreement | None:
    """Run `machine` beside `record`; None where they agree on nodes, items and status.

    Args:
        machine: the workflow that was run.
        trigger: where it started.
        record: the node runs in order.
        status: how the record ended: "success", "error", "waiting", or "limit" for a record that
            was cut short.
        items: what the trigger got.
        detached: gets the calls that nobody waits for: the workflow and the items handed over.
    """
    opened: list[int] = []
    begun = 0

    def decide(place: Place, _: int) -> Outcome:
        nonlocal begun
        if place.phase is not Phase.READY:
            return _resumption(record[opened.pop()], place)
        if begun >= len(record):
            raise _Parted
        entry = record[begun]
        if (entry.workflow, entry.node) != (place.workflow, place.node):
            raise _Parted
        outcome = _outcome(entry, place)
        if isinstance(outcome, Opens):
            opened.append(begun)
        begun += 1
        return outcome

    limit = len(record) if status == "limit" else 20_000
    places: list[Place] = []

    def watched(place: Place, run: int) -> Outcome:
        places.append(place)
        return decide(place, run)

    try:
        run = simulate(machine, trigger, watched, items=items, limit=limit)
    except _Parted:
        place = places[-1]
        said = _text(record[begun]) if begun < len(record) else "the end"
        return Disagreement(begun, said, f"{_name(place.workflow, place.node)} {place.inputs}")
    if detached is not None:
        detached += run.detached
    return compare(run, record, status)


def compare(run: Simulation, record: Sequence[Recorded], status: str) -> Disagreement | None:
    """The first difference between a run of the machine and a record; None if there is none."""
    for place, (visit, entry) in enumerate(zip(run.order, record, strict=False)):
        same = (visit.workflow, visit.node) == (entry.workflow, entry.node)
        stayed = visit.status == "waiting" and entry.stayed
        if not same or not (
            stayed or trimmed_counts(visit.outputs) == trimmed_counts(entry.outputs)
        ):
            return Disagreement(place, _text(entry), _visit_text(run, place))
        if (visit.status == "error") != entry.failed:
            return Disagreement(place, _text(entry), f"{_visit_text(run, place)} {visit.status}")
    if len(run.order) != len(record):
        place = min(len(run.order), len(record))
        said = _text(record[place]) if place < len(record) else "the end"
        own = _visit_text(run, place) if place < len(run.order) else "the end"
        return Disagreement(place, said, own)
    if run.status != status:
        return Disagreement(len(record), status, run.status)
    return None


def _outcome(entry: Recorded, place: Place) -> Outcome:
    if place.kind == "wait" and not entry.failed:
        return Opens(bool(entry.in_process))
    if place.kind == "choice":
        return FAILS if entry.failed else Emits(entry.outputs)
    if place.kind in ("pass", "batches", "merge", "wait") and entry.failed:
        return FAILS
    if place.kind == "pass" and len(entry.outputs) > 1 and entry.outputs[-1]:
        return Emits(entry.outputs)
    return RUNS


def _resumption(entry: Recorded, place: Place) -> Outcome:
    if entry.stayed:
        return Stays()
    elapsed = (
        entry.outputs[:1] == place.inputs[:1] if entry.answered is None else not entry.answered
    )
    if place.phase is Phase.SLEEPING or elapsed:
        return Resumes(None)
    return Resumes(sum(entry.outputs))


def _name(workflow: str | None, node: str) -> str:
    return f"`{node}`" if workflow is None else f"`{workflow}/{node}`"


def _text(entry: Recorded) -> str:
    failed = " error" if entry.failed else ""
    return f"{_name(entry.workflow, entry.node)} {tuple(entry.outputs)}{failed}"


def _visit_text(run: Simulation, place: int) -> str:
    visit = run.order[place]
    return f"{_name(visit.workflow, visit.node)} {visit.outputs}"
