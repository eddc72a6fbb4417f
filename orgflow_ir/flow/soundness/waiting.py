"""Joins of a stuck state that wait for a branch that cannot arrive, and joins that wait only for
those."""

from __future__ import annotations

from orgflow_ir.flow.control_flow.graph import strong_components
from orgflow_ir.flow.soundness.space import Space, State, list_bits
from orgflow_ir.model.records import NamedTuple


class Knot(NamedTuple):
    """Joins in a circular wait (a single one: for a token that can never arrive), and those that
    would continue if these did."""

    joins: tuple[int, ...]
    behind: tuple[int, ...]


class Knots:
    """The circular waits in the states of one space."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self._paths: dict[int, dict[int, int]] = {}
        self._closed = frozenset(list_bits(space.ghost))

    def of(self, state: State) -> list[Knot]:
        """The circular waits of a stuck state, in the order of the graph."""
        space = self.space
        waiting = space.waiting(state)
        if len(waiting) == 1:
            return [Knot((waiting[0],), ())]
        tokens = list(list_bits(state.mask & ~space.over))
        wait_for = {n: self._nodes_before(n, state.mask, tokens) & set(waiting) for n in waiting}
        number = strong_components({n: sorted(w) for n, w in wait_for.items()})
        groups: dict[int, list[int]] = {}
        for n in waiting:
            groups.setdefault(number[n], []).append(n)
        tied = [g for g in groups.values() if all(wait_for[n] <= set(g) for n in g)]
        bound = {n for g in tied for n in g}
        loose = [n for n in waiting if n not in bound]
        return [
            Knot(tuple(g), tuple(n for n in loose if _leads_to(wait_for, n, g[0]))) for g in tied
        ]

    def _nodes_before(self, join: int, mask: int, tokens: list[int]) -> set[int]:
        """The nodes whose tokens may still come to every way into a join that is empty; none
        where no token may come to one of them."""
        space = self.space
        kind = space.kinds[join]
        if join in space.never or kind == "X":
            return set()
        empty, marked = space.ins[join] & ~mask, space.ins[join] & mask
        if kind == "O":
            paths, excuses = space.path_rule[join]
            coming = [e for e in tokens if paths[e] & empty and not excuses[e] & marked]
            return {space.ways[e].dst for e in coming} - {join}
        if join not in self._paths:
            self._paths[join] = space.ways_to(join, self._closed)
        paths = self._paths[join]
        coming = [e for e in tokens if space.ways[e].dst != join and paths[e] & empty]
        covered = 0
        for e in coming:
            covered |= paths[e]
        return set() if empty & ~covered else {space.ways[e].dst for e in coming}


def _leads_to(wait_for: dict[int, set[int]], start: int, goal: int) -> bool:
    seen, stack = {start}, [start]
    while stack:
        for n in wait_for[stack.pop()] - seen:
            seen.add(n)
            stack.append(n)
    return goal in seen
