"""Whether a timer event has a time, and the kind of a time."""

from __future__ import annotations

from typing import assert_never

from orgflow_ir.model import Event
from orgflow_ir.model.timer_values import Computed, Cron, Cycle, Duration, Moment, Time, Unread


def time_kind(time: Time) -> str | None:
    """The kind of a time in BPMN's terms (`duration`, `date`, `cycle`); `None` for prose and for an
    expression, whose value is unknown until a run computes it."""
    match time:
        case Moment():
            return "date"
        case Duration():
            return "duration"
        case Cycle() | Cron():
            return "cycle"
        case Computed() | Unread():
            return None
        case _:
            assert_never(time)


def is_open(event: Event) -> bool:
    """Whether a timer event has no valid time. Each target decides which times it supports; for
    some, months have no fixed length."""
    time = next((d.time for d in event.definitions if d.kind == "timer"), None)
    return time is None or time_kind(time) is None
