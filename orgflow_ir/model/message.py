"""One message of mail, chat or a call, as produced by readers, kept by stores, and used by
discovery."""

from __future__ import annotations

import hashlib
import re
from datetime import datetime

from orgflow_ir.model.records import dataclass


@dataclass(frozen=True, slots=True)
class Person:
    """Who wrote or received a message: a name, an address, or both."""

    name: str
    address: str = ""

    @property
    def key(self) -> str:
        """The key that distinguishes people: the address if there is one, otherwise the name."""
        return self.address.lower() or " ".join(self.name.split()).lower()

    @property
    def label(self) -> str:
        """The person's name on a page or in a model."""
        return self.name or self.address


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file attached to a message; its content is not kept."""

    name: str
    type: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class Message:
    """A message as its author wrote it.

    Attributes:
        id: its Message-ID, or a hash of its content if the format has none.
        date: when it was sent, with the time zone if it states one; `None` if it has no date.
        channel: `email`, `chat`, `call`, or the name in a table.
        sender: the author; `None` if the format does not state one.
        receivers: everyone else who received it.
        subject: the subject of a mail, or the name of the channel or group of a chat.
        body: the new text, without quoted replies and without the signature.
        quoted: text repeated from earlier messages.
        signature: the text at the end of every mail of this author.
        thread: the conversation that the format itself names; empty if it names none.
        references: ids of the earlier messages that it answers, oldest first.
        attachments: the attached files.
        file: the file that it was read from.
        line: the line of the file where it begins, counted from 1; 0 if unknown.
    """

    id: str
    date: datetime | None
    channel: str
    sender: Person | None
    receivers: tuple[Person, ...] = ()
    subject: str = ""
    body: str = ""
    quoted: str = ""
    signature: str = ""
    thread: str = ""
    references: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    file: str = ""
    line: int = 0

    @property
    def people(self) -> tuple[Person, ...]:
        """The sender, then the receivers."""
        return (self.sender, *self.receivers) if self.sender is not None else self.receivers

    @property
    def text(self) -> str:
        """The text: the subject, then the body."""
        return f"{self.subject}\n\n{self.body}" if self.subject else self.body


@dataclass(frozen=True, slots=True)
class BrokenMessage:
    """A message that could not be read, with the reason as the end of a sentence.

    Attributes:
        file: the file that it is in.
        line: the line where it begins; 0 if unknown.
        reason: why it could not be read.
        kept: only a part of it could not be read; the rest is a `Message`.
    """

    file: str
    line: int
    reason: str
    kept: bool = False


def content_id(*parts: str) -> str:
    """An id for a message whose format has none; messages with equal content have equal ids."""
    text = "\x1f".join(parts)
    return "msg_" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


_REPLY = re.compile(
    r"^\s*(?:(?:re|aw|antw|antwort|sv|vs|rv|r[ée]f\.?|res|odp|r|fw|fwd|wg|tr|i|enc|vl|vb|doorst|回复|答复|转发|返信)"
    r"(?:\[\d+\]|\(\d+\))?\s*[:：]|\[[^\[\]]{1,30}\])\s*",
    re.IGNORECASE,
)


_NO_SUBJECT = re.compile(
    r"[(<\[]?(?:none|no subject|kein betreff|ohne betreff|sans objet|aucun objet|sin asunto|"
    r"nessun oggetto|geen onderwerp|sem assunto|bez tematu|inget ämne|без темы)[)>\]]?",
    re.IGNORECASE,
)
"""What programs write where a message has no subject."""


def bare_subject(subject: str) -> tuple[str, bool]:
    """The subject without prefixes of replies and lists, case-folded, and whether it marks a reply.
    Placeholders that programs write for a missing subject count as none."""
    replied = False
    while match := _REPLY.match(subject):
        replied = replied or not match.group().lstrip().startswith("[")
        subject = subject[match.end() :]
    bare = " ".join(subject.lower().split())
    return "" if _NO_SUBJECT.fullmatch(bare) else bare, replied
