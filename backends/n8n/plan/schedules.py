"""Starts of a workflow at times."""

from __future__ import annotations

from orgflow.backends.n8n.node_types import n8n_trigger, schedule_trigger
from orgflow.backends.n8n.plan.actions import PublicationStart, ScheduleStart

from orgflow_ir.model import Event


def plan_schedule(event: Event) -> ScheduleStart | PublicationStart | None:
    """How a timer starts a workflow; `None` if n8n has no such start."""
    for definition in event.definitions[:1]:
        if schedule_trigger.for_timer(definition) is not None:
            return ScheduleStart(definition)
        if n8n_trigger.for_timer(definition) is not None:
            return PublicationStart(definition)
    return None
