"""Expressions with white space beside their only code, where something else than a text is needed.

n8n makes a text of such a parameter: `={{ $json.ok }} ` with a blank at its end gives "true ",
which n8n does not convert to a boolean, and which differs from every text without the blank.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from orgflow.backends.n8n.format.condition_parameters import constant_truth, rules_of
from orgflow.backends.n8n.format.expression_parts import surrounded_code
from orgflow.backends.n8n.format.json_values import mapping, rows
from orgflow.backends.n8n.format.workflow_document import Node, Path
from orgflow.backends.n8n.lint.lint_report import Report
from orgflow.backends.n8n.lint.run_rules import MisplacedBraces

from orgflow_ir.diagnostics import Severity

_REFUSED: Final = frozenset({"boolean", "array", "object"})
"""Types that n8n makes of no text with white space around it."""

_REFUSED_STRICTLY: Final = _REFUSED | {"number", "dateTime"}
"""Types that n8n makes of no text at all where it validates types strictly."""


def check_surrounded_codes(report: Report, active: frozenset[int]) -> None:
    """The conditions, fields and objects of every node that can run."""
    for node in report.workflow.nodes:
        if node.index not in active or node.disabled or not node.versioned:
            continue
        for place, needed in _list_texts(node):
            report.add(
                MisplacedBraces,
                node,
                f"`{node.name}`: the value at `{place[-1]}` is a text, since white space stands "
                f"beside its `{{{{ }}}}`, and n8n needs {needed}",
                "remove the white space before `{{` and after `}}`",
                *place,
                severity=Severity.ERROR,
            )


def _list_texts(node: Node) -> Iterator[tuple[Path, str]]:
    """The places of texts where n8n needs another value, with what it needs."""
    if node.short in ("if", "filter", "switch"):
        yield from _list_texts_of_conditions(node)
    elif node.short == "set":
        yield from _list_texts_of_fields(node)


def _list_texts_of_conditions(node: Node) -> Iterator[tuple[Path, str]]:
    rules = rules_of(node.short, node.version, node.parameters)
    computed = node.short == "switch" and node.parameters.get("mode", "rules") != "rules"
    if rules is None or computed:
        return
    for rule in rules.rules:
        if rule.condition.first:
            continue
        options = mapping(rule.condition.raw.get("options"))
        strict = not rules.loose and options.get("typeValidation", "strict") == "strict"
        refused = _REFUSED_STRICTLY if strict else _REFUSED
        for comparison in rule.condition.comparisons:
            if not isinstance(comparison.kind, str):
                continue  # n8n refuses it, which is reported
            operator = mapping(comparison.raw.get("operator"))
            place = ("parameters", *rule.place, *comparison.place)
            truth = constant_truth(comparison.left, operator, comparison.right, strict=strict)
            if truth is not None:
                kind = comparison.kind if comparison.kind in refused else "text"
                yield (*place, "leftValue"), _NEEDED[kind]
                continue
            sides = [("leftValue", comparison.left)]
            sides += [] if comparison.single else [("rightValue", comparison.right)]
            for name, value in sides:
                if comparison.kind in refused and surrounded_code(value) is not None:
                    yield (*place, name), _NEEDED[comparison.kind]


_NEEDED: Final = {
    "boolean": "true or false", "array": "a list", "object": "an object", "number": "a number",
    "dateTime": "a date", "text": "the text that it is compared with",
}  # fmt: skip
"""What n8n needs, by the type of a comparison or field."""


def _list_texts_of_fields(node: Node) -> Iterator[tuple[Path, str]]:
    if node.parameters.get("mode", "manual") == "raw":
        surrounded = surrounded_code(node.parameters.get("jsonOutput"))
        if surrounded is not None and _makes_object(surrounded[1]):
            yield ("parameters", "jsonOutput"), _NEEDED["object"]
        return
    fields: Any = node.inside("assignments", "assignments")
    for index, field in enumerate(rows(fields)):
        kind = field.get("type")
        if (
            isinstance(kind, str)
            and kind in _REFUSED
            and surrounded_code(field.get("value")) is not None
        ):
            path: Path = ("parameters", "assignments", "assignments", index, "value")
            yield path, _NEEDED[str(kind)]


def _makes_object(code: str) -> bool:
    """Whether a code is an object that is written out, or a function that returns one."""
    bare = code.strip()
    return bare.lstrip("( ").startswith("{") or ("=> ({" in bare and bare.endswith(")"))
