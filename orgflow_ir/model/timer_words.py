"""Times in words with an unambiguous meaning: `after 3 days`, `every Monday at 9`.

Times in English and German are supported, and single lengths in the languages of `UNITS`. Ambiguous
times stay prose: working days, `at 5`, `soon`, `within 3 days`.
"""

from __future__ import annotations

import re
from typing import Any

from orgflow_ir.model.timer_values import Cron, Cycle, Duration

UNITS = {
    unit: part
    for part, units in {
        "seconds": "second seconds sec secs sekunde sekunden seconde secondes seconden segundo "
        "segundos secondo secondi",
        "minutes": "minute minutes min mins minuten minuut minuto minutos minuti",
        "hours": "hour hours stunde stunden heure heures uur uren hora horas ora ore",
        "days": "day days tag tage tagen jour jours dag dagen día días dia dias giorno giorni",
        "weeks": "week weeks woche wochen semaine semaines weken semana semanas settimana "
        "settimane",
        "months": "month months monat monate monaten mois maand maanden mes meses mês mese mesi",
        "years": "year years jahr jahre jahren an ans année années jaar jaren año años ano anos "
        "anno anni",
    }.items()
    for unit in units.split()
}
"""Units of time: English, German, French, Dutch, Spanish, Portuguese, Italian."""

_NUMBERS = {
    word: number
    for number, words in enumerate(
        (
            "a an one ein eine einen einem einer", "two zwei", "three drei", "four vier",
            "five fünf", "six sechs", "seven sieben", "eight acht", "nine neun", "ten zehn",
            "eleven elf", "twelve zwölf",
        ),
        1,
    )
    for word in words.split()
}  # fmt: skip
_DAYS = {
    word: number
    for number, words in enumerate(
        (
            "sunday sundays sun sonntag sonntags", "monday mondays mon montag montags",
            "tuesday tuesdays tue dienstag dienstags",
            "wednesday wednesdays wed mittwoch mittwochs",
            "thursday thursdays thu donnerstag donnerstags", "friday fridays fri freitag freitags",
            "saturday saturdays sat samstag samstags sonnabend sonnabends",
        )
    )
    for word in words.split()
}  # fmt: skip
_ADVERBS = {
    "hourly": "hours", "stündlich": "hours", "daily": "days", "täglich": "days",
    "weekly": "weeks", "wöchentlich": "weeks", "monthly": "months", "monatlich": "months",
}  # fmt: skip

_EVERY = r"(?:every|each|jeden|jede|jedes|alle)\s+"
_LEADING = re.compile(r"(?:wait(?:\s+for)?|after|in|for|nach|warte(?:n)?)\s+")
_TRAILING = re.compile(r"\s+(?:later|später|warten)")
_CLOCK = re.compile(
    r"(?:at|um)\s+(?:(?P<noon>noon|midday)|(?P<midnight>midnight)|(?P<hour>\d{1,2})"
    r"(?:[:.](?P<minute>\d\d))?\s*(?P<half>am|pm|a\.m\.|p\.m\.)?(?P<said>\s*(?:uhr|o'clock|h))?)"
)
_MORNING = 7
"""A plain hour below this may refer to the afternoon."""
_ON_DAY = re.compile(
    r"(?:(?:every|each)\s+month\s+on\s+the|monthly\s+on\s+the|jeden\s+monat\s+am"
    r"|on\s+the(?=.*\bmonth))\s+(?P<day>\d{1,2})(?:st|nd|rd|th|\.)"
    r"(?:\s+of\s+(?:every|each)\s+month)?"
)


def length_in_words(text: str) -> Duration | None:
    """`14 Tage`, `after 3 days`, `two weeks later`, `1 hour and 30 minutes`; `None` for more."""
    words = text.strip().casefold().rstrip(".")
    words = _LEADING.sub("", words, count=1) if _LEADING.match(words) else words
    trailing = _TRAILING.search(words)
    if trailing is not None and trailing.end() == len(words):
        words = words[: trailing.start()]
    lengths: dict[str, Any] = {}
    for piece in re.split(r"\s*(?:,|\band\b|\bund\b)\s*|(?<=[^\W\d])\s+(?=\d)", words):
        number, _, unit = piece.partition(" ")
        part = UNITS.get(unit.strip())
        count = _read_number(number)
        if part is None or count is None or part in lengths:
            return None
        lengths[part] = count
    order = list(Duration._fields)
    if [order.index(part) for part in lengths] != sorted(order.index(part) for part in lengths):
        return None
    return Duration(notation="words", **lengths)


def repetition_in_words(text: str) -> Cycle | Cron | None:
    """`every 5 minutes`, `daily at 9:30`, `every Monday at 9`, `on the 1st of every month at 8:00`;
    `None` for more. With a time of day, it is a cron expression."""
    words = " ".join(text.casefold().split()).rstrip(".")
    clock = None
    at = re.search(rf"(?:^|\s){_CLOCK.pattern}$", words)
    if at is not None:
        clock = _read_clock(at)
        if clock is None:
            return None
        words = words[: at.start()].rstrip(" ,")
    interval = _read_interval(words)
    if interval is not None and clock is None:
        return Cycle(interval)
    if clock is None:
        return None
    minute, hour = clock
    if interval == Duration(days=1, notation="words"):
        return Cron((minute, hour, "*", "*", "*"))
    day = _ON_DAY.fullmatch(words)
    if day is not None and 1 <= int(day["day"]) <= 28:
        return Cron((minute, hour, str(int(day["day"])), "*", "*"))
    days = _read_weekdays(words)
    return Cron((minute, hour, "*", "*", days)) if days is not None else None


def _read_number(text: str) -> int | None:
    if text.isdecimal() and text.isascii() and len(text) <= 6:
        return int(text)
    return _NUMBERS.get(text)


def _read_interval(words: str) -> Duration | None:
    """`every 5 minutes`, `every hour`, `hourly`."""
    if words in _ADVERBS:
        return Duration(notation="words", **{_ADVERBS[words]: 1})  # type: ignore[arg-type]
    every = re.fullmatch(rf"{_EVERY}(?:(\w+)\s+)?(\w+)", words)
    if every is None:
        return None
    count = 1 if every[1] is None else _read_number(every[1])
    part = UNITS.get(every[2])
    if part is None or not count:
        return None
    return Duration(notation="words", **{part: count})  # type: ignore[arg-type]


def _read_weekdays(words: str) -> str | None:
    """Days of the week in cron's numbers: `every Monday and Friday`, `mondays`, `every weekday`."""
    if words in ("every weekday", "each weekday", "weekdays", "on weekdays"):
        return "1-5"
    words = re.sub(rf"^(?:{_EVERY}|on\s+)", "", words)
    named = [_DAYS.get(day) for day in re.split(r"\s*(?:,|\band\b|\bund\b)\s*", words)]
    if not all(number is not None for number in named):
        return None
    return ",".join(str(number) for number in named)


def _read_clock(match: re.Match[str]) -> tuple[str, str] | None:
    """Minute and hour; `None` where there is no such time, or the hour may be another."""
    if match["noon"] or match["midnight"]:
        return "0", "12" if match["noon"] else "0"
    hour, minute, half = int(match["hour"]), int(match["minute"] or 0), match["half"]
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    elif hour < _MORNING and not (match["minute"] or match["said"]):
        return None
    return (str(minute), str(hour)) if hour < 24 and minute < 60 else None
