"""Manual Trigger: a person starts the run in the editor."""

from __future__ import annotations

from orgflow.backends.n8n.node_types.behaviour import trigger
from orgflow.backends.n8n.node_types.node_type import NodeType, none

NODE = NodeType(
    name="manualTrigger",
    label="Manual Trigger",
    emitted=True,
    versions=((1,), (1,)),
    start="manual",
    inputs=none,
    behaviour=trigger,
    task=None,
)
