"""Events whose wait depends on the run: its end is computed, or it waits for a condition."""

from __future__ import annotations

from orgflow.backends.n8n.plan import notes
from orgflow.backends.n8n.plan.actions import PrepareWork, Program
from orgflow.backends.n8n.plan.names import plain
from orgflow.backends.n8n.plan.prepared_work import add_preparation
from orgflow.backends.n8n.plan.scope_plan import ScopePlan

from orgflow_ir.flow.concurrency.model_concurrency import concurrency_of
from orgflow_ir.model import Event, EventDefinition
from orgflow_ir.work.waiting import holding, waiting_until


def plan_moment(event: Event, definition: EventDefinition, label: str, plan: ScopePlan) -> None:
    """In front of an event a node that computes when its wait ends."""
    work = waiting_until(definition)
    plan.work[event.id] = work
    add_preparation(
        plan, event.id, f"{label} time", PrepareWork(work), notes.note_computed_moment()
    )


def plan_condition(event: Event, label: str, plan: ScopePlan) -> bool:
    """Whether an event waits for a condition that nothing can change while it waits, and became a
    node that stops the run where it does not hold."""
    if concurrency_of(plan.scope.model, plan.ctx).beside(event.id):
        return False
    words = plain(event.name) or "The event"
    (definition,) = event.definitions
    work = holding(
        definition,
        f"{words} waits for a condition that does not hold, and nothing else is active that "
        "could change it.",
    )
    if work is None:
        return False
    plan.work[event.id] = work
    node = plan.workflow_graph.add(event.id, label, Program(work), element=event.id)
    node.notes += notes.note_condition(event, plan.defaults)
    return True
