"""Expressions, and the conditions that If, Switch and Filter share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from orgflow.backends.n8n.format.document import node_uuid

OPERATIONS_OF_ANY: Final = frozenset({"exists", "notExists"})
"""Operations of every type."""

_EMPTY: Final = OPERATIONS_OF_ANY | {"empty", "notEmpty"}
_EQUAL: Final = _EMPTY | {"equals", "notEquals"}
OPERATIONS: Final[Mapping[str, frozenset[str]]] = {
    "any": OPERATIONS_OF_ANY,
    "string": _EQUAL
    | {"contains", "notContains", "startsWith", "notStartsWith", "endsWith", "notEndsWith"}
    | {"regex", "notRegex"},
    "number": _EQUAL | {"gt", "lt", "gte", "lte"},
    "dateTime": _EQUAL | {"after", "before", "afterOrEquals", "beforeOrEquals"},
    "boolean": _EQUAL | {"true", "false"},
    "array": _EMPTY
    | {"contains", "notContains", "lengthEquals", "lengthNotEquals"}
    | {"lengthGt", "lengthLt", "lengthGte", "lengthLte"},
    "object": _EMPTY,
}
"""n8n's operations, by type of the comparison."""

FIRST_TYPES: Final = ("boolean", "dateTime", "number", "string")
"""Types of the lists in version 1."""

FIRST_OPERATIONS: Final = frozenset(
    {"after", "before", "contains", "notContains", "endsWith", "notEndsWith", "equal", "notEqual",
     "larger", "largerEqual", "smaller", "smallerEqual", "startsWith", "notStartsWith", "isEmpty",
     "isNotEmpty", "regex", "notRegex"}
)  # fmt: skip
"""Operations of version 1, which has one table for all types."""


def make_expression(code: str) -> str:
    """An n8n expression. `}}` inside would end it (N8N_PATTERNS.md): it must not occur."""
    if "}}" in code:
        raise ValueError(f"`}}}}` inside an expression: {code}")
    return "={{ " + code + " }}"


def is_true(code: str, seed: str) -> dict[str, Any]:
    """A condition that holds if the JavaScript `code` returns true."""
    return {
        "id": node_uuid(f"{seed}/condition"),
        "leftValue": make_expression(code),
        "rightValue": "",
        "operator": {"type": "boolean", "operation": "true", "singleValue": True},
    }


def equals_condition(code: str, value: str, seed: str) -> dict[str, Any]:
    """A condition that holds if the JavaScript `code` returns the text `value`."""
    return {
        "id": node_uuid(f"{seed}/condition"),
        "leftValue": make_expression(code),
        "rightValue": value,
        "operator": {"type": "string", "operation": "equals"},
    }


def filter_of(conditions: list[dict[str, Any]]) -> dict[str, Any]:
    """Conditions that all have to hold."""
    return {
        "options": {
            "caseSensitive": True,
            "leftValue": "",
            "typeValidation": "loose",
            "version": 2,
        },
        "conditions": conditions,
        "combinator": "and",
    }
