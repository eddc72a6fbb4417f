"""Data about each message: its people, its rare words, its time, its meaning."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC
from typing import Any

import numpy as np

from orgflow_ir.model.message import Message, Person
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline.agent_services import Embedder

WORD = re.compile(r"[A-Za-z]*\d[\w-]*\d|[^\W\d_]{3,}")
"""Words, and numbers that identify something: an order `L-70418`."""

_NAME = re.compile(r"[^\W\d_]{2,}")
_ROLE = re.compile(r"\(([^()]+)\)\s*$")


class Traits(NamedTuple):
    """The traits of messages, in the order of time.

    Attributes:
        messages: the messages.
        vectors: a row of length 1 for each message: its meaning without names, minus the mean of
            all.
        days: the time at which each was sent.
        people: the keys of the people of each.
        words: the words of each, including names, with subjects without reply prefixes.
        names: every part of a person's name, in lower case.
        mean: the vector subtracted from the meanings.
        lengths: the lengths of the meanings after that, before they are normalised to 1.
    """

    messages: tuple[Message, ...]
    vectors: Any
    days: Any
    people: tuple[frozenset[str], ...]
    words: tuple[frozenset[str], ...]
    names: frozenset[str]
    mean: Any
    lengths: Any

    def meanings(self, places: Sequence[int]) -> Any:
        """The meanings of messages, including their common part."""
        chosen = list(places)
        return self.vectors[chosen] * self.lengths[chosen] + self.mean


def role_of_person(person: Person) -> str:
    """The text in parentheses after a name: `Ann (Sales)`; empty without one."""
    match = _ROLE.search(person.name)
    return match.group(1).strip() if match else ""


def bare_name(person: Person) -> str:
    """The name without a role."""
    return _ROLE.sub("", person.name).strip() or person.label


def texts_to_learn(messages: Sequence[Message]) -> Iterator[str]:
    """The texts from which persons are learned before anything is sent to a language model: the
    messages, and the names of their senders and receivers as headers, where nothing else in a text
    shows that they are names."""
    names = {bare_name(person): None for message in messages for person in message.people}
    yield from (f"From: {name}" for name in names)
    yield from (message.text for message in messages)


def name_parts(messages: Sequence[Message]) -> frozenset[str]:
    """Every part of the name of a sender or receiver, in lower case."""
    people = {person for message in messages for person in message.people}
    return frozenset(
        part.lower() for p in people for part in _NAME.findall(bare_name(p)) if part[0].isupper()
    )


def mask_names(text: str, names: Collection[str]) -> str:
    """A text with `someone` for each part of a name, which leaves its topic without people."""
    return _NAME.sub(
        lambda m: "someone" if m.group()[0].isupper() and m.group().lower() in names else m.group(),
        text,
    )


def traits_of(messages: Sequence[Message], embedder: Embedder) -> Traits:
    """The traits of messages. Raises the exceptions of the embedder."""
    ordered = sorted(messages, key=lambda m: (_sent_seconds(m), m.id))
    names = name_parts(ordered)
    vectors: Any = np.array(
        embedder.embed([mask_names(m.text, names) for m in ordered]), np.float32
    )
    vectors = vectors.reshape(len(ordered), -1)
    mean = vectors.mean(0) if len(ordered) > 2 else np.zeros(vectors.shape[1], np.float32)
    vectors = vectors - mean
    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    vectors /= lengths
    return Traits(
        tuple(ordered),
        vectors,
        np.array([_sent_seconds(m) / 86400 for m in ordered]),
        tuple(frozenset(p.key for p in m.people) for m in ordered),
        tuple(frozenset(w.lower() for w in WORD.findall(m.text)) for m in ordered),
        names,
        mean,
        lengths,
    )


def _sent_seconds(message: Message) -> float:
    date = message.date
    if date is None:
        return 0.0
    return (date if date.tzinfo is not None else date.replace(tzinfo=UTC)).timestamp()
