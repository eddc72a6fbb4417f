"""How orgflow's stores write a message into columns and read it back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from orgflow_ir.model.message import Attachment, Message, Person

READ = (
    "n, id, date, channel, sender, subject, body, quoted, signature, conversation, refs, "
    "attachments, file, line"
)
"""The columns that `message_of` takes, in order."""


def content_hash(text: str) -> bytes:
    """The shared key of equal texts."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()


def embedded_text(subject: str, body: str) -> str:
    """The text of a message that is embedded: `Message.text`."""
    return f"{subject}\n\n{body}" if subject else body


def storable_text(text: str) -> str:
    """Text without lone surrogates and NULs, which databases cannot store."""
    if "\x00" in text:
        text = text.replace("\x00", "")
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def lists_of(message: Message) -> tuple[str, str]:
    """References and attachments, as JSON."""
    references = json.dumps(message.references) if message.references else "[]"
    attachments = [[a.name, a.type, a.size] for a in message.attachments]
    return references, json.dumps(attachments) if attachments else "[]"


def message_of(row: Sequence[Any], sender: Person | None, receivers: Iterable[Person]) -> Message:
    """The message of a row with the columns `READ`."""
    _, id_, date, channel, _, subject, body, quoted, signature, conversation, *rest = row
    refs, attachments, file, line = rest
    return Message(
        id_, datetime.fromisoformat(date) if date else None, channel, sender, tuple(receivers),
        subject, body, quoted, signature, conversation or "", tuple(json.loads(refs)),
        tuple(Attachment(*a) for a in json.loads(attachments)), file, line,
    )  # fmt: skip
