"""WhatsApp's text export, in the languages and date formats of its apps."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from orgflow_ir.model.message import Attachment, BrokenMessage, Message, Person, content_id
from orgflow_ir.model.records import NamedTuple

_LINE = re.compile(
    # [03.03.26, 10:12:45] Ann: text       (iOS)        3/3/26, 10:12 PM - Ann: text    (Android)
    r"[\u200e\u200f\ufeff]*\[?(?P<a>\d{1,4})[./-] ?(?P<b>\d{1,2})[./-] ?(?P<c>\d{1,4})\.?,?"
    r"[\s\u202f]+"
    r"(?:(?:um|à|at|om|às|a las|alle|kl\.?|klo)[\s\u202f]+)?"
    r"(?P<h>\d{1,2})[:.](?P<m>\d{2})(?:[:.](?P<s>\d{2}))?[\s\u202f\xa0]*"
    r"(?P<half>[AaPp][.\s\u202f\xa0]*[Mm]\.?|(?:vorm|nachm)\.)?(?:\s?Uhr)?(?:\]|[\s\u202f]+[-–])[\s\u202f]+(?P<rest>.*)"
)
_ATTACHED = re.compile(
    r"[\u200e]*(?:<[^<>:]{3,20}:\s*(?P<ios>[^<>]+\.\w{2,4})>"
    r"|(?P<android>\S+\.\w{2,4}) \([^()]{5,30}\))\s*"
)


_DELETED = re.compile(
    r"(?:this message was deleted(?: by admin .{1,60})?|you deleted this message(?: as admin)?|"
    r"diese nachricht wurde(?: von admin .{1,60})? gelöscht|du hast diese nachricht gelöscht|"
    r"ce message a été supprimé|vous avez supprimé ce message|"
    r"(?:se )?eliminó este mensaje|eliminaste este mensaje|questo messaggio è stato eliminato|"
    r"hai eliminato questo messaggio|esta mensagem foi apagada|mensagem apagada|"
    r"você apagou esta mensagem|dit bericht (?:is|werd) verwijderd|"
    r"(?:je hebt|u hebt|u heeft) dit bericht verwijderd)\.?",
    re.IGNORECASE,
)
_EDITED = re.compile(
    r"\s*<[^<>]*(?:was edited|bearbeitet|modifié|se editó|modificato|editada|bewerkt)[^<>]*>$",
    re.IGNORECASE,
)
_LEFT_OUT = (
    r"(?:omitted|ausgeschlossen|weggelassen|absente?s?|omise?s?|omitid[oa]s?|omess[oaie]|"
    r"non inclus[oaie]|ocult[oa]s?|ocultad[oa]s?|weggelaten)"
)
_OMITTED = re.compile(rf"(?:\w+\s){{1,4}}{_LEFT_OUT}", re.IGNORECASE)
"""Replacements for a file, between `<>` (Android) or after a mark of the app (iOS)."""
_DOCUMENT = re.compile(
    rf"(?P<name>[^\u200e]+\.\w{{2,5}})\s•\s\u200e.*\u200e(?:\w+\s){{1,4}}{_LEFT_OUT}", re.IGNORECASE
)
"""`offer.pdf • 2 pages document omitted`"""


_ENCRYPTED = re.compile(
    r"end-to-end|ende-zu-ende|bout en bout|extremo a extremo|ponta a ponta", re.IGNORECASE
)
"""Text of the notice that messages are encrypted, which has the other's name in a chat of two."""


class _Raw(NamedTuple):
    line: int
    numbers: tuple[int, int, int]
    widths: int
    time: tuple[int, int, int]
    half: str
    rest: str


def is_whatsapp(head: str) -> bool:
    """Whether the first lines of a text are an export: most lines with a date have an author."""
    lines = [line for line in head.splitlines()[:40] if line.strip()]
    matches = [m for m in map(_LINE.match, lines) if m is not None]
    return len(matches) * 3 >= len(lines) > 0 and any(": " in m["rest"] for m in matches)


def read_whatsapp(
    lines: Callable[[], Iterable[str]], file: str, group: str
) -> Iterator[Message | BrokenMessage]:
    """The messages of an export.

    The order of day and month is the one that no line of the file contradicts; if both are
    possible, the one in which the days are ascending, otherwise the month is first if the clock has
    `AM` and `PM`, as in America (`am` is British or Indian). The file is read three times and never
    kept in memory as a whole.

    Args:
        lines: returns the lines of the file from the start, each time it is called.
        file: its name.
        group: the name of the chat in the export.
    """
    orders = _date_order(lines())
    authors: dict[str, Person] = {}
    for raw, more in _read_entries(lines()):
        name, text = _split_author(raw.rest)
        if name and not _by_the_app(text, more):
            authors.setdefault(name, Person(name))
    minute: datetime | None = None
    again: Counter[str] = Counter()  # what is written several times in a minute
    for raw, more in _read_entries(lines()):
        name, text = _split_author(raw.rest)
        if name not in authors or (_by_the_app(text, more) and _ENCRYPTED.search(text)):
            if any(line.strip() for line in more):  # perhaps a line that somebody copied
                yield BrokenMessage(file, raw.line, "has no author")
            continue  # what the app writes: "Ann joined", "messages are encrypted"
        date = _read_date(raw, orders)
        if date is None:
            yield BrokenMessage(file, raw.line, "has an invalid date")
            continue
        media, remaining = _split_media(text.strip())
        body = _MARKS.sub("", "\n".join([remaining, *more])).strip()
        if _DELETED.fullmatch(body):
            yield BrokenMessage(file, raw.line, "was deleted by its author")
            continue
        body = _EDITED.sub("", body)
        attachments = [Attachment(media)] if media else []
        if body in ("", "null") and not attachments:  # `null`: Android does not export this kind
            yield BrokenMessage(file, raw.line, "has no text")
            continue
        parts = [group, date.isoformat(), name, body, *(a.name for a in attachments)]
        if date != minute:
            minute, again = date, Counter()
        same = content_id(*parts)
        again[same] += 1
        yield Message(
            id=same if again[same] == 1 else content_id(*parts, str(again[same])),
            date=date,
            channel="chat",
            sender=authors[name],
            receivers=small_group(authors, name),
            subject="",
            body=body,
            attachments=tuple(attachments),
            file=file,
            line=raw.line,
        )  # fmt: skip


_MARKS = re.compile("[\u200e\u2068\u2069]")
"""Marks of text direction, and those around the name of a mentioned person."""


def _split_media(line: str) -> tuple[str, str]:
    """The name of the file that a message begins with, or what stands for one, and the rest of
    the line; two empty texts around a message without one."""
    if match := _DOCUMENT.fullmatch(line):
        return match["name"].strip(), ""
    bare = line.strip("\u200e")
    if _OMITTED.fullmatch(bare.strip("<>")) and (bare[:1] == "<" or bare != line):
        return bare.strip("<>"), ""
    if match := _ATTACHED.match(line):
        return (match["ios"] or match["android"]).strip(), line[match.end() :].strip()
    return "", line


def _by_the_app(text: str, more: list[str]) -> bool:
    """Whether the app of iOS marks a text as its own, as it does in the group's name. It also
    marks what stands for a file, a deleted message, a place, and a poll, which has more lines."""
    own = text.strip()
    return own.startswith("\u200e") and not (
        _split_media(own)[0]
        or _DELETED.fullmatch(own.strip("\u200e"))
        or _PLACE.fullmatch(own)
        or any(line.strip() for line in more)
    )


_PLACE = re.compile(r"\u200e[\w ]{3,40}: https?://\S+")


def small_group(authors: dict[str, Person], name: str) -> tuple[Person, ...]:
    """The receivers of a message: all writers of a small group."""
    if len(authors) > 8:
        return ()
    return tuple(person for other, person in authors.items() if other != name)


def _read_entries(lines: Iterable[str]) -> Iterator[tuple[_Raw, list[str]]]:
    current: _Raw | None = None
    more: list[str] = []
    for number, line in enumerate(lines, 1):
        match = _LINE.match(line)
        if match is None:
            if current is not None:
                more.append(line.rstrip("\r\n"))
            continue
        if current is not None:
            yield current, more
        more = []
        current = _Raw(
            number,
            (int(match["a"]), int(match["b"]), int(match["c"])),
            len(match["a"]),
            (int(match["h"]), int(match["m"]), int(match["s"] or 0)),
            match["half"] or "",
            match["rest"].rstrip("\r\n"),
        )
    if current is not None:
        yield current, more


def _split_author(rest: str) -> tuple[str, str]:
    name, colon, text = rest.partition(": ")
    if not colon:
        name, colon, text = rest.partition(":\u200e")
    if not colon and rest.endswith(":"):
        name, colon = rest[:-1], ":"
    sentence = len(name) > 60 and (". " in name or len(name) > 120)
    if not colon or sentence or not _quotes_are_closed(name):
        return "", rest  # the app writes: Ann changed the name to "Ops: nights"
    return name.strip("\u200e\u202a\u202c\u202f\xa0~ "), text


def _quotes_are_closed(name: str) -> bool:
    """Whether a text has no quotation marks, or as in `Bob "Bobby" Smith` both of each pair."""
    german = "„" in name
    opening, closing = ("„", "“") if german else ("“", "”")
    return (
        name.count('"') % 2 == 0
        and name.count(opening) == name.count(closing)
        and name.count("«") == name.count("»")
    )


def _date_order(lines: Iterable[str]) -> str:
    """`ymd`, `dmy` or `mdy`."""
    possible = {"dmy", "mdy"}
    american = False
    last = dict.fromkeys(possible, (0, 0, 0))
    back = dict.fromkeys(possible, 0)
    for raw, _ in _read_entries(lines):
        if raw.widths == 4:
            return "ymd"
        american = american or raw.half in ("AM", "PM")
        first, second, year = raw.numbers
        if first > 12:
            possible.discard("mdy")
        if second > 12:
            possible.discard("dmy")
        for order, day in (("dmy", (year, second, first)), ("mdy", (year, first, second))):
            back[order] += day < last[order]
            last[order] = day
    if len(possible) == 1:
        return possible.pop()
    if back["dmy"] != back["mdy"]:
        return min(back, key=back.__getitem__)
    return "mdy" if american else "dmy"


def _read_date(raw: _Raw, order: str) -> datetime | None:
    parts = dict(zip(order, raw.numbers, strict=True))
    year = parts["y"] + 2000 if parts["y"] < 100 else parts["y"]
    hour = raw.time[0]
    half = raw.half.lower()
    if half.startswith(("p", "n")) and hour < 12:
        hour += 12
    elif half.startswith(("a", "v")) and hour == 12:
        hour = 0
    try:
        return datetime(year, parts["m"], parts["d"], hour, raw.time[1], raw.time[2])
    except ValueError:
        return None
