"""Times of timer events as Amazon States Language keeps them: whole seconds, or a timestamp."""

from __future__ import annotations

import math
import re

from orgflow_ir.model import Event, EventDefinition

MAX_SECONDS = 99_999_999
"""Most seconds a Wait state or a timeout takes (Step Functions' limit)."""

_DURATION = re.compile(
    r"P(?=[\dT])(?:(\d{1,6})Y)?(?:(\d{1,6})M)?(?:(\d{1,6})W)?(?:(\d{1,6})D)?"
    r"(?:T(?=\d)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6}(?:\.\d{1,3})?)S)?)?"
)
_REPEATED = re.compile(r"R(?:\d+|-1)?/.*", re.DOTALL)
_CLOCK = re.compile(r"(?:\d{4}-\d\d-\d\d)?T?\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?")
_VARIABLE = re.compile(r"[$#]\{\s*([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s*\}", re.ASCII)
_STAMP = re.compile(
    r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
    r"(?:T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?"
)


def seconds(kind: str | None, text: str) -> int | None:
    """Whole seconds of a duration, rounded up; `None` where it is none or has no fixed length."""
    if kind not in ("duration", None):
        return None
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        return None
    years, months, weeks, days, hours, minutes, rest = (p or "0" for p in match.groups())
    if int(years) or int(months):
        return None
    whole = ((int(weeks) * 7 + int(days)) * 24 + int(hours)) * 60 + int(minutes)
    result = whole * 60 + math.ceil(float(rest))
    return result if result <= MAX_SECONDS else None


def timestamp(kind: str | None, text: str) -> str | None:
    """A moment in the profile of RFC 3339 that the language takes; `None` where it cannot be read
    or has no time zone. A date alone is its first moment in UTC."""
    if kind != "date" or not _STAMP.fullmatch(text.strip()):
        return None
    found = text.strip()
    if "T" not in found:
        return f"{found}T00:00:00Z"
    day, _, clock = found.partition("T")
    zone = re.search(r"(?:Z|[+-]\d\d:\d\d)$", clock)
    if zone is None:
        return None
    hands = clock[: zone.start()]
    return f"{day}T{hands if hands.count(':') == 2 else hands + ':00'}{zone.group()}"


def variable_path(text: str) -> str | None:
    """The path of the variable that is all of a time (`${due}`, `#{order.due}`): as a collection it
    is read from the execution's input."""
    match = _VARIABLE.fullmatch(text.strip())
    return f"$.input.{match.group(1)}" if match else None


def unsaid(kind: str | None, text: str) -> str:
    """Why a time that `seconds` and `timestamp` do not take cannot be said, as what it is."""
    words = text.strip()
    match = _DURATION.fullmatch(words.lstrip("+"))
    if "${" in words or "#{" in words:
        return "is read from data, and nothing says that it would be a number of seconds"
    if kind == "cycle" or _REPEATED.fullmatch(words):
        return "is a repetition, and a state waits once"
    if re.match(r"-\s*P|P[^T]*-\d|PT.*-\d", words):
        return "is negative"
    if match is not None and any(int(p or 0) for p in match.groups()[:2]):
        return "has no fixed length: months and years differ"
    if match is not None:
        return f"is longer than the {MAX_SECONDS} seconds that a state waits"
    if _CLOCK.fullmatch(words):
        return "has no time zone"
    return "is no date with a time zone" if kind == "date" else "is no ISO 8601 duration"


def timer(event: Event) -> tuple[EventDefinition | None, str]:
    """The first definition of an event and its time as the model says it."""
    definition = event.definitions[0] if event.definitions else None
    text = definition.expression.text if definition and definition.expression else ""
    return definition, text


def timer_seconds(event: Event) -> int | None:
    """The length of a timer that a timeout can keep: at least a second."""
    if event.trigger != "timer":
        return None
    definition, text = timer(event)
    return seconds(definition.timer if definition else None, text) or None
