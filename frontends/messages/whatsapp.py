"""WhatsApp's text export, as its apps write it in several languages and date formats."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from orgflow_ir.model.message import Attachment, BrokenMessage, Message, Person, content_id

_LINE = re.compile(
    # [03.03.26, 10:12:45] Ann: text       (iOS)        3/3/26, 10:12 PM - Ann: text    (Android)
    r"[\u200e\u200f\ufeff]*\[?(?P<a>\d{1,4})[./-] ?(?P<b>\d{1,2})[./-] ?(?P<c>\d{2,4})\.?,?"
    r"[\s\u202f]+"
    r"(?:(?:um|à|at|om|às|a las|alle)[\s\u202f]+)?"
    r"(?P<h>\d{1,2})[:.](?P<m>\d{2})(?:[:.](?P<s>\d{2}))?[\s\u202f\xa0]*"
    r"(?P<half>[AaPp][.\s\u202f\xa0]*[Mm]\.?|(?:vorm|nachm)\.)?(?:\s?Uhr)?(?:\]|[\s\u202f]+[-–])[\s\u202f]+(?P<rest>.*)"
)
_ATTACHED = re.compile(
    r"[\u200e]*(?:<[^<>:]{3,20}:\s*(?P<ios>[^<>]+\.\w{2,4})>"
    r"|(?P<android>\S+\.\w{2,4}) \([^()]{5,30}\))\s*"
)


_DELETED = re.compile(
    r"(?:this message was deleted|you deleted this message|diese nachricht wurde gelöscht|"
    r"du hast diese nachricht gelöscht|ce message a été supprimé|vous avez supprimé ce message|"
    r"(?:se )?eliminó este mensaje|eliminaste este mensaje|questo messaggio è stato eliminato|"
    r"esta mensagem foi apagada|mensagem apagada|dit bericht (?:is|werd) verwijderd)\.?",
    re.IGNORECASE,
)
_EDITED = re.compile(
    r"\s*<[^<>]*(?:was edited|bearbeitet|modifié|se editó|modificato|editada|bewerkt)[^<>]*>$",
    re.IGNORECASE,
)
_OMITTED = re.compile(
    r"<?(?:media|image|video|audio|sticker|gif|document|contact card|voice message) omitted>?"
    r"|<?(?:medien|bild|video|audio|sticker|gif|dokument|kontaktkarte) "
    r"(?:ausgeschlossen|weggelassen)>?"
    r"|<?(?:médias omis|image absente|vidéo absente|audio omis|document omis)>?"
    r"|<?(?:multimedia omitido|imagen omitida|video omitido|audio omitido)>?"
    r"|<?(?:media omessi|immagine omessa|arquivo de mídia oculto|mídia oculta|imagem ocultada)>?"
    r"|<?(?:(?:media|afbeelding|video|audio) weggelaten)>?",
    re.IGNORECASE,
)


_ENCRYPTED = re.compile(
    r"end-to-end|ende-zu-ende|bout en bout|extremo a extremo|ponta a ponta", re.IGNORECASE
)
"""Of the notice that messages are encrypted, which has the other's name in a chat of two."""


class _Raw(NamedTuple):
    line: int
    numbers: tuple[int, int, int]
    widths: int
    time: tuple[int, int, int]
    half: str
    rest: str


def is_whatsapp(head: str) -> bool:
    """Whether the first lines of a text are an export: most of those with a date have an author."""
    lines = [line for line in head.splitlines()[:40] if line.strip()]
    found = [m for m in map(_LINE.match, lines) if m is not None]
    return len(found) * 3 >= len(lines) > 0 and any(": " in m["rest"] for m in found)


def read_whatsapp(
    lines: Callable[[], Iterable[str]], file: str, group: str
) -> Iterator[Message | BrokenMessage]:
    """The messages of an export.

    The order of day and month is that which no line of the file contradicts; where both fit, the
    month is first if the clock has AM and PM, else the day. The file is read three times, and never
    held as a whole.

    Args:
        lines: gives the lines of the file from the start, each time it is called.
        file: its name.
        group: what the export calls the chat.
    """
    orders = _order(lines())
    authors: dict[str, Person] = {}
    for raw, _ in _entries(lines()):
        name, text = _author(raw.rest)
        if name and not _by_the_app(text):
            authors.setdefault(name, Person(name))
    for raw, more in _entries(lines()):
        name, text = _author(raw.rest)
        if name not in authors or (_by_the_app(text) and _ENCRYPTED.search(text)):
            continue  # what the app writes: "Ann joined", "messages are encrypted"
        date = _date(raw, orders)
        if date is None:
            yield BrokenMessage(file, raw.line, "has an invalid date")
            continue
        body = "\n".join([text, *more]).replace("\u200e", "").strip()
        if _DELETED.fullmatch(body):
            yield BrokenMessage(file, raw.line, "was deleted by its author")
            continue
        body = _EDITED.sub("", body)
        attachments = []
        if _OMITTED.fullmatch(body):
            attachments.append(Attachment(body.strip("<>")))
            body = ""
        elif found := _ATTACHED.match(body):
            attachments.append(Attachment((found["ios"] or found["android"]).strip()))
            body = body[found.end() :].strip()
        if not body and not attachments:
            yield BrokenMessage(file, raw.line, "has no text")
            continue
        yield Message(
            id=content_id(group, date.isoformat(), name, body, *(a.name for a in attachments)),
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


def _by_the_app(text: str) -> bool:
    """Whether the app of iOS marks a text as its own, as it does in the group's name. It also
    marks what stands for a file, a deleted message, a poll."""
    own = text.strip()
    return own.startswith("\u200e") and not (
        _ATTACHED.match(own)
        or _OMITTED.fullmatch(own.strip("\u200e"))
        or _DELETED.fullmatch(own.strip("\u200e"))
    )


def small_group(authors: dict[str, Person], name: str) -> tuple[Person, ...]:
    """Who a message goes to: everybody who writes in a small group."""
    if len(authors) > 8:
        return ()
    return tuple(person for other, person in authors.items() if other != name)


def _entries(lines: Iterable[str]) -> Iterator[tuple[_Raw, list[str]]]:
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
            (match["half"] or "").lower(),
            match["rest"].rstrip("\r\n"),
        )
    if current is not None:
        yield current, more


def _author(rest: str) -> tuple[str, str]:
    name, colon, text = rest.partition(": ")
    if not colon:
        name, colon, text = rest.partition(":\u200e")
    if not colon and rest.endswith(":"):
        name, colon = rest[:-1], ":"
    if not colon or len(name) > 60:
        return "", rest
    return name.strip("\u200e\u202a\u202c\u202f\xa0~ "), text


def _order(lines: Iterable[str]) -> str:
    """`ymd`, `dmy` or `mdy`."""
    possible = {"dmy", "mdy"}
    twelve = False
    for raw in (entry for entry, _ in _entries(lines)):
        if raw.widths == 4:
            return "ymd"
        twelve = twelve or raw.half in ("am", "pm")
        if raw.numbers[0] > 12:
            possible.discard("mdy")
        if raw.numbers[1] > 12:
            possible.discard("dmy")
    if len(possible) == 1:
        return possible.pop()
    return "mdy" if twelve else "dmy"


def _date(raw: _Raw, order: str) -> datetime | None:
    parts = dict(zip(order, raw.numbers, strict=True))
    year = parts["y"] + 2000 if parts["y"] < 100 else parts["y"]
    hour = raw.time[0]
    if raw.half.startswith(("p", "n")) and hour < 12:
        hour += 12
    elif raw.half.startswith(("a", "v")) and hour == 12:
        hour = 0
    try:
        return datetime(year, parts["m"], parts["d"], hour, raw.time[1], raw.time[2])
    except ValueError:
        return None
