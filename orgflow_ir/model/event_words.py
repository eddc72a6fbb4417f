"""What events wait for, as words: `receive payment from customer`, `after 3 days`, `every Monday`.

Each kind of line has a reader and a printer here. A printer returns a text only if the reader
returns the same trigger for it; otherwise it uses the exact form, such as `timer cycle noon`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from orgflow_ir.model.records import NamedTuple

TriggerKind = Literal["none", "message", "timer", "error"]
TimerKind = Literal["", "duration", "date", "cycle"]


class Trigger(NamedTuple):
    """The trigger of an event, or its result.

    Args:
        kind: its kind.
        text: the message, the time, the name of the error, or the label of a plain event.
        who: who sends or receives the message.
        timer: the kind of a time.
        label: its label where no other is given.
    """

    kind: TriggerKind
    text: str = ""
    who: str = ""
    timer: TimerKind = ""
    label: str = ""


_RESERVED = re.compile(r"[|\x00-\x1f\x7f]")


def plain_label(text: str) -> str:
    """A label in a form that can be part of a line: bars, which separate fields, become slashes."""
    return " ".join(_RESERVED.sub(lambda m: "/" if m[0] == "|" else " ", text).split())


_FORMAL = re.compile(
    r"R\d*/\S+|P[\dT]\S*|[$#]\{.*|=.*|@\w+|[\d*?/,LW#-]+(?: [\w*?/,#-]+){4,6}", re.DOTALL
)
"""Cycles in a formal notation, which `every` may precede."""

_ADVERBS = "hourly|daily|weekly|monthly|yearly|stündlich|täglich|wöchentlich|monatlich|jährlich"
_CYCLE = re.compile(
    rf"(?:every|each|jeden|jede|jedes|alle)\s+(?P<rest>.+)|(?:{_ADVERBS})\b.*", re.IGNORECASE
)
_TIMER = re.compile(r"timer(?:\s+(?P<kind>duration|date|cycle)\b)?\s*(?P<text>.*)", re.I)
_DATED = re.compile(r"(?:at|on|am|um)\s+.*\d.*", re.I)


def split_message(text: str, way: str) -> tuple[str, str]:
    """The message and the other participant, if the text names one: the last `from` or `to`
    decides (`invoice to be paid to customer`), quotes keep a name together."""
    if text.endswith('"') and text.count('"') > 1:
        before, _, name = text[:-1].rpartition('"')
        head = before.rstrip()
        if head == way or head.endswith(f" {way}"):
            return head[: -len(way)].rstrip(), name
    words = text.split()
    for place in range(len(words) - 2, -1, -1):
        if words[place].casefold() == way:
            return " ".join(words[:place]), " ".join(words[place + 1 :])
    return " ".join(words), ""


def join_message(what: str, who: str, way: str) -> str:
    """The inverse of `split_message`; empty if no text has this meaning."""
    for text in (f"{what} {way} {who}" if who else what, f'{what} {way} "{who}"'):
        text = text.strip()
        if split_message(text, way) == (what, who):
            return text
    return ""


def _read_message(text: str, way: str) -> Trigger:
    what, who = split_message(text, way)
    return Trigger("message", what, who, label=what)


def _read_cycle(text: str) -> Trigger | None:
    match = _CYCLE.fullmatch(text)
    if match is None:
        return None
    rest = match["rest"] or ""
    return Trigger("timer", rest if _FORMAL.fullmatch(rest) else text, timer="cycle", label=text)


def _read_exact(text: str) -> Trigger | None:
    """`timer cycle noon`."""
    match = _TIMER.fullmatch(text)
    if match is None:
        return None
    timers: dict[str, TimerKind] = {"duration": "duration", "date": "date", "cycle": "cycle"}
    kind = timers.get((match["kind"] or "").lower(), "")
    return Trigger("timer", match["text"], timer=kind, label=match["text"])


def read_event(text: str) -> Trigger | None:
    """The trigger behind `on:`; `None` for any other text."""
    word, _, rest = text.partition(" ")
    rest = rest.strip()
    match word.casefold():
        case "receive":
            return _read_message(rest, "from")
        case "error":
            return Trigger("error", rest, label=rest)
        case "after":
            return Trigger("timer", rest, timer="duration" if rest else "", label=text)
        case "until":
            return Trigger("timer", rest, timer="date", label=text)
        case _:
            return _read_cycle(text) or _read_exact(text)


def read_start(text: str) -> Trigger:
    """The trigger behind `start:`: a plain start has any other text as its label."""
    word, _, rest = text.partition(" ")
    if word.casefold() == "receive":
        return _read_message(rest.strip(), "from")
    dated = Trigger("timer", text, timer="date", label=text) if _DATED.fullmatch(text) else None
    return _read_cycle(text) or _read_exact(text) or dated or Trigger("none", text, label=text)


def read_wait(text: str) -> Trigger:
    """The time behind `wait:`."""
    word, _, rest = text.partition(" ")
    if word.casefold() == "until" and rest.strip():
        return Trigger("timer", rest.strip(), timer="date", label=text)
    length = Trigger("timer", text, timer="duration" if text else "", label=text)
    return _read_cycle(text) or _read_exact(text) or length


def read_receive(text: str) -> Trigger:
    """The message behind `receive:`."""
    return _read_message(text, "from")


def read_send(text: str) -> Trigger:
    """The message behind `send:`."""
    return _read_message(text, "to")


def read_end(text: str) -> Trigger:
    """The result behind `end:`: an error, or a label."""
    word, _, rest = text.partition(" ")
    if word.casefold() == "error":
        return Trigger("error", rest.strip(), label=rest.strip())
    return Trigger("none", text, label=text)


Reader = Callable[[str], Trigger | None]

_FORMS: dict[Reader, tuple[str, ...]] = {
    read_event: ("receive {message}", "error {text}", "after {text}", "until {text}", "{text}",
                 "every {text}"),
    read_start: ("receive {message}", "{text}", "every {text}"),
    read_wait: ("{text}", "until {text}", "every {text}"),
    read_receive: ("{message}",),
    read_send: ("{sent}",),
    read_end: ("error {text}", "{text}"),
}  # fmt: skip
"""The forms of each kind of line, the usual ones first."""


class PrintedTrigger(NamedTuple):
    """The text of a trigger and the label to add, if it is not the one that the text implies."""

    text: str
    named: str | None = None


def print_trigger(trigger: Trigger, label: str, reader: Reader) -> PrintedTrigger:
    """The text that a reader reads as this trigger. `label` is the label of the event; an event
    without one takes that of the text."""
    text = plain_label(trigger.text)
    parts = {
        "text": text,
        "message": join_message(text, plain_label(trigger.who), "from"),
        "sent": join_message(text, plain_label(trigger.who), "to"),
    }
    exact = f"timer {trigger.timer} {{text}}".replace("  ", " ")
    for form in (*_FORMS[reader], exact):
        printed = form.format(**parts).strip()
        back = reader(printed)
        if back is not None and _is_same(back, trigger, text):
            wanted = plain_label(label)
            return PrintedTrigger(printed, None if wanted in ("", back.label) else wanted)
    return PrintedTrigger("receive" if reader is read_event else "", plain_label(label or text))


def _is_same(back: Trigger, trigger: Trigger, text: str) -> bool:
    wanted = (trigger.kind, text, plain_label(trigger.who), trigger.timer)
    return (back.kind, back.text, back.who, back.timer) == wanted
