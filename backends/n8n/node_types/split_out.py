"""Split Out: makes an item of each entry of a list."""

from __future__ import annotations

from typing import Any, Final

from orgflow.backends.n8n.node_types.behaviour import Behaviour, unknown_behaviour
from orgflow.backends.n8n.node_types.node_type import NodeType, Use

VERSION: Final = 1
"""The version of emitted nodes."""


def split_parameters(field: str) -> dict[str, Any]:
    """Parameters that make an item of each entry of the list in a field, without other fields."""
    return {"fieldToSplitOut": field, "options": {}}


def _node_behaviour(use: Use) -> Behaviour:
    # The number of entries is unknown.
    return unknown_behaviour(use.wired)


NODE = NodeType(
    name="splitOut",
    label="Split Out",
    behaviour=_node_behaviour,
    effect=lambda version, parameters: "replace",
)
