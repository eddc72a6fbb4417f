"""When Executed by Another Workflow: where a called workflow begins."""

from __future__ import annotations

from typing import Any

from orgflow.backends.n8n.node_types.behaviour import hands_on
from orgflow.backends.n8n.node_types.node_type import NodeType, none


def taking_all() -> dict[str, Any]:
    """Parameters of a trigger that hands on whatever items the caller gives."""
    return {"inputSource": "passthrough"}


NODE = NodeType(
    name="executeWorkflowTrigger",
    label="When Executed by Another Workflow",
    versions=((1.1,), (1.1, 1.2)),
    start="called",
    inputs=none,
    behaviour=hands_on,
    reliable=True,
    task=None,
)
