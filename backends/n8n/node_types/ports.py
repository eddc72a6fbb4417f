"""The numbers of main inputs and outputs of a node."""

from __future__ import annotations

from collections.abc import Mapping

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.format.document import is_trigger, short_type
from orgflow.backends.n8n.format.json_values import mapping, number
from orgflow.backends.n8n.node_types.node_type import NodeType


def outputs_of(node: Mapping[str, object]) -> int | None:
    """The number of main outputs of a node; None if type, version and parameters do not determine
    it."""
    return ports_of(node, node_types.find_type(short_type(node)))[1]


def regular_outputs(node: Mapping[str, object]) -> int | None:
    """The number of main outputs without the error output; None if it is unknown."""
    return outputs_of({key: value for key, value in node.items() if key != "onError"})


def inputs_of(node: Mapping[str, object]) -> int | None:
    """The number of main inputs of a node; None if type, version and parameters do not determine
    it."""
    return ports_of(node, node_types.find_type(short_type(node)))[0]


def ports_of(node: Mapping[str, object], kind: NodeType | None) -> tuple[int | None, int | None]:
    """The numbers of main inputs and outputs of a node of a known type."""
    if kind is None:
        return 0 if is_trigger(node) else None, None
    version, parameters = number(node.get("typeVersion")), mapping(node.get("parameters"))
    outputs = kind.outputs(version, parameters)
    if outputs is not None and node.get("onError") == "continueErrorOutput":
        outputs += 1  # the error output comes last
    return kind.inputs(version, parameters) if kind.start is None else 0, outputs
