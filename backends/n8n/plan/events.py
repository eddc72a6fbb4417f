"""The nodes of events other than starts."""

from __future__ import annotations

from orgflow.backends.n8n.plan import notes
from orgflow.backends.n8n.plan.actions import Action, KeepError, PassOn, Placeholder
from orgflow.backends.n8n.plan.graph import HelperKey, PlanNode, Port
from orgflow.backends.n8n.plan.lazy_modules import load_function
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.starts import FROM_OUTSIDE, plan_start
from orgflow.backends.n8n.plan.target_options import MESSAGES, PLACEHOLDER

from orgflow_ir.model import Event

_DONE_OUTSIDE = (*FROM_OUTSIDE, "conditional")
"""Triggers of events for which a person puts in a node."""


def plan_event(event: Event, plan: ScopePlan) -> None:
    """Add the node of an event, with those that compute for it."""
    if event.position == "start":
        plan_start(event, plan)
        return
    if plan.segments is not None and load_function("segment_elements.plan_waiting_event")(
        event, plan
    ):
        return
    if plan.segments is not None and load_function("segment_elements.plan_sent_message")(
        event, plan
    ):
        return
    if event.trigger == "message" and event.id in plan.deliveries:
        load_function("calls.plan_delivery")(event, plan)
        return
    if _may_send(event, plan) and load_function("messages.plan_message")(event, plan):
        return
    if event.construct == "event.catch.conditional":
        plan_condition = load_function("computed_waits.plan_condition")
        if plan_condition(event, event_label(event), plan):
            return
    wait = None
    if event.position == "catch" and event.trigger in ("timer", *FROM_OUTSIDE):
        wait = load_function("event_waits.plan_wait")(event, event_label(event), plan)
    action: Action = wait.action if wait is not None else _choose_action(event, plan)
    node = plan.workflow_graph.add(event.id, event_label(event), action, element=event.id)
    if event.id in plan.work:
        plan.workflow_graph.connect(Port(HelperKey(event.id, "inputs")), Port(event.id))
    if event.binding is not None:
        _plan_mappings(event, node, plan)
    definition = event.definitions[0] if event.definitions else None
    text = definition.expression.text if definition and definition.expression else ""
    open_time, address = (wait.open_time, wait.address) if wait is not None else (False, "")
    node.notes += notes.note_event(event, open_time, text, address, plan.defaults)


def event_label(event: Event) -> str:
    """The name of an event, or words for what it does."""
    return event.name or describe_event(event)


def describe_event(event: Event) -> str:
    """The action of an event without a name."""
    return {
        "end": "End",
        "throw": "Send" if event.trigger in FROM_OUTSIDE else "Milestone",
        "boundary": event.trigger.capitalize(),
    }.get(event.position, f"Wait for {event.trigger}")


def _may_send(event: Event, plan: ScopePlan) -> bool:
    sends = plan.ctx.options.get(MESSAGES, PLACEHOLDER) != PLACEHOLDER
    return sends and event.trigger in FROM_OUTSIDE and event.position in ("throw", "end")


def _choose_action(event: Event, plan: ScopePlan) -> Action:
    if event.position == "boundary" and event.trigger == "error":
        return KeepError(event)
    if event.position == "end" and event.trigger == "error":
        action: Action = load_function("errors.plan_error_end")(event, plan)
        return action
    return Placeholder() if event.trigger in _DONE_OUTSIDE else PassOn()


def _plan_mappings(event: Event, node: PlanNode, plan: ScopePlan) -> None:
    if event.position == "catch" and event.trigger in FROM_OUTSIDE:
        load_function("event_mappings.plan_brought_data")(event, node, plan)
    if event.position == "boundary":
        lines = load_function("event_mappings.unread_error_parts")(event, event.binding, plan)
        node.notes += lines
