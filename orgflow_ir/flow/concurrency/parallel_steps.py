"""Steps of a scope that may run in parallel.

The structural concurrency relation of Kovalyov ("Concurrency relations and the safety problem for
Petri nets", 1992): the smallest symmetric relation that contains the pairs of initially marked
places and the pairs of output places of each transition, and that each transition propagates from
its input places to its output places. Every pair of steps that may run in parallel is included, for
any net; the reverse holds for sound processes without data, so few processes are refused
unnecessarily.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import combinations
from typing import TypeGuard, assert_never

from orgflow_ir.flow.control_flow.graph import ControlFlow, list_reachable
from orgflow_ir.flow.control_flow.outgoing import sort_outgoing
from orgflow_ir.model import (
    CallActivity,
    Event,
    Flow,
    Gateway,
    Node,
    Opaque,
    SubProcess,
    Task,
)
from orgflow_ir.model.constructs import is_several
from orgflow_ir.model.links import Links
from orgflow_ir.model.records import NamedTuple


class _Move(NamedTuple):
    """A transition: a token from each of `inputs`, one to each of `outputs`, places by number."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


class Concurrency:
    """The concurrency relation of one scope, for `ctx.analysis(Concurrency, graph)`.

    Places are the nodes and, before a gateway that waits for several flows, these flows. A row of
    the relation is an integer with a bit for each place.
    """

    def __init__(self, graph: ControlFlow) -> None:
        self._graph = graph
        self._links = Links(graph.scope.nodes)
        self._joins = {n.id: n for n in graph.nodes.values() if _joins_flows(n, graph)}
        self._places = [*graph.nodes, *(f.id for n in self._joins for f in graph.flows_in(n))]
        self._node_of = [
            *graph.nodes,
            *(f.source for n in self._joins for f in graph.flows_in(n)),
        ]
        """By place the node at which its token is."""
        self._bit = {place: i for i, place in enumerate(self._places)}
        self._rows = [0] * len(self._places)
        self._ways_to: dict[str, dict[str, int]] = {}
        self._moves = [move for n in graph.nodes.values() for move in self._moves_of(n)]
        self._solve_relation()

    def beside(self, node: str) -> tuple[str, ...]:
        """Nodes that may be active, or about to be, while `node` is; includes the node if a second
        token may reach it."""
        nodes = self._node_of
        return tuple(dict.fromkeys([nodes[at] for at in _list_bits(self._rows[self._bit[node]])]))

    # -- the net -----------------------------------------------------------------------------------

    def _moves_of(self, node: Node) -> Iterator[_Move]:
        """The transitions into a gateway that waits, and those out of a node."""
        graph = self._graph
        here = self._bit[node.id]
        if node.id in self._joins:
            flows = tuple([self._bit[f.id] for f in graph.flows_in(node.id)])
            if self._joins[node.id].gateway_kind == "parallel":
                yield _Move(flows, (here,))
            # an inclusive join has a rule of its own: `_pass_inclusive`
        for outputs in self._list_outputs(node):
            if outputs:
                yield _Move((here,), tuple(outputs))
        for arc in graph.out[node.id]:
            if arc.flow is None:
                event, at = graph.nodes[arc.target], self._bit[arc.target]
                assert isinstance(event, Event)
                yield _Move((here,), (at,) if event.interrupting else (here, at))

    def _list_outputs(self, node: Node) -> Iterator[list[int]]:
        """The sets of places that a token may leave a node for, each with all it may mark."""
        flows = self._graph.flows_out(node.id)
        match node:
            case Gateway():
                if node.gateway_kind in ("exclusive", "event"):
                    yield from ([self._find_place(f)] for f in flows)
                elif node.gateway_kind == "parallel":
                    yield [self._find_place(f) for f in flows]
                else:
                    yield [self._find_place(f) for f in flows if not f.default]
                    yield [self._find_place(f) for f in flows if f.default]
            case Task() | CallActivity() | SubProcess():
                out = sort_outgoing(flows)
                always = [self._find_place(f) for f in out.always]
                yield [*always, *(self._find_place(f) for f in out.chosen)]
                if out.default is not None:
                    yield [*always, self._find_place(out.default)]
            case Event():
                caught = [self._bit[e.id] for events in self._links.caught(node) for e in events]
                yield [*(self._find_place(f) for f in flows), *caught]
            case Opaque() if node.stops is not None:  # no run goes on, and so on several paths
                yield from ([self._find_place(f)] for f in flows)
            case Opaque():
                yield [self._find_place(f) for f in flows]
            case _:
                assert_never(node)

    def _find_place(self, flow: Flow) -> int:
        """Where a token on a flow is: at its end, or before a gateway that waits for others."""
        place = self._bit.get(flow.id)
        return self._bit[flow.target] if place is None else place

    # -- the relation ------------------------------------------------------------------------------

    def _solve_relation(self) -> None:
        bit, rows = self._bit, self._rows
        for node, neighbour in self._marked_at_first():
            self._relate_pair(bit[node], bit[neighbour])
        names = self._places
        for move in self._moves:
            for first, second in combinations(move.outputs, 2):
                self._relate_pair(first, second)
            for source in move.inputs:
                if _sends_several(self._graph.nodes.get(names[source])):
                    for place in move.outputs:
                        self._relate_pair(place, place)
        inclusive = [n for n in self._joins.values() if n.gateway_kind != "parallel"]
        changed = True
        while changed:
            before = rows[:]
            for inputs, outputs in self._moves:
                # What is beside all inputs is beside the outputs.
                common = rows[inputs[0]]
                for place in inputs[1:]:
                    common &= rows[place]
                if common:
                    self._extend_rows(common, outputs)
            for join in inclusive:
                self._pass_inclusive(join)
            changed = rows != before

    def _marked_at_first(self) -> Iterator[tuple[str, str]]:
        """A process begins at one of its start events; without them at all nodes that nothing leads
        to. A handler that does not interrupt may run at any time, and more than once."""
        graph, scope = self._graph, self._graph.scope
        handlers = [n.id for n in scope.nodes if _runs_beside(n)]
        begins = [e for e in graph.entries if not _is_handler(graph.nodes[e])]
        together = isinstance(scope, SubProcess) and scope.flavour != "event"
        starts = [isinstance(graph.nodes[e], Event) for e in begins]
        if together or not all(starts):
            yield from combinations(begins, 2)
        if isinstance(scope, SubProcess) and scope.flavour == "ad-hoc":
            yield from ((e, e) for e in begins)  # each may be done again
        for handler in handlers:
            yield handler, handler
            yield from ((handler, other) for other in (*begins, *handlers))

    def _pass_inclusive(self, join: Gateway) -> None:
        """An inclusive or complex join passes what is beside a flow into it, unless it waits for
        that: it does where the token can come to the join, other than by the very flow that has
        one (BPMN 2.0.2, 13.4.3)."""
        for flow in self._graph.flows_in(join.id):
            beside = self._rows[self._bit[flow.id]]
            if join.gateway_kind == "inclusive":
                reaching = self._reaching_places(join)
                beside &= reaching[flow.id] | ~reaching[join.id]
            self._extend_rows(beside, (self._bit[join.id],))

    def _reaching_places(self, join: Gateway) -> dict[str, int]:
        """By the join's id the places from which a token can come to it; by the id of each flow
        into it those from which it can come over that flow, itself included. Computed once."""
        if join.id in self._ways_to:
            return self._ways_to[join.id]
        result = {}
        flows = self._graph.flows_in(join.id)
        for key, into in [(join.id, flows), *((f.id, [f]) for f in flows)]:
            nodes = list_reachable(
                [f.source for f in into], self._nodes_before, frozenset({join.id})
            )
            on = {f.id for f in into}
            on.update([f.id for f in self._graph.scope.flows if f.target in nodes])
            row = 0
            for place in (*nodes, *on):
                if place in self._bit:
                    row |= 1 << self._bit[place]
            result[key] = row
        self._ways_to[join.id] = result
        return result

    @cached_property
    def _nodes_before(self) -> dict[str, list[str]]:
        """The nodes from which a token comes to each node, links included."""
        before = {n: [a.source for a in arcs] for n, arcs in self._graph.into.items()}
        for throw in self._links.throws:
            for event in (e for events in self._links.caught(throw) for e in events):
                before[event.id].append(throw.id)
        return before

    def _extend_rows(self, row: int, places: Iterable[int]) -> None:
        """Relate some places to all places of a row."""
        rows = self._rows
        for at in places:
            added = row & ~rows[at]
            if added:
                rows[at] |= added
                for other in _list_bits(added):
                    rows[other] |= 1 << at

    def _relate_pair(self, first: int, second: int) -> None:
        self._rows[first] |= 1 << second
        self._rows[second] |= 1 << first


def _list_bits(row: int) -> Iterator[int]:
    while row:
        low = row & -row
        yield low.bit_length() - 1
        row ^= low


def _joins_flows(node: Node, graph: ControlFlow) -> TypeGuard[Gateway]:
    """Whether a node takes tokens of several flows at once."""
    return (
        isinstance(node, Gateway)
        and node.gateway_kind in ("parallel", "inclusive", "complex")
        and len(graph.flows_in(node.id)) > 1
    )


def _sends_several(node: Node | None) -> bool:
    """Whether an activity may put more than one token on a flow."""
    return node is not None and any(
        key.endswith("}completionQuantity") and is_several(value) for key, value in node.extra
    )


def _is_handler(node: Node) -> bool:
    """Whether a node begins by an event, not by a flow or with its scope."""
    if isinstance(node, SubProcess) and node.flavour == "event":
        return True
    if isinstance(node, Event):
        return node.position == "boundary"
    return isinstance(node, Task | CallActivity | SubProcess) and node.for_compensation


def _runs_beside(node: Node) -> bool:
    """Whether a node is an event sub-process that lets the rest of its scope go on."""
    return (
        isinstance(node, SubProcess)
        and node.flavour == "event"
        and any(
            n.position == "start" and not n.interrupting for n in node.nodes if isinstance(n, Event)
        )
    )


def may_have_several_tokens(graph: ControlFlow) -> bool:
    """Whether more than one token may be in a scope; where not, its relation is empty."""
    scope = graph.scope
    for node in scope.nodes:
        exclusive = isinstance(node, Gateway) and node.gateway_kind in ("exclusive", "event")
        if len(graph.out[node.id]) > 1 and not exclusive:
            return True
        if isinstance(node, SubProcess) and node.flavour == "event":
            return True
        if isinstance(node, (Task, CallActivity, SubProcess)) and node.loop is not None:
            return True
        if node.extra and _sends_several(node):
            return True
        if isinstance(node, Event) and node.trigger == "link" and node.position == "throw":
            return True  # several events may catch it
    if isinstance(scope, SubProcess) and scope.flavour == "ad-hoc":
        return True
    starts = all(isinstance(graph.nodes[e], Event) for e in graph.entries)
    together = isinstance(scope, SubProcess) and scope.flavour != "event"
    return len(graph.entries) > 1 and (together or not starts)
