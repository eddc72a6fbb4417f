"""Loop Over Items: outputs items in batches until none are left."""

from __future__ import annotations

from orgflow.backends.n8n.format.json_values import mapping
from orgflow.backends.n8n.node_types.behaviour import Behaviour, unknown_behaviour
from orgflow.backends.n8n.node_types.node_type import (
    NodeType,
    Parameters,
    Use,
    is_expression,
    passes_items,
)


def _count_outputs(version: float | None, parameters: Parameters) -> int | None:
    return None if version is None else 2 if version >= 2 else 1


def _node_behaviour(use: Use) -> Behaviour | None:
    if use.version < 3:
        # Each pass hands out a batch; at the end the first version gives nothing, the second what
        # was done, on an output that need not be wired.
        return unknown_behaviour(_count_outputs(use.version, use.parameters) or 1)
    size = use.parameters.get("batchSize", 1)
    reset = mapping(use.parameters.get("options")).get("reset", False)
    if not isinstance(size, int) or is_expression(reset):
        return unknown_behaviour(2)
    return Behaviour(kind="batches", outputs=2, batch=-size if reset else size)


NODE = NodeType(
    name="splitInBatches",
    label="Loop Over Items",
    versions=((3,), (3,)),
    outputs=_count_outputs,
    behaviour=_node_behaviour,
    effect=passes_items,
    reliable=True,
    task=None,
)
