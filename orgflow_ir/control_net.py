"""Lowering of one scope to a net of X / A / O nodes with one source and one sink.

An X node passes every token on and chooses one way out, an A node waits for all ways in and goes
all ways out, an O node waits by the path rule of BPMN 2.0.2 (13.4.3) and goes a non-empty choice
of ways out. Policies: every choice is free; messages and timers arrive; each start event is its
own scenario; implicit splits fork, implicit joins pass every token; a non-interrupting boundary
event fires at most once per activation; a multi-instance body counts once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from orgflow_ir.graph import ControlFlow
from orgflow_ir.model import CallActivity, Event, Flow, Gateway, Scope, SubProcess, Task
from orgflow_ir.model import Node as ModelNode

Kind = Literal["X", "A", "O"]
SOURCE, SINK = 0, 1
_GATES: dict[str, Kind] = {
    "exclusive": "X", "event": "X", "parallel": "A", "inclusive": "O", "complex": "O",
}  # fmt: skip
_TERMINATING = frozenset({"terminate", "error", "cancel"})


@dataclass(slots=True, eq=False, repr=False)
class Net:
    """Nodes and arcs by number. Node 0 is the source (one token at the start), node 1 the sink.

    `element[node]` is the id of the model's element a node is part of (empty for source and
    sink); an element that joins and splits is two nodes. `flow[arc]` is the sequence flow an arc
    stands for (`None`: inside an element, boundary, entry, implicit end). `dead_inputs[node]` are
    flows into a waiting join that no run ever uses; `terminating` are arcs whose token ends the
    whole scope; `doubtful` are elements whose meaning the net does not hold, with the reason;
    `aside` are nodes that decide whether a non-interrupting boundary event fires; `by_event` are
    the arcs by which a token leaves an activity through a boundary event.
    """

    kind: list[Kind] = field(default_factory=list)
    element: list[str] = field(default_factory=list)
    ins: list[list[int]] = field(default_factory=list)
    outs: list[list[int]] = field(default_factory=list)
    src: list[int] = field(default_factory=list)
    dst: list[int] = field(default_factory=list)
    flow: list[Flow | None] = field(default_factory=list)
    dead_inputs: dict[int, tuple[Flow, ...]] = field(default_factory=dict)
    terminating: set[int] = field(default_factory=set)
    doubtful: list[tuple[ModelNode, str]] = field(default_factory=list)
    aside: set[int] = field(default_factory=set)
    by_event: set[int] = field(default_factory=set)

    def node(self, kind: Kind, element: str) -> int:
        """Add a node."""
        self.kind.append(kind)
        self.element.append(element)
        self.ins.append([])
        self.outs.append([])
        return len(self.kind) - 1

    def arc(self, src: int, dst: int, flow: Flow | None = None) -> int:
        """Add an arc."""
        number = len(self.src)
        self.src.append(src)
        self.dst.append(dst)
        self.flow.append(flow)
        self.outs[src].append(number)
        self.ins[dst].append(number)
        return number


def links(scope: Scope) -> dict[str, list[str]]:
    """Link catch events a link throw event leads to (the same name within one scope)."""
    catches: dict[str, list[str]] = {}
    throws: list[tuple[str, str]] = []
    for node in scope.nodes:
        if isinstance(node, Event) and node.trigger == "link":
            name = node.definitions[0].name or node.name
            if node.position == "throw":
                throws.append((node.id, name))
            elif node.position == "catch":
                catches.setdefault(name, []).append(node.id)
    return {throw: catches.get(name, []) for throw, name in throws}


def is_handler(node: ModelNode) -> bool:
    """Whether the node is started by something other than a token on a sequence flow."""
    if isinstance(node, SubProcess) and node.flavour == "event":
        return True
    return isinstance(node, Task | CallActivity | SubProcess) and node.for_compensation


def entries(graph: ControlFlow) -> tuple[str, ...]:
    """Where a run may begin: start events (instantiating gateways and receive tasks among them),
    else every node nothing leads to."""
    starts = [n for n, node in graph.nodes.items() if _starts(node, graph)]
    if starts:
        return tuple(starts)
    caught = {c for found in links(graph.scope).values() for c in found}
    return tuple(
        n
        for n in graph.sources
        if n not in caught
        and not is_handler(graph.nodes[n])
        and graph.nodes[n].kind != "opaque"
        and not _boundary(graph.nodes[n])
        and getattr(graph.nodes[n], "trigger", "") != "link"
    )


def _boundary(node: ModelNode) -> bool:
    return isinstance(node, Event) and node.position == "boundary"


def _starts(node: ModelNode, graph: ControlFlow) -> bool:
    if isinstance(node, Event):
        return node.position == "start"
    return isinstance(node, Task | Gateway) and node.instantiate and not graph.flows_in(node.id)


def has_starts(graph: ControlFlow) -> bool:
    """Whether the scope says where it begins."""
    return any(_starts(node, graph) for node in graph.nodes.values())


def live(graph: ControlFlow) -> frozenset[str]:
    """Nodes that some run of the scope may come to."""
    return frozenset(_reachable(graph, entries(graph), links(graph.scope)))


def _reachable(graph: ControlFlow, begin: tuple[str, ...], jumps: dict[str, list[str]]) -> set[str]:
    seen, stack = set(begin), list(begin)
    while stack:
        name = stack.pop()
        for nxt in (*(a.target for a in graph.out[name]), *jumps.get(name, ())):
            if nxt not in seen:
                seen.add(nxt)
                stack.append(nxt)
    return seen


class _Lowering:
    def __init__(self, graph: ControlFlow) -> None:
        self.graph = graph
        self.net = Net()
        self.links = links(graph.scope)
        self.boundary: dict[str, list[Event]] = {}
        self.entry: dict[str, int] = {}
        self.exit: dict[str, int] = {}

    def run(self) -> Net:
        net, graph = self.net, self.graph
        net.node("X", "")
        net.node("O", "")
        for node in graph.nodes.values():
            if isinstance(node, Event) and node.position == "boundary" and node.attached_to:
                self.boundary.setdefault(node.attached_to, []).append(node)
        begin = entries(graph)
        live = _reachable(graph, begin, self.links)
        for name in graph.nodes:
            if name in live:
                self._node(graph.nodes[name], live, name in begin)
        if begin and not has_starts(graph):
            net.kind[SOURCE] = "A"
        for name in begin:
            net.arc(SOURCE, self.entry[name])
        for name in graph.nodes:
            if name in live:
                self._ways_out(graph.nodes[name])
        return net

    def _node(self, node: ModelNode, live: set[str], begins: bool) -> None:
        net, graph = self.net, self.graph
        incoming = [] if _boundary(node) else graph.flows_in(node.id)
        ways_in = [f for f in incoming if f.source in live]
        count = len(ways_in) + begins
        kind: Kind = _GATES[node.gateway_kind] if isinstance(node, Gateway) else "X"
        self._doubts(node, count)
        if self._only_ends(node, count):
            self.entry[node.id] = SINK
            return
        split = self._split_kind(node)
        if count > 1 or (kind == "A" and len(incoming) > 1):
            first = net.node(kind, node.id)
            dead = tuple(f for f in incoming if f.source not in live)
            if kind == "A" and dead:
                net.dead_inputs[first] = dead
            last = first
            if split is not None:
                last = net.node(split, node.id)
                net.arc(first, last)
        else:
            first = last = net.node(split or "X", node.id)
        self.entry[node.id], self.exit[node.id] = first, last

    def _only_ends(self, node: ModelNode, count: int) -> bool:
        """Whether the node does nothing that could be seen to happen twice."""
        if not isinstance(node, Event) or node.position != "end" or self.graph.flows_out(node.id):
            return False
        return node.trigger in ("none", "terminate") or count < 2

    def _doubts(self, node: ModelNode, count: int) -> None:
        doubt = ""
        if isinstance(node, Gateway) and node.gateway_kind == "complex" and count > 1:
            doubt = "when a complex gateway goes on depends on data"
        elif isinstance(node, Gateway) and node.gateway_kind == "event" and node.await_all:
            doubt = "an event-based gateway that waits for every event"
        elif node.kind == "opaque":
            doubt = "what it does to the flow is not known"
        elif node.extra and any("Quantity" in key and v.strip() != "1" for key, v in node.extra):
            doubt = "it takes or gives more than one token at a time"
        if doubt:
            self.net.doubtful.append((node, doubt))

    def _split_kind(self, node: ModelNode) -> Kind | None:
        """Kind of the split part, or `None` when at most one way leads out."""
        if self._around(node):
            return "X"
        out = self.graph.flows_out(node.id)
        if len(out) + len(self.links.get(node.id, ())) < 2:
            return None
        if isinstance(node, Gateway):
            kind = _GATES[node.gateway_kind]
            return "X" if kind == "O" and any(f.default for f in out) else kind
        chosen = [f for f in out if f.condition and not f.default]
        if not chosen or any(f not in chosen and not f.default for f in out):
            return "A"
        return "X" if any(f.default for f in out) else "O"

    def _around(self, node: ModelNode) -> list[Event]:
        """Boundary events that lead somewhere by themselves (compensation waits for a throw)."""
        if node.id not in self.boundary:
            return []
        return [b for b in self.boundary[node.id] if b.trigger != "compensation"]

    def _ways_out(self, node: ModelNode) -> None:
        if node.id not in self.exit:
            return
        at = self.exit[node.id]
        around = self._around(node)
        if around:
            at = self._activity(node, at, around)
        out = self.graph.flows_out(node.id)
        for caught in self.links.get(node.id, ()):
            self.net.arc(at, self.entry[caught])
        if isinstance(node, Gateway):
            if _GATES[node.gateway_kind] == "O" and len(out) > 1:
                self._choices(node, at, out, needs_one=True)
            else:
                self._flows(at, out)
        else:
            self._implicit(node, at, out)
        if not self.net.outs[at]:
            self.net.arc(at, SINK)

    def _activity(self, node: ModelNode, at: int, around: list[Event]) -> int:
        """Boundary events: X after the activity; a non-interrupting one may run beside it."""
        net = self.net
        beside = [b for b in around if not b.interrupting]
        if beside:
            fork = at
            net.kind[fork] = "A"
            at = net.node("X", node.id)
            net.arc(fork, at)
            for event in beside:
                maybe = net.node("X", node.id)
                net.aside.add(maybe)
                net.arc(fork, maybe)
                net.by_event.add(net.arc(maybe, self.entry[event.id]))
                net.arc(maybe, SINK)
        normal = at
        cutting = [b for b in around if b.interrupting]
        if cutting:
            out = self.graph.flows_out(node.id)
            chosen = [f for f in out if f.condition and not f.default]
            kind: Kind = "A"
            if chosen and len(chosen) + any(f.default for f in out) == len(out):
                kind = "X" if any(f.default for f in out) else "O"
            normal = net.node(kind, node.id)
            net.arc(at, normal)
            for event in cutting:
                net.by_event.add(net.arc(at, self.entry[event.id]))
        return normal

    def _implicit(self, node: ModelNode, at: int, out: list[Flow]) -> None:
        chosen = [f for f in out if f.condition and not f.default]
        default = [f for f in out if f.default]
        if not chosen or len(out) < 2:
            self._implicit_fork(node, at, out)
            return
        always = [f for f in out if f not in chosen and f not in default]
        if not always:
            self._choices(node, at, out, needs_one=True)
            return
        self.net.kind[at] = "A"
        self._flows(at, always)
        group = self.net.node("X" if default else "O", node.id)
        self.net.arc(at, group)
        self._choices(node, group, chosen + default, needs_one=False)

    def _implicit_fork(self, node: ModelNode, at: int, out: list[Flow]) -> None:
        if len(out) + len(self.net.outs[at]) > 1:
            self.net.kind[at] = "A"
        self._flows(at, out)

    def _choices(self, node: ModelNode, at: int, out: list[Flow], *, needs_one: bool) -> None:
        """An inclusive choice: the default only where nothing else is taken."""
        net = self.net
        default = [f for f in out if f.default]
        chosen = [f for f in out if not f.default]
        if not default:
            net.kind[at] = "O"
            self._flows(at, out)
            if not needs_one:
                net.arc(at, SINK)
            return
        net.kind[at] = "X"
        group = at
        if len(chosen) > 1:
            group = net.node("O", node.id)
            net.arc(at, group)
        self._flows(group, chosen)
        self._flows(at, default)

    def _flows(self, at: int, out: list[Flow]) -> None:
        for flow in out:
            if _boundary(self.graph.nodes[flow.target]):
                continue  # malformed (OF105): an event is not come to by a token
            number = self.net.arc(at, self.entry[flow.target], flow)
            target = self.graph.nodes[flow.target]
            if (
                isinstance(target, Event)
                and target.position == "end"
                and any(d.kind in _TERMINATING for d in target.definitions)
            ):
                self.net.terminating.add(number)


def lower(graph: ControlFlow) -> Net:
    """The net of a scope. What no start leads to is left out (rule OF111 reports it)."""
    return _Lowering(graph).run()
