"""Start: the manual trigger of n8n before version 0.200."""

from __future__ import annotations

from orgflow.backends.n8n.node_types.behaviour import trigger_behaviour
from orgflow.backends.n8n.node_types.node_type import NodeType

NODE = NodeType(
    name="start",
    label="Start",
    inputs=lambda version, parameters: None,
    outputs=lambda version, parameters: None,
    behaviour=trigger_behaviour,
    task=None,
)
