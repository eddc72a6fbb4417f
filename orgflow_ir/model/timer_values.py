"""The times of timer events as values, which `timers` reads from their texts."""

from __future__ import annotations

from typing import Literal

from orgflow_ir.model.records import NamedTuple


class Moment(NamedTuple):
    """A date, or a date and time of day, by its parts as written.

    `day` is `2030-01-31`; `clock` is `10:00`, `10:00:00` or `10:00:00.5`, empty for a whole day;
    `zone` is `Z`, `+01:00` or `+0100`, or empty. Only `is_possible` checks them against
    the calendar.
    """

    day: str
    clock: str = ""
    zone: str = ""

    @property
    def text(self) -> str:
        """ISO 8601."""
        return f"{self.day}{'T' if self.clock else ''}{self.clock}{self.zone}"

    @property
    def is_possible(self) -> bool:
        """Whether the month, day, hour, minute, second and zone exist."""
        year, month, day = (int(part) for part in self.day.split("-"))
        hour, minute, second, *_ = [*(self.clock or "0").split(":"), "0", "0"]
        return (
            1 <= month <= 12
            and 1 <= day <= last_day(year, month)
            and int(hour) < 24
            and int(minute) < 60
            and float(second) < 60
            and self._has_zone
        )

    @property
    def _has_zone(self) -> bool:
        """Zones are at most 18 hours from UTC, as in Java."""
        if self.zone in ("", "Z"):
            return True
        hours, minutes = int(self.zone[1:3]), int(self.zone[-2:])
        return minutes < 60 and hours * 60 + minutes <= 18 * 60


def last_day(year: int, month: int) -> int:
    """The number of days of a month."""
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


class Duration(NamedTuple):
    """A length of time by its parts as written; only the last one may have a fraction.

    `notation` is `iso` (`P1DT2H`), jBPM's `short` one (`1d2h`) or `words` (`14 Tage`); `sign` is
    `-` if the length is negative, and `+` if the text contains it.
    """

    years: float = 0
    months: float = 0
    weeks: float = 0
    days: float = 0
    hours: float = 0
    minutes: float = 0
    seconds: float = 0
    notation: Literal["iso", "short", "words"] = "iso"
    sign: Literal["", "+", "-"] = ""

    @property
    def parts(self) -> dict[str, float]:
        """The parts by name, `years` first, including those that are zero."""
        return dict(zip(self._fields[:7], self[:7], strict=True))

    @property
    def is_plain(self) -> bool:
        """Whether all implementations agree on it: it is not negative, has whole months and years,
        and is not finer than milliseconds."""
        if self.sign == "-":
            return False
        if isinstance(self.years, float) or isinstance(self.months, float):
            return False
        exact = self._replace(years=0, months=0).exact_seconds
        return exact is not None and round(exact * 1000) == exact * 1000

    @property
    def exact_seconds(self) -> float | None:
        """Length in seconds, or `None` if it depends on the date because of months or years."""
        if self.years or self.months:
            return None
        days = self.weeks * 7 + self.days
        length = ((days * 24 + self.hours) * 60 + self.minutes) * 60 + self.seconds
        return -length if self.sign == "-" else length


class Cycle(NamedTuple):
    """A repetition: every `interval`, `repetitions` times (`None` for an endless one, which jBPM
    and ISO also write as -1), from `start` or until `end`, the first one after `delay`."""

    interval: Duration
    repetitions: int | None = None
    start: Moment | None = None
    end: Moment | None = None
    delay: Duration | None = None


def first_of(time: Time) -> Time:
    """The moment at which a token that waits once continues; for a repetition, the first one."""
    if not isinstance(time, Cycle):
        return time
    return time.start or time.delay or time.interval


class Cron(NamedTuple):
    """A cron expression by its fields, in upper case.

    `quartz`: seconds first, `?` for any day, days of the week from Sunday = 1, and an optional
    year.
    """

    fields: tuple[str, ...]
    quartz: bool = False


class Computed(NamedTuple):
    """An expression that computes the time; `variable` is its path if it is only a variable."""

    text: str
    variable: tuple[str, ...] | None = None


class Unread(NamedTuple):
    """A time that only people understand."""

    text: str


Time = Moment | Duration | Cycle | Cron | Computed | Unread
