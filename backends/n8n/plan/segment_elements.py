"""The nodes of elements of a process that waits in several places: pages and rows of tasks, events,
gateways."""

from __future__ import annotations

from orgflow.backends.n8n.plan import notes
from orgflow.backends.n8n.plan.actions import (
    Action,
    AnswerPage,
    CheckAnswers,
    ClaimTask,
    CompleteSegment,
    OpenedRow,
    OpenPage,
    PassOn,
    PrepareWork,
    RefuseAnswers,
)
from orgflow.backends.n8n.plan.address_names import take_address
from orgflow.backends.n8n.plan.events import event_label
from orgflow.backends.n8n.plan.graph import HelperKey, Port, Role
from orgflow.backends.n8n.plan.lazy_modules import load_function
from orgflow.backends.n8n.plan.message_links import message_links
from orgflow.backends.n8n.plan.names import message_name
from orgflow.backends.n8n.plan.prepared_work import add_preparation
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.segment_cuts import is_row_join, send_by
from orgflow.backends.n8n.plan.task_form import Page

from orgflow_ir.facts.notes import own_text
from orgflow_ir.flow.concurrency.waits import comes_from_outside
from orgflow_ir.model import Event, Gateway, Node, Task
from orgflow_ir.work.form_fields import describes


def is_cut(node: Node, plan: ScopePlan) -> bool:
    """Whether a gateway needs a node because it ends a segment."""
    if plan.segments is None or not isinstance(node, Gateway):
        return False
    if node.gateway_kind == "event":
        return True
    if node.gateway_kind == "parallel":
        return len(plan.graph.flows_out(node.id)) > 1 or is_row_join(node, plan)
    return node.gateway_kind == "inclusive" and is_row_join(node, plan)


def plan_waiting_task(task: Task, plan: ScopePlan) -> bool:
    """A user task or a receive task as a row; always true."""
    assert plan.segments is not None
    graph = plan.workflow_graph
    plan.segments.waits.add(task.id)
    decisions = plan.decided_by.get(task.id, [])
    if task.id in plan.received:
        awaited = PassOn() if _is_raced(task, plan) else CompleteSegment()
        node = graph.add(task.id, task.name, awaited, element=task.id)
        name = message_name(task, plan.scope.model)
        node.notes += notes.note_awaited_message(task, name, decisions, plan.defaults)
        return True
    form = plan.forms[task.id]
    about = None
    if describes(task, own_text(task.doc)):
        from orgflow_ir.work.people import about_task

        about = about_task(task, own_text(task.doc))
    # The page is the same for all instances: what depends on one is in the row of the task.
    fixed = about._replace(computed=(), inputs={}) if about is not None else None
    page = Page(plan.scope.lanes, about=fixed)
    address = take_address(plan, plan.scope.title, task.name)
    action = OpenPage(task, form, page, address, about)
    node = graph.add(task.id, task.name, action, element=task.id)
    node.notes += notes.note_form(task, form.variables, about, plan.defaults, plan.ctx)
    opened = HelperKey(task.id, "open")
    graph.add(opened, f"Open {node.name}", CompleteSegment(), element=task.id, role="open")
    plan.enter_by(task.id, opened)
    if about is not None and about.work.before:
        plan.work[task.id] = about.work
        before = add_preparation(
            plan,
            task.id,
            f"{task.name or task.id} inputs",
            PrepareWork(about.work),
            notes.note_computed_facts(mapped=bool(about.inputs)),
        )
        graph.connect(Port(before), Port(opened))
    steps: list[tuple[Role, Action, str]] = [
        ("check", CheckAnswers(form), f"{node.name} valid?"),
        ("refuse", RefuseAnswers(form), f"{node.name} again"),
        ("claim", ClaimTask(form), f"Claim {node.name}"),
        ("page", AnswerPage(), f"{node.name} page"),
    ]
    for role, step, name in steps if form.is_checked else steps[2:]:
        graph.add(HelperKey(task.id, role), name, step, element=task.id, role=role)
    return True


def plan_waiting_event(event: Event, plan: ScopePlan) -> bool:
    """An event that waits as a row, or one on the boundary of a task that does; whether it is
    one."""
    segments = plan.segments
    assert segments is not None
    outside = event.position == "boundary" and comes_from_outside(event)
    if event.position != "catch" and not outside:
        return False
    segments.waits.add(event.id)
    graph, label = plan.workflow_graph, event_label(event)
    raced = outside or _is_raced(event, plan)
    computed = False
    if event.trigger == "timer" and not raced:
        from orgflow.backends.n8n.plan.event_waits import plan_wait

        planned = plan_wait(event, label, plan)
        computed = getattr(planned.action, "computed", False)
    node = graph.add(event.id, label, PassOn() if raced else CompleteSegment(), element=event.id)
    if computed:
        graph.connect(Port(HelperKey(event.id, "inputs")), Port(event.id))
    definition = event.definitions[0] if event.definitions else None
    if event.trigger == "message":
        name = message_name(event, plan.scope.model)
        node.notes += notes.note_awaited_message(event, name, [], plan.defaults)
    else:
        open_time = definition is None or definition.time is None
        text = definition.expression.text if definition and definition.expression else ""
        node.notes += notes.note_event(event, open_time, text, "", plan.defaults)
    return True


def plan_sent_message(node: Task | Event, plan: ScopePlan) -> bool:
    """Whether an element that sends a message sends it to another process of the model."""
    links = plan.ctx.analysis(message_links, plan.scope.model)
    link = next((link for link in links if link.sender.id == node.id), None)
    sends = isinstance(node, Event) or (node.task_type == "send" and node.binding is None)
    if link is None or not sends or (isinstance(node, Event) and node.trigger != "message"):
        return False
    if plan.decided_by.get(node.id):
        return False
    label = event_label(node) if isinstance(node, Event) else node.name
    action = send_by(link, plan)
    added = plan.workflow_graph.add(node.id, label, action, element=node.id)
    added.notes += notes.note_matched_message(node, link.name, plan.defaults)
    return True


def _is_raced(node: Node, plan: ScopePlan) -> bool:
    """Whether an event-based gateway awaits an element."""
    for flow in plan.graph.flows_in(node.id):
        source = plan.graph.nodes[flow.source]
        if isinstance(source, Gateway) and source.gateway_kind == "event":
            return True
    return False


def plan_cut_gateway(gateway: Gateway, plan: ScopePlan) -> None:
    """A parallel or event-based gateway, or a join of an inclusive one."""
    segments, graph = plan.segments, plan.workflow_graph
    assert segments is not None
    words = load_function("joins.next_words")(gateway, plan.graph)
    if is_row_join(gateway, plan):
        name = gateway.name or f"Join before {words}"
        node = graph.add(gateway.id, name, PassOn(), element=gateway.id)
        flows = plan.graph.flows_in(gateway.id)
        for number, flow in enumerate(flows):
            key = HelperKey(gateway.id, "arrive", number)
            row = OpenedRow("branch", gateway.id, branch=flow.id, needed=len(flows))
            label = f"{plan.graph.nodes[flow.source].label} done"
            arrive = CompleteSegment((row,))
            graph.add(key, label.replace("`", ""), arrive, element=gateway.id, role="arrive")
            plan.entry[(gateway.id, flow.id)] = Port(key)
    else:
        if gateway.gateway_kind == "event":
            segments.waits.add(gateway.id)
            name = gateway.name or f"Wait for {words}"
        else:
            name = gateway.name or f"Split before {words}"
        node = graph.add(gateway.id, name, CompleteSegment(), element=gateway.id)
    node.notes += notes.note_join(gateway)
