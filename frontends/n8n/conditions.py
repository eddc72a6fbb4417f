"""Conditions of If, Filter and Switch in words people read; all versions of their parameters."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from orgflow_ir.model import Expression

LANGUAGE = "n8n"

_WHOLE = re.compile(r"=\s*\{\{(?P<code>(?:(?!\{\{|\}\}).)*)\}\}\s*", re.DOTALL)
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


def expression(words: str) -> Expression | None:
    """A condition in n8n's words; `None` for no words."""
    return Expression(text=words, language=LANGUAGE) if words else None


def operand(value: Any) -> str:
    """The code of an expression, a literal as JSON, a template in quotes."""
    if isinstance(value, str) and value.startswith("="):
        whole = _WHOLE.fullmatch(value)
        if whole is not None:
            return " ".join(whole["code"].split())
        value = value[1:]
    return json.dumps(value, ensure_ascii=False)


def _comparison(left: Any, operation: str, right: Any, *, single: bool = False) -> str:
    if operation in _UNARY or single:
        return f"{operand(left)} {_UNARY.get(operation, operation)}"
    return f"{operand(left)} {_BINARY.get(operation, operation)} {operand(right)}"


def condition_words(conditions: Any, combine: Any = None) -> str:
    """What a `conditions` parameter says: version 2 (a list and a combinator) or 1 (lists by type,
    `combine` is `combineOperation` or Filter's like). Empty where it says nothing."""
    if not isinstance(conditions, Mapping):
        return ""
    listed = conditions.get("conditions")
    if isinstance(listed, list):
        parts = [_second(c) for c in listed if isinstance(c, Mapping)]
        return _joined(parts, conditions.get("combinator") == "or")
    parts = []
    for kind, items in conditions.items():
        if kind != "options" and isinstance(items, list):
            parts += [_first(c, kind) for c in items if isinstance(c, Mapping)]
    return _joined(parts, combine in ("any", "OR"))


def _joined(parts: list[str], either: bool) -> str:
    said = [p for p in parts if p]
    return (" or " if either else " and ").join(said)


def _second(condition: Mapping[str, Any]) -> str:
    operator = condition.get("operator")
    if isinstance(operator, str):
        operator = {"operation": operator}
    if not isinstance(operator, Mapping) or not condition:
        return ""
    operation = operator.get("operation")
    return _comparison(
        condition.get("leftValue", ""),
        operation if isinstance(operation, str) else "equals",
        condition.get("rightValue", ""),
        single=operator.get("singleValue") is True,
    )


_FIRST_DEFAULT = {"number": "smaller", "dateTime": "after"}


def _first(condition: Mapping[str, Any], kind: str) -> str:
    """Version 1 leaves out what is the default: `equal` for texts and truth values."""
    if not condition:
        return ""
    operation = condition.get("operation")
    if not isinstance(operation, str):
        operation = _FIRST_DEFAULT.get(kind, "equal")
    right = condition.get("value2", False if kind == "boolean" else "")
    return _comparison(condition.get("value1", ""), operation, right)


def rule_words(value: Any, rule: Mapping[str, Any], kind: Any) -> str:
    """A rule of Switch 1 or 2: `value1` of the node against the rule's `value2`."""
    return _first({"value1": value, **rule}, kind if isinstance(kind, str) else "number")
