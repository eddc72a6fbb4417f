"""Error Trigger: starts after a run of another workflow failed."""

from __future__ import annotations

from orgflow.backends.n8n.node_types.behaviour import trigger
from orgflow.backends.n8n.node_types.node_type import NodeType, none

NODE = NodeType(
    name="errorTrigger",
    label="Error Trigger",
    versions=((1,), (1,)),
    start="error",
    inputs=none,
    behaviour=trigger,
    task=None,
)
