"""Control-flow view of one scope: a multigraph with flow and boundary edges, and its analyses.

BPMN allows two flows between the same pair, so each edge is a separate value. A boundary event is
connected to its activity by an edge without a flow. All algorithms are iterative and linear or near
linear, so a process of 10,000 nodes needs no special treatment.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from orgflow_ir.model import Event, Flow, Opaque, Scope
from orgflow_ir.model import Node as ModelNode
from orgflow_ir.model.records import NamedTuple

_N = TypeVar("_N", bound=Hashable)

ENTRY = "\x00entry"
"""Virtual source of every graph (no id can contain NUL)."""


class Arc(NamedTuple):
    """An edge from `source` to `target`; `flow` is `None` for entry and boundary edges."""

    source: str
    target: str
    flow: Flow | None = None


class ControlFlow:
    """The graph of a scope. Flows whose source or target is not a node of the scope are omitted
    (rule OF101 reports them); arcs are in the order of the model's flows."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.nodes: dict[str, ModelNode] = {n.id: n for n in scope.nodes}
        self.out: dict[str, list[Arc]] = {n: [] for n in self.nodes}
        self.into: dict[str, list[Arc]] = {n: [] for n in self.nodes}
        leaving: dict[str, list[Flow]] = {n: [] for n in self.nodes}
        arriving: dict[str, list[Flow]] = {n: [] for n in self.nodes}
        self.flows_out = leaving.__getitem__
        """Outgoing sequence flows of a node in model order; do not modify the list."""
        self.flows_in = arriving.__getitem__
        """Incoming sequence flows of a node in model order; do not modify the list."""
        self.with_conditions: dict[str, None] = {}
        """Nodes with a conditional or default flow, each once: the others take all their flows."""
        for flow in scope.flows:
            source, target = flow.source, flow.target
            if source in leaving and target in leaving:
                arc = Arc(source, target, flow)
                self.out[source].append(arc)
                self.into[target].append(arc)
                leaving[source].append(flow)
                arriving[target].append(flow)
                if flow.default or flow.condition is not None:
                    self.with_conditions[source] = None
        for node in scope.nodes:
            if isinstance(node, Event) and node.attached_to in leaving:
                arc = Arc(node.attached_to, node.id)
                self.out[node.attached_to].append(arc)
                self.into[node.id].append(arc)
        self.setters: dict[str, tuple[str, ...]] = {}
        """What `orgflow_ir.work.gateway_decisions.setters` found, by gateway."""

    @cached_property
    def successors(self) -> dict[str, list[str]]:
        """Ends of the arcs out of every node, in order; do not modify."""
        return {n: [a.target for a in arcs] for n, arcs in self.out.items()}

    @cached_property
    def entries(self) -> tuple[str, ...]:
        """Nodes where a scope begins: its start events, otherwise every node without incoming flows
        (BPMN 2.0.2, 10.2: activities without incoming flow start with the process), except
        unconnected stubs."""
        starts = tuple(
            n.id for n in self.scope.nodes if isinstance(n, Event) and n.position == "start"
        )
        return starts or tuple(n for n in self.sources if not _is_cut_off(self.nodes[n]))

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """Nodes without incoming flows."""
        return tuple(n for n in self.nodes if not self.into[n])

    @cached_property
    def sinks(self) -> tuple[str, ...]:
        """Nodes without outgoing flows."""
        return tuple(n for n in self.nodes if not self.flows_out(n))

    @cached_property
    def reachable(self) -> frozenset[str]:
        """Nodes on some path from an entry."""
        return list_reachable(self.entries, self.successors)

    @cached_property
    def components(self) -> dict[str, int]:
        """Strongly connected component of every node, numbered in reverse topological order."""
        return strong_components(self.successors)

    @cached_property
    def cyclic(self) -> frozenset[str]:
        """Nodes on a cycle."""
        sizes: dict[int, int] = {}
        for number in self.components.values():
            sizes[number] = sizes.get(number, 0) + 1
        after = self.successors
        return frozenset(n for n, c in self.components.items() if sizes[c] > 1 or n in after[n])

    @cached_property
    def dominator(self) -> dict[str, str]:
        """Immediate dominator of every reachable node from the virtual `ENTRY`."""
        return immediate_dominators(ENTRY, {**self.successors, ENTRY: list(self.entries)})

    def dominators_of(self, node: str) -> Iterator[str]:
        """Strict dominators of `node`, nearest first, without `ENTRY`."""
        dominator = self.dominator
        current = dominator.get(node, ENTRY)
        while current != ENTRY:
            yield current
            current = dominator.get(current, ENTRY)


def _is_cut_off(node: ModelNode) -> bool:
    """Whether a stub stands for what never begins on the target."""
    return isinstance(node, Opaque) and node.stops is not None and node.harmless


def list_reachable(
    start: Iterable[_N], succ: Mapping[_N, Iterable[_N]], avoid: frozenset[_N] = frozenset()
) -> frozenset[_N]:
    """Nodes reachable from `start` (included) without passing through `avoid`."""
    seen = {n for n in start if n not in avoid}
    stack = list(seen)
    while stack:
        for nxt in succ.get(stack.pop(), ()):
            if nxt not in seen and nxt not in avoid:
                seen.add(nxt)
                stack.append(nxt)
    return frozenset(seen)


def united_ahead(succ: Mapping[_N, list[_N]], own: Mapping[_N, int]) -> dict[_N, int]:
    """For each node the union of the sets of bits of all nodes that are reachable from it, itself
    included. Every successor is a key of `succ`."""
    component = strong_components(succ)
    return _unite_sets(component, range(len({*component.values()})), succ, own)


def united_behind(graph: ControlFlow, own: Mapping[str, int]) -> dict[str, int]:
    """For each node of a graph the union of the sets of bits of all nodes from which it is
    reachable, itself included."""
    component = graph.components
    sources = {node: [arc.source for arc in arcs] for node, arcs in graph.into.items()}
    return _unite_sets(component, reversed(range(len({*component.values()}))), sources, own)


def _unite_sets(
    component: Mapping[_N, int],
    order: Iterable[int],
    neighbours: Mapping[_N, list[_N]],
    own: Mapping[_N, int],
) -> dict[_N, int]:
    """For each node the union of its own set and those of its neighbours' components, which come
    before its component in `order`."""
    members: dict[int, list[_N]] = {}
    for node, number in component.items():
        members.setdefault(number, []).append(node)
    united: dict[int, int] = {}
    for number in order:
        union = 0
        for node in members[number]:
            union |= own.get(node, 0)
            for other in neighbours[node]:
                union |= united.get(component[other], 0)
        united[number] = union
    return {node: united[number] for node, number in component.items()}


def strong_components(succ: Mapping[_N, list[_N]]) -> dict[_N, int]:
    """Tarjan's strongly connected components, iteratively; numbers in reverse topological order."""
    index: dict[_N, int] = {}
    low: dict[_N, int] = {}
    result: dict[_N, int] = {}
    stack: list[_N] = []
    number = 0
    for root in succ:
        if root in index:
            continue
        work = [(root, iter(succ[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        while work:
            node, it = work[-1]
            for nxt in it:
                if nxt not in index:
                    index[nxt] = low[nxt] = len(index)
                    stack.append(nxt)
                    work.append((nxt, iter(succ[nxt])))
                    break
                if nxt not in result and index[nxt] < low[node]:
                    low[node] = index[nxt]
            else:
                work.pop()
                lowest = low[node]
                if work and lowest < low[work[-1][0]]:
                    low[work[-1][0]] = lowest
                if lowest == index[node]:
                    while True:
                        member = stack.pop()
                        result[member] = number
                        if member == node:
                            break
                    number += 1
    return result


def immediate_dominators(
    root: _N, succ: Mapping[_N, list[_N]], order: Sequence[_N] = ()
) -> dict[_N, _N]:
    """Immediate dominators (Cooper, Harvey, Kennedy 2001) of the nodes reachable from `root`;
    `order` is a post-order of these nodes if the caller has one."""
    order = order or _list_postorder(root, succ)
    # From here on a node is its number in post-order; the root has the last.
    number = {n: i for i, n in enumerate(order)}
    pred: list[list[int]] = [[] for _ in order]
    for source, node in enumerate(order):
        for nxt in succ.get(node, ()):
            pred[number[nxt]].append(source)
    last = len(order) - 1
    idom = [-1] * last + [last]
    changed = True
    while changed:
        # Without a cycle every predecessor comes before its node, so one round is enough.
        changed = False
        for at in range(last - 1, -1, -1):
            new = -1
            for p in pred[at]:
                if idom[p] < 0:
                    changed = True
                elif new < 0:
                    new = p
                else:
                    while p != new:
                        while p < new:
                            p = idom[p]
                        while new < p:
                            new = idom[new]
            if idom[at] != new:
                changed = changed or idom[at] >= 0
                idom[at] = new
    return {order[at]: order[idom[at]] for at in range(last - 1, -1, -1)}


def _list_postorder(root: _N, succ: Mapping[_N, list[_N]]) -> list[_N]:
    order: list[_N] = []
    seen = {root}
    work = [(root, iter(succ.get(root, ())))]
    while work:
        node, it = work[-1]
        for nxt in it:
            if nxt not in seen:
                seen.add(nxt)
                work.append((nxt, iter(succ.get(nxt, ()))))
                break
        else:
            order.append(node)
            work.pop()
    return order
