"""Manual Trigger: a person starts the run in the editor."""

from __future__ import annotations

from orgflow.backends.n8n.node_types.behaviour import trigger_behaviour
from orgflow.backends.n8n.node_types.node_type import NodeType, no_port

NODE = NodeType(
    name="manualTrigger",
    label="Manual Trigger",
    emitted=True,
    versions=((1,), (1,)),
    start="manual",
    inputs=no_port,
    behaviour=trigger_behaviour,
    task=None,
)
