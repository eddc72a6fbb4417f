"""Mappings of events: what becomes of the data that come with a call, and with an error."""

from __future__ import annotations

from orgflow.backends.n8n.plan import notes
from orgflow.backends.n8n.plan.actions import ConcludeWork
from orgflow.backends.n8n.plan.graph import PlanNode
from orgflow.backends.n8n.plan.prepared_work import add_conclusion
from orgflow.backends.n8n.plan.scope_plan import ScopePlan

from orgflow_ir.model import Event
from orgflow_ir.model.bindings import AnyBinding
from orgflow_ir.work.tasks import Unread, work_by


def plan_brought_data(event: Event, node: PlanNode, plan: ScopePlan) -> None:
    """Behind an event a node with what its mappings make of what comes."""
    assert event.binding is not None
    work = work_by(event.binding, None)
    if work.unread:
        node.notes += notes.unread_mapping(event, work.unread, plan.ctx)
    if not work.after:
        return
    plan.work[event.id] = work
    add_conclusion(plan, event.id, ConcludeWork(work), notes.note_mapping(before=False))


def unread_error_parts(event: Event, binding: AnyBinding, plan: ScopePlan) -> list[str]:
    """Note of mappings of what comes with an error beside its code and message."""
    reason = "the data of an error other than its code and message is unknown"
    unread = [
        Unread(f"output mapping `{output.name}`", output.text, reason)
        for output in binding.outputs
        if output.language != "variable"
    ]
    return notes.unread_mapping(event, unread, plan.ctx) if unread else []
