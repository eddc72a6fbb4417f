"""POWL as a value: activities, silent steps, choices, loops and partial orders, nested.

After Kourani and van Zelst, "POWL: Partially Ordered Workflow Language" (BPM 2023): a choice
executes one child, a loop executes `do`, then any number of times `redo` and `do`, and a partial
order executes all its nodes, each after its predecessors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from orgflow_ir.model.records import dataclass
from orgflow_ir.model.source import SourceLocation

MAX_NODES = 5_000
"""Larger models are refused: one value may occur in many places, and would grow exponentially."""

MAX_DEPTH = 100


class PowlError(ValueError):
    """Something that is not POWL; the message is a clause, `loc` its place."""

    def __init__(self, message: str, loc: SourceLocation | None = None) -> None:
        super().__init__(message)
        self.loc = loc


@dataclass(frozen=True, eq=False)
class Activity:
    """A step; two activities with one label are two steps. `lane` and `pool` name its performer."""

    label: str
    lane: str = ""
    pool: str = ""
    loc: SourceLocation | None = None


@dataclass(frozen=True, eq=False)
class Silent:
    """Nothing is done."""


@dataclass(frozen=True, eq=False)
class Choice:
    """One of the children is executed; one condition for each, empty if none is stated."""

    children: tuple[Powl, ...]
    conditions: tuple[str, ...] = ()
    name: str = ""


@dataclass(frozen=True, eq=False)
class Loop:
    """`do`, then any number of times `redo` and `do`; conditions for both branches after `do`."""

    do: Powl
    redo: Powl
    again: str = ""
    leave: str = ""
    name: str = ""


@dataclass(frozen=True, eq=False)
class PartialOrder:
    """All nodes; an edge (i, j) of `order` has node i end before node j begins."""

    nodes: tuple[Powl, ...]
    order: frozenset[tuple[int, int]] = field(default_factory=frozenset)


Powl = Activity | Silent | Choice | Loop | PartialOrder


def partial_order(
    nodes: Sequence[Powl], edges: Iterable[tuple[int, int]], loc: SourceLocation | None = None
) -> PartialOrder:
    """A partial order of nodes without the edges that follow from others. Raises `PowlError` for a
    cycle."""
    later: dict[int, set[int]] = {n: set() for n in range(len(nodes))}
    for before, after in edges:
        if before == after:
            raise PowlError("an order has a node that precedes itself", loc)
        later[before].add(after)
    order = _sort_topologically(later, loc)
    reach: dict[int, set[int]] = {}
    kept: set[tuple[int, int]] = set()
    for node in reversed(order):
        reach[node] = set()
        for after in sorted(later[node], key=order.index):  # nearest first
            if after not in reach[node]:
                kept.add((node, after))
                reach[node] |= {after} | reach[after]
    return PartialOrder(tuple(nodes), frozenset(kept))


def _sort_topologically(later: Mapping[int, set[int]], loc: SourceLocation | None) -> list[int]:
    waiting = dict.fromkeys(later, 0)
    for afters in later.values():
        for after in afters:
            waiting[after] += 1
    ready = [n for n, count in waiting.items() if not count]
    sorted_nodes: list[int] = []
    while ready:
        node = ready.pop(0)
        sorted_nodes.append(node)
        for after in sorted(later[node]):
            waiting[after] -= 1
            if not waiting[after]:
                ready.append(after)
    if len(sorted_nodes) < len(later):
        raise PowlError("an order has a cycle", loc)
    return sorted_nodes


def list_children(powl: Powl) -> tuple[Powl, ...]:
    """The direct parts."""
    match powl:
        case Activity() | Silent():
            return ()
        case Choice():
            return powl.children
        case Loop():
            return (powl.do, powl.redo)
        case PartialOrder():
            return powl.nodes


def check_size(powl: Powl) -> None:
    """Raises `PowlError` if a model has more than `MAX_NODES` nodes or `MAX_DEPTH` levels, where a
    repeated part counts each time."""
    known: dict[int, tuple[int, int]] = {}
    stack: list[Powl] = [powl]
    while stack:
        node = stack[-1]
        missing = [c for c in list_children(node) if id(c) not in known]
        if missing:
            stack.extend(missing)
            if len(stack) > MAX_NODES * 2:
                raise PowlError(f"the model has more than {MAX_NODES:,} nodes")
            continue
        stack.pop()
        parts = [known[id(c)] for c in list_children(node)]
        size = 1 + sum(s for s, _ in parts)
        depth = 1 + max((d for _, d in parts), default=0)
        if size > MAX_NODES:
            raise PowlError(f"the model has more than {MAX_NODES:,} nodes")
        if depth > MAX_DEPTH:
            raise PowlError(f"the model is nested more than {MAX_DEPTH} levels deep")
        known[id(node)] = (size, depth)


def list_activities(powl: Powl) -> Iterable[Activity]:
    """Every activity, in order; a repeated one each time."""
    stack: list[Powl] = [powl]
    while stack:
        node = stack.pop()
        if isinstance(node, Activity):
            yield node
        stack.extend(reversed(list_children(node)))
