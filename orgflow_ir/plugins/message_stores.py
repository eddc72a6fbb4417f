"""The contract of message stores, which keep, find and forget messages."""

from __future__ import annotations

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline.agent_services import Passage
from orgflow_ir.pipeline.services import ServiceError

if TYPE_CHECKING:
    from types import TracebackType

    from orgflow_ir.model.message import Message, Person
    from orgflow_ir.pipeline.agent_services import Embedder


class StoreError(ServiceError):
    """Something that is not a store, or a store that is damaged, has another version, or cannot be
    reached."""


class Counts(NamedTuple):
    """The content of a store in numbers."""

    messages: int
    people: int
    conversations: int
    vectors: int


class Forgotten(NamedTuple):
    """The changes made by forgetting a person.

    Attributes:
        messages: number of messages that the person wrote, which are deleted.
        changed: number of other messages that named or quoted the person and were changed.
        files: the files that the deleted and changed messages were read from, sorted.
    """

    messages: int
    changed: int
    files: tuple[str, ...]


class Filter(NamedTuple):
    """Selects messages; empty fields do not restrict.

    Attributes:
        person: a key of a person who sent or received it.
        sender: a key of the person who sent it.
        channel: as `email`.
        since: the first moment.
        until: the moment after the last.
        conversation: the id of its first message.
    """

    person: str = ""
    sender: str = ""
    channel: str = ""
    since: datetime | None = None
    until: datetime | None = None
    conversation: str = ""

    def sql(self) -> tuple[str, list[Any]]:
        """The condition on a table `messages` with the columns of both built-in stores, and the
        values for its question marks."""
        parts: list[str] = []
        values: list[Any] = []
        if self.person:
            parts.append(
                "(sender = (SELECT n FROM people WHERE key = ?) OR n IN (SELECT message FROM "
                "receivers WHERE person = (SELECT n FROM people WHERE key = ?)))"
            )
            values += [self.person, self.person]
        if self.sender:
            parts.append("sender = (SELECT n FROM people WHERE key = ?)")
            values.append(self.sender)
        for column, value in (("channel", self.channel), ("conversation", self.conversation)):
            if value:
                parts.append(f"{column} = ?")
                values.append(value)
        if self.since is not None:
            parts.append("at >= ?")
            values.append(seconds_since_epoch(self.since))
        if self.until is not None:
            parts.append("at < ?")
            values.append(seconds_since_epoch(self.until))
        return " AND ".join(parts), values


EVERYTHING = Filter()


def seconds_since_epoch(date: datetime) -> float:
    """Seconds since 1970; a date without a zone counts as UTC."""
    return (date if date.tzinfo is not None else date.replace(tzinfo=UTC)).timestamp()


class MessageStorage(ABC):
    """A store of messages; as a `Store` of `orgflow_ir.pipeline.agent_services`, its documents are
    messages by id. Every method raises `StoreError` if the store cannot be used.

    Attributes:
        left_out: number of messages that `add` skipped because their sender was forgotten, or
            because they are older than the retention date.
    """

    left_out: int = 0

    @abstractmethod
    def close(self) -> None:
        """End the connection."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # -- writing -----------------------------------------------------------------------------

    @abstractmethod
    def add(self, messages: Iterable[Message]) -> int:
        """Add new messages, in transactions of some thousand; returns their number.
        Call `link` once afterwards, before conversations are read."""

    @abstractmethod
    def link(self) -> int:
        """Recompute the conversation of every message; returns the number of conversations."""

    @abstractmethod
    def delete_person(self, key: str) -> Forgotten:
        """Delete all messages of a person, quotes of them by others, and the person as a receiver;
        replace the address and the name in messages of others. From now on, `add` skips messages of
        this person. A person that the store does not know is only replaced in texts."""

    @abstractmethod
    def delete_before(self, date: datetime) -> int:
        """Delete all messages older than a date (retention); returns their number. From now on,
        `add` skips older messages, until an earlier date is given. Messages without a date are
        kept."""

    # -- reading -----------------------------------------------------------------------------

    @abstractmethod
    def counts(self) -> Counts:
        """The content of the store in numbers."""

    @abstractmethod
    def messages(self, wanted: Filter = EVERYTHING) -> Iterator[Message]:
        """The messages that match a filter, oldest first; `thread` is the conversation."""

    @abstractmethod
    def message(self, id_: str) -> Message | None:
        """A message by its id."""

    @abstractmethod
    def people(self) -> Iterator[tuple[Person, int, int]]:
        """Every person with the number of messages sent and received, highest first."""

    @abstractmethod
    def full_text(
        self, query: str, limit: int = 10, wanted: Filter = EVERYTHING
    ) -> list[tuple[str, float]]:
        """Ids of the messages that contain words of the query, best first, with scores."""

    @abstractmethod
    def documents(self) -> Iterator[str]:
        """The ids of all messages, oldest first."""

    # -- vectors -----------------------------------------------------------------------------

    @abstractmethod
    def embed(self, embedder: Embedder, progress: Callable[[int, int], None] | None = None) -> int:
        """Embed the messages that have no vector of this model yet, equal texts once; returns the
        number of texts. After an interruption, the next call continues where it stopped."""

    @abstractmethod
    def embedded(self, embedder: Embedder, texts: Sequence[str]) -> list[Sequence[float]]:
        """The vector of each text, taken from the store if it has been embedded before. Exceptions
        of the embedder propagate; after an interruption, finished vectors are kept."""

    @abstractmethod
    def vectors(self, model: str, ids: Sequence[str]) -> list[Sequence[float] | None]:
        """The vectors of messages, `None` for those that have none."""

    @abstractmethod
    def nearest(
        self, model: str, vector: Sequence[float], limit: int = 10, wanted: Filter = EVERYTHING
    ) -> list[tuple[str, float]]:
        """Ids of the messages with the largest cosine to a vector, each with the cosine."""

    def cached(self, embedder: Embedder) -> Embedder:
        """The embedder, with its vectors kept in the store, so that each text is embedded once."""
        return _Cached(self, embedder)

    # -- the contract of agents --------------------------------------------------------------

    def search(
        self, query: str, *, limit: int = 10, where: Mapping[str, str] | None = None
    ) -> Sequence[Passage]:
        """The messages that contain words of the query; `where` may name person, sender, channel
        and conversation. Raises `ServiceError`."""
        named = dict(where or {})
        wanted = Filter(
            person=named.pop("person", ""),
            sender=named.pop("sender", ""),
            channel=named.pop("channel", ""),
            conversation=named.pop("conversation", ""),
        )
        if named:
            raise ServiceError(f"messages have no field {min(named)}")
        passages = []
        for id_, score in self.full_text(query, limit, wanted):
            message = self.message(id_)
            if message is not None:
                sender = message.sender.label if message.sender is not None else ""
                date = message.date.isoformat() if message.date is not None else ""
                fields = {"sender": sender, "date": date, "channel": message.channel}
                passages.append(Passage(id_, message.text, None, score, fields))
        return passages

    def text(self, document: str) -> str | None:
        """The text of a message; `None` if no message has that id."""
        message = self.message(document)
        return message.text if message is not None else None


class _Cached:
    """An embedder whose vectors a store keeps."""

    def __init__(self, store: MessageStorage, embedder: Embedder) -> None:
        self._store, self._embedder = store, embedder

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def size(self) -> int:
        return self._embedder.size

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return self._store.embedded(self._embedder, texts)


class StoreProvider(ABC):
    """Opens the stores of one kind. `--store NAME://…` selects the provider with that name."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The text before `://` in the location of a store."""

    @abstractmethod
    def open(self, location: str) -> MessageStorage:
        """The existing store. Raises `StoreError`."""

    @abstractmethod
    def create(self, location: str) -> MessageStorage:
        """The store, which is created if it does not exist yet. Raises `StoreError`, `OSError`."""


def provider_name(location: str) -> str:
    """The name of the provider for a location: `folder` if it has no `NAME://`."""
    match = re.match(r"([a-z][a-z0-9+.-]+)://", location)
    return match.group(1) if match else "folder"


def words_of(text: str) -> list[str]:
    """The words of a text in the form that full-text search compares: lower case, without
    accents."""
    text = unicodedata.normalize("NFD", text.lower())
    text = "".join(c for c in text if unicodedata.category(c) != "Mn")
    return re.findall(r"[^\W_]+", text)


__all__ = [
    "EVERYTHING", "Counts", "Filter", "Forgotten", "MessageStorage", "StoreError", "StoreProvider",
    "provider_name", "seconds_since_epoch", "words_of",
]  # fmt: skip
