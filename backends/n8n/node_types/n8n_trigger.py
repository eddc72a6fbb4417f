"""n8n Trigger: starts when the workflow is published or n8n itself is started."""

from __future__ import annotations

from typing import Any, Final

from orgflow.backends.n8n.node_types.behaviour import trigger_behaviour
from orgflow.backends.n8n.node_types.node_type import NodeType, no_port

from orgflow_ir.model import EventDefinition
from orgflow_ir.model.timer_values import Duration

PUBLISHED: Final = "activate"
"""The event of an unpublished workflow."""


def for_timer(definition: EventDefinition | None) -> dict[str, Any] | None:
    """Parameters for an immediate timer start, `PT0S`, for a process that waits for its
    publication; otherwise `None`."""
    time = definition.time if definition is not None else None
    at_once = isinstance(time, Duration) and time.is_plain and time.exact_seconds == 0
    return {"events": [PUBLISHED]} if at_once else None


NODE = NodeType(
    name="n8nTrigger",
    label="n8n Trigger",
    emitted=True,
    versions=((1,), (1,)),
    start="schedule",
    inputs=no_port,
    behaviour=trigger_behaviour,
    task=None,
)
