"""The parts of a draft before it has flows: steps, choices, parallel branches, ways back."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from orgflow.agents.language.stems import content_words

from orgflow_ir.model.records import dataclass


@dataclass
class Step:
    """A step, with its actor and the number of its sentence."""

    name: str
    actor: str = ""
    sentence: int = 0


@dataclass
class Back:
    """The process goes back to a step that is done again."""

    to: Step


@dataclass
class Block:
    """Branches (label, items): `X` if one of them is taken, `A` if all are.

    Attributes:
        sentence: the number of the sentence that states it.
        open: whether later sentences may add branches.
    """

    kind: Literal["X", "A"]
    branches: list[tuple[str, list[Item]]] = field(default_factory=list)
    sentence: int = 0
    open: bool = False


Item = Step | Block | Back | None
"""`None` is the end of the process."""


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
    """The number of the sentence of an item of a row, which is a step or a block."""
    assert isinstance(item, Step | Block)
    return item.sentence


def is_same_step(step: Step, other: Step) -> bool:
    """Whether the name of a step has all content words of another one's."""
    return set(content_words(step.name)) >= set(content_words(other.name))


def is_of_step(noun: str, name: str) -> bool:
    """Whether a noun is a word of a step, or made of its verb: `screening` of `Screen bids`."""
    words = [word.lower() for word in name.split()]
    verb = words[0].removesuffix("e") if words else ""
    return noun in words or (len(verb) > 3 and noun.startswith(verb))
