"""The times of timer events: their texts are parsed once, into typed values.

Supported are ISO 8601 dates, durations and repetitions, cron expressions (Unix's five fields,
Quartz's with seconds first, or a name such as `@daily`), jBPM's short notation, and expressions (a
constant expression is that constant, others compute a time), and words with an unambiguous meaning
(`timer_words`). Other prose stays text. A target refuses a value that it does not support; it never
parses the text again.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model.timer_values import Computed, Cron, Cycle, Duration, Moment, Time, Unread

if TYPE_CHECKING:
    from orgflow_ir.model import timer_words
else:  # timers in words only
    timer_words = LazyModule("orgflow_ir.model.timer_words")

_NUMBER = r"-?\d{1,6}(?:[.,]\d{1,9})?"
# Texts, which `re` compiles when first used: models without a timer need none of them.
_ISO = (
    rf"([+-]?)P(?=[-\dT])(?:({_NUMBER})Y)?(?:({_NUMBER})M)?(?:({_NUMBER})W)?(?:({_NUMBER})D)?"
    rf"(?:T(?=[-\d])(?:({_NUMBER})H)?(?:({_NUMBER})M)?(?:({_NUMBER})S)?)?"
)
_MOMENT = r"(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?)?"
_SHORT = r"(?i)(?=\d)(?:(\d+)d)?\s*(?:(\d+)h)?\s*(?:(\d+)m(?!s))?\s*(?:(\d+)s)?\s*(?:(\d+)ms)?"
_VARIABLE = r"(?a:[$#]\{\s*([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s*\})"
_CRON_FIELD = (
    r"(?:[\d*?/,#-]|L|W|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC|"
    r"SUN|MON|TUE|WED|THU|FRI|SAT)+"
)
_WRAPPED = re.compile(r"=(.*)|[$#]\{(.*)\}", re.DOTALL)
_LITERAL = re.compile(
    r"(?:@|(?:duration|date|date and time)\s*\(\s*)?(?:\"([^\"]*)\"|'([^']*)')\s*\)?"
)
_FEEL_CYCLE = re.compile(
    r"cycle\s*\(\s*(?:(\d{1,9})\s*,\s*)?duration\s*\(\s*\"([^\"]*)\"\s*\)\s*\)"
)
_PARTS = r"Years|Months|Weeks|Days|Hours|Minutes|Seconds"
_LATER = (
    rf"(?:now|dateTime)\(\)((?:\s*\.\s*plus(?:{_PARTS})\(\d{{1,6}}\))*)"
    r"(?:\s*\.\s*toDate\(\))?"
)
_FEEL_LATER = r"now\(\)\s*\+\s*(?:duration\s*\(\s*|@)\"([^\"]*)\"\s*\)?"

_LANGUAGES = ("feel", "juel", "groovy", "javascript", "ecmascript", "python", "n8n")


@lru_cache(maxsize=512)
def read_time(text: str, language: str | None = None) -> Time:
    """The meaning of a timer's text; its language is considered only if no other notation matches.

    Example:
        >>> read_time("R3/PT10M")
        Cycle(interval=Duration(minutes=10), repetitions=3)
    """
    words = text.strip()
    time: Time | None = (
        _read_moment(words) or _read_duration(words) or _read_cycle(words) or _read_cron(words)
    )
    time = time or _in_words(words) or _read_constant(words)
    if time is not None:
        return time
    marked = "${" in words or "#{" in words or words.startswith("=")
    if marked or any(name in (language or "").lower() for name in _LANGUAGES):
        variable = re.fullmatch(_VARIABLE, words)
        return Computed(words, tuple(variable.group(1).split(".")) if variable else None)
    return Unread(words)


def _in_words(text: str) -> Duration | Cycle | Cron | None:
    """Words that have one meaning; anything more (`14 working days`) is prose."""
    if not any(char.isspace() for char in text) and not text.isalpha():
        return None

    return timer_words.length_in_words(text) or timer_words.repetition_in_words(text)


def _read_constant(text: str) -> Time | None:
    """What an expression computes that reads nothing: `= duration("PT1H")`, `${"PT5M"}`,
    `=cycle(3, duration("PT10M"))`, `=@"PT1H"` (FEEL, DMN 1.3, 10.3.2.3, and Camunda's `cycle`).

    What is later than now by a constant is that length of time: `${now().plusDays(1)}`,
    `${dateTime().plusWeeks(1).toDate()}` (Camunda 7), `=now() + duration("P1D")`."""
    match = _WRAPPED.fullmatch(text)
    if match is None:
        return None
    inside = (match[1] or match[2] or "").strip()
    later = re.fullmatch(_LATER, inside)
    if later is not None:
        return _sum_lengths(later[1])
    later = re.fullmatch(_FEEL_LATER, inside)
    if later is not None:
        length = _read_duration(later[1])
        return length if length is not None and length.sign != "-" else None
    cycle = _FEEL_CYCLE.fullmatch(inside)
    if cycle is not None:
        interval = _read_duration(cycle[2])
        return Cycle(interval, int(cycle[1]) if cycle[1] else None) if interval else None
    literal = _LITERAL.fullmatch(inside)
    if literal is None:
        return None
    words = literal[1] if literal[1] is not None else literal[2]
    return _read_moment(words) or _read_duration(words) or _read_cycle(words)


def _sum_lengths(calls: str) -> Duration | None:
    """The length of `.plusDays(1).plusHours(2)`; of `.minus…` none."""
    lengths: dict[str, Any] = {}
    for part, number in re.findall(r"plus([A-Z][a-z]+)\((\d+)\)", calls):
        lengths[part.lower()] = lengths.get(part.lower(), 0) + int(number)
    return Duration(**lengths)


def _read_moment(text: str) -> Moment | None:
    match = re.fullmatch(_MOMENT, text)
    return Moment(*(part or "" for part in match.groups())) if match else None


def _read_duration(text: str) -> Duration | None:
    match = re.fullmatch(_ISO, text)
    if match is None:
        return _read_short(text)
    sign, *parts = match.groups()
    written = [part for part in parts if part]
    if any("." in part or "," in part for part in written[:-1]):
        return None  # ISO 8601: only the smallest part may have a fraction
    negative = sign == "-" or any(part.startswith("-") for part in written)
    years, months, weeks, days, hours, minutes, seconds = (
        _read_number((part or "0").lstrip("-")) for part in parts
    )
    return Duration(
        years=years, months=months, weeks=weeks, days=days, hours=hours, minutes=minutes,
        seconds=seconds, sign="-" if negative else "+" if sign else "",
    )  # fmt: skip


def _read_number(text: str) -> float:
    return float(text.replace(",", ".")) if "." in text or "," in text else int(text)


def _read_short(text: str) -> Duration | None:
    match = re.fullmatch(_SHORT, text)
    if match is None:
        return None
    days, hours, minutes, seconds, more = (int(part or 0) for part in match.groups())
    exact = seconds + more / 1000 if more else seconds
    return Duration(days=days, hours=hours, minutes=minutes, seconds=exact, notation="short")


def _read_cycle(text: str) -> Cycle | None:
    if "###" in text:  # jBPM: first after, then every
        delay, _, interval = (_read_duration(part.strip()) for part in text.partition("###"))
        return Cycle(interval, delay=delay) if delay and interval else None
    head, slash, rest = text.partition("/")
    count = re.fullmatch(r"R(-1|\d{0,9})", head)
    if count is None or not slash:
        return None
    repetitions = int(count.group(1)) if count.group(1) else None
    first, slash, second = rest.partition("/")
    if not slash:
        interval = _read_duration(first)
        return Cycle(interval, repetitions) if interval else None
    start, end = _read_moment(first), _read_moment(second)
    if start is not None and (interval := _read_duration(second)):
        return Cycle(interval, repetitions, start=start)
    if end is not None and (interval := _read_duration(first)):
        return Cycle(interval, repetitions, end=end)
    return None


_MACROS = {
    "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0", "@daily": "0 0 * * *", "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}  # fmt: skip
"""Names of cron expressions, as Camunda 8 takes them."""


def _read_cron(text: str) -> Cron | None:
    fields = tuple(_MACROS.get(text.lower(), text).upper().split())
    if len(fields) not in (5, 6, 7) or not all(re.fullmatch(_CRON_FIELD, f) for f in fields):
        return None
    return Cron(fields, quartz="?" in fields)
