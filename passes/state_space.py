"""Bounded exploration of the states of a small graph of X / A / O nodes.

A state is the set of edges that hold a token, as bits. A state in which an edge would get a second
token is recorded as unsafe and not followed. Graphs without cycles and without inclusive joins are
followed in one order only (lowest node first): a run that sends two tokens over an edge then has
both on it at once, since nothing above the edge depends on what lies below it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from orgflow_ir.control_net import SINK, SOURCE, Kind
from orgflow_ir.graph import components

MOST_WAYS = 12
"""An inclusive split with more ways out has too many choices to try."""

Move = tuple[int, int, int]
"""Node, bits of the edges it takes tokens from, bits of those it puts tokens on."""


@dataclass(slots=True, eq=False, repr=False)
class Exploration:
    """What was found. `reached[state]` is how a state was first reached: (state before, move).

    `unsafe[node]` is the first (state, move, edge) with a second token; `stuck` are states in
    which nothing can move though tokens are left; `endless` one set of states a livelock (states
    from which neither an end, a halt nor an unsafe state can be reached). `complete` is false
    when the budget was hit.
    """

    reached: dict[int, tuple[int, Move] | None] = field(default_factory=dict)
    unsafe: dict[int, tuple[int, Move, int]] = field(default_factory=dict)
    stuck: list[int] = field(default_factory=list)
    endless: list[list[int]] = field(default_factory=list)
    complete: bool = True

    def moves_to(self, state: int) -> list[Move]:
        """The run that first reached `state`."""
        moves: list[Move] = []
        step = self.reached[state]
        while step is not None:
            moves.append(step[1])
            step = self.reached[step[0]]
        return moves[::-1]


class StateSpace:
    """A graph given by node kinds and edges as (src, dst); `never` are joins that cannot fire,
    `terminating` edges whose token ends everything, `by_event` edges through a boundary event."""

    def __init__(
        self,
        kinds: Sequence[Kind],
        edges: Sequence[tuple[int, int]],
        never: frozenset[int] = frozenset(),
        terminating: frozenset[int] = frozenset(),
        by_event: frozenset[int] = frozenset(),
    ) -> None:
        self.kinds = kinds
        self.edges = edges
        self.never = never
        self.ins: dict[int, int] = {}
        self.outs: dict[int, int] = {}
        self.terminating = sum(1 << e for e in terminating)
        for number, (src, dst) in enumerate(edges):
            self.outs[src] = self.outs.get(src, 0) | 1 << number
            self.ins[dst] = self.ins.get(dst, 0) | 1 << number
        self.sink = self.ins.get(SINK, 0)
        self.order, self.cyclic = self._ranked()
        waiting = [n for n in self.order if kinds[n] == "O" and self.ins[n].bit_count() > 1]
        self.one_order = not self.cyclic and not waiting
        self.path_rule = {
            n: (self._paths(n, frozenset()), self._paths(n, by_event)) for n in waiting
        }
        self.too_wide = [
            n for n in self.order if kinds[n] == "O" and self.outs[n].bit_count() > MOST_WAYS
        ]

    def _ranked(self) -> tuple[list[int], bool]:
        follow: dict[str, list[str]] = {}
        for src, dst in self.edges:
            if dst != SINK:
                follow.setdefault(str(src), []).append(str(dst))
                follow.setdefault(str(dst), [])
        number = components(follow)
        nodes = sorted((n for n in map(int, follow) if n != SOURCE), key=lambda n: -number[str(n)])
        loops = any(src == dst for src, dst in self.edges)
        return nodes, loops or len(set(number.values())) < len(number)

    def _paths(self, join: int, closed: frozenset[int]) -> dict[int, int]:
        """For each edge the ways into `join` that a token on it may come to, neither through the
        join itself nor along a `closed` edge."""
        into = [e for e, (_, dst) in enumerate(self.edges) if dst == join]
        behind: dict[int, list[int]] = {}
        for number, (_, dst) in enumerate(self.edges):
            behind.setdefault(dst, []).append(number)
        seen = dict.fromkeys(range(len(self.edges)), 0)
        for way in into:
            stack = [way]
            while stack:
                edge = stack.pop()
                if seen[edge] & 1 << way:
                    continue
                seen[edge] |= 1 << way
                src = self.edges[edge][0]
                if src != join and edge not in closed:
                    stack.extend(behind.get(src, ()))
        return seen

    def _may_join(self, join: int, state: int) -> bool:
        """The path rule of inclusive joins (BPMN 2.0.2, 13.4.3). What may come through a boundary
        event is waited for; that a token could leave by one is no reason not to wait for it."""
        marked = self.ins[join] & state
        if not marked:
            return False
        empty = self.ins[join] & ~state
        paths, excuses = self.path_rule[join]
        rest = state & ~marked
        while rest:
            bit = rest & -rest
            rest ^= bit
            edge = bit.bit_length() - 1
            if paths[edge] & empty and not excuses[edge] & marked:
                return False
        return True

    def moves(self, state: int) -> Iterator[Move]:
        """Every move in `state`; where one order is enough, those of the lowest node only."""
        for node in self.order:
            found = False
            for move in self._moves_of(node, state):
                found = True
                yield move
            if found and self.one_order:
                return

    def _moves_of(self, node: int, state: int) -> Iterator[Move]:
        ins = self.ins[node]
        held = ins & state
        if not held or node in self.never:
            return
        outs = self.outs.get(node, 0)
        kind = self.kinds[node]
        if kind == "A":
            if held == ins:
                yield node, ins, outs
        elif kind == "X":
            while held:
                taken = held & -held
                held ^= taken
                rest = outs
                while rest:
                    way = rest & -rest
                    rest ^= way
                    yield node, taken, way
        elif node not in self.path_rule or self._may_join(node, state):
            chosen = outs
            while chosen:
                yield node, held, chosen
                chosen = (chosen - 1) & outs

    def starts(self) -> Iterator[Move]:
        """What the source may do."""
        outs = self.outs.get(SOURCE, 0)
        if self.kinds[SOURCE] == "A":
            yield SOURCE, 0, outs
            return
        while outs:
            way = outs & -outs
            outs ^= way
            yield SOURCE, 0, way

    def explore(self, limit: int) -> Exploration:
        """Breadth first, at most `limit` states."""
        found = Exploration()
        if self.too_wide:
            found.complete = False
            return found
        after: dict[int, list[int]] = {}
        good: set[int] = set()
        queue: deque[int] = deque()
        found.reached[0] = None
        for move in self.starts():
            if move[2] not in found.reached:
                found.reached[move[2]] = (0, move)
                queue.append(move[2])
        while queue:
            state = queue.popleft()
            following = after[state] = []
            moved = False
            for move in self.moves(state):
                moved = True
                node, taken, put = move
                left = state & ~taken
                if left & put:
                    edge = (left & put).bit_length() - 1
                    found.unsafe.setdefault(node, (state, move, edge))
                    good.add(state)
                    continue
                new = left | put
                following.append(new)
                if new not in found.reached:
                    if len(found.reached) >= limit:
                        found.complete = False
                        return found
                    found.reached[new] = (state, move)
                    queue.append(new)
            if state & self.terminating or not state & ~self.sink:
                good.add(state)
            elif not moved:
                found.stuck.append(state)
        found.endless = _livelocks(after, good, set(found.stuck))
        return found

    def waiting(self, state: int) -> list[int]:
        """Joins that hold a token in `state` and cannot go on."""
        return [
            n
            for n in self.order
            if self.ins[n] & state and self.kinds[n] != "X" and not any(self._moves_of(n, state))
        ]


def _livelocks(after: dict[int, list[int]], good: set[int], stuck: set[int]) -> list[list[int]]:
    """Bottom components of states from which no good state and no halt can be reached."""
    before: dict[int, list[int]] = {}
    for state, following in after.items():
        for new in following:
            before.setdefault(new, []).append(state)
    seen = good | stuck
    stack = list(seen)
    while stack:
        for state in before.get(stack.pop(), ()):
            if state not in seen:
                seen.add(state)
                stack.append(state)
    lost = {s: following for s, following in after.items() if s not in seen}
    if not lost:
        return []
    number = components({str(s): [str(t) for t in following] for s, following in lost.items()})
    groups: dict[int, list[int]] = {}
    for state in lost:
        groups.setdefault(number[str(state)], []).append(state)
    return [
        group
        for c, group in sorted(groups.items(), key=lambda item: item[0])
        if all(number[str(t)] == c for s in group for t in lost[s])
    ]
