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
from typing import Any, Literal

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
    found: Time | None = _moment(words) or _duration(words) or _cycle(words) or _cron(words)
    found = found or _in_words(words) or _constant(words)
    if found is not None:
        return found
    marked = "${" in words or "#{" in words or words.startswith("=")
    if marked or any(name in (language or "").lower() for name in _LANGUAGES):
        variable = re.fullmatch(_VARIABLE, words)
        return Computed(words, tuple(variable.group(1).split(".")) if variable else None)
    return Unread(words)


def _in_words(text: str) -> Duration | Cycle | Cron | None:
    """Words that have one meaning; anything more (`14 working days`) is prose."""
    if not any(char.isspace() for char in text) and not text.isalpha():
        return None
    from orgflow_ir.model.timer_words import length_in_words, repetition_in_words

    return length_in_words(text) or repetition_in_words(text)


def _constant(text: str) -> Time | None:
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
        return _plus(later[1])
    later = re.fullmatch(_FEEL_LATER, inside)
    if later is not None:
        length = _duration(later[1])
        return length if length is not None and length.sign != "-" else None
    cycle = _FEEL_CYCLE.fullmatch(inside)
    if cycle is not None:
        interval = _duration(cycle[2])
        return Cycle(interval, int(cycle[1]) if cycle[1] else None) if interval else None
    literal = _LITERAL.fullmatch(inside)
    if literal is None:
        return None
    words = literal[1] if literal[1] is not None else literal[2]
    return _moment(words) or _duration(words) or _cycle(words)


def _plus(calls: str) -> Duration | None:
    """The length of `.plusDays(1).plusHours(2)`; of `.minus…` none."""
    found: dict[str, Any] = {}
    for part, number in re.findall(r"plus([A-Z][a-z]+)\((\d+)\)", calls):
        found[part.lower()] = found.get(part.lower(), 0) + int(number)
    return Duration(**found)


def _moment(text: str) -> Moment | None:
    match = re.fullmatch(_MOMENT, text)
    return Moment(*(part or "" for part in match.groups())) if match else None


def _duration(text: str) -> Duration | None:
    match = re.fullmatch(_ISO, text)
    if match is None:
        return _short(text)
    sign, *parts = match.groups()
    written = [part for part in parts if part]
    if any("." in part or "," in part for part in written[:-1]):
        return None  # ISO 8601: only the smallest part may have a fraction
    negative = sign == "-" or any(part.startswith("-") for part in written)
    years, months, weeks, days, hours, minutes, seconds = (
        _number((part or "0").lstrip("-")) for part in parts
    )
    return Duration(
        years=years, months=months, weeks=weeks, days=days, hours=hours, minutes=minutes,
        seconds=seconds, sign="-" if negative else "+" if sign else "",
    )  # fmt: skip


def _number(text: str) -> float:
    return float(text.replace(",", ".")) if "." in text or "," in text else int(text)


def _short(text: str) -> Duration | None:
    match = re.fullmatch(_SHORT, text)
    if match is None:
        return None
    days, hours, minutes, seconds, more = (int(part or 0) for part in match.groups())
    exact = seconds + more / 1000 if more else seconds
    return Duration(days=days, hours=hours, minutes=minutes, seconds=exact, notation="short")


def _cycle(text: str) -> Cycle | None:
    if "###" in text:  # jBPM: first after, then every
        delay, _, interval = (_duration(part.strip()) for part in text.partition("###"))
        return Cycle(interval, delay=delay) if delay and interval else None
    head, slash, rest = text.partition("/")
    count = re.fullmatch(r"R(-1|\d{0,9})", head)
    if count is None or not slash:
        return None
    repetitions = int(count.group(1)) if count.group(1) else None
    one, slash, two = rest.partition("/")
    if not slash:
        interval = _duration(one)
        return Cycle(interval, repetitions) if interval else None
    start, end = _moment(one), _moment(two)
    if start is not None and (interval := _duration(two)):
        return Cycle(interval, repetitions, start=start)
    if end is not None and (interval := _duration(one)):
        return Cycle(interval, repetitions, end=end)
    return None


_MACROS = {
    "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0", "@daily": "0 0 * * *", "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}  # fmt: skip
"""Names of cron expressions, as Camunda 8 takes them."""


def _cron(text: str) -> Cron | None:
    fields = tuple(_MACROS.get(text.lower(), text).upper().split())
    if len(fields) not in (5, 6, 7) or not all(re.fullmatch(_CRON_FIELD, f) for f in fields):
        return None
    return Cron(fields, quartz="?" in fields)
