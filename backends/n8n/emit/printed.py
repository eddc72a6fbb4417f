"""The printed form of an action: a node type with its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from orgflow_ir.model.records import NamedTuple


class Printed(NamedTuple):
    """The part of a node of n8n that its action determines.

    Attributes:
        type: the short name of its type.
        parameters: of the node.
        switches: fields next to its parameters, such as the number of tries.
        version: that of its type if it differs from the default.
    """

    type: str
    parameters: dict[str, Any]
    switches: Mapping[str, Any] = MappingProxyType({})
    version: float | None = None
