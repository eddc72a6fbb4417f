"""Error Trigger: starts after a run of another workflow failed."""

from __future__ import annotations

from orgflow.backends.n8n.node_types.behaviour import trigger_behaviour
from orgflow.backends.n8n.node_types.node_type import NodeType, no_port

NODE = NodeType(
    name="errorTrigger",
    label="Error Trigger",
    versions=((1,), (1,)),
    start="error",
    inputs=no_port,
    behaviour=trigger_behaviour,
    task=None,
)
