"""Times of timer events in the form of Amazon States Language: whole seconds, or a timestamp."""

from __future__ import annotations

import math
import re
from typing import assert_never

from orgflow_ir.model import Event, EventDefinition
from orgflow_ir.model.timer_values import Computed, Cron, Cycle, Duration, Moment, Unread, first_of

MAX_SECONDS = 99_999_999
"""Maximum number of seconds of a Wait state or a timeout (Step Functions' limit)."""

_CLOCK = re.compile(r"T?\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?")


def whole_seconds(definition: EventDefinition | None) -> int | None:
    """Whole seconds of a duration, rounded up; `None` if it is invalid or has no fixed length. Only
    the first time of a repetition: a state waits once."""
    if definition is None or definition.time is None:
        return None
    time = first_of(definition.time)
    if not isinstance(time, Duration) or not time.is_plain or time.exact_seconds is None:
        return None
    result = math.ceil(time.exact_seconds)
    return result if result <= MAX_SECONDS else None


def moment_timestamp(definition: EventDefinition | None) -> str | None:
    """A moment in the language's profile of RFC 3339; `None` if it is unreadable or has no time
    zone. A date alone is its first moment in UTC."""
    if definition is None or definition.time is None:
        return None
    time = first_of(definition.time)
    if not isinstance(time, Moment) or not time.is_possible:
        return None
    if not time.clock:
        return f"{time.day}T00:00:00Z"
    if time.zone != "Z" and ":" not in time.zone:
        return None
    clock = time.clock if time.clock.count(":") == 2 else f"{time.clock}:00"
    return f"{time.day}T{clock}{time.zone}"


def variable_path(definition: EventDefinition | None) -> tuple[str, ...] | None:
    """The variable that is the whole time (`${due}`, `#{order.due}`), and its fields that are
    read."""
    time = definition.time if definition is not None else None
    return time.variable if isinstance(time, Computed) else None


def is_kept(definition: EventDefinition) -> bool:
    """Whether a Wait state supports the time of an event."""
    if whole_seconds(definition) is not None or moment_timestamp(definition) is not None:
        return True
    # What engines keep for a duration is text such as `PT2H`, which no path reads.
    return definition.timer == "date" and variable_path(definition) is not None


def why_refused(definition: EventDefinition | None) -> str:
    """The reason why a time that `seconds` and `timestamp` do not support is refused."""
    time = definition.time if definition is not None else None
    time = first_of(time) if time is not None else None
    kind = definition.timer if definition is not None else None
    wrong = (
        "it is not a date with a time zone" if kind == "date" else "it is not an ISO 8601 duration"
    )
    if isinstance(time, Computed):
        return "it is read from data that may not be a number of seconds"
    if isinstance(time, Cycle | Cron):
        return "it repeats, but a state waits once"
    length = time.exact_seconds if isinstance(time, Duration) else None
    match time:
        case Duration(sign="-"):
            return "it is negative"
        case Duration() if length is None:
            return "it has no fixed length: months and years differ"
        case Duration() if length is not None and length > MAX_SECONDS:
            return f"it is longer than {MAX_SECONDS} seconds, the longest wait of a state"
        case Moment(clock=clock, zone="") if clock:
            return "it has no time zone"
        case Unread(text) if _CLOCK.fullmatch(text):
            return "it has no time zone"
        case Duration() | Moment() | Unread() | None:
            return wrong
        case _:
            assert_never(time)


def timer_time(event: Event) -> tuple[EventDefinition | None, str]:
    """The first definition of an event and its time in the model."""
    definition = event.definitions[0] if event.definitions else None
    text = definition.expression.text if definition and definition.expression else ""
    return definition, text


def timer_seconds(event: Event) -> int | None:
    """The length of a timer that a timeout supports: at least one second."""
    if event.trigger != "timer":
        return None
    definition, _ = timer_time(event)
    return whole_seconds(definition) or None
