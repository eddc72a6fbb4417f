"""Times of logs: the notations that programs write, as seconds since 1970."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

_DAY_FORM: Final = re.compile(
    r"(\d{1,4})([./-])(\d{1,2})\2(\d{2,4})"
    r"(?:[ T,]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.:,](\d{1,6}))?)?\s*([AaPp]\.?[Mm]\.?)?)?"
)
"""A date with day, month and year in any order, and a time of day."""

_LEAST_EPOCH: Final = 1e8
"""The least number that is a time: in 1973, in seconds."""


class UnreadableTime(ValueError):
    """A text that is not a time."""


def read_time(text: str, month_first: bool = False) -> float:
    """Seconds since 1970 of a time as text. Without a zone, it is UTC. Raises `UnreadableTime`.

    Args:
        text: ISO 8601, a date such as 31.12.2025 23:59, or a number of seconds, milliseconds,
            microseconds or nanoseconds since 1970.
        month_first: whether 3/5/2025 is in March.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return _read_other_time(text.strip(), month_first)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.timestamp()


def _read_other_time(text: str, month_first: bool) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if _LEAST_EPOCH <= number < 1e20:
        while number >= 1e11:  # milliseconds and less
            number /= 1000
        return number
    # 2025-01-31 12:00:00.000 UTC, and more than six digits of a second
    cut = re.sub(r"(\.\d{6})\d+", r"\1", re.sub(r" ?(UTC|GMT)$", "+00:00", text))
    cut = re.sub(r" ([+-]\d\d:?\d\d)$", r"\1", cut.replace(",", "."))
    try:
        moment = datetime.fromisoformat(cut)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except ValueError:
        pass
    match = _DAY_FORM.fullmatch(text)
    if match is None:
        raise UnreadableTime(text)
    first, _, second, third, hour, minute, second_of, part, half = match.groups()
    if len(first) > 2:
        year, month, day = int(first), int(second), int(third)
    else:
        year = int(third) + (2000 if len(third) < 3 else 0)
        day, month = (int(second), int(first)) if month_first else (int(first), int(second))
    hours = int(hour or 0)
    if half:
        hours = hours % 12 + (12 if half[0] in "pP" else 0)
    try:
        moment = datetime(
            year, month, day, hours, int(minute or 0), int(second_of or 0),
            int((part or "0").ljust(6, "0")), UTC,
        )  # fmt: skip
    except ValueError:
        raise UnreadableTime(text) from None
    return moment.timestamp()


def detect_month_first(texts: Iterable[str]) -> bool | None:
    """Whether dates such as 3/5/2025 have the month first, by those that can be read in one way
    only; `None` where no date shows it although it matters."""
    ambiguous = False
    for text in texts:
        match = _DAY_FORM.fullmatch(text.strip())
        if match is None or len(match[1]) > 2:
            continue
        if int(match[1]) > 12:
            return False
        if int(match[3]) > 12:
            return True
        ambiguous = ambiguous or match[1] != match[3]
    return None if ambiguous else False


def is_day_form(text: str) -> bool:
    """Whether a text is a date whose day and month can be exchanged."""
    match = _DAY_FORM.fullmatch(text.strip())
    return match is not None and len(match[1]) <= 2 and match[2] != "."
