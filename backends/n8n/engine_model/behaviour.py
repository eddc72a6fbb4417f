"""The possible behaviour of each node with its input items.

Behaviour that depends on data is a choice; all other behaviour is computed. Parameters that are
expressions make a node's behaviour a choice. Sources: `execute` of the nodes in n8n-nodes-base
2.41.1. The behaviour of each type is defined in its module in `node_types`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.format.document import TYPE_PREFIX
from orgflow.backends.n8n.format.json_values import mapping
from orgflow.backends.n8n.node_types.behaviour import Behaviour, unknown_behaviour
from orgflow.backends.n8n.node_types.node_type import Use


def node_behaviour(node: Mapping[str, Any], wired: int, known: frozenset[str]) -> Behaviour:
    """What `node` does.

    Args:
        node: a node of an n8n workflow.
        wired: number of connected outputs; assumed for a node of unknown type.
        known: ids of the callable workflows; calls of others are choices.
    """
    full = str(node.get("type", ""))
    name = full.removeprefix(TYPE_PREFIX)
    kind = node_types.find_type(name) if name != full else None
    if kind is None or kind.behaviour is None:
        return unknown_behaviour(wired)
    version = float(node.get("typeVersion", 1))
    use = Use(version, mapping(node.get("parameters")), wired, known)
    return kind.behaviour(use) or unknown_behaviour(wired)
