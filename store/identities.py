"""Messages that share an id though they are different: rows that two tables number from 1, mails of
a program that gives all of them the same Message-ID."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from orgflow.store.columns import content_hash, storable_text

from orgflow_ir.model.message import Message
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.plugins.message_stores import seconds_since_epoch


class Identity(NamedTuple):
    """What tells a message from another one with the same id.

    Attributes:
        sender: the key of the sender; empty if there is none.
        at: when it was sent, in seconds; `None` if it has no date.
        hash: of its text.
    """

    sender: str
    at: float | None
    hash: bytes

    def differs(self, other: Identity) -> bool:
        """Whether it is a different message: the time differs, and also the sender or the text.
        An edited message and a copy from a mailing list are the same message. Without a time, both
        sender and text have to differ."""
        senders = bool(self.sender and other.sender) and self.sender != other.sender
        texts = self.hash != other.hash
        if self.at is None or other.at is None:
            return senders and texts
        return abs(self.at - other.at) >= 1 and (senders or texts)


def identity_of(message: Message) -> Identity:
    """The identity of a message that a store is given."""
    return Identity(
        storable_text(message.sender.key) if message.sender is not None else "",
        seconds_since_epoch(message.date) if message.date is not None else None,
        content_hash(message.text),
    )


def _other_id(id_: str, identity: Identity) -> str:
    """The id of a message whose own id another one has."""
    return f"{id_}#{identity.hash.hex()[:12]}"


def ids_of(batch: Iterable[Message]) -> list[str]:
    """The ids under which a store may have these messages."""
    ids = []
    for message in batch:
        id_ = storable_text(message.id)
        ids += [id_, _other_id(id_, identity_of(message))]
    return ids


class Renamed:
    """Gives a message another id where a different message has its id; answers in the same file
    refer to it by the new one. Reading a file again gives the same ids, also where the other
    message was deleted meanwhile."""

    def __init__(self) -> None:
        self._new: dict[tuple[str, str], str] = {}

    def unique(self, batch: Iterable[Message], known: Mapping[str, Identity]) -> dict[str, Message]:
        """The messages by their ids, in order; of equal ones the first. Those that the store has
        are among them.

        Args:
            batch: what a store is given.
            known: what the store has of `ids_of` the batch.
        """
        taken = dict(known)
        unique: dict[str, Message] = {}
        for message in batch:
            identity = identity_of(message)
            id_ = storable_text(message.id)
            other_id = _other_id(id_, identity)
            if other_id in known or taken.setdefault(id_, identity).differs(identity):
                self._new[message.file, id_] = other_id
                message, id_ = replace(message, id=other_id), other_id
            if self._new:
                references = tuple(self._new.get((message.file, r), r) for r in message.references)
                message = replace(message, references=references)
            unique.setdefault(id_, message)
        return unique
