"""The conditions of If, Filter and Switch: operators, shapes, types of literal values.

What n8n does with each was run on its engine: an unknown operator or combinator is never true, an
empty list is always true (`and`) or never (`or`), a condition without operator stops the run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from orgflow.backends.n8n.format.json_values import inside, rows
from orgflow.backends.n8n.format.workflow_document import Node, Path
from orgflow.backends.n8n.lint.report import Report
from orgflow.backends.n8n.lint.shape_rules import MistypedCondition, UnreadableCondition

from orgflow_ir.diagnostics import Severity

_ANY: Final = frozenset({"exists", "notExists"})
_EMPTY: Final = _ANY | {"empty", "notEmpty"}
_EQUAL: Final = _EMPTY | {"equals", "notEquals"}
_OPERATORS: Final[Mapping[str, frozenset[str]]] = {
    "any": _ANY,
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
# Version 1 looks an operation up in one table, whatever the type.
_FIRST_TYPES: Final = ("boolean", "dateTime", "number", "string")
_FIRST: Final = frozenset(
    {"after", "before", "contains", "notContains", "endsWith", "notEndsWith", "equal", "notEqual",
     "larger", "largerEqual", "smaller", "smallerEqual", "startsWith", "notStartsWith", "isEmpty",
     "isNotEmpty", "regex", "notRegex"}
)  # fmt: skip
_PYTHON: Final[Mapping[str, type | tuple[type, ...]]] = {
    "string": str,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}
_DIGIT: Final = re.compile(r"\d")
_OLD_SHAPE: Final = frozenset(_FIRST_TYPES)


def check_conditions(report: Report, active: frozenset[int]) -> None:
    """The conditions of every node that can run."""
    for node in report.workflow.nodes:
        if node.index not in active or node.disabled or not node.versioned:
            continue
        if node.short in ("if", "filter"):
            given = node.parameters.get("conditions")
            if node.version >= 2:
                _filter(report, node, given, ("parameters", "conditions"))
            else:
                _first(report, node, given)
        elif node.short == "switch" and node.version >= 3:
            _switch(report, node)


def _switch(report: Report, node: Node) -> None:
    if node.parameters.get("mode", "rules") != "rules":
        return
    if "values" not in (node.inside("rules") or {}) and rows(node.inside("rules", "rules")):
        report.add(
            UnreadableCondition,
            node,
            f"the rules of `{node.name}` have the shape of an older version: version "
            f"{node.version:g} sees none, and every item is gone",
            "write them as `rules.values`, each with `conditions`",
            "parameters",
            "rules",
        )
    for index, rule in enumerate(rows(node.inside("rules", "values"))):
        path: Path = ("parameters", "rules", "values", index, "conditions")
        _filter(report, node, rule.get("conditions"), path)


def _filter(report: Report, node: Node, given: Any, path: Path) -> None:
    """A value of version 2 and later."""

    def add(what: str, help: str, *keys: str | int, severity: Severity | None = None) -> None:
        report.add(
            UnreadableCondition, node, f"`{node.name}`: {what}", help, *path, *keys,
            severity=severity,
        )  # fmt: skip

    listed = inside(given, "conditions")
    if not isinstance(listed, list):
        old = isinstance(given, Mapping) and bool(_OLD_SHAPE & given.keys())
        if old:
            add(
                f"its conditions have the shape of version 1; version {node.version:g} sees none "
                "and takes every item as a match",
                "write them as a list `conditions` with a `combinator`",
            )
        return
    combinator = inside(given, "combinator")
    if combinator not in ("and", "or", None) and listed:
        add(
            f"n8n has no combinator `{combinator}`, so the condition is never true",
            "write `and` or `or`",
            "combinator",
        )
        return
    strict = inside(given, "options", "typeValidation") == "strict"
    version = inside(given, "options", "version")
    third = type(version) in (int, float) and version >= 3
    for index, one in enumerate(listed):
        operator = inside(one, "operator")
        at = ("conditions", index, "operator")
        kind, operation = inside(operator, "type"), inside(operator, "operation")
        if not isinstance(kind, str):
            add(
                "a condition has no operator with a type, which stops the run",
                'write "operator": {"type": …, "operation": …}',
                *at,
                severity=_certain(node, len(listed), index),
            )
            continue
        if not isinstance(operation, str) or operation not in _OPERATORS.get(kind, _ANY):
            add(
                f"n8n has no operator `{operation}` for `{kind}`, so the condition is never true",
                f"write one of {', '.join(sorted(_OPERATORS.get(kind) or _OPERATORS))}",
                *at,
                severity=Severity.WARNING if combinator == "or" and len(listed) > 1 else None,
            )
            continue
        for side, why in _mistyped(one, operator, strict, third):
            report.add(
                MistypedCondition,
                node,
                f"`{node.name}`: {why}, so the node fails",
                "write a value of that type, or compare with types converted "
                "(`looseTypeValidation`, and `typeValidation` loose)",
                *path,
                "conditions",
                index,
                side,
                severity=_certain(node, len(listed), index),
            )
            break


def _certain(node: Node, count: int, index: int = 1) -> Severity | None:
    """A fault of one condition among `count`: others may decide first, and some nodes go on after
    an error."""
    goes_on = node.on_error.startswith("continue") or node.raw.get("continueOnFail") is True
    return Severity.WARNING if goes_on or (index and count > 1) else None


def _mistyped(
    one: Mapping[str, Any], operator: Mapping[str, Any], strict: bool, third: bool
) -> Iterator[tuple[str, str]]:
    kind = str(operator.get("type"))
    sides = [("leftValue", kind)]
    if operator.get("singleValue") is not True:
        right = operator.get("rightType")
        sides.append(("rightValue", right if isinstance(right, str) else kind))
    for side, wanted in sides:
        value = one.get(side)
        if value is None or (isinstance(value, str) and value.startswith("=")):
            continue
        which = "left" if side == "leftValue" else "right"
        if wanted == "number" and isinstance(value, str) and third and not value.strip():
            continue
        fitting = _PYTHON.get(wanted)
        if strict and fitting is not None and not _is(value, fitting):
            yield side, f"its {which} value is {_kind(value)}, compared strictly as `{wanted}`"
        elif wanted == "number" and not _numeric(value):
            yield side, f"its {which} value is {_kind(value)}, which is no number"
        elif wanted == "dateTime" and isinstance(value, str) and not _DIGIT.search(value):
            yield side, f"its {which} value is {_kind(value)}, which is no date"


def _is(value: Any, fitting: type | tuple[type, ...]) -> bool:
    if isinstance(value, bool):
        return fitting is bool
    return isinstance(value, fitting)


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return f"the text `{value[:40]}`" if value else "an empty text"
    return f"`{value}`" if isinstance(value, bool | int | float) else "a list or an object"


def _numeric(value: Any) -> bool:
    """Whether n8n makes a number of a literal; as JavaScript does, an empty text and list are 0."""
    if not isinstance(value, str):
        return not isinstance(value, dict) and not (isinstance(value, list) and len(value) > 1)
    try:
        float(value.strip() or 0)
    except ValueError:
        return value.strip().lower().startswith(("0x", "0b", "0o"))
    return True


def _first(report: Report, node: Node, given: Any) -> None:
    """A value of version 1: lists by type."""
    path = ("parameters", "conditions")
    if isinstance(inside(given, "conditions"), list):
        report.add(
            UnreadableCondition,
            node,
            f"`{node.name}`: its conditions have the shape of version 2; version "
            f"{node.version:g} sees none and takes every item as a match",
            "set `typeVersion` to 2 or later, or write lists by type",
            *path,
        )
        return
    count = sum(len(rows(inside(given, kind))) for kind in _FIRST_TYPES)
    for kind in _FIRST_TYPES:
        for index, one in enumerate(rows(inside(given, kind))):
            operation = one.get("operation")
            computed = isinstance(operation, str) and operation.startswith("=")
            known = isinstance(operation, str) and operation in _FIRST
            if operation is not None and not known and not computed:
                report.add(
                    UnreadableCondition,
                    node,
                    f"`{node.name}`: version {node.version:g} has no operation `{operation}`, "
                    "which stops the run",
                    f"write one of {', '.join(sorted(_FIRST))}",
                    *path,
                    kind,
                    index,
                    "operation",
                    severity=_certain(node, count),
                )
