"""States of a workflow's runs, each examined once, breadth first, with the path to each."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

S = TypeVar("S", bound=Hashable)
M = TypeVar("M")


class Explorer(Generic[S, M]):
    """Explores a graph of states whose edges the caller computes.

    The caller iterates over `pending` and calls `reach` for each successor of the current state. A
    state is a configuration of the engine model, or a pair with another moving part; equal states
    are one, so loops end.

        explorer = Explorer[Config, Outcome](most=1_000)
        explorer.start(machine.initial("Start"))
        for config in explorer.pending():
            for outcome in machine.outcomes(config):
                explorer.reach(machine.step(config, outcome), outcome)

    Args:
        most: maximum number of examined states.

    Attributes:
        states: the states in the order of discovery.
        current: the index of the current state.
        bounded: whether states were omitted because of `most`.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.states: list[S] = []
        self.current = -1
        self.bounded = False
        self._index: dict[S, int] = {}
        self._came: list[tuple[int, M] | None] = []

    def __contains__(self, state: S) -> bool:
        return state in self._index

    @property
    def looked_at(self) -> int:
        """The number of examined states, including the current one."""
        return self.current + 1

    def start(self, state: S) -> int:
        """Add an initial state; returns its index."""
        return self._add(state, None)

    def reach(self, state: S, move: M) -> int:
        """Add a successor of the current state by `move`; returns its index."""
        # A state found before keeps the way by which it was found first, a shortest one.
        found = self._index.get(state)
        return self._add(state, (self.current, move)) if found is None else found

    def pending(self) -> Iterator[S]:
        """The unexamined states in order, including those discovered during the iteration."""
        # Breadth first: what is found is appended, so the list itself is the queue.
        while self.looked_at < len(self.states):
            if self.looked_at >= self.most:
                self.bounded = True
                return
            self.current += 1
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

    def _add(self, state: S, came: tuple[int, M] | None) -> int:
        found = self._index.setdefault(state, len(self.states))
        if found == len(self.states):
            self.states.append(state)
            self._came.append(came)
        return found
