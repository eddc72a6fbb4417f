"""The reduction of a net.

Series, parallel and loop rules run to a fixpoint; only when nothing else is left are equal gateways
fused (else a block could lose its own join) and exclusive tangles between exclusive gateways
dissolved. A type mismatch is a fault: it is recorded and repaired as if the join had the type of
the split, and the reduction continues, so one pass finds all independent faults. With
`repair=False`, nothing is repaired and the result has exactly the behaviour of the net, in a
smaller graph. Near linear and iterative.
"""

from __future__ import annotations

from collections import deque
from typing import Literal

from orgflow_ir.flow.nets.net import FIRST, SINK, SOURCE, TERM, VOID, Kind, Net
from orgflow_ir.flow.nets.reduction import Clash, Edge, Reduction
from orgflow_ir.flow.nets.region_tree import Pair

_WORD: dict[Kind, Literal["xor", "and", "or"]] = {"X": "xor", "A": "and", "O": "or"}
_WIDEST = 64
"""Maximum number of edges that dissolving one exclusive join may create; larger ones are explored
instead."""


def reduce_net(
    net: Net, *, repair: bool = True, collapse_or: bool = True, careful: bool = True
) -> Reduction:
    """Reduce a net.

    Args:
        net: the net, which is not modified.
        repair: repair clashes and merge all sinks, to find every fault in one pass. Otherwise the
            result has exactly the behaviour of the net, as exploration needs.
        collapse_or: replace branches from one split into one inclusive join by one branch.
        careful: make no decision earlier than the net does while an inclusive join remains, since
            the join may depend on the decision.

    Returns: The remaining edges with their contents, the pairs of splits and joins, and the
        clashes.

    Example: an exclusive split whose branches meet in a parallel join. The parallel rule merges
    the branches, notes the clash `deadlock` at the join, and the series rule reduces the rest to
    the single edge from source to sink.
    """
    return _Reducer(net, repair, collapse_or, careful).run()


class _Reducer:
    def __init__(self, net: Net, repair: bool, collapse_or: bool, careful: bool) -> None:
        self.net = net
        self.repair, self.collapse_or = repair, collapse_or
        self.result = Reduction(net)
        self.kind: list[Kind] = list(net.kind)
        self.ins: list[dict[int, Edge]] = [{} for _ in net.kind]
        self.outs: list[dict[int, Edge]] = [{} for _ in net.kind]
        # ins[j][s] and outs[s][j] hold the only edge between s and j: parallel ones are merged,
        # or kept apart by a node that only holds its token
        self.sinks = {SINK, TERM, VOID}
        self.held: set[int] = set()
        if not repair:
            self.result.trap = self._new_node()
            self.sinks.add(self.result.trap)
            self.held.update(net.never)
            self.held.update(net.src[a] for a in net.ghosts)
        self.queued: set[int] = set()
        self.looking: set[int] = set()
        if careful:
            self.looking = {
                n for n in range(FIRST, len(net.kind)) if net.kind[n] == "O" and len(net.ins[n]) > 1
            }
        self.work: deque[int] = deque()
        self.later: deque[int] = deque()
        self.last_resort: deque[int] = deque()

    def _new_node(self) -> int:
        self.kind.append("X")
        self.ins.append({})
        self.outs.append({})
        return len(self.kind) - 1

    def run(self) -> Reduction:
        net = self.net
        # A join with an input that nothing leads to never fires, whatever the rules make of it.
        for join in net.dead_inputs:
            self.result.clashes.append(Clash("deadlock", join))
        self._queue_nodes(*self._build_edges())
        # The first queue is emptied before the second is looked at, and that before the third: a
        # rule that may cost a block its own join runs only where no cheaper one applies.
        queued = self.queued
        work, later, last = self.work, self.later, self.last_resort
        simplify, fuse, dissolve = self._simplify_node, self._fuse_equal, self._dissolve_pair
        while True:
            if work:
                node = work.popleft()
                queued.discard(node)
                simplify(node)
            elif later:
                fuse(later.popleft())
            elif last:
                dissolve(last.popleft())
            else:
                break
        return self._finish_reduction()

    def _build_edges(self) -> list[int]:
        """Make the edges: each goes along all nodes with one way in and one way out. Returns the
        nodes that are left between them."""
        net, held, sinks_are_one = self.net, self.held, self.repair
        dst, flow, by_event = net.dst, net.flow, net.by_event
        ins, outs = self.ins, self.outs
        ways_in, ways_out = net.ins, net.outs
        count = len(net.kind)
        simple = [len(i) == 1 and len(o) == 1 for i, o in zip(ways_in, ways_out, strict=True)]
        for node in held:
            if node < count:
                simple[node] = False
        simple[:FIRST] = [False] * FIRST
        hubs = [n for n in range(FIRST, count) if not simple[n]]
        for s in (SOURCE, *hubs):
            for first in ways_out[s]:
                # Walk along nodes that only pass a token on; loops of such nodes have no hub and
                # are never entered.
                last, event = first, first in by_event
                d = dst[first]
                path: list[int | str] = []
                while simple[d]:
                    path.append(d)
                    last = ways_out[d][0]
                    event = event or last in by_event
                    d = dst[last]
                if d < FIRST:
                    f = flow[last]
                    if f is not None:
                        path.append(f.target)
                    if sinks_are_one:
                        d = SINK
                # A second way between the same two hubs is a block already: split, two branches.
                edge = Edge(s, d, first, last, ("path", *path) if path else None, event)
                if d in outs[s]:
                    self._merge_parallel(outs[s][d], edge)
                else:
                    outs[s][d] = edge
                    ins[d][s] = edge
        return hubs

    def _finish_reduction(self) -> Reduction:
        result = self.result
        # One edge from source to sink: the net is structured, and the edge's content is its tree.
        rest = [e for outs in self.outs for e in outs.values()]
        if len(rest) == 1 and rest[0].src == SOURCE and rest[0].dst in self.sinks:
            result.trunk = rest[0].content
            if rest[0].dst == SINK:
                rest = []
        result.edges, result.kinds = rest, self.kind
        return result

    def _looked_at(self) -> bool:
        """Whether an inclusive join is left: when it goes on depends on what tokens may still
        choose, so that no choice may be made before its time."""
        while self.looking:
            node = self.looking.pop()
            if len(self.ins[node]) > 1:
                self.looking.add(node)
                return True
        return False

    # -- edges --------------------------------------------------------------------------------

    def _add_edge(self, edge: Edge) -> None:
        other = self.outs[edge.src].get(edge.dst)
        if other is None:
            self.outs[edge.src][edge.dst] = edge
            self.ins[edge.dst][edge.src] = edge
            return
        self._merge_parallel(other, edge)

    def _drop_edge(self, edge: Edge) -> None:
        del self.outs[edge.src][edge.dst]
        del self.ins[edge.dst][edge.src]

    def _queue_nodes(self, *nodes: int) -> None:
        queued = self.queued
        for n in nodes:
            if n >= FIRST and n not in queued:
                queued.add(n)
                self.work.append(n)

    def _merge_parallel(self, first: Edge, second: Edge) -> None:
        """Two branches from one split to one join become one; a clash of types is the finding."""
        split, join = first.src, first.dst
        s, j = self.kind[split], self.kind[join]
        fault: Literal["deadlock", "unsync"] | None = None
        # A path that no token takes would, merged with one that tokens take, be taken too.
        if not self.repair and (first.first in self.net.ghosts or second.first in self.net.ghosts):
            self._keep_apart(second)
            return
        if join not in self.sinks:
            # An AND join waits for a branch that the split may not take; an XOR join passes on
            # every token of a split that makes several.
            if j == "A" and s != "A":
                fault = "deadlock"
            elif j == "X" and s != "X":
                fault = "unsync"
            if not self.repair and (fault or (j == "O" and not self.collapse_or)):
                self._keep_apart(second)
                return
            if j == "O":
                self.result.merged_or = True
        # A third branch joins the pair that the first two made.
        pair = first.content if isinstance(first.content, Pair) else None
        if pair is None or pair.split != split or pair.join != join:
            pair = Pair(split, join, _WORD[s], [(first.first, first.last)], [first.content])
            self.result.raw_pairs.append(pair)
            first.content = pair
        pair.branches.append((second.first, second.last))
        pair.contents.append(second.content)
        first.event = first.event and second.event
        if fault is not None and pair.kind != "clash":
            pair.kind = "clash"
            self.result.clashes.append(Clash(fault, join, pair))
        # No other edge is left at a gateway: the pair is all that it opens or closes.
        if len(self.ins[join]) == 1:
            pair.whole_join = True
        if len(self.outs[split]) == 1:
            pair.whole_split = True
        self._queue_nodes(split, join)

    def _keep_apart(self, edge: Edge) -> None:
        """A second edge between two nodes that may not be merged: cut in two by a node."""
        between = self._new_node()
        self.held.add(between)
        for half in (
            Edge(edge.src, between, edge.first, edge.last, edge.content, edge.event),
            Edge(between, edge.dst, -1, edge.last, None, False),
        ):
            self.outs[half.src][half.dst] = half
            self.ins[half.dst][half.src] = half

    # -- rules --------------------------------------------------------------------------------

    def _simplify_node(self, node: int) -> None:
        """The series or the loop rule, by the number of ways in and out; splits wait for fusion."""
        ins, outs = self.ins[node], self.outs[node]
        many_out = len(outs)
        if many_out == 1:
            many_in = len(ins)
            if many_in == 1:
                self._merge_series(node)
            elif many_in > 1:
                self._remove_loop(node)
        elif many_out > 1 and len(ins) == 1:
            before = next(iter(ins))
            # A split whose only way in comes from a node it leads back to: the end of a loop body.
            if before in outs and before >= FIRST and len(self.outs[before]) == 1:
                self._remove_loop(before)
            self.later.append(node)

    def _merge_series(self, node: int) -> None:
        """A node with one way in and one way out becomes part of one edge."""
        if node in self.held:
            return
        (before,), (after,) = self.ins[node].values(), self.outs[node].values()
        if before is after:  # a node that only leads to itself: nothing enters it
            return
        self._drop_edge(before)
        self._drop_edge(after)
        content = ("seq", before.content, node, after.content)
        event = before.event or after.event
        self._add_edge(Edge(before.src, after.dst, before.first, after.last, content, event))
        self._queue_nodes(before.src, after.dst)

    def _remove_loop(self, header: int) -> None:
        """`header` joins and has one way out: drop a way back, or say that no way leads out."""
        if header in self.held:
            return
        (out,) = self.outs[header].values()
        if self.kind[header] == "X" and out.dst == header:
            self._no_exit(header, out)
            return
        leave = out.dst
        back = self.outs[leave].get(header) if leave >= FIRST else None
        if back is None or self.kind[header] != "X":
            self.later.append(header)
            return
        # The body is one edge from header to exit and one back. An exit with other ways in would
        # let tokens into the loop that did not pass the header.
        if (
            leave in self.held
            or self.kind[leave] != "X"
            or len(self.ins[leave]) != 1
            or len(self.outs[leave]) < 2
        ):
            self.later.append(header)
            return
        self._drop_edge(back)
        out.content = ("loop", header, leave, out.content, back.content)
        self._queue_nodes(header, leave)

    def _no_exit(self, header: int, around: Edge) -> None:
        """A loop that nothing leaves: its tokens go to the sink, or where repair is off to the
        trap, a sink of its own, so that the exploration sees that they never arrive."""
        self._drop_edge(around)
        self.result.clashes.append(Clash("livelock", header, around=(around.first, around.last)))
        content = ("loop", header, None, around.content, None)
        end = SINK if self.repair else self.result.trap
        self._add_edge(Edge(header, end, around.first, around.last, content))
        self._queue_nodes(header)

    def _fuse_equal(self, node: int) -> None:
        """Equal joins or equal splits along a single edge are one."""
        if node in self.held:
            return
        fused = self._fuse_with_next(node) or self._fuse_with_previous(node)
        if not fused and self.kind[node] == "X":
            self.last_resort.append(node)

    def _fuse_with_next(self, node: int) -> bool:
        """Whether a join became one with an equal join behind it."""
        outs, kind = self.outs[node], self.kind[node]
        if len(self.ins[node]) < 2 or len(outs) != 1 or kind == "O":
            return False
        (edge,) = outs.values()
        after = edge.dst
        same = after >= FIRST and after != node and self.kind[after] == kind
        same = same and after not in self.held and after not in self.sinks
        # A parallel join before another waits for its own inputs first.
        same = same and (self.repair or kind == "X")  # else what is between may run or not
        if not self.repair and TERM in self.outs[after]:
            same = False  # two tokens before what ends everything are seen, after it not
        if same and len(self.ins[after]) > 1 and len(self.outs[after]) == 1:
            self._fuse_joins(node, after, edge)
            return True
        return False

    def _fuse_with_previous(self, node: int) -> bool:
        """Whether a split became one with an equal split before it."""
        ins = self.ins[node]
        if len(self.outs[node]) < 2 or len(ins) != 1:
            return False
        (edge,) = ins.values()
        before = edge.src
        same = before >= FIRST and before != node and self.kind[before] == self.kind[node]
        same = same and before not in self.held
        same = same and len(self.outs[before]) > 1 and len(self.ins[before]) == 1
        # Fused, the first choice is made together with the second, and so before its time.
        if same and not self._looked_at():
            self._fuse_splits(before, node, edge)
            return True
        return False

    def _fuse_joins(self, upper: int, lower_: int, edge: Edge) -> None:
        """The ways into `upper` lead into `lower_`; what was between follows each of them."""
        self._drop_edge(edge)
        self.result.absorbed[upper] = lower_
        moved = list(self.ins[upper].values())
        content: object = ("seq", None, upper, edge.content)
        for edge_in in moved:
            self._drop_edge(edge_in)
            tail = ("tail", edge_in.content, content) if content is not None else edge_in.content
            if self.repair:
                content = None  # recorded once, in the first branch
            self._add_edge(
                Edge(
                    edge_in.src,
                    lower_,
                    edge_in.first,
                    edge_in.last,
                    tail,
                    edge_in.event or edge.event,
                )
            )
            self._queue_nodes(edge_in.src)
        self._queue_nodes(lower_)

    def _fuse_splits(self, upper: int, lower_: int, edge: Edge) -> None:
        """The ways out of `lower_` leave `upper`; what was between comes before each of them."""
        self._drop_edge(edge)
        self.result.absorbed[lower_] = upper
        moved = list(self.outs[lower_].values())
        content: object = ("seq", edge.content, lower_, None)
        for edge_out in moved:
            self._drop_edge(edge_out)
            head = ("head", content, edge_out.content) if content is not None else edge_out.content
            if self.repair:
                content = None
            self._add_edge(
                Edge(
                    upper,
                    edge_out.dst,
                    edge_out.first,
                    edge_out.last,
                    head,
                    edge_out.event or edge.event,
                )
            )
            self._queue_nodes(edge_out.dst)
        self._queue_nodes(upper)

    def _is_split(self, node: int) -> bool:
        if node in self.held:
            return False
        return self.kind[node] == "X" and len(self.outs[node]) > 1 and len(self.ins[node]) == 1

    def _is_join(self, node: int) -> bool:
        if node in self.sinks or node in self.held:
            return False  # tokens that meet before a sink must be seen to meet
        return self.kind[node] == "X" and len(self.ins[node]) > 1 and len(self.outs[node]) == 1

    def _dissolve_pair(self, node: int) -> None:
        """X join → X split between exclusive gateways: route every way in to every way out.

        One token goes in and one out, so which way it came does not matter and the two gateways
        can be left out. That helps only where the edges made end at gateways that can then be
        simplified; one strange neighbour on one side may stay behind, on what is left of the pair.
        """
        if node in self.held:
            return
        if not (len(self.ins[node]) > 1 and len(self.outs[node]) == 1):
            if self._is_split(node):
                (edge,) = self.ins[node].values()
                if edge.src >= FIRST and self._is_join(edge.src) and edge.src != node:
                    self._dissolve_pair(edge.src)
            return
        (middle,) = self.outs[node].values()
        split = middle.dst
        if self._looked_at():
            return
        if split in self.sinks or not self._is_split(split) or node in self.outs[split]:
            return
        # Made edges are the product of both sides: without a bound the reduction would not be
        # near linear.
        ways_in, ways_out = list(self.ins[node].values()), list(self.outs[split].values())
        if len(ways_in) * len(ways_out) > _WIDEST:
            return
        strange_in = [e for e in ways_in if not self._is_split(e.src)]
        strange_out = [e for e in ways_out if not self._is_join(e.dst)]
        # All targets are joins: sources that are splits go straight to them.
        if len(strange_out) == 0 and len(strange_in) <= 1:
            self._route_through(node, middle, [e for e in ways_in if e not in strange_in], ways_out)
            if not strange_in:
                self._drop_edge(middle)
                for e in ways_out:
                    self._drop_edge(e)
        # All sources are splits: they go straight to the joins, and the pair keeps the way out
        # that is none.
        elif len(strange_out) == 1 and not strange_in:
            kept = [e for e in ways_out if e not in strange_out]
            self._route_through(node, middle, ways_in, kept, keep=True)
            for e in kept:
                self._drop_edge(e)
        else:
            return
        self._queue_nodes(node, split, *(e.src for e in ways_in), *(e.dst for e in ways_out))

    def _route_through(
        self, node: int, middle: Edge, ways_in: list[Edge], ways_out: list[Edge], keep: bool = False
    ) -> None:
        for edge_in in ways_in:
            if not keep:
                self._drop_edge(edge_in)
            for edge_out in ways_out:
                rest = ("seq", middle.content, middle.dst, edge_out.content)
                content = ("seq", edge_in.content, node, rest)
                event = edge_in.event or middle.event or edge_out.event
                self._add_edge(
                    Edge(edge_in.src, edge_out.dst, edge_in.first, edge_out.last, content, event)
                )
