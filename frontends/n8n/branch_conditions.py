"""Conditions of If, Filter and Switch as readable text, for all versions of their parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from orgflow.backends.n8n.format.condition_parameters import Comparison, Condition
from orgflow.backends.n8n.format.expression_parts import value_code

from orgflow_ir.model import Expression

LANGUAGE = "n8n"

_UNARY = {
    "exists": "exists",
    "notExists": "does not exist",
    "empty": "is empty",
    "isEmpty": "is empty",
    "notEmpty": "is not empty",
    "isNotEmpty": "is not empty",
    "true": "is true",
    "false": "is false",
}
_BINARY = {
    "equals": "==",
    "equal": "==",
    "notEquals": "!=",
    "notEqual": "!=",
    "gt": ">",
    "larger": ">",
    "gte": ">=",
    "largerEqual": ">=",
    "lt": "<",
    "smaller": "<",
    "lte": "<=",
    "smallerEqual": "<=",
    "notContains": "does not contain",
    "startsWith": "starts with",
    "notStartsWith": "does not start with",
    "endsWith": "ends with",
    "notEndsWith": "does not end with",
    "regex": "matches",
    "notRegex": "does not match",
    "afterOrEquals": "is not before",
    "beforeOrEquals": "is not after",
    "after": "is after",
    "before": "is before",
    "lengthEquals": "has length",
    "lengthNotEquals": "has a length other than",
    "lengthGt": "is longer than",
    "lengthLt": "is shorter than",
    "lengthGte": "has at least length",
    "lengthLte": "has at most length",
}


def condition_expression(words: str) -> Expression | None:
    """A condition in n8n's wording; `None` without one."""
    return Expression(text=words, language=LANGUAGE) if words else None


def operand_text(value: Any) -> str:
    """The code of an expression, a literal as JSON, a template in quotes."""
    if isinstance(value, str) and value.startswith("="):
        code = value_code(value)
        if code is not None:
            return " ".join(code.split())
        value = value[1:]
    return json.dumps(value, ensure_ascii=False)


def _comparison_text(left: Any, operation: str, right: Any, *, single: bool = False) -> str:
    if operation in _UNARY or single:
        return f"{operand_text(left)} {_UNARY.get(operation, operation)}"
    return f"{operand_text(left)} {_BINARY.get(operation, operation)} {operand_text(right)}"


def condition_words(condition: Condition) -> str:
    """The text of a condition; empty if it has none."""
    parts = [
        _comparison_words(comparison, condition.first)
        for comparison in condition.comparisons
        if comparison.raw
    ]
    return (" or " if condition.either else " and ").join(part for part in parts if part)


def _comparison_words(comparison: Comparison, first: bool) -> str:
    """Version 1 leaves out the sides that are the default."""
    if first:
        right = comparison.raw.get("value2", False if comparison.kind == "boolean" else "")
        return _comparison_text(
            comparison.raw.get("value1", ""), comparison.operation or "equal", right
        )
    if not isinstance(comparison.raw.get("operator"), str | Mapping):
        return ""
    left, right = (comparison.raw.get(side, "") for side in ("leftValue", "rightValue"))
    return _comparison_text(left, comparison.operation or "equals", right, single=comparison.single)
