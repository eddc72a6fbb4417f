"""States of a workflow's runs, each looked at once, breadth first, with the way to each."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

S = TypeVar("S", bound=Hashable)
M = TypeVar("M")


class Explorer(Generic[S, M]):
    """Explores a graph of states whose edges the caller finds.

    The caller iterates over `pending` and calls `reach` for each state that the current one leads
    to. A state is a configuration of the engine model, or a pair of it with something that moves
    beside it; equal states are one, so loops end.

        explorer = Explorer[Config, Outcome](most=1_000)
        explorer.start(machine.initial("Start"))
        for config in explorer.pending():
            for outcome in machine.outcomes(config):
                explorer.reach(machine.step(config, outcome), outcome)

    Args:
        most: states looked at, at most.

    Attributes:
        states: those found so far, in the order in which they were found.
        current: the index of the state that is looked at.
        bounded: whether states were left because of `most`.
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
        """How many states were looked at, the current one included."""
        return self.current + 1

    def start(self, state: S) -> int:
        """Add a state in which runs begin; its index."""
        return self._add(state, None)

    def reach(self, state: S, move: M) -> int:
        """Add a state that the current one leads to by `move`; its index."""
        # A state found before keeps the way by which it was found first, a shortest one.
        found = self._index.get(state)
        return self._add(state, (self.current, move)) if found is None else found

    def pending(self) -> Iterator[S]:
        """The states not looked at yet, those found on the way included, in order."""
        # Breadth first: what is found is appended, so the list itself is the queue.
        while self.looked_at < len(self.states):
            if self.looked_at >= self.most:
                self.bounded = True
                return
            self.current += 1
            yield self.states[self.current]

    def back(self) -> Iterator[tuple[S, M]]:
        """The way to the current state backwards: the state before, and the move from there."""
        # Each state knows only the state before it, so ways are read from their end.
        came = self._came[self.current]
        while came is not None:
            before, move = came
            yield self.states[before], move
            came = self._came[before]

    def way(self, index: int | None = None) -> list[M]:
        """The moves from a start to a state: to the current one where no index is given."""
        came = self._came[self.current if index is None else index]
        moves: list[M] = []
        while came is not None:
            moves.append(came[1])
            came = self._came[came[0]]
        return moves[::-1]

    def index(self, state: S) -> int:
        """The index of a state that was found. Raises `KeyError`."""
        return self._index[state]

    def _add(self, state: S, came: tuple[int, M] | None) -> int:
        found = self._index.setdefault(state, len(self.states))
        if found == len(self.states):
            self.states.append(state)
            self._came.append(came)
        return found
