"""Times that a sentence states: deadlines, answers that do not come, repetitions, and delays before
a step. English and German."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from orgflow_ir.model.records import NamedTuple

TimeKind = Literal["deadline", "unanswered", "cycle", "delay", "length"]


class StatedTime(NamedTuple):
    """A time in a sentence.

    Attributes:
        kind: `deadline` of a step (`within 14 days`), `unanswered` (`if there is no answer within
            14 days`), `cycle` (`every Monday`), `delay` before a step (`after 6 months`), or
            `length` of a step (`for 10 minutes`), which is an event only if the step waits.
        text: the time as an event has it: `after 14 days`, `every Monday`, `6 months`, `until the
            end of the month`.
        span: its position in the sentence, in characters; of `unanswered` that of the whole clause.
        message: of `unanswered`, the message that does not come.
    """

    kind: TimeKind
    text: str
    span: tuple[int, int]
    message: str = ""


# -- English ---------------------------------------------------------------------------------

_NUMBER = (
    r"(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fourteen|fifteen"
    r"|twenty|thirty|sixty|ninety|several|a few)"
)
_UNIT = (
    r"(?:(?:working|business|calendar)[ -])?(?:second|minute|hour|day|week|month|quarter|year)s?"
)
_LENGTH = rf"(?:another |the next |(?:at least|about|around|up to) )?{_NUMBER}[ -]{_UNIT}"
_DAY = (
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|day|night|morning|evening|week|month|quarter"
    r"|year|hour|weekday"
)
_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
)
_DATE = rf"(?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?)"
_PERIOD_END = r"(?:the )?(?:end|last day|beginning|first day) of (?:the|each|every) \w+"
_ANSWER = r"(?:answer|reply|response|reaction|feedback|payment|confirmation|report|objection)"
_SILENCE = (
    rf"(?:(?:there is|there's|we (?:get|receive|hear)|he gets|she gets) )?no "
    rf"(?P<message>{_ANSWER})\b(?: \w+)?"
    r"|(?P<who>(?:the |an? |our )?[\w-]+(?: [\w-]+)?) (?:does|do|has|have|did)(?: not|n't) "
    r"(?:yet )?(?P<verb>answer|reply|respond|react|pay|confirm|answered|replied|responded|paid)"
    r"(?: \w+)?"
)

_ENGLISH: tuple[tuple[TimeKind, str], ...] = (
        ("unanswered", rf"\bif (?:{_SILENCE}),? (?:within|after|for|in) (?P<time>{_LENGTH})"),
        ("unanswered",
         rf"\bif, (?:within|after) (?P<time>{_LENGTH}), (?:{_SILENCE})"),
        ("unanswered",
         rf"\bafter (?P<time>{_LENGTH}) without (?:an |any |a )?(?P<message>\w+)"),
        ("unanswered",
         rf"^no (?P<message>{_ANSWER}) (?:within|after|for) (?P<time>{_LENGTH})"),
        ("deadline", rf"\b(?:within|in less than|in under|not? later than) (?P<time>{_LENGTH})"),
        ("deadline", rf"\bafter (?P<time>{_LENGTH}) at the latest"),
        ("deadline", rf"\bat the latest after (?P<time>{_LENGTH})"),
        ("cycle", rf"\b(?P<time>(?:every|each) (?:{_NUMBER} )?(?:{_UNIT}|{_DAY})"
                  r"(?: at (?:\d{1,2}(?::\d\d)?(?: ?[ap]\.?m\.?)?|noon|midnight|\w+))?)"
                  r"(?! \w*(?:ing|ed)\b)"),
        ("length", rf"\bfor (?P<time>{_LENGTH})\b"),
        ("delay", rf"\b(?P<date>{_LENGTH} (?:before|prior to) (?:the |an? )?[\w-]+)"),
        ("delay", rf"\bafter (?P<time>{_LENGTH})\b"),
        ("delay", rf"\b(?P<time>{_LENGTH}) (?:later|after that|afterwards)\b"),
        ("delay", rf"\b(?:at|on) (?P<date>{_PERIOD_END})"),
        ("delay", rf"\b(?:until|by|on) (?P<date>{_DATE})"),
        ("delay", r"\bon (?P<date>the (?:first|last|second|next|following|same) (?:\w+ )?"
                  r"(?:day|morning|evening|week|Monday|Friday))\b"),
        ("delay", r"\buntil (?P<date>(?:the )?(?:next|following) (?:day|morning|week|month))"),
)  # fmt: skip
"""In the order of their precedence: a time that overlaps an earlier one is none."""

# -- German ----------------------------------------------------------------------------------

_ZAHL = (
    r"(?:\d+|ein(?:e[mnrs]?)?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|vierzehn)"
)
_EINHEIT = (
    r"(?:(?:Werk|Arbeits|Kalender)tag(?:en?|e)?|Sekunden?|Minuten?|Stunden?|Tag(?:en?|e)?|Wochen?"
    r"|Monat(?:en?|e)?|Jahr(?:en?|e)?|Quartal(?:en?|e)?)"
)
_DAUER = rf"(?:weiteren )?{_ZAHL} {_EINHEIT}"
_TAG = (
    r"(?:Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag|Sonntag)s?|Tag|Morgen|Abend|Woche"
    r"|Monat|Quartal|Jahr|Stunde"
)
_ANTWORT = (
    r"(?:Antwort|Rückmeldung|Reaktion|Zahlung|Bestätigung|Geld|Einspruch|Widerspruch|Rückantwort)"
)

_GERMAN: tuple[tuple[TimeKind, str], ...] = (
        ("unanswered",
         rf"^(?:geht|kommt|erfolgt|trifft|liegt)\b[^,]*?(?:nach|innerhalb(?: von)?|binnen|in) "
         rf"(?P<time>{_DAUER})[^,]*?\bkeine? (?P<message>{_ANTWORT})[^,]*"),
        ("unanswered",
         rf"\b(?:wenn|falls|sofern|sollte)\b[^,]*?(?:nach|innerhalb(?: von)?|binnen|in) "
         rf"(?P<time>{_DAUER})[^,]*?\bkeine? (?P<message>{_ANTWORT})[^,]*"),
        ("unanswered",
         rf"\b(?:wenn|falls|sofern)\b[^,]*?\bkeine? (?P<message>{_ANTWORT})[^,]*?"
         rf"(?:nach|innerhalb(?: von)?|binnen|in) (?P<time>{_DAUER})[^,]*"),
        ("unanswered",
         rf"\bnach (?P<time>{_DAUER}) ohne (?:eine )?(?P<message>[^\W\d_]+)"),
        ("unanswered",
         rf"^wird (?P<who>[\w ]+?) innerhalb (?:von )?(?P<time>{_DAUER}) nicht (?:\w+)"),
        ("deadline", rf"\b(?:innerhalb|binnen)(?: von)? (?P<time>{_DAUER})"),
        ("deadline", rf"\bspätestens (?:nach|in) (?P<time>{_DAUER})"),
        ("cycle", rf"\b(?P<time>(?:jeden?|jedes|alle) (?:{_ZAHL} )?(?:{_EINHEIT}|{_TAG})"
                  r"(?: um \d{1,2}(?:[:.]\d\d)? Uhr)?)\b"),
        ("delay", rf"\b(?P<date>{_DAUER} vor (?:de[mrn]|einem|einer)? ?[^\W\d_]+)"),
        ("delay", rf"\bnach (?P<time>{_DAUER})\b"),
        ("delay", rf"\b(?P<time>{_DAUER}) (?:später|danach)\b"),
        ("delay", r"\bam (?P<date>(?:Monats|Jahres|Quartals|Wochen)(?:ende|anfang))\b"),
        ("delay", r"\b(?:zum|am) (?P<date>(?:Ende|Anfang) (?:des|jedes) \w+)\b"),
        ("delay", r"\bbis (?:zum )?(?P<date>\d{1,2}\. ?(?:[^\W\d_]+|\d{1,2}\.))"),
)  # fmt: skip
_SOME_TIME = re.compile(rf"\b(?:{_LENGTH}|{_DATE})\b|\b{_DAUER}\b", re.IGNORECASE)
_MESSAGES = {
    "answer": "answer", "reply": "reply", "respond": "response", "react": "reaction",
    "pay": "payment", "paid": "payment", "confirm": "confirmation", "answered": "answer",
    "replied": "reply", "responded": "response",
}  # fmt: skip


@cache
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def find_times(text: str, *, german: bool = False) -> tuple[StatedTime, ...]:
    """The times of a sentence, in its order; each with the reading that comes first."""
    times: list[StatedTime] = []
    for kind, pattern in _GERMAN if german else _ENGLISH:
        for match in _compile_pattern(pattern).finditer(text):
            if not any(match.start() < t.span[1] and t.span[0] < match.end() for t in times):
                times.append(_read_time(kind, match, german=german))
    return tuple(sorted(times, key=lambda time: time.span))


def find_durations(text: str) -> tuple[tuple[int, int], ...]:
    """Where a sentence has a length of time or a date, whatever it means there."""
    return tuple(match.span() for match in _SOME_TIME.finditer(text))


def _read_time(kind: TimeKind, match: re.Match[str], *, german: bool) -> StatedTime:
    """The time of a match, in the words that the event has."""
    groups = match.groupdict()
    time = groups.get("time") or ""
    for word in ("another ", "the next ", "weiteren "):
        time = time.removeprefix(word)
    match kind:
        case "deadline":
            return StatedTime(kind, f"after {time}", match.span())
        case "unanswered":
            message = groups.get("message") or _MESSAGES.get((groups.get("verb") or "").lower())
            return StatedTime(
                kind, time, match.span(), message or ("Antwort" if german else "answer")
            )
        case "cycle":
            return StatedTime(kind, time[:1].lower() + time[1:], match.span())
    date = groups.get("date")
    return StatedTime(kind, f"until {date}" if date else time, match.span())
