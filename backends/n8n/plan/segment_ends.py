"""Ends the segments of a plan at its elements, and begins others behind them."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Iterator

from orgflow.backends.n8n.plan import notes
from orgflow.backends.n8n.plan.actions import (
    Action,
    AnyRow,
    BeginInstance,
    BeginsHere,
    Call,
    ChooseSegment,
    ChosenRows,
    CompleteSegment,
    ContinueProcess,
    DecideAny,
    OpenedRow,
    OpenPage,
    PassOn,
    PassTaken,
    ReadVariables,
    SendToProcess,
    Stop,
    TakeRow,
)
from orgflow.backends.n8n.plan.decisions import add_stop, may_be_unset
from orgflow.backends.n8n.plan.graph import HelperKey, NodeKey, PlanNode, Port, Role
from orgflow.backends.n8n.plan.message_links import MessageLink, message_links, waits_for_it
from orgflow.backends.n8n.plan.names import message_name
from orgflow.backends.n8n.plan.row_scopes import RowScope, is_terminating
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.segment_cuts import END, hub_key, is_row_join, send_by

from orgflow_ir.flow.concurrency.waits import comes_from_outside
from orgflow_ir.model import Event, Flow, Gateway, Node, Task
from orgflow_ir.model.timer_values import Cycle
from orgflow_ir.work.gateway_decisions import Decision


def connect_segments(plan: ScopePlan) -> None:
    """Add the nodes through which segments begin and end, and connect all but the flows."""
    _add_hub(plan)
    cutter = _Cutter(plan)
    cutter.begin_instances()
    for node in _order_by_flow(plan):
        cutter.cut_at(node)
    cutter.finish()


def _order_by_flow(plan: ScopePlan) -> list[Node]:
    """The elements in the order in which flows reach them from the starts, then the others; files
    of one process may list them in different orders."""
    graph = plan.graph
    order = dict.fromkeys(graph.entries)
    waiting = deque(order)
    while waiting:
        for arc in graph.out[waiting.popleft()]:
            if arc.target not in order:
                order[arc.target] = None
                waiting.append(arc.target)
    known = {node.id: node for node in plan.scope.body.nodes}
    return [known[id] for id in {**order, **dict.fromkeys(known)} if id in known]


def _add_hub(plan: ScopePlan) -> None:
    graph, body = plan.workflow_graph, plan.scope.body.id
    nodes: list[tuple[Role, str, Action, list[str]]] = [
        ("continue", "Continue", ContinueProcess(), notes.note_continuation()),
        ("take", "Claim open work", TakeRow(), []),
        ("taken", "Taken", PassTaken(), notes.note_taken()),
        ("variables", "Variables", ReadVariables(), []),
        ("segment", "What happened?", ChooseSegment(()), notes.note_segment_choice()),
    ]
    for role, name, action, lines in nodes:
        key = hub_key(plan, role)
        graph.add(key, name, action, element=body, role=role, notes=lines)
    keys = [hub_key(plan, role) for role, *_ in nodes]
    if plan.segments is not None and plan.segments.called:
        key = hub_key(plan, "begins")
        graph.add(key, "Begins here?", BeginsHere(), element=body, role="begins")
        graph.connect(Port(keys[0]), Port(key))
        graph.connect(Port(key, 1), Port(keys[1]))
        keys = keys[1:]
    for source, target in itertools.pairwise(keys):
        graph.connect(Port(source), Port(target))


def settle_openers(plan: ScopePlan) -> None:
    """Remove the nodes that end segments and to which nothing leads: those of elements that only
    splits open, and of ends that these leave out. An event whose own node would open it begins its
    segment instead."""
    segments, graph = plan.segments, plan.workflow_graph
    assert segments is not None
    _drop_plain_joins(plan)
    for key, node in list(graph.nodes.items()):
        if not isinstance(node.action, CompleteSegment) or graph.wires.arriving(key):
            continue
        if node.element not in plan.graph.reachable:
            continue
        if node.role == "element" and node.element in segments.waits & segments.begun.keys():
            node.action = PassOn()
            port = segments.begun[node.element]
            for source, target in graph.wires.leaving(port.node):
                if source == port:
                    graph.wires[(Port(key), target)] = graph.wires.pop((source, target))
            graph.connect(port, Port(key))
            continue
        for wire in graph.wires.leaving(key):
            del graph.wires[wire]
        del graph.nodes[key]


def _drop_plain_joins(plan: ScopePlan) -> None:
    """Remove the nodes of joins without a name behind which one flow leads on: the support set
    joins, and the output of the switch leads to what follows."""
    segments, graph = plan.segments, plan.workflow_graph
    assert segments is not None
    for gateway in plan.scope.body.nodes:
        if not isinstance(gateway, Gateway) or gateway.id not in segments.begun:
            continue
        if gateway.name or gateway.doc:
            continue
        node, port = graph.nodes.get(gateway.id), segments.begun[gateway.id]
        leaving = list(graph.wires.leaving(gateway.id))
        arriving = list(graph.wires.arriving(gateway.id))
        flows = plan.graph.flows_out(gateway.id)
        if node is None or not isinstance(node.action, PassOn):
            continue
        if len(leaving) != 1 or len(flows) != 1 or [source for source, _ in arriving] != [port]:
            continue
        ((_, target),) = leaving
        flow = graph.wires.pop((Port(gateway.id), target))
        del graph.wires[arriving[0]]
        graph.wires[(port, target)] = flow
        plan.exits[flows[0].id] = port
        del graph.nodes[gateway.id]


def list_rows(rows: Iterable[AnyRow]) -> Iterator[OpenedRow]:
    """All rows that may be written."""
    for row in rows:
        if isinstance(row, ChosenRows):
            yield from list_rows((*row.rows, *row.otherwise))
        else:
            yield row


def put_inside(row: AnyRow, scope: str) -> AnyRow:
    """A row as one inside of a scope that is opened with it, unless it is inside of another one."""
    if isinstance(row, ChosenRows):
        rows, otherwise = (
            tuple(put_inside(inner, scope) for inner in some) for some in (row.rows, row.otherwise)
        )
        return row._replace(rows=rows, otherwise=otherwise)
    return row if row.inside else row._replace(inside=scope)


class _Cutter:
    """Ends segments at the elements of one plan, and begins them."""

    def __init__(self, plan: ScopePlan) -> None:
        assert plan.segments is not None
        self.plan, self.graph, self.segments = plan, plan.workflow_graph, plan.segments
        self.taken = Port(hub_key(plan, "taken"))
        links = plan.ctx.analysis(message_links, plan.scope.model)
        self.received = [link for link in links if link.target.id == plan.process.id]
        self.flat = plan.segments.flat
        self.outs = {scope.out: scope for scope in self.flat.scopes.values()}
        self.sent_from: dict[str, Port] = {}
        self.sent = [link for link in links if link.source.id == plan.process.id]

    def begin_at(self, event: str, label: str) -> Port:
        """The output of the switch for an event."""
        known = self.segments.begun
        if event not in known:
            known[event] = Port(hub_key(self.plan, "segment"), len(known))
            self.segments.labels[event] = label
        return known[event]

    def begin_instances(self) -> None:
        """Behind each start the row of the instance."""
        called = [self.graph.nodes[event] for event in self.segments.called]
        for trigger in called:
            self.graph.connect(Port(hub_key(self.plan, "begins")), Port(trigger.key))
        for trigger in [*self.plan.with_role("trigger"), *called]:
            key = HelperKey(trigger.key, "begin")
            action = BeginInstance(trigger.key)
            name = f"Begin {trigger.name}" if trigger.name != "Start" else "Begin"
            self.graph.add(key, name, action, element=trigger.element, role="begin")
            self.graph.connect(Port(self.plan.outlet(trigger.element)), Port(key))
            self.graph.connect(Port(key), self.taken)
            port = self.begin_at(trigger.element, trigger.name)
            for flow in self._flows_out(trigger.element):
                self.plan.exits[flow.id] = port
            if not self._flows_out(trigger.element):
                self._end_path(trigger.element, port, f"{trigger.name} ends")
            self._split(trigger.element, port)

    def cut_at(self, node: Node) -> None:
        """The ends and beginnings of segments at an element."""
        planned = self.graph.nodes.get(node.id)
        if planned is None or planned.role == "trigger" or node.id in self.segments.called:
            return
        if isinstance(node, Gateway):
            self._cut_gateway(node)
            return
        if node.id in self.flat.scopes:
            planned.action = CompleteSegment(tuple(self._scope_rows(self.flat.scopes[node.id])))
            self.segments.absorbed |= {f.id for f in self.plan.graph.flows_out(node.id)}
            return
        if self._leaves_scope(node):
            return
        port: Port | None = None
        if node.id in self.outs:
            scope = self.outs[node.id]
            name = self.graph.nodes[scope.id].name
            planned.name = self.graph.names.take(f"{name} ended")
            port = Port(node.id)
            self.graph.connect(self.begin_at(f"{END}{scope.id}", planned.name), port)
        if node.id in self.segments.waits:
            port = self._cut_wait(node)
        self._await_messages(node)
        port = self._send_messages(node, port)
        if port is not None:
            self.sent_from[node.id] = port
        if isinstance(node, Event) and (node.position == "end" or is_terminating(node)):
            self._cut_end(node)
        elif self._has_no_flow(node) and node.id in self.plan.graph.reachable:
            self._end_path(node.id, port or Port(self.plan.outlet(node.id)), f"{planned.name} ends")
        else:
            self._split(node.id, port)

    def _has_no_flow(self, node: Node) -> bool:
        """Whether an element ends its path in its scope."""
        return all(f.target in self.outs for f in self.plan.graph.flows_out(node.id))

    # -- scopes --------------------------------------------------------------------------------

    def _leaves_scope(self, node: Node) -> bool:
        """Whether an element only ends a path in a scope. Behind others a node does."""
        flows = [f for f in self.plan.graph.flows_out(node.id) if f.target in self.outs]
        if not flows:
            return False
        self.segments.absorbed |= {flow.id for flow in flows}
        planned = self.graph.nodes[node.id]
        plain = isinstance(node, Event) and node.position == "throw" and node.trigger == "none"
        if not plain or node.id in self.outs or not isinstance(planned.action, PassOn):
            return False
        planned.action = CompleteSegment(ends=True)
        return True

    def _scope_rows(self, scope: RowScope) -> Iterator[AnyRow]:
        """The rows that are open once a scope is: its own, those of the events on its border, and
        the first ones in it."""
        events = list(self._events_at(self.plan.graph.nodes[scope.id]))
        yield OpenedRow("scope", scope.id, ref=scope.id, hosts_events=bool(events))
        for event, interrupts in events:
            yield self._event_row(event, scope.id, interrupts=interrupts)
        first: list[AnyRow] = []
        for flow in self.plan.graph.flows_out(scope.id):
            first += self._rows_behind(flow) or [self._branch_row(flow)]
        yield from (put_inside(row, scope.id) for row in first)

    def _ends_scope(self, event: Event, scope: str) -> CompleteSegment:
        """The end of a scope by an event in it; of the process with an empty `scope`."""
        return CompleteSegment(leaves=event.id, levels=self.flat.levels_to(event.id, scope))

    # -- waits ---------------------------------------------------------------------------------

    def _cut_wait(self, node: Node) -> Port:
        """The rows that an element opens, and the output by which its segment begins."""
        planned = self.graph.nodes[node.id]
        port = self.begin_at(node.id, planned.name)
        if isinstance(planned.action, PassOn):  # an event that another element opens
            self.graph.connect(port, Port(node.id))
            after = self._repeat_event(node) or Port(node.id)
        else:
            opened = HelperKey(node.id, "open")
            opener = self.graph.nodes.get(opened, planned)
            opener.action = CompleteSegment(tuple(self._rows_at(node)))
            after = port
            if isinstance(planned.action, OpenPage):
                keys: list[NodeKey] = [
                    node.id, HelperKey(node.id, "claim"), HelperKey(node.id, "page"),
                ]  # fmt: skip
                check = HelperKey(node.id, "check")
                if check in self.graph.nodes:
                    keys.insert(1, check)
                    self.graph.connect(Port(check, 1), Port(HelperKey(node.id, "refuse")))
                for source, target in itertools.pairwise(keys):
                    self.graph.connect(Port(source), Port(target))
                self.graph.connect(Port(keys[-1]), self.taken)
        for flow in self.plan.graph.flows_out(node.id):
            self.plan.exits[flow.id] = after
        return after

    def _await_messages(self, node: Node) -> None:
        """In front of an activity the messages that it needs before it begins."""
        links = [link for link in self.received if link.receiver.id == node.id]
        if not links or waits_for_it(node):
            return
        flows = self.plan.flows_into(node.id)
        first = next((self.plan.entry.get((node.id, f.id)) for f in flows), None) or Port(node.id)
        for number, link in reversed(list(enumerate(links))):
            key = HelperKey(node.id, "await", number)
            row = OpenedRow("receiver", link.flow, message=link.name)
            name = f"Wait for {link.name}"
            self.graph.add(key, name, CompleteSegment((row,)), element=node.id, role="await")
            self.graph.connect(self.begin_at(link.flow, name), first)
            first = Port(key)
        if self._requests(node):
            keys = self._add_messages(
                node, [link for link in self.sent if link.sender.id == node.id]
            )
            self.graph.connect(Port(keys[-1]), first)
            first = Port(keys[0])
        self.plan.enter_by(node.id, first.node)

    def _requests(self, node: Node) -> bool:
        """Whether an activity sends a message and waits for the answer before it is done: a service
        or business rule task (BPMN 2.0.2, 13.3.3), or one that begins the process that answers."""
        sent = [link for link in self.sent if link.sender.id == node.id]
        received = [link for link in self.received if link.receiver.id == node.id]
        if not sent or not received or not isinstance(node, Task) or waits_for_it(node):
            return False
        if node.task_type in ("service", "business-rule"):
            return True
        return any(
            link.begins and link.target is answer.source for link in sent for answer in received
        )

    def _add_messages(self, node: Node, links: list[MessageLink]) -> list[NodeKey]:
        """Nodes that send messages, one behind the other."""
        keys: list[NodeKey] = []
        for number, link in enumerate(links):
            key = HelperKey(node.id, "message", number)
            action, name = send_by(link, self.plan), f"Send {link.name}"
            self.graph.add(key, name, action, element=node.id, role="message")
            keys.append(key)
        for source, target in itertools.pairwise(keys):
            self.graph.connect(Port(source), Port(target))
        return keys

    def _send_messages(self, node: Node, port: Port | None) -> Port | None:
        """Behind an element, or in front of an end, the messages that it sends."""
        links = [link for link in self.sent if link.sender.id == node.id]
        planned = self.graph.nodes[node.id]
        if links and isinstance(planned.action, SendToProcess | Call):
            links = links[1:]
        if not links or self._requests(node):
            return port
        ends = isinstance(node, Event) and node.position == "end" and node.trigger == "none"
        keys = self._add_messages(node, links)
        if ends:
            self.plan.enter_by(node.id, keys[0])
            self.graph.connect(Port(keys[-1]), Port(node.id))
            return port
        self.graph.connect(port or Port(self.plan.outlet(node.id)), Port(keys[0]))
        for flow in self.plan.graph.flows_out(node.id):
            self.plan.exits[flow.id] = Port(keys[-1])
        return Port(keys[-1])

    def _repeat_event(self, node: Node) -> Port | None:
        """Behind an event that does not interrupt and may happen again a node that opens it
        again."""
        if not isinstance(node, Event) or node.position != "boundary" or node.interrupting:
            return None
        row = self._event_row(node, "", interrupts=False)
        if row.again == 1:
            return None
        again = row._replace(repeats=True)
        rows: list[AnyRow] = [again]
        for flow in self.plan.graph.flows_out(node.id):
            self.segments.absorbed.add(flow.id)
            rows += self._rows_behind(flow)
        key = HelperKey(node.id, "split")
        name = f"Repeat {self.graph.nodes[node.id].name}"
        self.graph.add(key, name, CompleteSegment(tuple(rows)), element=node.id, role="split")
        self.graph.connect(Port(node.id), Port(key))
        return Port(key)

    def _rows_at(self, node: Node) -> Iterator[OpenedRow]:
        """The rows that are open while an element waits: its own, and those of its events."""
        events = list(self._events_at(node))
        ref = node.id if events else ""
        match node:
            case Gateway():
                yield OpenedRow("gateway", node.id, ref=ref, hosts_events=True)
            case Task() if node.id in self.plan.forms:
                action = self.graph.nodes[node.id].action
                assert isinstance(action, OpenPage)
                yield OpenedRow(
                    "task", node.id, ref=ref, hosts_events=bool(ref), task=node,
                    address=action.address,
                )  # fmt: skip
            case _:
                row = self._event_row(node, "", interrupts=True)
                yield row._replace(ref=ref, hosts_events=bool(ref))
        for event, interrupts in events:
            yield self._event_row(event, node.id, interrupts=interrupts)

    def _events_at(self, node: Node) -> Iterator[tuple[Node, bool]]:
        """The events that compete with an element, and whether they interrupt it."""
        if isinstance(node, Gateway):
            for flow in self.plan.graph.flows_out(node.id):
                yield self.plan.graph.nodes[flow.target], True
            return
        for other in self.plan.scope.body.nodes:
            attached = isinstance(other, Event) and other.attached_to == node.id
            if isinstance(other, Event) and attached and comes_from_outside(other):
                yield other, other.interrupting

    def _event_row(self, node: Node, host: str, *, interrupts: bool) -> OpenedRow:
        """The row of a timer or of an expected message."""
        if isinstance(node, Event) and node.trigger == "timer":
            definition = node.definitions[0] if node.definitions else None
            time = definition.time if definition is not None else None
            again = time.repetitions if isinstance(time, Cycle) and not interrupts else 1
            computed = HelperKey(node.id, "inputs") in self.graph.nodes
            row = OpenedRow("timer", node.id, due=definition, again=again, computed=computed)
        else:
            assert isinstance(node, Task | Event)
            name = message_name(node, self.plan.scope.model)
            row = OpenedRow("receiver", node.id, message=name, again=1 if interrupts else None)
        return row._replace(host=host) if interrupts else row._replace(attached_to=host)

    # -- branches ------------------------------------------------------------------------------

    def _cut_gateway(self, gateway: Gateway) -> None:
        plan = self.plan
        planned = self.graph.nodes[gateway.id]
        if is_row_join(gateway, plan):
            port = self.begin_at(gateway.id, planned.name)
            self.graph.connect(port, Port(gateway.id))
            if not plan.graph.flows_out(gateway.id):
                self._end_path(gateway.id, Port(gateway.id), f"{planned.name} ends")
            self._split(gateway.id, None)
        elif gateway.gateway_kind == "event":
            planned.action = CompleteSegment(tuple(self._rows_at(gateway)))
            self.segments.absorbed.update(f.id for f in plan.graph.flows_out(gateway.id))
        elif gateway.gateway_kind == "parallel":
            planned.action = self._branches(gateway.id)
        elif gateway.id in plan.decisions and plan.decisions[gateway.id].several:
            self._choose_branches(plan.decisions[gateway.id])

    def _branches(self, element: str) -> CompleteSegment:
        """The rows of all branches behind an element."""
        rows: list[AnyRow] = []
        for flow in self._flows_out(element):
            self.segments.absorbed.add(flow.id)
            rows += self._rows_behind(flow)
        return CompleteSegment(tuple(rows), ends=not rows)

    def _flows_out(self, element: str) -> tuple[Flow, ...]:
        implicit = (flow for flow in self.plan.implicit_flows if flow.source == element)
        known = element in self.plan.graph.nodes
        flows = self.plan.graph.flows_out(element) if known else ()
        return (*implicit, *(flow for flow in flows if flow.target not in self.outs))

    def _split(self, element: str, port: Port | None) -> None:
        """Behind an element with several flows a node that begins its branches."""
        if len(self._flows_out(element)) < 2 or element in self.plan.decisions:
            return
        if self._flows_out(element)[0].id in self.segments.absorbed:
            return
        key = HelperKey(element, "split")
        name = f"Split after {self.graph.nodes[element].name}"
        self.graph.add(key, name, self._branches(element), element=element, role="split")
        source = port or Port(self.plan.outlet(element))
        self.graph.connect(source, Port(key))

    def _choose_branches(self, decision: Decision) -> None:
        """An inclusive split: a node that decides whether any branch is taken, and one that writes
        the rows of those that are."""
        plan, gateway = self.plan, decision.gateway
        node = self.graph.nodes[gateway.id]
        unset = may_be_unset(decision, plan)
        node.action = DecideAny(decision, unset)
        joins = [join for join in plan.joins.values() if join.split == gateway.id and join.inputs]
        rows: list[AnyRow] = []
        for branch in decision.branches:
            flow = branch.flow
            self.segments.absorbed.add(flow.id)
            otherwise: tuple[AnyRow, ...] = ()
            for join in joins:
                needed = len(plan.graph.flows_in(join.gateway))
                arrives = join.inputs[flow.id]
                otherwise = (
                    OpenedRow("branch", join.gateway, branch=arrives, needed=needed),
                )  # fmt: skip
            rows.append(ChosenRows(decision, branch, tuple(self._rows_behind(flow)), otherwise))
        key = HelperKey(gateway.id, "split")
        name = f"Branches of {node.name}"
        action = CompleteSegment(tuple(rows))
        self.graph.add(key, name, action, element=gateway.id, role="split")
        first = 1 if unset else 0
        self.graph.connect(Port(gateway.id, first), Port(key))
        if decision.default is not None:
            self.graph.connect(Port(gateway.id, first + 1), Port(key))
        stops = [Port(gateway.id, 0)] if unset else []
        if decision.default is None:
            stops.append(Port(gateway.id, first + 1))
        add_stop(decision, plan, stops)

    def _rows_behind(self, flow: Flow) -> list[AnyRow]:
        """The rows that are open once a token is on a flow; none where its path ends."""
        return list(self._find_rows(flow))

    def _find_rows(self, flow: Flow) -> Iterator[AnyRow]:
        node = self.plan.graph.nodes[flow.target]
        if node.id in self.flat.scopes:
            yield from self._scope_rows(self.flat.scopes[node.id])
            return
        if self._only_ends(node):
            return
        if node.id in self.plan.silent:
            for out in self.plan.graph.flows_out(node.id):
                yield from self._rows_behind(out)
            return
        prepared = HelperKey(node.id, "inputs") in self.graph.nodes
        awaited = [link for link in self.received if link.receiver.id == node.id]
        if awaited and not waits_for_it(node) and not self._requests(node):
            yield OpenedRow("receiver", awaited[0].flow, message=awaited[0].name)
            return
        if isinstance(node, Gateway) and is_row_join(node, self.plan):
            needed = len(self.plan.graph.flows_in(node.id))
            yield OpenedRow("branch", node.id, branch=flow.id, needed=needed)
        elif isinstance(node, Gateway) and node.gateway_kind == "parallel":
            for out in self.plan.graph.flows_out(node.id):
                yield from self._rows_behind(out)
        elif node.id in self.segments.waits and not prepared:
            yield from self._rows_at(node)
        else:
            yield self._branch_row(flow)

    def _only_ends(self, node: Node) -> bool:
        """Whether an element does nothing but end its path."""
        if not isinstance(node, Event) or node.trigger != "none" or self._sends(node):
            return False
        leaves = [f.target in self.outs for f in self.plan.graph.flows_out(node.id)]
        return node.position == "end" or (node.position == "throw" and leaves == [True])

    def _sends(self, node: Node) -> bool:
        return any(link.sender.id == node.id for link in self.sent)

    def _branch_row(self, flow: Flow) -> OpenedRow:
        """The row of a branch that begins with steps, which is due at once."""
        node = self.plan.graph.nodes[flow.target]
        event = flow.id if node.id in self.segments.waits else node.id
        known = event in self.segments.begun
        port = self.begin_at(event, self.graph.nodes[node.id].name)
        if not known:
            self.segments.entered.append((port, flow))
        return OpenedRow("timer", event)

    # -- ends ----------------------------------------------------------------------------------

    def _cut_end(self, event: Event) -> None:
        planned = self.graph.nodes[event.id]
        owner = self.flat.owners.get(event.id, "")
        caught = self.flat.catchers.get(event.id)
        if event.trigger == "terminate":
            while owner and self.flat.scopes[owner].is_body:
                owner = self.flat.scopes[owner].parent
            planned.action = self._ends_scope(event, owner)
            if owner:
                out = Port(self.flat.scopes[owner].out)
                self.graph.connect(self.begin_at(event.id, planned.name), out)
        elif isinstance(catcher := self.plan.graph.nodes.get(caught or ""), Event):
            host, caught = catcher.attached_to or "", catcher.id
            planned.action = self._ends_scope(event, host)._replace(leaves=caught)
            if caught not in self.segments.begun:
                label = self.graph.nodes[caught].name
                self.graph.connect(self.begin_at(caught, label), Port(caught))
        elif isinstance(planned.action, Stop):
            key = HelperKey(event.id, "end")
            action = self._ends_scope(event, "")._replace(stops=True)
            self.graph.add(key, f"End by {planned.name}", action, element=event.id, role="end")
            self.plan.enter_by(event.id, key)
            self.graph.connect(Port(key), Port(event.id))
        elif isinstance(planned.action, PassOn):
            planned.action = CompleteSegment(ends=True)
        else:
            port = self.sent_from.get(event.id) or Port(event.id)
            self._end_path(event.id, port, f"{planned.name} ends")

    def _end_path(self, element: str, port: Port, name: str) -> None:
        key = HelperKey(element, "end")
        self.graph.add(key, name, CompleteSegment(ends=True), element=element, role="end")
        self.graph.connect(port, Port(key))

    def _may_go_on(self, node: PlanNode) -> bool:
        """Whether an execution may go on behind the end of a segment: at a join, or behind a
        scope."""
        action = node.action
        assert isinstance(action, CompleteSegment)
        if any(row.kind == "branch" for row in list_rows(action.rows)):
            return True
        inside = bool(self.flat.owners.get(node.element))
        return inside and (action.ends or bool(action.leaves)) and not action.stops

    def finish(self) -> None:
        """Connect what begins as a branch of its own, and the ends of segments behind which the
        same execution may go on, and number the outputs of the switch."""
        for key, node in self.graph.nodes.items():
            if isinstance(node.action, CompleteSegment) and self._may_go_on(node):
                self.graph.connect(Port(key), self.taken)
        for port, flow in self.segments.entered:
            target = self.plan.entry.get((flow.target, flow.id)) or Port(flow.target)
            self.graph.connect(port, target, flow.id)
        switch = self.graph.nodes[hub_key(self.plan, "segment")]
        assert isinstance(switch.action, ChooseSegment)
        events = tuple((event, self.segments.labels[event]) for event in self.segments.begun)
        switch.action = switch.action._replace(events=events)
