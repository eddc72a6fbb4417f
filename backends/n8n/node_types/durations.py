"""ISO 8601 durations."""

from __future__ import annotations

import re
from typing import NamedTuple


class Duration(NamedTuple):
    """ISO 8601 duration, parts as written."""

    years: int = 0
    months: int = 0
    weeks: int = 0
    days: int = 0
    hours: int = 0
    minutes: int = 0
    seconds: float = 0

    @property
    def exact_seconds(self) -> float | None:
        """Length in seconds, or `None` where months or years make it depend on the date."""
        if self.years or self.months:
            return None
        days = self.weeks * 7 + self.days
        return ((days * 24 + self.hours) * 60 + self.minutes) * 60 + self.seconds


_DURATION = re.compile(
    r"P(?=[\dT])(?:(\d{1,6})Y)?(?:(\d{1,6})M)?(?:(\d{1,6})W)?(?:(\d{1,6})D)?"
    r"(?:T(?=\d)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6}(?:\.\d{1,3})?)S)?)?"
)


def parse_duration(text: str) -> Duration | None:
    """An ISO 8601 duration of whole numbers (seconds may have a fraction), or `None`."""
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        return None
    years, months, weeks, days, hours, minutes, seconds = (p or "0" for p in match.groups())
    exact = float(seconds) if "." in seconds else int(seconds)
    return Duration(int(years), int(months), int(weeks), int(days), int(hours), int(minutes), exact)
