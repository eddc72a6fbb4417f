"""Compiles a model into the net of the token game."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, assert_never

from orgflow_ir.flow.control_flow.compensation import map_handlers
from orgflow_ir.flow.control_flow.outgoing import sort_outgoing
from orgflow_ir.flow.token_game.net import WAITING_EVENTS, Net, NetNode, NetScope, Policy
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import CallActivity, Event, Gateway, Model, Opaque, Scope, SubProcess, Task
from orgflow_ir.model import Node as ModelNode
from orgflow_ir.model.links import Links

if TYPE_CHECKING:
    from orgflow_ir.flow.nets import activity_summaries, failures
    from orgflow_ir.work import thrown_errors
else:  # steps that throw
    activity_summaries = LazyModule("orgflow_ir.flow.nets.activity_summaries")
    failures = LazyModule("orgflow_ir.flow.nets.failures")
    thrown_errors = LazyModule("orgflow_ir.work.thrown_errors")


def compile_net(model: Model, policy: Policy) -> Net:
    """The net of a model. Flows with an end outside their scope are ignored; for two elements with
    the same id, steps refer to the first."""
    return _Compiler(model, policy).net


_ASKING = ("service", "business-rule")
"""Types of tasks that send their message at the start and complete with the answer."""


class _Compiler:
    def __init__(self, model: Model, policy: Policy) -> None:
        self.model, self.policy = model, policy
        self.net = Net(model, policy)
        self._bodies: dict[int, int] = {}
        self._collect_nodes()
        self.net.consumer = [-1] * (len(self.net.flows) + 2 * len(self.net.nodes))
        self.net.producer = [-1] * len(self.net.flows)
        self._wire_flows()
        self._bind_nodes()
        self._split_flows()

    def _collect_nodes(self) -> None:
        scope_of: dict[int, int] = {}
        for process in self.model.processes:
            root = len(self.net.scopes)
            self.net.processes.setdefault(process.id, root)
            for scope in process.scopes():
                scope_of[id(scope)] = len(self.net.scopes)
                self.net.scopes.append(NetScope(len(self.net.scopes), scope.id, scope, root))
        plain = list(self.net.scopes)
        for info in plain:
            assert info.model is not None
            ids = {n.id for n in info.model.nodes}
            for flow in info.model.flows:
                if flow.source in ids and flow.target in ids:
                    self.net.flow_index.setdefault(flow.id, len(self.net.flows))
                    self.net.flows.append(flow)
                    self.net.flow_scope.append(info.index)
        looped: list[tuple[NetNode, NetScope]] = []
        pending: list[tuple[ModelNode, NetScope]] = [
            (node, info) for info in plain for node in (info.model.nodes if info.model else ())
        ]
        for node, info in pending:
            new = self._add_node(node, info)
            loop = node.loop if isinstance(node, Task | CallActivity | SubProcess) else None
            if loop is not None and self.policy.instances > 1:
                around = NetScope(len(self.net.scopes), node.id, None, info.process)
                around.loop = _loop_bounds(node, self.policy.instances)
                self.net.scopes.append(around)
                looped.append((new, around))
            elif isinstance(node, SubProcess):
                self._bodies[new.index] = scope_of[id(node)]
        for new, around in looped:
            inner = self._add_node(new.element, around)
            if isinstance(new.element, SubProcess):
                self._bodies[inner.index] = scope_of[id(new.element)]
            self._bodies[new.index] = around.index
        base = len(self.net.flows)
        for n in self.net.nodes:
            n.pending, n.open = base + 2 * n.index, base + 2 * n.index + 1

    def _add_node(self, node: ModelNode, info: NetScope) -> NetNode:
        new = NetNode(len(self.net.nodes), node.id, node, info.index, -1, -1)
        self.net.nodes.append(new)
        info.nodes.append(new.index)
        self.net.by_id[node.id] = (*self.net.by_id.get(node.id, ()), new.index)
        return new

    def _wire_flows(self) -> None:
        ins: dict[int, list[int]] = {}
        outs: dict[int, list[int]] = {}
        local = {(n.scope, n.id): n.index for n in reversed(self.net.nodes)}
        for place, flow in enumerate(self.net.flows):
            scope = self.net.flow_scope[place]
            source, target = local[scope, flow.source], local[scope, flow.target]
            self.net.consumer[place], self.net.producer[place] = target, source
            outs.setdefault(source, []).append(place)
            ins.setdefault(target, []).append(place)
        for node in self.net.nodes:
            self.net.consumer[node.pending] = self.net.consumer[node.open] = node.index
            node.ins = tuple(ins.get(node.index, ()))
            node.outs = tuple(outs.get(node.index, ()))
            element = node.element
            if isinstance(element, Event):
                node.definitions = element.definitions
                if element.position == "boundary":
                    node.attached = local.get((node.scope, element.attached_to or ""), -1)
        for node in self.net.nodes:
            if node.attached >= 0:
                held = self.net.nodes[node.attached]
                held.boundaries = (*held.boundaries, node.index)

    def _bind_nodes(self) -> None:
        handlers = self._map_handlers()
        for scope in self.net.scopes:
            self._bind_scope(scope)
        # 1. Each node alone: its body, its boundary events, what it waits for.
        for node in self.net.nodes:
            self._bind_node(node, handlers)
        # 2. What a body or a handler has to know of the node that it belongs to.
        for node in self.net.nodes:
            if node.body >= 0:
                self.net.holder.setdefault(node.body, node.index)
            if node.handler >= 0:
                self.net.nodes[node.handler].handles = True
        # 3. Messages and signals between nodes, which may make more of them wait.
        self._bind_messages()
        self._bind_near()
        # 4. Errors and escalations: those of events inside a scope, then those of steps.
        for node in self.net.nodes:
            node.thrown_inside = self._thrown_inside(node)
        for node in self.net.nodes:
            if node.kinds() in ({"error"}, {"escalation"}):
                self._bind_failing(node)

    def _bind_node(self, node: NetNode, handlers: Mapping[str, int]) -> None:
        element = node.element
        node.body = self._bodies.get(node.index, -1)
        inside = self.policy.calls == "inside" and node.body < 0
        if isinstance(element, CallActivity) and inside and element.process:
            node.body = self.net.processes.get(element.process.rpartition(":")[2], -1)
        if node.boundaries:
            live = tuple(
                b for b in node.boundaries if "compensation" not in self.net.nodes[b].kinds()
            )
            for b in node.boundaries:
                if b not in live:
                    node.handler = handlers.get(self.net.nodes[b].id, -1)
            node.boundaries = live
        node.waits = self._waits_outside(element)
        node.race = isinstance(element, Gateway) and (
            element.gateway_kind == "event" and not element.await_all
        )
        node.opens = node.waits or node.race or node.body >= 0 or bool(node.boundaries)
        if isinstance(element, Event) and element.position == "start":
            node.action = "start"

    def _bind_failing(self, node: NetNode) -> None:
        """The steps whose errors or escalations an event catches, and the event for each."""
        steps = self._failing_steps(node)
        throwing = self._throwing_calls(steps, node)
        if throwing:
            steps = throwing  # calls and code throw it, and steps beside them do not
        elif node.thrown_inside or node.kinds() == {"escalation"}:
            return
        node.failing = steps
        for i in node.failing:
            step = self.net.nodes[i]
            step.caught_by = (*step.caught_by, node.index)
            step.opens = True

    def _bind_scope(self, scope: NetScope) -> None:
        nodes = [self.net.nodes[i] for i in scope.nodes]
        links = Links(node.element for node in nodes)
        at = {node.element.id: node.index for node in nodes}
        sources = []
        starts = []
        for node in nodes:
            element = node.element
            if isinstance(element, Event) and element.position in ("throw", "end"):
                node.links = tuple(
                    at[c.id] for catches in links.caught(element) for c in catches[:1]
                )
            if isinstance(element, Event) and element.position == "start":
                starts.append(node.index)
            elif not node.ins and _is_startable(element):
                sources.append(node.index)
        scope.sources = tuple(sources)
        scope.starts = tuple(starts)
        model = scope.model
        if isinstance(model, SubProcess) and model.flavour == "ad-hoc":
            scope.ad_hoc, scope.sequential = True, model.sequential
        scope.events = tuple(
            n.index
            for n in nodes
            if isinstance(n.element, SubProcess) and n.element.flavour == "event"
        )

    def _bind_near(self) -> None:
        for node in self.net.nodes:
            races = [i for p in node.ins if self.net.nodes[i := self.net.producer[p]].race]
            held = [node.attached] if node.attached >= 0 else []
            node.near = tuple(sorted({node.index, *races, *held}))
        for scope in self.net.scopes:
            if scope.loop is not None or scope.ad_hoc:
                for i in scope.nodes:
                    self.net.nodes[i].guard = scope.index
            for i in scope.events:
                body = self.net.nodes[i].body
                for s in self.net.scopes[body].starts if body >= 0 else ():
                    self.net.nodes[s].guard = scope.index
            scope.guards = bool(scope.loop or scope.ad_hoc or scope.events)

    def _waits_outside(self, element: ModelNode) -> bool:
        match element:
            case Task():
                if element.task_type == "manual":
                    return self.policy.manual_waits
                return element.task_type in ("user", "receive")
            case Event():
                return element.position == "catch" and any(
                    d.kind in WAITING_EVENTS for d in element.definitions
                )
            case CallActivity() | SubProcess() | Gateway() | Opaque():
                return False
            case _:
                assert_never(element)

    def _map_handlers(self) -> dict[str, int]:
        return {
            event: self.net.by_id[handler][0]
            for event, handler in map_handlers(self.model).items()
            if handler in self.net.by_id
        }

    def _bind_messages(self) -> None:
        if self.policy.messages == "free":
            return
        for number, flow in enumerate(self.model.message_flows):
            source, target = self.net.by_id.get(flow.source), self.net.by_id.get(flow.target)
            if source and target:
                for i in source:
                    self.net.nodes[i].sends = (*self.net.nodes[i].sends, number)
                for i in target:
                    self.net.nodes[i].needs = (*self.net.nodes[i].needs, number)
        outside = {f.target for f in self.model.message_flows if f.source not in self.net.by_id}
        for node in self.net.nodes:
            if node.id in outside:
                node.needs = ()
            if node.needs and not node.waits and isinstance(node.element, Task):
                node.waits = node.opens = True
            node.asks = bool(node.sends and node.needs) and (
                isinstance(node.element, Task) and node.element.task_type in _ASKING
            )
        self._bind_signals()

    def _bind_signals(self) -> None:
        """Events that catch a signal wait for it where the model throws it."""
        events = [(n, n.element.position) for n in self.net.nodes if isinstance(n.element, Event)]
        thrown = {
            d.ref or d.name
            for node, position in events
            if position in ("throw", "end")
            for d in node.definitions
            if d.kind == "signal"
        }
        for node, position in events:
            if position in ("start", "catch", "boundary"):
                caught = {d.ref or d.name for d in node.definitions if d.kind == "signal"}
                node.signals = frozenset(caught & thrown)

    def _thrown_inside(self, node: NetNode) -> bool:
        """Whether something in the scope that `node` guards throws what it catches."""
        if not node.kinds() & {"error", "escalation"}:
            return False
        if node.attached >= 0:
            body = self.net.nodes[node.attached].body
        elif isinstance(node.element, Event) and node.element.position == "start":
            holder = self.net.holder.get(node.scope, -1)
            body = self.net.nodes[holder].scope if holder >= 0 else -1
        else:
            return False
        seen = {node.scope}
        stack = [body] if body >= 0 else []
        while stack:
            scope = stack.pop()
            if scope in seen:
                continue
            seen.add(scope)
            for inner in (self.net.nodes[i] for i in self.net.scopes[scope].nodes):
                if inner.body >= 0:
                    stack.append(inner.body)
                if isinstance(inner.element, Event) and inner.element.position in ("throw", "end"):
                    for thrown in inner.definitions:
                        if any(self.net.matches(d, thrown) for d in node.definitions):
                            return True
        return False

    def _failing_steps(self, node: NetNode) -> frozenset[int]:
        """The steps in a scope or called process that may throw what a boundary event of it, or the
        start of an event sub-process in it, catches."""
        scope: Scope | None = None
        handler = ""
        if len(node.definitions) != 1:
            return frozenset()
        if node.attached >= 0:
            held = self.net.nodes[node.attached].element
            scope = held if isinstance(held, SubProcess) else self._played_process(held)
        elif (holder := self.net.holder.get(node.scope, -1)) >= 0:
            held = self.net.nodes[holder].element
            if isinstance(held, SubProcess) and held.flavour == "event" and node.action == "start":
                scope, handler = self.net.scopes[self.net.nodes[holder].scope].model, held.id
        if scope is None:
            return frozenset()

        steps = failures.failing_steps(
            scope, node.definitions[0], self.net.matches, handler, self._played_process
        )
        return frozenset(i for step in steps for i in self.net.by_id[step.id])

    def _throwing_calls(self, steps: frozenset[int], catch: NetNode) -> frozenset[int]:
        """Those of some steps that call a process in which an event throws what another catches,
        and, where any event throws it, those whose code does."""
        thrown_by = set()
        for i in steps if self.policy.calls == "steps" else ():
            called = self._find_process(self.net.nodes[i].element)
            process = next((p for p in self.model.processes if p is called), None)
            if process is None:
                continue
            thrown = list(activity_summaries.Nesting(process, self.model).thrown_in(process))
            if any(self.net.matches(d, t) for d in catch.definitions for t in thrown):
                thrown_by.add(i)
        if thrown_by or catch.thrown_inside:
            for i in steps:
                step = self.net.nodes[i].element
                if isinstance(step, Task) and thrown_errors.throws_by_code(
                    step, catch.definitions[0], self.model, self.net.matches
                ):
                    thrown_by.add(i)
        return frozenset(thrown_by)

    def _played_process(self, element: ModelNode) -> Scope | None:
        """The process of the model that a call runs, where it is played."""
        return self._find_process(element) if self.policy.calls == "inside" else None

    def _find_process(self, element: ModelNode) -> Scope | None:
        """The process of the model that a call runs."""
        if not isinstance(element, CallActivity):
            return None
        index = self.net.processes.get(element.process.rpartition(":")[2], -1)
        return self.net.scopes[index].model if index >= 0 else None

    def _split_flows(self) -> None:
        for node in self.net.nodes:
            element = node.element
            flows = [self.net.flows[p] for p in node.outs]
            node.always = node.outs
            match element:
                case Gateway():
                    if element.gateway_kind == "parallel":
                        node.join = "all"
                    elif element.gateway_kind in ("inclusive", "complex"):
                        node.join = "path" if len(node.ins) > 1 else "each"
                    if element.gateway_kind in ("exclusive", "inclusive", "complex"):
                        node.always, node.free = (), node.outs
                        node.single = element.gateway_kind == "exclusive"
                case Task() | CallActivity() | SubProcess():
                    leaving = sort_outgoing(flows)
                    if leaving.decides:
                        chosen = {id(f) for f in (*leaving.chosen, leaving.default)}
                        node.free = tuple(
                            p for p, f in zip(node.outs, flows, strict=True) if id(f) in chosen
                        )
                        node.always = tuple(p for p in node.outs if p not in node.free)
                case Event() | Opaque():
                    pass  # every flow is taken
                case _:
                    assert_never(element)
            defaults = [p for p in node.free if self.net.flows[p].default]
            if defaults and not node.single:
                node.default = defaults[0]
                node.free = tuple(p for p in node.free if p != node.default)
            for taken in self._list_combinations(node):
                node.options[tuple([self.net.flows[p].id for p in taken])] = taken

    def _list_combinations(self, node: NetNode) -> Iterator[tuple[int, ...]]:
        if node.race:
            yield ()
            return
        if not node.free and node.default < 0:
            yield node.always
            return
        if node.single:
            yield from [(p,) for p in node.free]
            return
        left = self.policy.subsets
        for chosen in _list_subsets(node.free):
            if left == 0:
                self.net.wide.add(node.id)
                break
            left -= 1
            yield tuple(sorted((*node.always, *chosen)))
        if node.default >= 0:
            yield tuple(sorted((*node.always, node.default)))
        elif node.always:
            yield node.always


def _list_subsets(items: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Non-empty subsets: single ones, all of them, then by size."""
    yield from ((i,) for i in items)
    if len(items) > 1:
        yield items
    for size in range(2, len(items)):
        yield from combinations(items, size)


def _is_startable(element: ModelNode) -> bool:
    match element:
        case Task() | CallActivity():
            return not element.for_compensation
        case SubProcess():
            return not element.for_compensation and element.flavour != "event"
        case Event():
            return element.position in ("throw", "end") or (
                element.position == "catch" and all(d.kind != "link" for d in element.definitions)
            )
        case Gateway():
            return True
        case Opaque():
            return not element.harmless
        case _:
            assert_never(element)


def _loop_bounds(node: ModelNode, most: int) -> tuple[int, int, bool]:
    assert isinstance(node, Task | CallActivity | SubProcess)
    loop = node.loop
    assert loop is not None
    if loop.kind == "standard":
        high = min(most, loop.maximum) if loop.maximum else most
        return (0 if loop.test_before else 1, high, False)
    text = loop.cardinality.text.strip() if loop.cardinality else ""
    if text.isdecimal():
        return (min(int(text), most), min(int(text), most), not loop.sequential)
    return (0, most, not loop.sequential)
