"""One message of mail, chat or a call: what readers give, stores keep, and discovery works on."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Person:
    """Who wrote or received a message: a name, an address, or both."""

    name: str
    address: str = ""

    @property
    def key(self) -> str:
        """What tells two people apart: the address where there is one, else the name."""
        return self.address.lower() or " ".join(self.name.split()).lower()

    @property
    def label(self) -> str:
        """How a page or a model names the person."""
        return self.name or self.address


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that came with a message; its content is not kept."""

    name: str
    type: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class Message:
    """A message as its author wrote it.

    Attributes:
        id: its Message-ID, or a hash of its content where the format has none.
        date: when it was sent, with the zone that it states; without one where it states none;
            `None` where it has no date.
        channel: `email`, `chat`, `call`, or what a table calls it.
        sender: who wrote it; `None` where the format does not tell.
        receivers: everybody else it went to.
        subject: of a mail; the name of the channel or the group of a chat.
        body: the new text, without quoted replies and without the signature.
        quoted: text repeated from earlier messages.
        signature: what stands under the text of every mail of this author.
        thread: what the format itself names as the conversation; empty where it does not.
        references: ids of earlier messages that it answers, oldest first.
        attachments: the files that came with it.
        file: where it was read.
        line: the line of the file where it begins, counted from 1; 0 where there is none.
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
        """What was written: the subject, then the body."""
        return f"{self.subject}\n\n{self.body}" if self.subject else self.body


@dataclass(frozen=True, slots=True)
class BrokenMessage:
    """A message that could not be read, and why, as the end of a sentence."""

    file: str
    line: int
    reason: str


def content_id(*parts: str) -> str:
    """An id for a message whose format has none: equal content has equal ids."""
    text = "\x1f".join(parts)
    return "msg_" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


_REPLY = re.compile(
    r"^\s*(?:(?:re|aw|antw|sv|vs|rv|ref|res|odp|r|fw|fwd|wg|tr|i|enc|vl|vb|doorst|回复|答复|转发|返信)"
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
    """The subject without marks of replies and lists, folded, and whether it marks a reply. What
    programs write where there is none is none."""
    replied = False
    while match := _REPLY.match(subject):
        replied = replied or not match.group().lstrip().startswith("[")
        subject = subject[match.end() :]
    bare = " ".join(subject.lower().split())
    return "" if _NO_SUBJECT.fullmatch(bare) else bare, replied
