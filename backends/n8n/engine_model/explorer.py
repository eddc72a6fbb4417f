"""States of a graph, each examined once in a fixed order, with the path to each.

Everything that explores what n8n may do goes through `Explorer`: worlds (`explore_worlds`), worlds
together with the token game (`verify`), the versions of a workflow in parallel (`diff`), and the
runs of one workflow with choices of its own (`lint`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Generic, Literal, TypeVar

S = TypeVar("S", bound=Hashable)
M = TypeVar("M")

Order = Literal["breadth", "depth"]
"""Nearest states first, or each path to its end before the next one."""


class Explorer(Generic[S, M]):
    """Explores a graph of states whose edges the caller computes.

    The caller iterates over `pending` and calls `reach` for each successor of the current state. A
    state is a configuration of the engine model, a world, or a pair with another moving part; equal
    states are one, so loops end.

        explorer = Explorer[Config, Outcome](most=1_000)
        explorer.start(machine.initial("Start"))
        for config in explorer.pending():
            for outcome in machine.outcomes(config):
                explorer.reach(machine.step(config, outcome), outcome)

    Args:
        most: maximum number of examined states.
        order: the order of examination.

    Attributes:
        states: the states in the order of discovery.
        current: the index of the current state.
        looked_at: the number of examined states, including the current one.
        bounded: whether states were omitted because of `most`.
    """

    def __init__(self, most: int, order: Order = "breadth") -> None:
        self.most = most
        self.order = order
        self.states: list[S] = []
        self.current = -1
        self.looked_at = 0
        self.bounded = False
        self._index: dict[S, int] = {}
        self._stack: list[int] = []
        self._examined: set[int] = set()
        self._came: list[tuple[int, M] | None] = []

    def __contains__(self, state: S) -> bool:
        return state in self._index

    def start(self, state: S) -> int:
        """Add an initial state; returns its index."""
        return self._add_state(state, None)

    def reach(self, state: S, move: M) -> int:
        """Add a successor of the current state by `move`; returns its index."""
        # A state found before keeps the way by which it was found first.
        index = self._index.get(state)
        return self._add_state(state, (self.current, move)) if index is None else index

    def pending(self) -> Iterator[S]:
        """The unexamined states in order, including those discovered during the iteration.

        Breadth first, the path to each state is a shortest one.
        """
        return self._walk_nearest() if self.order == "breadth" else self._walk_deepest()

    def _walk_nearest(self) -> Iterator[S]:
        # What is found is appended, so the list itself is the queue.
        while self.looked_at < len(self.states):
            if self.looked_at >= self.most:
                self.bounded = True
                return
            self.current = self.looked_at
            self.looked_at += 1
            yield self.states[self.current]

    def _walk_deepest(self) -> Iterator[S]:
        # Successors of one state are stacked in reverse, so that the first one comes next.
        known = 0
        while True:
            self._stack += range(len(self.states) - 1, known - 1, -1)
            known = len(self.states)
            if not self._stack:
                return
            if self.looked_at >= self.most:
                self.bounded = True
                return
            self.current = self._stack.pop()
            self._examined.add(self.current)
            self.looked_at += 1
            yield self.states[self.current]

    def back(self) -> Iterator[tuple[S, M]]:
        """The path to the current state backwards: the preceding state, and the move from there."""
        # Each state knows only the state before it, so ways are read from their end.
        came = self._came[self.current]
        while came is not None:
            before, move = came
            yield self.states[before], move
            came = self._came[before]

    def way(self, index: int | None = None) -> list[M]:
        """The moves from an initial state to a state, by default the current one."""
        came = self._came[self.current if index is None else index]
        moves: list[M] = []
        while came is not None:
            moves.append(came[1])
            came = self._came[came[0]]
        return moves[::-1]

    def index(self, state: S) -> int:
        """The index of a discovered state. Raises `KeyError`."""
        return self._index[state]

    def is_examined(self, index: int) -> bool:
        """Whether a discovered state has been examined, or is the current one."""
        if self.order == "depth":
            return index in self._examined
        return index < self.looked_at

    def _add_state(self, state: S, came: tuple[int, M] | None) -> int:
        index = self._index.setdefault(state, len(self.states))
        if index == len(self.states):
            self.states.append(state)
            self._came.append(came)
        return index
