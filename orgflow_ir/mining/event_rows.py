"""Rows of events, and the traces of cases that are made of them."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.model.records import NamedTuple


class EventRow(NamedTuple):
    """An event: its case, its step, and its time on any one scale, such as seconds."""

    case: int
    step: int
    time: float


class Trace(NamedTuple):
    """The steps of one case in order."""

    case: int
    steps: tuple[int, ...]


def group_traces(rows: Iterable[EventRow]) -> tuple[Trace, ...]:
    """The trace of each case, by the order of cases.

    Events of one time are in the order of the rows. Events of one step in a row are one event: a
    second message about a step is not a second time.
    """
    cases: dict[int, list[EventRow]] = {}
    for row in rows:
        cases.setdefault(row.case, []).append(row)
    traces = []
    for case, events in sorted(cases.items()):
        events.sort(key=lambda row: row.time)  # stable
        steps = [row.step for row in events]
        kept = [step for n, step in enumerate(steps) if n == 0 or steps[n - 1] != step]
        traces.append(Trace(case, tuple(kept)))
    return tuple(traces)
