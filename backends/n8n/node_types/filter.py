"""Filter: drops the items for which a condition does not hold."""

from __future__ import annotations

from orgflow.backends.n8n.node_types.behaviour import Behaviour, split_items
from orgflow.backends.n8n.node_types.node_type import NodeType, Use, passes_items


def _node_behaviour(use: Use) -> Behaviour:
    # What it drops is a second list although only one output is declared.
    return Behaviour(kind="choice", outputs=1, choices=split_items)


NODE = NodeType(
    name="filter",
    label="Filter",
    versions=((2.2, 2.3), (2.2, 2.3)),
    behaviour=_node_behaviour,
    effect=passes_items,
    task=None,
)
