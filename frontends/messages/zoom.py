"""The chat of a Zoom meeting, as saved by its apps: `10:12:31 From Ann Lee to Everyone: text`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from datetime import datetime, time, timedelta

from orgflow.frontends.messages.whatsapp import small_group

from orgflow_ir.model.message import BrokenMessage, Message, Person, content_id
from orgflow_ir.model.records import NamedTuple

_LINE = re.compile(
    r"\ufeff?(?:(?P<day>\d{4}-\d\d-\d\d)[ T])?(?P<h>\d{1,2}):(?P<m>\d\d):(?P<s>\d\d)[ \t]+"
    r"(?:from|von|de|da)[ \t]+(?P<name>[^:\t]{1,80}?)"
    r"(?:[ \t]+(?:to|an|à|a|para|aan)[ \t]+(?P<to>[^:\t]{1,80}?))?"
    r"[ \t]*(?:\([^():]{3,30}\))?[ \t]*:(?:[ \t]+(?P<text>.*))?",
    re.IGNORECASE,
)
_EVERYONE = frozenset(
    ("everyone", "everybody", "alle", "tous", "tout le monde", "todos", "tutti", "iedereen",
     "everyone in meeting", "everyone (in meeting)")
)  # fmt: skip
_REACTION = re.compile(r"(?:reacted to|removed an? .{1,40} reaction (?:from|to)) ", re.IGNORECASE)
_REPLYING = re.compile(r"replying to \"(?P<start>.*?)(?:\.\.\.|…)?\"\s*", re.IGNORECASE | re.DOTALL)
_DATED = re.compile(
    r"(20\d\d)[-_.](\d\d)[-_.](\d\d)(?:[T_ -]+(\d\d)[-_.:h](\d\d)(?:[-_.:](\d\d))?)?"
)


class _Entry(NamedTuple):
    line: int
    day: str
    clock: timedelta
    name: str
    to: str
    text: str


def is_zoom(head: str) -> bool:
    """Whether the first lines of a text are a chat: the first one names writer and receiver."""
    lines = [line for line in head.splitlines()[:40] if line.strip()]
    return bool(lines) and _LINE.fullmatch(lines[0].rstrip()) is not None


def read_zoom(lines: Iterable[str], file: str) -> Iterator[Message | BrokenMessage]:
    """The messages of a chat, all of one conversation; reactions are omitted.

    The date is that of the file's name or of its folder's (`2024-03-05 10.12.31 Weekly`) if a line
    has none. A clock time before the meeting's beginning counts from that beginning. Without any
    date in a chat, its messages have none.
    """
    entries = [entry for entry in _read_entries(lines) if not _REACTION.match(entry.text)]
    authors = {entry.name: Person(entry.name) for entry in entries}
    begin = _meeting_begin(file)
    written: list[Message] = []
    for entry in entries:
        date = _entry_date(entry, begin)
        body, quoted, answered = entry.text, "", ""
        if match := _REPLYING.match(body):
            body, quoted = body[match.end() :].strip(), match.group().strip()
            start = match["start"]
            answered = next((m.id for m in reversed(written) if m.body.startswith(start)), "")
        if not body:
            yield BrokenMessage(file, entry.line, "has no text")
            continue
        everyone = not entry.to or entry.to.lower() in _EVERYONE
        stamp = date.isoformat() if date is not None else str(entry.clock)
        id_ = content_id("zoom", stamp, entry.name, body)
        message = Message(
            id=id_,
            date=date,
            channel="chat",
            sender=authors[entry.name],
            receivers=small_group(authors, entry.name) if everyone else (Person(entry.to),),
            subject="",
            body=body,
            quoted=quoted,
            thread=written[0].thread if written else id_,
            references=(answered,) if answered else (),
            file=file,
            line=entry.line,
        )
        written.append(message)
        yield message


def _read_entries(lines: Iterable[str]) -> Iterator[_Entry]:
    current: _Entry | None = None
    for number, line in enumerate(lines, 1):
        line = line.rstrip("\r\n")
        match = _LINE.fullmatch(line)
        if match is None:
            if current is not None:
                current = current._replace(text=f"{current.text}\n{line.strip()}")
            continue
        if current is not None:
            yield current._replace(text=current.text.strip())
        hours, minutes, seconds = (int(match[part]) for part in ("h", "m", "s"))
        clock = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        name, to = match["name"].strip(), (match["to"] or "").strip()
        current = _Entry(number, match["day"] or "", clock, name, to, match["text"] or "")
    if current is not None:
        yield current._replace(text=current.text.strip())


def _meeting_begin(file: str) -> datetime | None:
    """When the meeting began; midnight where only its day is known."""
    folder, name = os.path.split(os.path.abspath(file))
    for text in (name, os.path.basename(folder)):
        if match := _DATED.search(text):
            try:
                year, month, day, *clock = (int(part or 0) for part in match.groups())
                return datetime(year, month, day, clock[0], clock[1], clock[2])
            except ValueError:
                continue  # digits that are no date
    return None


def _entry_date(entry: _Entry, begin: datetime | None) -> datetime | None:
    if entry.day:
        try:
            return datetime.fromisoformat(entry.day) + entry.clock
        except ValueError:
            return None
    if begin is None:
        return None
    midnight = datetime.combine(begin.date(), time())
    at = midnight + entry.clock
    return at if at >= begin - timedelta(minutes=15) else begin + entry.clock
