"""If: items leave by output 0 if a condition holds, otherwise by output 1."""

from __future__ import annotations

from typing import Any

from orgflow.backends.n8n.node_types.behaviour import Behaviour, split_items
from orgflow.backends.n8n.node_types.conditions import filter_of
from orgflow.backends.n8n.node_types.node_type import (
    NodeType,
    Parameters,
    Use,
    passes_items,
)


def test_parameters(condition: dict[str, Any]) -> dict[str, Any]:
    """Parameters of a node that tests one condition."""
    return {"conditions": filter_of([condition]), "looseTypeValidation": True, "options": {}}


def _two_ports(version: float | None, parameters: Parameters) -> int | None:
    return 2


def _node_behaviour(use: Use) -> Behaviour:
    return Behaviour(kind="choice", outputs=2, choices=split_items)


NODE = NodeType(
    name="if",
    label="If",
    once=True,
    emitted=True,
    versions=((2.2, 2.3), (2.2, 2.3)),
    outputs=_two_ports,
    behaviour=_node_behaviour,
    effect=passes_items,
    reliable=True,
    task=None,
)
