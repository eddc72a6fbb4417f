"""Traces of a forgotten person in messages of others, and their removal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from orgflow.store.columns import content_hash, embedded_text, storable_text

from orgflow_ir.model.message import Message, Person
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.plugins.message_stores import seconds_since_epoch

REMOVED = "[removed]"
"""The replacement of a name or an address."""

_LINE = 25
"""Minimum number of characters by which a line is recognised as a repetition from another
message."""

_BETWEEN = r"(?:[\s.,_-]{1,3}|\s\w\.?\s)"
"""Between the parts of a name: `Doe, Jane`, `jane.doe`, `Jane M. Doe`."""


class Held(NamedTuple):
    """The stored columns of a message.

    Attributes:
        people: the numbers of its sender and its receivers.
        conversation: the result of `link`.
    """

    n: int
    id: str
    subject: str
    body: str
    quoted: str
    signature: str
    named: str
    refs: str
    attachments: str
    file: str
    people: frozenset[int]
    conversation: str


HELD = "n, id, subject, body, quoted, signature, named, refs, attachments, file"
"""The columns of `Held` that are columns of messages as well."""


class Change(NamedTuple):
    """New texts of a message, in the order of `CHANGED`, and its number at the end."""

    id: str
    subject: str
    body: str
    quoted: str
    signature: str
    named: str
    refs: str
    attachments: str
    file: str
    hash: bytes
    n: int


CHANGED = Change._fields[:-1]
"""The columns that are rewritten."""


class Known(NamedTuple):
    """A person in a store."""

    n: int
    name: str
    address: str


class Traces:
    """Finds a person in texts of others and removes the person.

    The address and the full name are replaced everywhere, in any order and with a middle name. A
    single part of the name (`Eve`) is replaced in messages to the person and in conversations of
    the person, unless another person of the message has the same part. Quotes are removed if the
    person wrote in the conversation or is named in them, as are lines of a body that repeat a line
    of the person.

    Args:
        person: the person to forget.
        own: the messages that the person wrote.
        near: the conversations with messages to or from the person.
        people: all names, by number.
    """

    def __init__(
        self, person: Known, own: Iterable[Held], near: Iterable[str], people: dict[int, str]
    ) -> None:
        own = list(own)
        self._n, self._near, self._people = person.n, frozenset(near) - {""}, people
        self._ids = frozenset(held.id for held in own)
        self._wrote = frozenset(held.conversation for held in own) - {""}
        self._lines = frozenset(
            plain for held in own for line in held.body.split("\n")
            if len(plain := _plain_line(line)) >= _LINE
        )  # fmt: skip
        self._full = _person_pattern(person)
        self._parts = frozenset(_name_parts(person.name))

    def change(self, held: Held) -> Change | None:
        """The message without the person; `None` if nothing has to change."""
        clean = self._cleaner(held)
        quoted = held.quoted
        if quoted and (
            held.conversation in self._wrote
            or not self._ids.isdisjoint(json.loads(held.refs))
            or self._full.search(quoted)
            or any(_plain_line(line) in self._lines for line in quoted.split("\n"))
        ):
            quoted = ""
        body = held.body
        near = self._n in held.people or held.conversation in self._near
        if self._lines:
            named = near or self._full.search(body) is not None
            kept = (
                line for line in body.split("\n")
                if _plain_line(line) not in self._lines
                or not (named or line.lstrip().startswith(">"))
            )  # fmt: skip
            body = "\n".join(kept)
        id_ = clean(held.id)
        subject, body = clean(held.subject), clean(body)
        change = Change(
            id_ if id_ == held.id else "msg_" + content_hash(held.id).hex(),
            subject, body, clean(quoted), clean(held.signature), clean(held.named),
            clean.json(held.refs), clean.json(held.attachments), clean(held.file),
            content_hash(embedded_text(subject, body)), held.n,
        )  # fmt: skip
        return None if change[:9] == held[1:10] else change

    def names(self, names: dict[int, str]) -> Iterator[tuple[str, int]]:
        """Names of others that contain the person, as `Jane Doe (via a list)`, without it. An equal
        name of another person is kept, and the caller reports it."""
        for number, name in names.items():
            if number != self._n and not self._full.fullmatch(name) and self._full.search(name):
                yield self._full.sub(REMOVED, name), number

    def _cleaner(self, held: Held) -> _Cleaner:
        near = self._n in held.people or held.conversation in self._near
        parts: frozenset[str] = self._parts if near else frozenset()
        for number in held.people - {self._n} if parts else ():
            parts -= frozenset(_name_parts(self._people.get(number, "")))
        return _Cleaner(self._full, parts)


class _Cleaner(NamedTuple):
    full: re.Pattern[str]
    parts: frozenset[str]

    def __call__(self, text: str) -> str:
        text = self.full.sub(REMOVED, text)
        if any(part in text for part in self.parts):
            some = "|".join(map(re.escape, sorted(self.parts)))
            text = re.sub(rf"(?<![^\W_])(?:{some})(?![^\W_])", REMOVED, text)
        return text

    def json(self, text: str) -> str:
        """The strings in a JSON list."""
        return json.dumps(self._inside(json.loads(text))) if text != "[]" else text

    def _inside(self, value: object) -> object:
        if isinstance(value, list):
            return [self._inside(item) for item in value]
        return self(value) if isinstance(value, str) else value


def remove_person(person: Person, text: str) -> str:
    """A text without the address and the full name of a person."""
    return _person_pattern(Known(0, person.name, person.address)).sub(REMOVED, text)


def unknown_person(key: str) -> Known:
    """A person that a store does not know, or no longer knows, by an address or a name."""
    return Known(-1, "", key) if "@" in key else Known(-1, key, "")


def select_admitted(
    messages: Iterable[Message], forgotten: frozenset[bytes], since: float | None
) -> list[Message]:
    """The messages that a store accepts: none of a forgotten person, whose name is removed from the
    receivers, and none older than `since`, in seconds since 1970."""
    kept = []
    for message in messages:
        if (
            since is not None
            and message.date is not None
            and seconds_since_epoch(message.date) < since
        ):
            continue
        if forgotten:
            sender = message.sender
            if message_hash(message.id) in forgotten:
                continue
            if sender is not None and person_hash(storable_text(sender.key)) in forgotten:
                continue
            receivers = tuple(
                p for p in message.receivers if person_hash(storable_text(p.key)) not in forgotten
            )
            if len(receivers) < len(message.receivers):
                message = replace(message, receivers=receivers)
        kept.append(message)
    return kept


def person_hash(key: str) -> bytes:
    """The key under which a store records that a person was forgotten."""
    return content_hash(f"person {key}")


def message_hash(id_: str) -> bytes:
    """The key under which a store records the id of a message, if the id named a person."""
    return content_hash(f"message {id_}")


def _name_parts(name: str) -> Iterator[str]:
    """The parts of a name that stand for it: of two letters or more, not all lower case."""
    for part in re.findall(r"[^\W\d_]+", bare_name(name)):
        if len(part) > 1 and not part.islower():
            yield part


def bare_name(name: str) -> str:
    """A name without its suffix: `Jane Doe (Sales)`, `Jane Doe | Sales`."""
    return " ".join(re.sub(r"[(\[][^()\[\]]*[)\]]|\|.*", " ", name).split()) or name


def _plain_line(line: str) -> str:
    """A line without the marks of quotes, for comparison."""
    return " ".join(line.lstrip("> \t").split())


def _person_pattern(person: Known) -> re.Pattern[str]:
    """Finds the address and the full name in a text; a name of one part is no full name."""
    patterns = []
    local = person.address.partition("@")[0]
    if person.address:
        address = re.escape(person.address)
        named = r"(?:\"[^\"\n]{1,80}\"|(?-i:[A-ZÀ-Þ])[\w.'-]*(?:[ \t](?-i:[A-ZÀ-Þ])[\w.'-]*){0,3})"
        patterns.append(rf"(?:{named}[ \t]*<)?(?<![\w.+-]){address}(?![\w-]|\.\w)>?")
    for name in dict.fromkeys((person.name, bare_name(person.name), local)):
        parts = re.findall(r"[^\W\d_]+", name)
        if len(parts) > 1:
            for begin in range(len(parts)):
                order = [*parts[begin:], *parts[:begin]]
                text = _BETWEEN.join(map(re.escape, order))
                patterns.append(rf"(?<![^\W_]){text}(?![^\W_])")
    return re.compile("|".join(patterns) or r"(?!)", re.IGNORECASE)


__all__ = [
    "CHANGED", "HELD", "REMOVED", "Change", "Held", "Known", "Traces", "bare_name",
    "message_hash", "person_hash", "remove_person", "select_admitted", "unknown_person",
]  # fmt: skip
