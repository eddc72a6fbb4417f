"""Conversations: messages that belong together by references, otherwise by subject and people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgflow_ir.model.message import bare_subject
from orgflow_ir.model.records import NamedTuple

SUBJECT_DAYS = 30
"""A reply without references joins an earlier message of the same subject that is not older than
this."""


class Linked(NamedTuple):
    """The data that determine the conversation of a message."""

    id: str
    references: tuple[str, ...]
    named: str
    subject: str
    at: float
    people: frozenset[int]


class _Groups:
    """Items that are joined to groups (union-find with halved paths)."""

    def __init__(self) -> None:
        self._parents: list[int] = []

    def add_item(self) -> int:
        """The number of a new item, alone in its group."""
        self._parents.append(len(self._parents))
        return len(self._parents) - 1

    def find_root(self, item: int) -> int:
        """The first item of a group."""
        parents = self._parents
        while parents[item] != item:
            parents[item] = parents[parents[item]]
            item = parents[item]
        return item

    def join_items(self, item: int, other: int) -> None:
        """Join the groups of two items under the first of their roots."""
        first, second = sorted((self.find_root(item), self.find_root(other)))
        self._parents[second] = first


class _Subject(NamedTuple):
    """The last message with a subject: its number, its time, and the people of the exchange."""

    item: int
    at: float
    people: frozenset[int]


def link_conversations(messages: Iterable[Linked]) -> Iterator[tuple[str, str]]:
    """The id of each message with the id of its conversation, which is that of its first message.

    Messages are passed in the order of time. Memory grows by some hundred bytes per message.
    """
    groups = _Groups()
    numbers: dict[str, int] = {}  # of messages, also of those that are only referred to
    names: dict[str, int] = {}  # of conversations that the messages name
    subjects: dict[str, _Subject] = {}
    ids: list[str] = []  # of messages by their number; empty if there is no message

    def number_of(known: dict[str, int], key: str) -> int:
        if key not in known:
            known[key] = groups.add_item()
            ids.append("")
        return known[key]

    for message in messages:
        # 1. references and names
        own = number_of(numbers, message.id)
        ids[own] = message.id
        linked = [number_of(numbers, reference) for reference in message.references]
        if message.named:
            linked.append(number_of(names, message.named))
        # 2. without these, the last message of the same subject, if people and time fit
        subject, replied = bare_subject(message.subject)
        if len(subject) > 3:
            last = subjects.get(subject)
            if last is not None and message.at - last.at > SUBJECT_DAYS * 86400:
                last = None
            if replied and not linked and last is not None and last.people & message.people:
                linked.append(last.item)
            people = message.people | last.people if last is not None else message.people
            subjects[subject] = _Subject(own, message.at, people)
        for other in linked:
            groups.join_items(own, other)
    # 3. a conversation has the id of the first message of its group
    firsts: dict[int, str] = {}
    for id_, own in numbers.items():
        if ids[own]:
            yield id_, firsts.setdefault(groups.find_root(own), id_)
