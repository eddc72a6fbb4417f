"""The control flow of one scope as the outline sees it: exclusive joins are no vertices, since
lines simply follow each other; a gateway that joins and splits is two.

Vertices are ids of nodes; `\\x1f` marks what the model does not have: the root before all starts,
the split of a gateway that joins too, ends behind steps without an outgoing flow.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Literal, assert_never

from orgflow_ir.flow.control_flow.graph import immediate_dominators
from orgflow_ir.model import (
    CallActivity,
    Event,
    Flow,
    Gateway,
    Node,
    Opaque,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.records import NamedTuple

ROOT = "\x1froot"

VertexKind = Literal[
    "root", "start", "end", "boundary", "step", "pass", "choice", "event",
    "fork", "join", "some", "gather",
]  # fmt: skip
"""`fork` and `join` are parallel, `some` and `gather` inclusive; `pass` is a node without a line
that flows come together at."""


class Unstructured(ValueError):
    """A scope that no outline describes.

    Attributes:
        node: id of the node that is in no block; empty for the scope itself.
        reason: why, as the end of a sentence.
    """

    def __init__(self, node: str, reason: str) -> None:
        super().__init__(reason)
        self.node, self.reason = node.partition("\x1f")[0], reason


class Edge(NamedTuple):
    """A way from one vertex to another, with the flow that it begins with."""

    source: str
    target: str
    flow: Flow | None = None


class FlowGraph:
    """The vertices and edges of a scope.

    Attributes:
        kinds: the kind of each vertex.
        out: the edges out of each vertex, in the order of the model.
        nodes: the nodes of the scope, by id.
        events: the boundary events at each node.

    Raises:
        Unstructured: a loop without any step, or a node without incoming flows.
    """

    def __init__(self, scope: Scope) -> None:
        self.nodes: dict[str, Node] = {
            n.id: n for n in scope.nodes if not isinstance(n, Opaque) and not _is_event_part(n)
        }
        self.events: dict[str, list[Event]] = {}
        self.kinds: dict[str, VertexKind] = {ROOT: "root"}
        self.out: dict[str, list[Edge]] = {ROOT: []}
        for node in self.nodes.values():
            if isinstance(node, Event) and node.position == "boundary":
                self.events.setdefault(node.attached_to or "", []).append(node)
        flows = [f for f in scope.flows if f.source in self.nodes and f.target in self.nodes]
        leaving: dict[str, list[Flow]] = {id: [] for id in self.nodes}
        arriving = dict.fromkeys(self.nodes, 0)
        for flow in flows:
            leaving[flow.source].append(flow)
            arriving[flow.target] += 1
        for node in self.nodes.values():
            self._add_node(node, arriving[node.id], leaving[node.id])
        self._add_starts()
        self._skip_passes()
        self._check_reached()

    # -- construction -------------------------------------------------------------------------

    def _add_node(self, node: Node, into: int, out: list[Flow]) -> None:
        kind = _vertex_kind(node, into, len(out))
        self.kinds[node.id] = kind
        source = node.id
        forks = {"join": "fork", "gather": "some"}
        splits = len(out) > 1 and kind not in ("choice", "event", "fork", "some")
        if splits:
            source = f"{node.id}\x1fsplit"
            self.kinds[source] = forks.get(kind, "fork")  # type: ignore[assignment]
            self.out[node.id] = [Edge(node.id, source)]
        self.out[source] = [Edge(source, flow.target, flow) for flow in out]
        if kind != "end" and not out:
            end = f"{node.id}\x1fend"
            self.kinds[end], self.out[end] = "end", []
            self.out[node.id] = [Edge(node.id, end)]
        self.out[node.id] += [Edge(node.id, event.id) for event in self.events.get(node.id, ())]

    def _add_starts(self) -> None:
        starts = [v for v, kind in self.kinds.items() if kind == "start"]
        if not starts:
            targets = {edge.target for edges in self.out.values() for edge in edges}
            starts = [v for v in self.kinds if v not in targets and v != ROOT]
            if len(starts) > 1:
                raise Unstructured(starts[1], "the process begins at several steps at once")
        self.out[ROOT] = [Edge(ROOT, start) for start in starts]

    def _skip_passes(self) -> None:
        """Let every edge lead past vertices without a line; one before a join that flows come
        together at stays, since the join counts its flows."""
        counts: dict[str, int] = {}
        for edges in self.out.values():
            for edge in edges:
                counts[edge.target] = counts.get(edge.target, 0) + 1
        ends: dict[str, str] = {}
        for vertex in self.kinds:
            path: dict[str, None] = {}
            at = vertex
            while self.kinds[at] == "pass" and at not in ends and at not in path:
                path[at] = None
                at = self.out[at][0].target
            if at in path:
                raise Unstructured(at, "it is in a loop without any step")
            at = ends.get(at, at)
            for passed in reversed(path):
                joins = self.kinds[at] in ("join", "gather")
                at = passed if joins and counts.get(passed, 0) > 1 else at
                ends[passed] = at
        for vertex, edges in self.out.items():
            self.out[vertex] = [
                edge._replace(target=ends.get(edge.target, edge.target)) for edge in edges
            ]
        for passed, end in ends.items():
            if passed != end:
                del self.kinds[passed], self.out[passed]

    def _check_reached(self) -> None:
        reached = self.dominator.keys() | {ROOT}
        for vertex in self.kinds:
            if vertex not in reached:
                raise Unstructured(vertex, "no flow from a start leads to it")

    # -- analyses -----------------------------------------------------------------------------

    @cached_property
    def successors(self) -> dict[str, list[str]]:
        """The targets of the edges out of each vertex."""
        return {v: [edge.target for edge in edges] for v, edges in self.out.items()}

    @cached_property
    def order(self) -> dict[str, int]:
        """The place of each vertex in reverse post-order: before everything behind it, loops
        left out."""
        seen = {ROOT}
        post: list[str] = []
        work = [(ROOT, iter(reversed(self.successors[ROOT])))]
        while work:
            vertex, rest = work[-1]
            for after in rest:
                if after not in seen:
                    seen.add(after)
                    work.append((after, iter(reversed(self.successors[after]))))
                    break
            else:
                post.append(vertex)
                work.pop()
        return {vertex: place for place, vertex in enumerate(reversed(post))}

    @cached_property
    def dominator(self) -> dict[str, str]:
        """The immediate dominator of each vertex but the root."""
        return immediate_dominators(ROOT, self.successors)

    @cached_property
    def _intervals(self) -> dict[str, tuple[int, int]]:
        """First and last number of the vertices that each one dominates, itself first."""
        inner: dict[str, list[str]] = {}
        for vertex, over in self.dominator.items():
            inner.setdefault(over, []).append(vertex)
        first: dict[str, int] = {}
        intervals: dict[str, tuple[int, int]] = {}
        work: list[tuple[str, bool]] = [(ROOT, False)]
        while work:
            vertex, left = work.pop()
            if left:
                intervals[vertex] = (first[vertex], len(first) - 1)
                continue
            first[vertex] = len(first)
            work.append((vertex, True))
            work += [(child, False) for child in inner.get(vertex, ())]
        return intervals

    def dominates(self, over: str, vertex: str) -> bool:
        """Whether every path to a vertex passes `over`; each vertex dominates itself."""
        first, last = self._intervals[over]
        return first <= self._intervals[vertex][0] <= last

    @cached_property
    def into(self) -> dict[str, list[Edge]]:
        """The edges into each vertex."""
        into: dict[str, list[Edge]] = {v: [] for v in self.kinds}
        for edges in self.out.values():
            for edge in edges:
                into[edge.target].append(edge)
        return into

    @cached_property
    def back(self) -> dict[str, list[Edge]]:
        """The edges that lead back to each vertex that a loop begins at."""
        back: dict[str, list[Edge]] = {}
        for vertex, edges in self.into.items():
            loops = [edge for edge in edges if self.dominates(vertex, edge.source)]
            if loops:
                back[vertex] = loops
        return back

    @cached_property
    def merges(self) -> dict[str, list[str]]:
        """By each vertex those that it dominates immediately and where flows come together, in
        their order."""
        merges: dict[str, list[str]] = {}
        for vertex in sorted(self.dominator, key=self.order.__getitem__):
            forward = [e for e in self.into[vertex] if not self.dominates(vertex, e.source)]
            if len(forward) > 1:
                merges.setdefault(self.dominator[vertex], []).append(vertex)
        return merges

    def loop_body(self, header: str) -> frozenset[str]:
        """The vertices of the loop that begins at a vertex."""
        body = {header}
        work = [edge.source for edge in self.back[header]]
        while work:
            vertex = work.pop()
            if vertex not in body:
                body.add(vertex)
                work += [edge.source for edge in self.into[vertex]]
        return frozenset(body)


def _is_event_part(node: Node) -> bool:
    return isinstance(node, SubProcess) and node.flavour == "event"


def _vertex_kind(node: Node, into: int, out: int) -> VertexKind:
    match node:
        case Gateway():
            return _gateway_kind(node, into, out)
        case Event():
            plain = {"start": "start", "end": "end", "boundary": "boundary"}
            if node.position == "throw" and not node.definitions:
                return "pass"
            return plain.get(node.position, "step")  # type: ignore[return-value]
        case Task() | CallActivity() | SubProcess():
            return "step"
        case Opaque():
            raise AssertionError("opaque nodes are no vertices")
        case _:
            assert_never(node)


_SPLITS: Mapping[str, VertexKind] = {
    "exclusive": "choice", "event": "event", "parallel": "fork", "inclusive": "some",
}  # fmt: skip
_JOINS: Mapping[str, VertexKind] = {"parallel": "join", "inclusive": "gather"}


def _gateway_kind(node: Gateway, into: int, out: int) -> VertexKind:
    """A gateway that joins is a join first; its split is a vertex of its own."""
    if into > 1 and node.gateway_kind in _JOINS:
        return _JOINS[node.gateway_kind]
    if out > 1 or node.gateway_kind == "event":
        return _SPLITS[node.gateway_kind]
    return "pass"
