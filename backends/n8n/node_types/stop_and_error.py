"""Stop and Error: ends the run with an error."""

from __future__ import annotations

from typing import Any

from orgflow.backends.n8n.node_types.behaviour import Behaviour
from orgflow.backends.n8n.node_types.node_type import NodeType, Use, no_port, passes_items


def stop_parameters(message: str) -> dict[str, Any]:
    """Parameters of a node with a fixed message."""
    return {"errorType": "errorMessage", "errorMessage": message}


def _node_behaviour(use: Use) -> Behaviour:
    return Behaviour(kind="stop", outputs=0)


NODE = NodeType(
    name="stopAndError",
    label="Stop and Error",
    emitted=True,
    versions=((1,), (1,)),
    outputs=no_port,
    behaviour=_node_behaviour,
    effect=passes_items,
    required=(
        ("errorMessage", {"errorType": ("errorMessage", None)}),
        ("errorObject", {"errorType": ("errorObject",)}),
    ),
    task=None,
)
