"""Expressions, and the conditions that If, Switch and Filter share."""

from __future__ import annotations

from typing import Any

from orgflow.backends.n8n.format.document import node_uuid


def expression(code: str) -> str:
    """An n8n expression. `}}` inside would end it (N8N_PATTERNS.md): it must not occur."""
    if "}}" in code:
        raise ValueError(f"`}}}}` inside an expression: {code}")
    return "={{ " + code + " }}"


def is_true(code: str, seed: str) -> dict[str, Any]:
    """A condition that holds where the JavaScript `code` gives true."""
    return {
        "id": node_uuid(f"{seed}/condition"),
        "leftValue": expression(code),
        "rightValue": "",
        "operator": {"type": "boolean", "operation": "true", "singleValue": True},
    }


def equals(code: str, value: str, seed: str) -> dict[str, Any]:
    """A condition that holds where the JavaScript `code` gives the text `value`."""
    return {
        "id": node_uuid(f"{seed}/condition"),
        "leftValue": expression(code),
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
