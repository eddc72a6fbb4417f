"""The reduction of a scope: which split belongs to which join, and what does not match.

Series, parallel and loop rules run to a fixpoint; only when nothing else is left are equal gateways
fused (else a block could lose its own join) and exclusive tangles between exclusive gateways
dissolved. A clash of types is recorded, repaired as if the join were of the split's type, and the
reduction goes on, so that one pass finds all independent faults. Near linear, never recursive.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

from orgflow_ir.control_net import SINK, SOURCE, Kind, Net, lower
from orgflow_ir.graph import ControlFlow
from orgflow_ir.model import Scope
from orgflow_ir.region_tree import Region, build

_WORD: dict[Kind, Literal["xor", "and", "or"]] = {"X": "xor", "A": "and", "O": "or"}
_WIDEST = 64
"""Most edges that dissolving one exclusive join may make: beyond it the rest is explored."""


@dataclass(slots=True, eq=False, repr=False)
class Edge:
    """An edge of the reduced graph: all that lies between two of its nodes.

    `first` and `last` are the net's arcs it begins and ends with; `event` says that every way
    along it leads through a boundary event.
    """

    src: int
    dst: int
    first: int
    last: int
    content: object = None
    event: bool = False


@dataclass(slots=True, eq=False, repr=False)
class Pair:
    """Branches that leave one split and meet in one join (net nodes; `SINK` for the end).

    `kind` is the split's, or `clash`. `whole_join`: no other branch leads into the join;
    `whole_split`: no other branch leaves the split; `exact`: every branch begins at that very
    gateway and ends at that very join, not at another one fused with it.
    """

    split: int
    join: int
    kind: Literal["xor", "and", "or", "clash"]
    branches: list[tuple[int, int]]
    contents: list[object]
    whole_join: bool = False
    whole_split: bool = False


class Clash(NamedTuple):
    """A join whose type does not fit what reaches it.

    deadlock: the split of `pair` takes one (or some) of its branches, `join` waits for all; with
    `pair` `None` some ways into the join come from nodes that never run (`net.dead_inputs`).
    unsync: the split takes several, `join` lets each through. livelock: once in `join`, nothing
    leads out of a cycle any more; `around` is the way round it, (first, last) arc.
    """

    fault: Literal["deadlock", "unsync", "livelock"]
    join: int
    pair: Pair | None = None
    around: tuple[int, int] = (-1, -1)


class MatchedPair(NamedTuple):
    """A split and its join by element id; `join` is `None` where the branches only end."""

    split: str
    join: str | None
    kind: Literal["xor", "and", "or", "clash"]
    exact: bool


@dataclass(eq=False, repr=False)
class Reduction:
    """What the reduction of one scope found. `edges` is the irreducible residue: empty when the
    scope is structured (after repairs)."""

    scope: Scope
    net: Net
    raw_pairs: list[Pair] = field(default_factory=list)
    clashes: list[Clash] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    kinds: list[Kind] = field(default_factory=list)
    absorbed: dict[int, int] = field(default_factory=dict)
    trunk: object = None

    @property
    def structured(self) -> bool:
        """Whether nothing irreducible is left."""
        return not self.edges

    def root(self, node: int) -> int:
        """The net node that stands for `node` after equal gateways were fused."""
        while node in self.absorbed:
            node = self.absorbed[node]
        return node

    @cached_property
    def pairs(self) -> tuple[MatchedPair, ...]:
        """Splits with the join where all their branches into that join meet, innermost first."""
        net, found = self.net, []
        for p in self.raw_pairs:
            split = net.element[p.split]
            if not split or not (p.whole_split if p.join == SINK else p.whole_join):
                continue
            join = net.element[p.join]
            exact = all(
                net.element[net.src[a]] == split and net.element[net.dst[b]] == join
                for a, b in p.branches
            )
            found.append(MatchedPair(split, join or None, p.kind, exact and p.whole_split))
        return tuple(found)

    def pair_of(self, join: str) -> str | None:
        """The one split whose branches, and no others, meet in `join`; `None` if there is none."""
        return self._by_join.get(join)

    @cached_property
    def _by_join(self) -> dict[str, str]:
        return {p.join: p.split for p in self.pairs if p.join is not None}

    @cached_property
    def tree(self) -> Region:
        """The region tree: every live element of the scope is in it."""
        return build(self.net, self.trunk, [e.content for e in self.edges], self.absorbed)


def reduce(scope: Scope) -> Reduction:
    """Reduce one scope (not the sub-processes in it)."""
    return Lowered(ControlFlow(scope)).reduction


class Lowered:
    """The net of a scope and its reduction, made once for all that ask for them."""

    def __init__(self, graph: ControlFlow) -> None:
        self.scope = graph.scope
        self.net = lower(graph)

    @cached_property
    def reduction(self) -> Reduction:
        """What `reduce` finds."""
        return _Reducer(self.scope, self.net).run()


class _Reducer:
    def __init__(self, scope: Scope, net: Net) -> None:
        self.net = net
        self.result = Reduction(scope, net)
        self.kind: list[Kind] = list(net.kind)
        self.ins: list[dict[int, Edge]] = [{} for _ in net.kind]
        self.outs: list[dict[int, Edge]] = [{} for _ in net.kind]
        # ins[j][s] and outs[s][j] hold the only edge between s and j: parallel ones are merged
        self.work: deque[int] = deque()
        self.later: deque[int] = deque()
        self.last_resort: deque[int] = deque()

    def run(self) -> Reduction:
        net = self.net
        for join, flows in net.dead_inputs.items():
            if flows:
                self.result.clashes.append(Clash("deadlock", join))
        for number, src in enumerate(net.src):
            flow = net.flow[number]
            end = flow.target if flow is not None and net.dst[number] == SINK else None
            self._add(Edge(src, net.dst[number], number, number, end, number in net.by_event))
        for node in range(2, len(net.kind)):
            self.work.append(node)
        rules: tuple[tuple[deque[int], Callable[[int], None]], ...] = (
            (self.work, self._simplify),
            (self.later, self._fuse),
            (self.last_resort, self._dissolve),
        )
        while True:
            for queue, rule in rules:
                if queue:
                    rule(queue.popleft())
                    break
            else:
                break
        return self._finish()

    def _finish(self) -> Reduction:
        found = self.result
        rest = [e for outs in self.outs for e in outs.values()]
        if len(rest) == 1 and rest[0].src == SOURCE and rest[0].dst == SINK:
            found.trunk, rest = rest[0].content, []
        found.edges, found.kinds = rest, self.kind
        return found

    # -- edges --------------------------------------------------------------------------------

    def _add(self, edge: Edge) -> None:
        other = self.outs[edge.src].get(edge.dst)
        if other is None:
            self.outs[edge.src][edge.dst] = edge
            self.ins[edge.dst][edge.src] = edge
            return
        self._parallel(other, edge)

    def _drop(self, edge: Edge) -> None:
        del self.outs[edge.src][edge.dst]
        del self.ins[edge.dst][edge.src]

    def _touch(self, *nodes: int) -> None:
        self.work.extend(n for n in nodes if n > SINK)

    def _parallel(self, one: Edge, two: Edge) -> None:
        """Two branches from one split to one join become one; a clash of types is the finding."""
        split, join = one.src, one.dst
        s, j = self.kind[split], self.kind[join]
        pair = one.content if isinstance(one.content, Pair) else None
        if pair is None or pair.split != split or pair.join != join:
            pair = Pair(split, join, _WORD[s], [(one.first, one.last)], [one.content])
            self.result.raw_pairs.append(pair)
            one.content = pair
        pair.branches.append((two.first, two.last))
        pair.contents.append(two.content)
        one.event = one.event and two.event
        fault: Literal["deadlock", "unsync"] | None = None
        if join != SINK and j == "A" and s != "A":
            fault = "deadlock"
        elif join != SINK and j == "X" and s != "X":
            fault = "unsync"
        if fault is not None and pair.kind != "clash":
            pair.kind = "clash"
            self.result.clashes.append(Clash(fault, join, pair))
        if len(self.ins[join]) == 1:
            pair.whole_join = True
        if len(self.outs[split]) == 1:
            pair.whole_split = True
        self._touch(split, join)

    # -- rules --------------------------------------------------------------------------------

    def _simplify(self, node: int) -> None:
        ins, outs = self.ins[node], self.outs[node]
        if len(ins) == 1 and len(outs) == 1:
            self._series(node)
        elif len(outs) == 1 and len(ins) > 1:
            self._loop(node)
        elif len(outs) > 1 and len(ins) == 1:
            before = next(iter(ins))
            if before in outs and before > SINK and len(self.outs[before]) == 1:
                self._loop(before)
            self.later.append(node)

    def _series(self, node: int) -> None:
        (before,), (after,) = self.ins[node].values(), self.outs[node].values()
        if before is after:
            return
        self._drop(before)
        self._drop(after)
        content = ("seq", before.content, node, after.content)
        event = before.event or after.event
        self._add(Edge(before.src, after.dst, before.first, after.last, content, event))
        self._touch(before.src, after.dst)

    def _loop(self, header: int) -> None:
        """`header` joins and has one way out: drop a way back, or say that no way leads out."""
        (out,) = self.outs[header].values()
        if self.kind[header] == "X" and out.dst == header:
            self._no_exit(header, out)
            return
        leave = out.dst
        back = self.outs[leave].get(header) if leave > SINK else None
        if back is None or self.kind[header] != "X":
            self.later.append(header)
            return
        if self.kind[leave] != "X" or len(self.ins[leave]) != 1 or len(self.outs[leave]) < 2:
            self.later.append(header)
            return
        self._drop(back)
        out.content = ("loop", header, leave, out.content, back.content)
        self._touch(header, leave)

    def _no_exit(self, header: int, around: Edge) -> None:
        self._drop(around)
        self.result.clashes.append(Clash("livelock", header, around=(around.first, around.last)))
        self._add(
            Edge(
                header,
                SINK,
                around.first,
                around.last,
                ("loop", header, None, around.content, None),
            )
        )
        self._touch(header)

    def _fuse(self, node: int) -> None:
        """Equal joins or equal splits along a single edge are one."""
        ins, outs = self.ins[node], self.outs[node]
        kind = self.kind[node]
        if len(ins) > 1 and len(outs) == 1 and kind != "O":
            (edge,) = outs.values()
            after = edge.dst
            same = after > SINK and after != node and self.kind[after] == kind
            if same and len(self.ins[after]) > 1 and len(self.outs[after]) == 1:
                self._fuse_joins(node, after, edge)
                return
        elif len(outs) > 1 and len(ins) == 1:
            (edge,) = ins.values()
            before = edge.src
            same = before > SINK and before != node and self.kind[before] == kind
            if same and len(self.outs[before]) > 1 and len(self.ins[before]) == 1:
                self._fuse_splits(before, node, edge)
                return
        if kind == "X":
            self.last_resort.append(node)

    def _fuse_joins(self, upper: int, lower_: int, edge: Edge) -> None:
        self._drop(edge)
        self.result.absorbed[upper] = lower_
        moved = list(self.ins[upper].values())
        content: object = ("seq", None, upper, edge.content)
        for one in moved:
            self._drop(one)
            tail = ("seq", one.content, None, content) if content is not None else one.content
            content = None  # told once, in the first branch
            self._add(Edge(one.src, lower_, one.first, one.last, tail, one.event or edge.event))
            self._touch(one.src)
        self._touch(lower_)

    def _fuse_splits(self, upper: int, lower_: int, edge: Edge) -> None:
        self._drop(edge)
        self.result.absorbed[lower_] = upper
        moved = list(self.outs[lower_].values())
        content: object = ("seq", edge.content, lower_, None)
        for one in moved:
            self._drop(one)
            head = ("seq", content, None, one.content) if content is not None else one.content
            content = None
            self._add(Edge(upper, one.dst, one.first, one.last, head, one.event or edge.event))
            self._touch(one.dst)
        self._touch(upper)

    def _is_split(self, node: int) -> bool:
        return self.kind[node] == "X" and len(self.outs[node]) > 1 and len(self.ins[node]) == 1

    def _is_join(self, node: int) -> bool:
        if node == SINK:
            return True
        return self.kind[node] == "X" and len(self.ins[node]) > 1 and len(self.outs[node]) == 1

    def _dissolve(self, node: int) -> None:
        """X join → X split between exclusive gateways: route every way in to every way out."""
        if not (len(self.ins[node]) > 1 and len(self.outs[node]) == 1):
            if self._is_split(node):
                (edge,) = self.ins[node].values()
                if edge.src > SINK and self._is_join(edge.src) and edge.src != node:
                    self._dissolve(edge.src)
            return
        (middle,) = self.outs[node].values()
        split = middle.dst
        if split == SINK or not self._is_split(split) or node in self.outs[split]:
            return
        ways_in, ways_out = list(self.ins[node].values()), list(self.outs[split].values())
        if len(ways_in) * len(ways_out) > _WIDEST:
            return
        strange_in = [e for e in ways_in if not self._is_split(e.src)]
        strange_out = [e for e in ways_out if not self._is_join(e.dst)]
        if len(strange_out) == 0 and len(strange_in) <= 1:
            self._route(node, middle, [e for e in ways_in if e not in strange_in], ways_out)
            if not strange_in:
                self._drop(middle)
                for e in ways_out:
                    self._drop(e)
        elif len(strange_out) == 1 and not strange_in:
            kept = [e for e in ways_out if e not in strange_out]
            self._route(node, middle, ways_in, kept, keep=True)
            for e in kept:
                self._drop(e)
        else:
            return
        self._touch(node, split, *(e.src for e in ways_in), *(e.dst for e in ways_out))

    def _route(
        self, node: int, middle: Edge, ways_in: list[Edge], ways_out: list[Edge], keep: bool = False
    ) -> None:
        for one in ways_in:
            if not keep:
                self._drop(one)
            for two in ways_out:
                rest = ("seq", middle.content, middle.dst, two.content)
                content = ("seq", one.content, node, rest)
                event = one.event or middle.event or two.event
                self._add(Edge(one.src, two.dst, one.first, two.last, content, event))
