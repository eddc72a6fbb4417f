"""Process trees: the block structure of a process, which is sound by construction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from orgflow_ir.model.records import dataclass


@dataclass(frozen=True)
class Leaf:
    """A step."""

    step: int


@dataclass(frozen=True)
class Sequence:
    """Parts one after the other; without parts, nothing happens."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True)
class Choice:
    """One of several ways; an empty sequence is the way on which nothing happens.

    Attributes:
        options: the ways.
        cases: the cases that took each branch.
    """

    options: tuple[Tree, ...]
    cases: tuple[frozenset[int], ...]


@dataclass(frozen=True)
class Parallel:
    """Parts at the same time."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True)
class Loop:
    """A body, and what is done before the body is repeated."""

    body: Tree
    again: Tree


Tree = Leaf | Sequence | Choice | Parallel | Loop

EMPTY = Sequence(())
"""Nothing."""


def list_leaves(tree: Tree) -> Iterator[int]:
    """The steps of a tree from left to right."""
    match tree:
        case Leaf():
            yield tree.step
        case Sequence() | Parallel():
            for part in tree.parts:
                yield from list_leaves(part)
        case Choice():
            for way in tree.options:
                yield from list_leaves(way)
        case Loop():
            yield from list_leaves(tree.body)
            yield from list_leaves(tree.again)
        case _:
            assert_never(tree)


def list_choices(tree: Tree) -> Iterator[Choice]:
    """The choices of a tree, outer ones first."""
    match tree:
        case Leaf():
            return
        case Choice():
            yield tree
            inner = tree.options
        case Sequence() | Parallel():
            inner = tree.parts
        case Loop():
            inner = (tree.body, tree.again)
        case _:
            assert_never(tree)
    for part in inner:
        yield from list_choices(part)


def join_parts(parts: tuple[Tree, ...]) -> Tree:
    """Parts as one sequence, without sequences directly in it; a single part is itself."""
    flat: list[Tree] = []
    for part in parts:
        flat += part.parts if isinstance(part, Sequence) else (part,)
    return flat[0] if len(flat) == 1 else Sequence(tuple(flat))


def join_ways(options: tuple[Tree, ...], cases: tuple[frozenset[int], ...]) -> Tree:
    """Ways as one choice: a choice directly in it becomes part of it, and it has one empty way at
    most, the last one. A single way is itself."""
    flat: list[tuple[Tree, frozenset[int]]] = []
    for way, own in zip(options, cases, strict=True):
        if isinstance(way, Choice):
            flat += zip(way.options, way.cases, strict=True)
        else:
            flat.append((way, own))
    empty = [own for way, own in flat if way == EMPTY]
    kept = [(way, own) for way, own in flat if way != EMPTY]
    if empty:
        kept.append((EMPTY, frozenset[int]().union(*empty)))
    if len(kept) == 1:
        return kept[0][0]
    return Choice(tuple(way for way, _ in kept), tuple(own for _, own in kept))
