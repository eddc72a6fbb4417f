"""When Executed by Another Workflow: the beginning of a called workflow."""

from __future__ import annotations

from typing import Any

from orgflow.backends.n8n.node_types.behaviour import hands_on
from orgflow.backends.n8n.node_types.node_type import NodeType, no_port


def taking_all() -> dict[str, Any]:
    """Parameters of a trigger that passes on all items of the caller."""
    return {"inputSource": "passthrough"}


NODE = NodeType(
    name="executeWorkflowTrigger",
    label="When Executed by Another Workflow",
    versions=((1.1,), (1.1, 1.2)),
    start="called",
    inputs=no_port,
    behaviour=hands_on,
    reliable=True,
    task=None,
)
