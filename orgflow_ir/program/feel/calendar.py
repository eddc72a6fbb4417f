"""Dates, times and durations: parsing, printing, comparison and arithmetic.

By ISO 8601 and XML Schema as DMN 1.5 refers to them (10.3.2.3.4 to 10.3.2.3.8, 10.3.4.1). Offsets
of time zones come from the standard library's `zoneinfo`; for years out of its range, the same year
of a 400-year cycle is used.
"""

from __future__ import annotations

import datetime as stdlib
import re
from functools import lru_cache

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program.feel.values import (
    DAY,
    NANOS,
    Date,
    DateTime,
    Days,
    Months,
    Time,
)

MAX_YEAR = 999_999_999
MAX_OFFSET = 14 * 3600
MAX_NANOS = 2**63 * NANOS
"""Longer durations are null."""

_DATE = re.compile(r"(-?(?:[1-9]\d{4,8}|\d{4}))-(\d\d)-(\d\d)", re.ASCII)
_TIME = re.compile(
    r"(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?P<zone>Z|[+-]\d\d:\d\d(?::\d\d)?|@[A-Za-z0-9_+/-]+)?",
    re.ASCII,
)
_MONTHS = re.compile(r"(-)?P(?=\d)(?:(\d+)Y)?(?:(\d+)M)?", re.ASCII)
_DAYS = re.compile(
    r"(-)?P(?=\d|T\d)(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d*))?S)?)?",
    re.ASCII,
)
_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


# -- days ------------------------------------------------------------------------------------


def month_days(year: int, month: int) -> int:
    """The days of a month."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and leap else _MONTH_DAYS[month - 1]


def day_number(date: Date) -> int:
    """Days since 1970-01-01 (H. Hinnant, days_from_civil)."""
    year = date.year - (date.month <= 2)
    era, of_era = divmod(year, 400)
    of_year = (153 * ((date.month + 9) % 12) + 2) // 5 + date.day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def date_of(year: int, month: int, day: int) -> Date | None:
    """A date, or null if it does not exist."""
    if not (abs(year) <= MAX_YEAR and 1 <= month <= 12 and 1 <= day <= month_days(year, month)):
        return None
    return Date(year, month, day)


def date_from_number(number: int) -> Date | None:
    """The day `number` days after 1970-01-01."""
    era, of_era = divmod(number + 719_468, 146_097)
    year = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    shifted = (5 * of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return date_of(year + era * 400 + (month <= 2), month, of_year - (153 * shifted + 2) // 5 + 1)


def weekday_of(date: Date) -> int:
    """1 on Monday to 7 on Sunday."""
    return (day_number(date) + 3) % 7 + 1


def day_of_year(date: Date) -> int:
    """1 on the first of January."""
    return day_number(date) - day_number(Date(date.year, 1, 1)) + 1


def week_of_year(date: Date) -> int:
    """The week by ISO 8601, in the year that contains its Thursday."""
    thursday = date_from_number(day_number(date) + 4 - weekday_of(date))
    assert thursday is not None
    return (day_of_year(thursday) - 1) // 7 + 1


# -- from text -------------------------------------------------------------------------------


def parse_date(text: str) -> Date | None:
    """`2024-02-29`; null if the text is not a date."""
    match = _DATE.fullmatch(text)
    return date_of(*map(int, match.groups())) if match and match[1] != "-0000" else None


def parse_time(text: str) -> Time | None:
    """`10:30:00`, with a fraction, an offset or `@Europe/Paris`."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    hour, minute, second = (int(match[i]) for i in (1, 2, 3))
    if is_end_of_day(text):
        hour = 0
    if hour > 23 or minute > 59 or second > 59:
        return None
    nano = int((match[4] or "0")[:9].ljust(9, "0"))
    zone: int | str | None = None
    if match["zone"] is not None:
        zone = _parsed_zone(match["zone"])
        if zone is None:
            return None
    return Time(hour, minute, second, nano, zone)


def is_end_of_day(text: str) -> bool:
    """Whether the text of a time is `24:00:00`, the first moment of the next day (XML Schema 1.1,
    3.3.7 and 3.3.8)."""
    return _END_OF_DAY.match(text) is not None


_END_OF_DAY = re.compile(r"24:00:00(?:\.0+)?(?![.\d])")


def _parsed_zone(text: str) -> int | str | None:
    if text == "Z":
        return 0
    if text[0] == "@":
        return text[1:] if zone_exists(text[1:]) else None
    parts = [int(part) for part in text[1:].split(":")]
    if parts[1] > 59 or parts[-1] > 59:
        return None
    offset = parts[0] * 3600 + parts[1] * 60 + (parts[2] if len(parts) > 2 else 0)
    if offset > MAX_OFFSET:
        return None
    return -offset if text[0] == "-" else offset


def parse_date_time(text: str) -> DateTime | None:
    """`2024-02-29T10:30:00Z`; a date alone is the start of its day."""
    day, separator, rest = text.partition("T")
    date = parse_date(day)
    time = parse_time(rest) if separator else Time(0, 0, 0)
    if date is not None and is_end_of_day(rest):
        date = date_from_number(day_number(date) + 1)
    return DateTime(date, time) if date is not None and time is not None else None


def parse_duration(text: str) -> Days | Months | None:
    """`P1Y2M`, `P1DT2H3M4.5S`."""
    match = _MONTHS.fullmatch(text)
    if match is not None:
        count = int(match[2] or 0) * 12 + int(match[3] or 0)
        return make_months(-count if match[1] else count)
    match = _DAYS.fullmatch(text)
    if match is None:
        return None
    of_day, hours, minutes, seconds = (int(match[i] or 0) for i in (2, 3, 4, 5))
    nanos = int((match[6] or "0")[:9].ljust(9, "0"))
    nanos += (((of_day * 24 + hours) * 60 + minutes) * 60 + seconds) * NANOS
    return make_days(-nanos if match[1] else nanos)


def make_days(nanos: int) -> Days | None:
    """A duration, or null if it is too long."""
    return Days(nanos) if abs(nanos) <= MAX_NANOS else None


def make_months(count: int) -> Months | None:
    """A duration that is not too long."""
    return Months(count) if abs(count) <= 12 * MAX_YEAR else None


# -- to text ---------------------------------------------------------------------------------


def date_text(date: Date) -> str:
    """`2024-02-29`."""
    sign = "-" if date.year < 0 else ""
    return f"{sign}{abs(date.year):04}-{date.month:02}-{date.day:02}"


def time_text(time: Time) -> str:
    """`10:30:00.5+01:00`."""
    fraction = f".{time.nano:09}".rstrip("0") if time.nano else ""
    return f"{time.hour:02}:{time.minute:02}:{time.second:02}{fraction}{_zone_text(time.zone)}"


def _zone_text(zone: int | str | None) -> str:
    if zone is None:
        return ""
    if isinstance(zone, str):
        return f"@{zone}"
    if zone == 0:
        return "Z"
    minutes, seconds = divmod(abs(zone), 60)
    tail = f":{seconds:02}" if seconds else ""
    return f"{'-' if zone < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}{tail}"


def duration_text(value: Days | Months) -> str:
    """`P1Y2M`, `P1DT2H3M4.5S`: the shortest equivalent text."""
    if isinstance(value, Months):
        years, count = divmod(abs(value.months), 12)
        text = (f"{years}Y" if years else "") + (f"{count}M" if count else "") or "0M"
        return f"{'-' if value.months < 0 else ''}P{text}"
    of_day, rest = divmod(abs(value.nanos), DAY)
    seconds, nanos = divmod(rest, NANOS)
    hours, minutes, seconds = seconds // 3600, seconds // 60 % 60, seconds % 60
    fraction = f".{nanos:09}".rstrip("0") if nanos else ""
    clock = (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes else "")
    clock += f"{seconds}{fraction}S" if seconds or nanos else ""
    text = (f"{of_day}D" if of_day else "") + (f"T{clock}" if clock else "") or "T0S"
    return f"{'-' if value.nanos < 0 else ''}P{text}"


# -- time zones ------------------------------------------------------------------------------


@lru_cache(maxsize=1_000)
def _load_zone(name: str) -> stdlib.tzinfo | None:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def zone_exists(name: str) -> bool:
    """Whether this machine has data for a time zone."""
    return _load_zone(name) is not None


def offset_at(value: DateTime) -> int | None:
    """The offset of a date and time in seconds; null without a zone.

    A local time that is skipped or repeated by a clock change has the offset before the change.
    """
    zone = value.time.zone
    if not isinstance(zone, str):
        return zone
    date, time = value.date, value.time
    if date.year < 1800:
        date, time = Date(1800, 1, 1), Time(0, 0, 0)
    # The calendar repeats after 400 years, on the same weekdays.
    year = 2400 + date.year % 400 if date.year > 2400 else date.year
    moment = stdlib.datetime(
        year, date.month, date.day, time.hour, time.minute, time.second, tzinfo=_load_zone(zone)
    )
    offset = moment.utcoffset()
    return None if offset is None else int(offset.total_seconds())


def time_offset(time: Time) -> int | None:
    """The offset of a time; for a named zone the standard offset, since there is no date."""
    if not isinstance(time.zone, str):
        return time.zone
    return min(offset_at(DateTime(Date(2024, month, 1), time)) or 0 for month in (1, 7))


# -- order -----------------------------------------------------------------------------------


class Instant(NamedTuple):
    """The position of a time or date: nanoseconds in UTC or, with `local`, without a zone."""

    local: bool
    nanos: int


def instant_of(value: Date | Time | DateTime) -> Instant:
    """The sort key of a value."""
    match value:
        case Date():
            return Instant(False, day_number(value) * DAY)
        case Time():
            offset = time_offset(value)
            return Instant(offset is None, value.nanos - (offset or 0) * NANOS)
        case DateTime(date, time):
            offset = offset_at(value)
            return Instant(
                offset is None, day_number(date) * DAY + time.nanos - (offset or 0) * NANOS
            )


# -- arithmetic ------------------------------------------------------------------------------


def add_days(value: Date | Time | DateTime, nanos: int) -> Date | Time | DateTime | None:
    """A value shifted by nanoseconds: whole days for a date, modulo one day for a time."""
    match value:
        case Date():
            total = day_number(value) * DAY + nanos
            return date_from_number(total // DAY)
        case Time():
            return _make_time((value.nanos + nanos) % DAY, value.zone)
        case DateTime(date, time):
            of_day, clock = divmod(day_number(date) * DAY + time.nanos + nanos, DAY)
            later = date_from_number(of_day)
            return DateTime(later, _make_time(clock, time.zone)) if later is not None else None


def _make_time(nanos: int, zone: int | str | None) -> Time:
    seconds, nano = divmod(nanos, NANOS)
    return Time(seconds // 3600, seconds // 60 % 60, seconds % 60, nano, zone)


def add_months(value: Date | DateTime, count: int) -> Date | DateTime | None:
    """The same day of a later month, or that month's last day if it is shorter."""
    if isinstance(value, DateTime):
        date = add_months(value.date, count)
        return DateTime(date, value.time) if isinstance(date, Date) else None
    year, month = divmod(value.year * 12 + value.month - 1 + count, 12)
    return date_of(year, month + 1, min(value.day, month_days(year, month + 1)))


def months_between(start: Date, end: Date) -> int:
    """Whole months from one day to another, negative if the second is earlier."""
    count = (end.year - start.year) * 12 + end.month - start.month
    if count > 0 and end.day < start.day:
        return count - 1
    if count < 0 and end.day > start.day:
        return count + 1
    return count


def in_zone(utc: DateTime, zone: str) -> DateTime | None:
    """The local time of a UTC moment in a time zone."""
    shown = DateTime(utc.date, Time(*_clock_of(utc.time), zone))
    for _ in range(3):  # the offset there depends on the local time that is looked for
        offset = offset_at(shown) or 0
        moved = add_days(utc, offset * NANOS)
        if not isinstance(moved, DateTime):
            return None
        candidate = DateTime(moved.date, Time(*_clock_of(moved.time), zone))
        if candidate == shown:
            break
        shown = candidate
    return shown


def _clock_of(time: Time) -> tuple[int, int, int, int]:
    return time.hour, time.minute, time.second, time.nano
