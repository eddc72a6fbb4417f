"""The parts of a draft before it has flows: steps with their time limits, waiting, choices,
parallel branches, ways back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Literal

from orgflow.agents.language.stems import content_words
from orgflow.agents.language.time_limits import StatedTime

from orgflow_ir.model.records import dataclass


@dataclass
class Step:
    """A step, with its actor and the number of its sentence.

    Attributes:
        limits: its deadlines, as in `after 14 days`.
        before: the time that the process waits for before it, as in `3 days` or `every Monday`.
        waits: the time, if the step only waits.
        choices: the names of its alternatives, if one of them is done.
    """

    name: str
    actor: str = ""
    sentence: int = 0
    limits: list[str] = field(default_factory=list)
    before: str = ""
    waits: str = ""
    choices: tuple[str, ...] = ()


@dataclass(eq=False)
class Wait:
    """The process waits for a time, as in `3 days` or `until 1 May`.

    Attributes:
        receives: whether it waits for a message instead, as in `answer from assessor`.
    """

    text: str
    sentence: int = 0
    receives: bool = False


@dataclass
class Back:
    """The process goes back to a step that is done again."""

    to: Step


@dataclass
class Block:
    """Branches (label, items): `X` if one of them is taken, `A` if all are, `W` if the one whose
    first item, a `Wait`, happens first is.

    Attributes:
        sentence: the number of the sentence that states it.
        open: whether later sentences may add branches.
    """

    kind: Literal["X", "A", "W"]
    branches: list[tuple[str, list[Item]]] = field(default_factory=list)
    sentence: int = 0
    open: bool = False


Item = Step | Wait | Block | Back | None
"""`None` is the end of the process."""


PlacedSteps = list[tuple[int, Step]]
"""Steps, each with its position in the sentence, in characters."""


_WEEKDAY = re.compile(r"(?:every|each|jeden) (\w+day|\w+tag|Mittwoch)s?\b.*", re.IGNORECASE)


def set_time(time: StatedTime, placed: PlacedSteps, *, first: bool) -> bool:
    """Give a time of a sentence to the step that it belongs to: a deadline and a time at the end to
    the step before it, another time to the step behind it, and all to the step that waits. A
    repetition starts the process, or is the next such day. Returns whether an event has the time.

    Args:
        first: whether no step is before the sentence.
    """
    if time.kind == "cycle" and not first:
        day = _WEEKDAY.fullmatch(time.text)
        if day is None:
            return False
        time = time._replace(text=f"until {day[1]}")
    if not placed:
        return False
    begin = time.span[0]
    before = [step for at, step in placed if at < begin]
    behind = [step for at, step in placed if at >= begin]
    if before and before[-1].name.startswith(("Wait", "Warten")) and not before[-1].waits:
        before[-1].waits = time.text.removeprefix("after ")
        return True
    if time.kind == "length":
        return False
    step = before[-1] if before and (time.kind == "deadline" or not behind) else None
    step = step or (behind or before)[0]
    if time.kind == "deadline":
        step.limits.append(time.text)
    elif step.before:
        return False
    else:
        step.before = time.text
    return True


def find_open_choice(items: list[Item]) -> Block | None:
    """The choice that takes further branches: the last item, or beside something else in it."""
    last = items[-1] if items else None
    if isinstance(last, Block) and last.kind == "A" and last.branches[-1][1]:
        last = last.branches[-1][1][-1]
    return last if isinstance(last, Block) and last.kind == "X" and last.open else None


def put_choice_beside(items: list[Item]) -> None:
    """Put the last choice in parallel to the steps before it, if neither leaves."""
    block = items.pop()
    assert isinstance(block, Block)
    leaves = any(step is None or isinstance(step, Back) for _, b in block.branches for step in b)
    if items and not leaves and not last_sentence_leaves(items):
        beside = take_last_sentence(items)
        block = Block("A", [("", beside), ("", [block])], block.sentence)
    items.append(block)


def first_of_last_sentence(items: list[Item]) -> Step | None:
    """The first step of the last sentence, to which its repetition goes back; `None` where that is
    a choice."""
    first = None
    number = _sentence_of(items[-1]) if items else 0
    for item in reversed(items):
        if not isinstance(item, Step) or item.sentence != number:
            break
        first = item
    return first


def take_last_sentence(items: list[Item]) -> list[Item]:
    """Take the items of the last sentence from the end: something else happens beside these."""
    number = _sentence_of(items[-1])
    taken: list[Item] = []
    while items and _sentence_of(items[-1]) == number:
        taken.insert(0, items.pop())
    return taken


def last_sentence_leaves(items: list[Item]) -> bool:
    """Whether a choice of the last sentence ends the process or goes back: nothing can happen
    beside that."""
    number = _sentence_of(items[-1])
    return any(
        isinstance(step, Back) or step is None
        for item in items
        if isinstance(item, Block) and item.sentence == number
        for _, steps in item.branches
        for step in steps
    )


def _sentence_of(item: Item) -> int:
    """The number of the sentence of an item of a row that does not leave."""
    assert isinstance(item, Step | Wait | Block)
    return item.sentence


def walk_items(items: Iterable[Item]) -> Iterator[Item]:
    """All items of a draft, also those in branches."""
    for item in items:
        yield item
        if isinstance(item, Block):
            for _, branch in item.branches:
                yield from walk_items(branch)


def is_same_step(step: Step, other: Step) -> bool:
    """Whether the name of a step has all content words of another one's."""
    return set(content_words(step.name)) >= set(content_words(other.name))


def is_of_step(noun: str, name: str) -> bool:
    """Whether a noun is a word of a step, or made of its verb: `screening` of `Screen bids`."""
    words = [word.lower() for word in name.split()]
    verb = words[0].removesuffix("e") if words else ""
    return noun in words or (len(verb) > 3 and noun.startswith(verb))
