"""Limit: passes on only the first items."""

from __future__ import annotations

from orgflow.backends.n8n.node_types.behaviour import Behaviour
from orgflow.backends.n8n.node_types.node_type import NodeType, Use, passes_items


def _node_behaviour(use: Use) -> Behaviour | None:
    most = use.parameters.get("maxItems", 1)
    if not isinstance(most, int):
        return None
    return Behaviour(kind="merge", count=lambda inputs: (min(inputs[0], max(0, most)),))


NODE = NodeType(
    name="limit",
    label="Limit",
    inputs=lambda version, parameters: None,
    outputs=lambda version, parameters: None,
    behaviour=_node_behaviour,
    effect=passes_items,
)
