"""Conversations: messages that belong together by references, otherwise by subject and people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from orgflow_ir.model.message import bare_subject

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


def conversations(messages: Iterable[Linked]) -> Iterator[tuple[str, str]]:
    """The id of each message with the id of its conversation, which is that of its first message.

    Messages are passed in the order of time. Memory grows by some hundred bytes per message.
    """
    parent: list[int] = []
    places: dict[str, int] = {}
    names: dict[str, int] = {}
    subjects: dict[str, tuple[int, float, frozenset[int]]] = {}
    ids: list[str] = []

    def place(known: dict[str, int], key: str) -> int:
        found = known.get(key)
        if found is None:
            found = known[key] = len(parent)
            parent.append(found)
            ids.append("")
        return found

    def root(item: int) -> int:
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    for message in messages:
        own = place(places, message.id)
        ids[own] = message.id
        linked = [place(places, reference) for reference in message.references]
        if message.named:
            linked.append(place(names, message.named))
        subject, replied = bare_subject(message.subject)
        if len(subject) > 3:
            last = subjects.get(subject)
            near = last is not None and message.at - last[1] <= SUBJECT_DAYS * 86400
            if replied and not linked and last is not None and near and last[2] & message.people:
                linked.append(last[0])
            people = message.people | last[2] if last is not None and near else message.people
            subjects[subject] = (own, message.at, people)
        for other in linked:
            first, second = sorted((root(own), root(other)))
            parent[second] = first
    firsts: dict[int, str] = {}
    for id_, own in places.items():
        if ids[own]:
            yield id_, firsts.setdefault(root(own), id_)
