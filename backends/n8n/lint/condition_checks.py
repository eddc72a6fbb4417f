"""Conditions of If, Filter and Switch that n8n refuses or evaluates unexpectedly.

n8n's behaviour for each was observed on its engine: an unknown operator or combinator is never
true, an empty list is always true (`and`) or never (`or`), a condition without operator stops the
run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from orgflow.backends.n8n.format.condition_parameters import Comparison, Condition, rules_of
from orgflow.backends.n8n.format.json_values import inside, mapping
from orgflow.backends.n8n.format.workflow_document import Node, Path
from orgflow.backends.n8n.lint.lint_report import Report
from orgflow.backends.n8n.lint.shape_rules import MistypedCondition, UnreadableCondition
from orgflow.backends.n8n.node_types.conditions import (
    FIRST_OPERATIONS,
    FIRST_TYPES,
    OPERATIONS,
    OPERATIONS_OF_ANY,
)

from orgflow_ir.diagnostics import Severity

_PYTHON: Final[Mapping[str, type | tuple[type, ...]]] = {
    "string": str,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}
_DIGIT: Final = re.compile(r"\d")


def check_conditions(report: Report, active: frozenset[int]) -> None:
    """The conditions of every node that can run."""
    for node in report.workflow.nodes:
        if node.index not in active or node.disabled or not node.versioned:
            continue
        for place in _listed_conditions(node):
            report.add(
                UnreadableCondition,
                node,
                f"`{node.name}`: its conditions are a list; n8n ignores it, and every item matches",
                "write an object with `conditions` (the list), `combinator` and `options`",
                *place,
            )
        rules = rules_of(node.short, node.version, node.parameters)
        switch = node.short == "switch"
        # a Switch that computes its mode does not have to look at its rules
        if rules is None or (switch and node.parameters.get("mode", "rules") != "rules"):
            continue
        second = node.version >= (3 if switch else 2)
        if switch and not second:
            continue
        if rules.unseen:
            report.add(
                UnreadableCondition,
                node,
                f"the rules of `{node.name}` have the shape of an older version: version "
                f"{node.version:g} ignores them, and drops every item",
                "write them as `rules.values`, each with `conditions`",
                "parameters",
                "rules",
            )
        for rule in rules.rules:
            path: Path = ("parameters", *rule.place)
            (_check_second if second else _check_first)(report, node, rule.condition, path)


def _listed_conditions(node: Node) -> Iterator[Path]:
    """The places where a list stands for the object of conditions."""
    if node.short in ("if", "filter"):
        if isinstance(node.parameters.get("conditions"), list) and node.parameters["conditions"]:
            yield ("parameters", "conditions")
    elif node.short == "switch":
        values = node.inside("rules", "values")
        for index, rule in enumerate(values if isinstance(values, list) else ()):
            if isinstance(rule, Mapping) and isinstance(rule.get("conditions"), list):
                yield ("parameters", "rules", "values", index, "conditions")


def _check_second(report: Report, node: Node, condition: Condition, path: Path) -> None:
    """A condition of version 2 and later: a list with a combinator."""

    def add_finding(
        what: str, help: str, *keys: str | int, severity: Severity | None = None
    ) -> None:
        report.add(
            UnreadableCondition, node, f"`{node.name}`: {what}", help, *path, *keys,
            severity=severity,
        )  # fmt: skip

    if condition.first:
        if not condition.raw.keys().isdisjoint(FIRST_TYPES):
            add_finding(
                f"its conditions have the shape of version 1; version {node.version:g} ignores "
                "them, and every item matches",
                "write them as a list `conditions` with a `combinator`",
            )
        return
    count = len(condition.comparisons)
    combinator = condition.raw.get("combinator")
    if combinator not in ("and", "or", None) and count:
        add_finding(
            f"n8n has no combinator `{combinator}`, so the condition is never true",
            "write `and` or `or`",
            "combinator",
        )
        return
    strict = inside(condition.raw, "options", "typeValidation") == "strict"
    version = inside(condition.raw, "options", "version")
    third = type(version) in (int, float) and version >= 3
    for index, comparison in enumerate(condition.comparisons):
        operator = mapping(comparison.raw.get("operator"))
        kind, operation = inside(operator, "type"), inside(operator, "operation")
        if not isinstance(kind, str):
            add_finding(
                "a condition has no operator with a type, which stops the run",
                'write "operator": {"type": …, "operation": …}',
                *comparison.place,
                "operator",
                severity=_fault_severity(node, count, index),
            )
            continue
        if comparison.operation not in OPERATIONS.get(kind, OPERATIONS_OF_ANY):
            add_finding(
                f"n8n has no operator `{operation}` for `{kind}`, so the condition is never true",
                f"write one of {', '.join(sorted(OPERATIONS.get(kind) or OPERATIONS))}",
                *comparison.place,
                "operator",
                severity=Severity.WARNING if condition.either and count > 1 else None,
            )
            continue
        for side, why in _mistyped_sides(comparison, operator, strict, third):
            report.add(
                MistypedCondition,
                node,
                f"`{node.name}`: {why}, so the node fails",
                "write a value of that type, or convert types (`looseTypeValidation`, and "
                "`typeValidation` loose)",
                *path,
                *comparison.place,
                side,
                severity=_fault_severity(node, count, index),
            )
            break


def _fault_severity(node: Node, count: int, index: int = 1) -> Severity | None:
    """A fault of one condition among `count`: others may decide first, and some nodes go on after
    an error."""
    goes_on = node.on_error.startswith("continue") or node.raw.get("continueOnFail") is True
    return Severity.WARNING if goes_on or (index and count > 1) else None


def _mistyped_sides(
    comparison: Comparison, operator: Mapping[str, Any], strict: bool, third: bool
) -> Iterator[tuple[str, str]]:
    """The side of a comparison whose literal is not of its type, and what is wrong with it."""
    sides = [("leftValue", comparison.left, comparison.kind)]
    if not comparison.single:
        right = operator.get("rightType")
        wanted = right if isinstance(right, str) else comparison.kind
        sides.append(("rightValue", comparison.right, wanted))
    for side, value, wanted in sides:
        if value is None or (isinstance(value, str) and value.startswith("=")):
            continue
        which = "left" if side == "leftValue" else "right"
        if wanted == "number" and isinstance(value, str) and third and not value.strip():
            continue
        fitting = _PYTHON.get(wanted)
        if strict and fitting is not None and not _is_fitting(value, fitting):
            yield (
                side,
                f"its {which} value is {_literal_kind(value)}, compared strictly as `{wanted}`",
            )
        elif wanted == "number" and not _is_numeric(value):
            yield side, f"its {which} value is {_literal_kind(value)}, which is not a number"
        elif wanted == "dateTime" and isinstance(value, str) and not _DIGIT.search(value):
            yield side, f"its {which} value is {_literal_kind(value)}, which is not a date"


def _is_fitting(value: Any, fitting: type | tuple[type, ...]) -> bool:
    if isinstance(value, bool):
        return fitting is bool
    return isinstance(value, fitting)


def _literal_kind(value: Any) -> str:
    if isinstance(value, str):
        return f"the text `{value[:40]}`" if value else "an empty text"
    return f"`{value}`" if isinstance(value, bool | int | float) else "a list or an object"


def _is_numeric(value: Any) -> bool:
    """Whether n8n makes a number of a literal; as JavaScript does, an empty text and list are 0."""
    if not isinstance(value, str):
        return not isinstance(value, dict) and not (isinstance(value, list) and len(value) > 1)
    try:
        float(value.strip() or 0)
    except ValueError:
        return value.strip().lower().startswith(("0x", "0b", "0o"))
    return True


def _check_first(report: Report, node: Node, condition: Condition, path: Path) -> None:
    """A condition of version 1: lists by type."""
    if not condition.first:
        report.add(
            UnreadableCondition,
            node,
            f"`{node.name}`: its conditions have the shape of version 2; version {node.version:g} "
            "ignores them, and every item matches",
            "set `typeVersion` to 2 or later, or write lists by type",
            *path,
        )
        return
    comparisons = [
        comparison for comparison in condition.comparisons if comparison.kind in FIRST_TYPES
    ]
    for comparison in comparisons:
        operation = comparison.raw.get("operation")
        computed = isinstance(operation, str) and operation.startswith("=")
        known = isinstance(operation, str) and operation in FIRST_OPERATIONS
        if operation is not None and not computed and not known:
            report.add(
                UnreadableCondition,
                node,
                f"`{node.name}`: version {node.version:g} has no operation `{operation}`, "
                "which stops the run",
                f"write one of {', '.join(sorted(FIRST_OPERATIONS))}",
                *path,
                *comparison.place,
                "operation",
                severity=_fault_severity(node, len(comparisons)),
            )
