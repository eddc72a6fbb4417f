"""Crypto: writes random text, a hash or a signature into a field of the item."""

from __future__ import annotations

from typing import Any, Final

from orgflow.backends.n8n.node_types.behaviour import hands_on
from orgflow.backends.n8n.node_types.node_type import Effect, NodeType, Parameters, is_expression

VERSION: Final = 2
"""The version of emitted nodes."""


def random_parameters(field: str, length: int | str) -> dict[str, Any]:
    """Parameters that write `length` random hexadecimal digits (a number or an expression), four
    bits of entropy each, from the random source of the operating system."""
    return {
        "action": "generate",
        "encodingType": "hex",
        "stringLength": length,
        "dataPropertyName": field,
    }


def _field_effect(version: float, parameters: Parameters) -> Effect:
    del version
    return "unknown" if is_expression(parameters.get("dataPropertyName")) else "write"


NODE = NodeType(
    name="crypto",
    label="Crypto",
    behaviour=hands_on,
    effect=_field_effect,
)
