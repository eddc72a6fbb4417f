"""Aggregate: all items become one."""

from __future__ import annotations

from orgflow.backends.n8n.node_types.behaviour import Behaviour
from orgflow.backends.n8n.node_types.node_type import NodeType, Use


def _node_behaviour(use: Use) -> Behaviour:
    return Behaviour(kind="merge", count=lambda inputs: (min(inputs[0], 1),))


NODE = NodeType(
    name="aggregate",
    label="Aggregate",
    outputs=lambda version, parameters: None,
    inputs=lambda version, parameters: None,
    behaviour=_node_behaviour,
)
