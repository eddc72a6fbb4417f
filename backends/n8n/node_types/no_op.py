"""No Operation: passes its input on; a placeholder or a join of connections."""

from __future__ import annotations

from orgflow.backends.n8n.node_types.behaviour import hands_on
from orgflow.backends.n8n.node_types.node_type import NodeType, passes_items

NODE = NodeType(
    name="noOp",
    label="No Operation",
    emitted=True,
    versions=((1,), (1,)),
    behaviour=hands_on,
    effect=passes_items,
    reliable=True,
    task="abstract",
)
