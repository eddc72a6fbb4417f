"""Which parts of a process tree the events of a sequence are in: leaves, and ways of choices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from orgflow_ir.mining.process_tree import (
    EMPTY,
    Choice,
    Leaf,
    Loop,
    Parallel,
    Tree,
    list_choices,
    list_leaves,
)
from orgflow_ir.mining.process_tree import Sequence as PartSequence
from orgflow_ir.model.records import NamedTuple


class LeafVisit(NamedTuple):
    """An event of a leaf: its place, and that of the event after which it was possible, -1 at the
    start."""

    step: int
    place: int
    after: int


class WayVisit(NamedTuple):
    """A choice by its number in the tree, the way that was taken, and the place of the last event
    before it, -1 at the start."""

    choice: int
    way: int
    after: int


class TreeVisits:
    """Finds the visits of sequences in a tree in which each step is one leaf. Events that do not
    fit are in no visit.

    Args:
        tree: the tree; its choices are numbered in the order of `list_choices`.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        # by identity: two ways can be equal, but are nowhere the same object
        self._numbers = {id(choice): n for n, choice in enumerate(list_choices(tree))}
        self._owned: dict[int, frozenset[int]] = {}

    def find_visits(self, steps: Sequence[int]) -> Iterator[LeafVisit | WayVisit]:
        """The visits of a sequence of steps."""
        yield from self._visit(self.tree, list(enumerate(steps)), -1)

    def _collect_steps(self, tree: Tree) -> frozenset[int]:
        if id(tree) not in self._owned:
            self._owned[id(tree)] = frozenset(list_leaves(tree))
        return self._owned[id(tree)]

    def _visit(
        self, tree: Tree, events: list[tuple[int, int]], after: int
    ) -> Iterator[LeafVisit | WayVisit]:
        match tree:
            case Leaf():
                for place, step in events[:1]:
                    yield LeafVisit(step, place, after)
            case PartSequence():
                for part in tree.parts:
                    own = self._select(events, part)
                    yield from self._visit(part, own, after)
                    after = max((place for place, _ in own), default=after)
            case Parallel():
                for part in tree.parts:
                    yield from self._visit(part, self._select(events, part), after)
            case Choice():
                yield from self._visit_choice(tree, events, after)
            case Loop():
                yield from self._visit_loop(tree, events, after)
            case _:
                assert_never(tree)

    def _select(self, events: list[tuple[int, int]], tree: Tree) -> list[tuple[int, int]]:
        own = self._collect_steps(tree)
        return [event for event in events if event[1] in own]

    def _visit_choice(
        self, tree: Choice, events: list[tuple[int, int]], after: int
    ) -> Iterator[LeafVisit | WayVisit]:
        """The way with most of the events; without events, the empty one."""
        groups = [self._select(events, way) for way in tree.options]
        most = max(range(len(groups)), key=lambda n: len(groups[n]))
        if not groups[most]:
            if EMPTY not in tree.options:
                return
            most = tree.options.index(EMPTY)
        yield WayVisit(self._numbers[id(tree)], most, after)
        yield from self._visit(tree.options[most], groups[most], after)

    def _visit_loop(
        self, tree: Loop, events: list[tuple[int, int]], after: int
    ) -> Iterator[LeafVisit | WayVisit]:
        """The body and the repetition in turn; a body that begins again is a new one."""
        body = self._collect_steps(tree.body)
        piece: list[tuple[int, int]] = []
        for event in [*events, None]:
            if piece and (
                event is None
                or (event[1] in body) != (piece[-1][1] in body)
                or any(event[1] == step for _, step in piece)
            ):
                part = tree.body if piece[-1][1] in body else tree.again
                yield from self._visit(part, piece, after)
                after = piece[-1][0]
                piece = []
            if event is not None:
                piece.append(event)
