"""Conversions, dates and the clock (DMN 1.5, 10.3.4.1, 10.3.4.7, 10.3.4.9)."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from decimal import Decimal

from orgflow_ir.program.feel import calendar, numbers
from orgflow_ir.program.feel.relations import compare_values, make_range, parse_at_literal
from orgflow_ir.program.feel.values import (
    NANOS,
    Date,
    DateTime,
    Days,
    Function,
    Months,
    Range,
    Time,
    Unsupported,
    Value,
    kind,
)

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


# -- dates and times -------------------------------------------------------------------------


def date_from(source: str | Date | DateTime) -> Value:
    if isinstance(source, DateTime):
        return source.date
    return calendar.parse_date(source) if isinstance(source, str) else source


def date_of(year: Decimal, month: Decimal, day: Decimal) -> Value:
    integers = [numbers.to_integer(number) for number in (year, month, day)]
    return None if None in integers else calendar.date_of(*(number or 0 for number in integers))


def date_time_from(source: str | Date | DateTime) -> Value:
    if isinstance(source, Date):
        return DateTime(source, Time(0, 0, 0, 0, 0))
    return calendar.parse_date_time(source) if isinstance(source, str) else source


def date_time_at(date: Date | DateTime, time: Time) -> Value:
    return DateTime(date.date if isinstance(date, DateTime) else date, time)


def date_time_in(date: DateTime, timezone: str) -> Value:
    """The same moment in another time zone; null for a value without a zone."""
    at = calendar.instant_of(date)
    zone = calendar.parse_time(f"00:00:00@{timezone}")
    if at.local or zone is None:
        return None
    utc = calendar.add_days(DateTime(Date(1970, 1, 1), Time(0, 0, 0, 0, 0)), at.nanos)
    if not isinstance(utc, DateTime):
        return None
    return calendar.in_zone(utc, timezone)


def date_time_of(
    year: Decimal, month: Decimal, day: Decimal, hour: Decimal, minute: Decimal, second: Decimal
) -> Value:
    date, time = date_of(year, month, day), time_of(hour, minute, second)
    return None if date is None or time is None else DateTime(date, time)


def date_time_offset(
    year: Decimal, month: Decimal, day: Decimal, hour: Decimal, minute: Decimal, second: Decimal,
    offset: Days,
) -> Value:  # fmt: skip
    date, time = date_of(year, month, day), time_of(hour, minute, second, offset)
    return None if date is None or time is None else DateTime(date, time)


def date_time_zone(
    year: Decimal, month: Decimal, day: Decimal, hour: Decimal, minute: Decimal, second: Decimal,
    timezone: str,
) -> Value:  # fmt: skip
    date, time = date_of(year, month, day), time_of(hour, minute, second)
    if date is None or time is None or not calendar.zone_exists(timezone):
        return None
    return DateTime(date, Time(time.hour, time.minute, time.second, time.nano, timezone))


def time_from(source: str | Date | Time | DateTime) -> Value:
    match source:
        case str():
            return calendar.parse_time(source)
        case Date():
            return Time(0, 0, 0, 0, 0)
        case DateTime():
            return source.time
    return source


def time_of(hour: Decimal, minute: Decimal, second: Decimal, offset: Value = None) -> Value:
    integers = [numbers.to_integer(number) for number in (hour, minute)]
    nanos = numbers.to_integer(
        numbers.CONTEXT.multiply(second, Decimal(NANOS)).to_integral_value("ROUND_DOWN")
    )
    hours, minutes = integers
    if hours is None or minutes is None or nanos is None:
        return None
    if not (0 <= hours <= 23 and 0 <= minutes <= 59 and 0 <= nanos < 60 * NANOS):
        return None
    zone = None
    if offset is not None:
        if not isinstance(offset, Days) or offset.nanos % NANOS:
            return None
        zone = offset.nanos // NANOS
        if abs(zone) > calendar.MAX_OFFSET:
            return None
    return Time(hours, minutes, nanos // NANOS, nanos % NANOS, zone)


def duration_from(source: str | Days | Months) -> Value:
    return calendar.parse_duration(source) if isinstance(source, str) else source


def months_between(start: Date | DateTime, end: Date | DateTime) -> Value:
    days = [value.date if isinstance(value, DateTime) else value for value in (start, end)]
    return Months(calendar.months_between(*days))


def now() -> Value:
    moment = datetime.datetime.now(datetime.UTC)
    return DateTime(
        Date(moment.year, moment.month, moment.day),
        Time(moment.hour, moment.minute, moment.second, moment.microsecond * 1000, 0),
    )


def today() -> Value:
    moment = datetime.datetime.now(datetime.UTC)
    return Date(moment.year, moment.month, moment.day)


def _day_of(value: Date | DateTime) -> Date:
    return value.date if isinstance(value, DateTime) else value


def day_of_year(date: Date | DateTime) -> Value:
    return Decimal(calendar.day_of_year(_day_of(date)))


_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


def day_of_week(date: Date | DateTime) -> Value:
    return _WEEKDAYS[calendar.weekday_of(_day_of(date)) - 1]


def month_of_year(date: Date | DateTime) -> Value:
    return _MONTHS[_day_of(date).month - 1]


def week_of_year(date: Date | DateTime) -> Value:
    return Decimal(calendar.week_of_year(_day_of(date)))


def is_(left: Value, right: Value) -> Value:
    """Whether two values are identical in type and value, including the time zone."""
    return kind(left) == kind(right) and bool(left == right)


# -- numbers, texts, ranges ------------------------------------------------------------------


def number_from(source: str | Decimal, grouping: Value = None, point: Value = None) -> Value:
    if isinstance(source, Decimal):
        return source if grouping is None and point is None else None
    if grouping not in (None, " ", ",", ".") or point not in (None, ",", "."):
        return None
    if grouping is not None and grouping == point:
        return None
    text = source.replace(grouping, "") if grouping is not None else source
    if point is not None and point != ".":
        if "." in text:
            return None
        text = text.replace(point, ".")
    if _NUMBER.fullmatch(text) is None:
        return None
    return numbers.require_finite(numbers.CONTEXT.create_decimal(text))


def string_from(source: Value) -> Value:
    return None if source is None else source if isinstance(source, str) else text_of(source)


def text_of(value: Value) -> str:
    """A value in FEEL notation; texts within lists and contexts are quoted."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case Decimal():
            return numbers.plain_digits(value)
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case Date():
            return calendar.date_text(value)
        case Time():
            return calendar.time_text(value)
        case DateTime(date, time):
            return f"{calendar.date_text(date)}T{calendar.time_text(time)}"
        case Days() | Months():
            return calendar.duration_text(value)
        case tuple():
            return f"[{', '.join(text_of(element) for element in value)}]"
        case dict():
            return "{" + ", ".join(f"{k}: {text_of(v)}" for k, v in value.items()) + "}"
        case Range(low, high, low_included, high_included):
            start = "" if low is None else text_of(low)
            end = "" if high is None else text_of(high)
            return f"{'[' if low_included else '('}{start}..{end}{']' if high_included else ')'}"
        case Function():
            raise Unsupported("a function as text")
    raise AssertionError(value)


_RANGE = re.compile(r"\s*([\[(\]])(.*?)\.\.(.*)([\])\[])\s*", re.DOTALL)


def range_from(source: str) -> Value:
    """`"[18..21)"`; its ends are literals, one of which may be omitted."""
    match = _RANGE.fullmatch(source)
    if match is None:
        return None
    ends: list[Value] = []
    for text in (match[2].strip(), match[3].strip()):
        end = _parse_end(text) if text else None
        if text and end is None:
            return None
        ends.append(end)
    low, high = ends
    if low is None and high is None:
        return None
    included = match[1] == "[", match[4] == "]"
    if (low is None and included[0]) or (high is None and included[1]):
        return None
    if low is not None and high is not None and compare_values("<=", low, high) is not True:
        return None
    return make_range(low, high, *included)


_END = re.compile(
    r"(?P<number>-?(?:\d+(?:\.\d+)?|\.\d+))"
    r'|(?P<kind>@|)"(?P<text>[^"\\\n]*)"'
    r'|(?P<function>date|time|date and time|duration)\("(?P<argument>[^"\\\n]*)"\)',
    re.ASCII,
)
_CONVERSIONS: dict[str, Callable[[str], Value]] = {
    "date": date_from, "time": time_from, "date and time": date_time_from,
    "duration": duration_from,
}  # fmt: skip


def _parse_end(text: str) -> Value:
    """A literal: a number, a string, or a date, time or duration."""
    match = _END.fullmatch(text)
    if match is None:
        return None
    if match["number"] is not None:
        return number_from(match["number"])
    if match["function"] is not None:
        return _CONVERSIONS[match["function"]](match["argument"])
    return parse_at_literal(match["text"]) if match["kind"] else match["text"]
