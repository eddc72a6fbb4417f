"""Starts of a workflow: the nodes of start events, and of the start that a model leaves out."""

from __future__ import annotations

from orgflow.backends.n8n.plan import notes
from orgflow.backends.n8n.plan.actions import (
    Action,
    CalledStart,
    FailureStart,
    KeepAnswers,
    ManualStart,
    PageStart,
    PassOn,
    WebhookStart,
)
from orgflow.backends.n8n.plan.address_names import take_address
from orgflow.backends.n8n.plan.graph import HelperKey, Port, Role, start_key
from orgflow.backends.n8n.plan.lazy_modules import load_function
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.target_options import PEOPLE, PLACEHOLDER, TRIGGER

from orgflow_ir.flow.control_flow.calls import called_from
from orgflow_ir.gaps.gap_rules import OpenMessage
from orgflow_ir.model import Event, Flow, Task
from orgflow_ir.model.bindings import Form
from orgflow_ir.model.element_names import join_listed

FROM_OUTSIDE = ("message", "signal")
"""Triggers that an external call brings, and those that are sent to an external receiver."""


def plan_implicit_start(plan: ScopePlan) -> None:
    """BPMN 2.0.2, 10.5.2: without a start event all elements without incoming flows start at
    once. The flows
    there are connected when every node has its ports."""
    if any(n.position == "start" for n in plan.scope.body.nodes if isinstance(n, Event)):
        return
    start = start_key(plan.scope.body)
    action = _plan_plain_start(start, plan)
    plan.workflow_graph.add(start, "Start", action, element=start, role="trigger")
    plan.implicit_flows = tuple(
        Flow(id=f"{start}_{node}", source=start, target=node) for node in plan.graph.entries
    )


def plan_start(event: Event, plan: ScopePlan) -> None:
    """The node of a start event, and behind a page the one that keeps its answers."""
    graph = plan.workflow_graph
    action = _choose_start(event, plan)
    role: Role = "trigger"
    if plan.segments is not None and isinstance(action, CalledStart):
        action, role = PassOn(), "element"  # the trigger of all segments leads to it
        plan.segments.called.append(event.id)
    node = graph.add(event.id, event.name or "Start", action, element=event.id, role=role)
    page = plan.forms.get(event.id)
    if page is not None:
        key = HelperKey(event.id, "data")
        keep = KeepAnswers(event.id, (), page, None, counted=False)
        graph.add(key, f"{node.name} data", keep, element=event.id, role="data")
        graph.connect(Port(event.id), Port(key))
        node.notes.append(f"Asks for {join_listed(page.variables)}.")
    manual, called = isinstance(action, ManualStart), isinstance(action, WebhookStart)
    if manual and event.trigger == "none" and starts_by_page(plan):
        node.notes.append("Started manually: a gateway reads the input of the run.")
    if event.binding is not None and called:
        load_function("event_mappings.plan_brought_data")(event, node, plan)
    timed = event.trigger == "timer" and load_function("schedules.plan_schedule")(event) is not None
    decisions = plan.decided_by.get(event.id, [])
    node.notes += notes.note_trigger(
        event, called, not timed, decisions, plan.scope.body, plan.defaults
    )


def _choose_start(event: Event, plan: ScopePlan) -> Action:
    if event.trigger == "message" and plan.scope.begun_by_message:
        plan.defaults.fill((OpenMessage,), event.id)
        return CalledStart()
    if plan.segments is not None and load_function("segment_cuts.is_begun")(event, plan):
        plan.defaults.fill((OpenMessage,), event.id)
        return CalledStart()
    nodes = plan.with_role("trigger")
    first = not any(isinstance(node.action, ManualStart) for node in nodes)
    action: Action = ManualStart()
    if plan.scope.started_by_call or event.trigger == "none":
        action = _plan_plain_start(event.id, plan)
    if event.trigger == "timer":
        action = load_function("schedules.plan_schedule")(event) or action
    if event.trigger in FROM_OUTSIDE or (isinstance(action, ManualStart) and not first):
        action = WebhookStart(take_address(plan, plan.scope.title, event.caption))
    return action


def _plan_plain_start(start: str, plan: ScopePlan) -> Action:
    """How a scope starts where nothing else does."""
    if plan.scope.started_by_call:
        return CalledStart()
    if plan.scope.on_error:
        return FailureStart()
    if plan.ctx.options.get(TRIGGER) == "webhook":
        return WebhookStart(take_address(plan, plan.scope.title))
    if not starts_by_page(plan):
        return ManualStart()
    page = load_function("form_planning.plan_start_form")(plan, start, plan.ctx)
    if page is None:
        return ManualStart()
    if page.fields:
        plan.forms = {**plan.forms, start: page}
    return PageStart(take_address(plan, plan.scope.title), plan.scope.title, page)


def starts_by_page(plan: ScopePlan) -> bool:
    """Whether a plain start is a page: where a run comes to a form, here or in what it calls,
    unless the option says otherwise."""
    options, scope = plan.ctx.options, plan.scope
    wanted = options.get(TRIGGER, "auto")
    if wanted in ("manual", "webhook"):
        return False
    if wanted != "auto" or plan.forms or _has_start_form(plan):
        return True
    if options.get(PEOPLE) == PLACEHOLDER:
        return False
    called = called_from(scope.process, scope.model)
    nodes = (node for process in called for node in process.nodes)
    return any(n.task_type in ("user", "manual") for n in nodes if isinstance(n, Task))


def _has_start_form(plan: ScopePlan) -> bool:
    """Whether the model defines a form by which the process starts."""
    return any(
        isinstance(n.binding, Form) and n.binding.fields
        for n in map(plan.graph.nodes.__getitem__, plan.graph.entries)
        if isinstance(n, Event)
    )
