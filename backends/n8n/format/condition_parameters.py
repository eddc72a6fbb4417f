"""The conditions of If, Filter and Switch: one typed reading of every version of their parameters.

The original is kept (`raw`, and values as in the file), whether or not n8n accepts
it: checks, comparisons and readable texts are derived from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from orgflow.backends.n8n.format.expression_parts import surrounded_code
from orgflow.backends.n8n.format.json_values import inside, mapping, rows

from orgflow_ir.model.records import NamedTuple

_ASSUMED: Final[Mapping[str, str]] = {"number": "smaller", "dateTime": "after"}
"""The default operation of version 1 for other types is `equal`."""

Place = tuple[str | int, ...]

_MOST_OUTPUTS: Final = 256
"""More outputs than any node has: a larger number in a file is ignored."""


def constant_truth(
    left: object, operator: Mapping[str, Any], right: object, *, strict: bool
) -> bool | None:
    """The result of a comparison of version 2 that does not depend on the data, since white space
    beside the code on its left side makes a text of it; otherwise `None`. n8n ends the
    run at a comparison of types that it validates strictly, which counts as false.
    """
    surrounded = surrounded_code(left)
    if surrounded is None:
        return None
    kind, operation = operator.get("type"), operator.get("operation")
    if kind == "boolean" and operation in ("true", "false"):
        return operation == "true" and not strict  # n8n takes every text for true
    if kind == "string" and operation == "equals":
        before, _, behind = surrounded
        if isinstance(right, str) and not right.startswith("="):
            possible = right.startswith(before) and right.endswith(behind)
            return None if possible else False
    return None


class Comparison(NamedTuple):
    """One comparison of a condition.

    Attributes:
        left: the left side in the file, None if there is none; `right` likewise.
        kind: the type of the comparison.
        operation: its name in that version (`gt`, in version 1 `larger`); None if there is none.
        single: whether it is declared without a right side.
        raw: the object in the file.
        place: its path, relative to the condition.
    """

    left: Any
    kind: str
    operation: str | None
    right: Any
    single: bool
    raw: Mapping[str, Any]
    place: Place


class Condition(NamedTuple):
    """Comparisons that all have to hold, or with `either` any of them.

    `first`: they have the form of version 1 (lists by type).
    """

    comparisons: tuple[Comparison, ...]
    either: bool
    first: bool
    raw: Mapping[str, Any]


class Rule(NamedTuple):
    """A rule: matching items leave by `output`; `label` is its name, `place` is the path of its
    condition in the parameters."""

    condition: Condition
    output: int
    label: str
    place: Place


class Rules(NamedTuple):
    """The decision of a node.

    Attributes:
        rules: tried in order.
        every: whether all matching rules are followed, and not only the first one.
        fallback: the output of items that match no rule; `extra` is one more than the rules have,
            None drops them.
        fallback_name: the name of the extra output.
        loose: whether types are converted before the comparison.
        unseen: whether there are rules in the form of another version, which this one ignores.
    """

    rules: tuple[Rule, ...]
    every: bool = False
    fallback: int | Literal["extra"] | None = None
    fallback_name: str = ""
    loose: bool = False
    unseen: bool = False


def rules_of(short: str, version: float, parameters: Mapping[str, Any]) -> Rules | None:
    """The rules of an If, a Filter or a Switch; None for any other node and for a Switch that
    computes the number of its output."""
    options = mapping(parameters.get("options"))
    loose = bool(parameters.get("looseTypeValidation") or options.get("looseTypeValidation"))
    if short in ("if", "filter"):
        combine = parameters.get("combineOperation", parameters.get("combineConditions"))
        condition = condition_of(parameters.get("conditions"), combine)
        label = "true" if short == "if" else "kept"
        return Rules((Rule(condition, 0, label, ("conditions",)),), fallback=1, loose=loose)
    mode = parameters.get("mode", "rules")
    if short != "switch" or mode == "expression":
        return None
    if mode != "rules":  # n8n knows no other and hands on nothing
        return Rules(())
    every = options.get("allMatchingOutputs") is True
    renamed = _text_of(options.get("renameFallbackOutput"))
    if version >= 3:
        given = mapping(parameters.get("rules"))
        rules = tuple(
            Rule(
                condition_of(row.get("conditions")),
                index,
                _text_of(row.get("outputKey")),
                ("rules", "values", index, "conditions"),
            )
            for index, row in enumerate(_object_rows(given.get("values")))
        )
        unseen = "values" not in given and bool(rows(given.get("rules")))
        fallback = _fallback_output(options.get("fallbackOutput"))
        return Rules(rules, every, fallback, renamed, loose, unseen)
    # Version 1 has four outputs and rules that name one, version 2 an output a rule.
    kind = _text_of(parameters.get("dataType")) or "number"
    rules = tuple(
        Rule(
            condition_of({kind: [{"value1": parameters.get("value1", ""), **row}]}),
            _output_number(row.get("output")) if version < 2 else index,
            _text_of(row.get("outputKey")),
            ("rules", "rules", index),
        )
        for index, row in enumerate(_object_rows(inside(parameters, "rules", "rules")))
    )
    return Rules(rules, every, _fallback_output(parameters.get("fallbackOutput")), renamed, loose)


def condition_of(value: Any, combine: Any = None) -> Condition:
    """A `conditions` parameter: of version 2 a list with a combinator, of version 1 lists by type.

    Args:
        value: the parameter.
        combine: for version 1, `combineOperation` of If, `combineConditions` of Filter.
    """
    raw = mapping(value)
    listed = raw.get("conditions")
    if isinstance(listed, list):
        comparisons = tuple(
            _second_comparison(mapping(row), ("conditions", index))
            for index, row in enumerate(listed)
        )
        return Condition(comparisons, raw.get("combinator") == "or", False, raw)
    comparisons = tuple(
        _first_comparison(row, kind, (kind, index))
        for kind, given in raw.items()
        if kind != "options"
        for index, row in enumerate(given if isinstance(given, list) else ())
        if isinstance(row, Mapping)
    )
    return Condition(comparisons, combine in ("any", "OR"), True, raw)


def _second_comparison(row: Mapping[str, Any], place: Place) -> Comparison:
    operator = row.get("operator")
    if isinstance(operator, str):
        operator = {"operation": operator}
    operation = inside(operator, "operation")
    return Comparison(
        row.get("leftValue"),
        str(mapping(operator).get("type", "string")),
        operation if isinstance(operation, str) else None,
        row.get("rightValue"),
        inside(operator, "singleValue") is True,
        row,
        place,
    )


def _first_comparison(row: Mapping[str, Any], kind: str, place: Place) -> Comparison:
    operation = row.get("operation")
    if not isinstance(operation, str):
        operation = _ASSUMED.get(kind, "equal")
    return Comparison(row.get("value1"), kind, operation, row.get("value2"), False, row, place)


def _fallback_output(value: Any) -> int | Literal["extra"] | None:
    if value == "extra":
        return "extra"
    return value if type(value) is int and value >= 0 else None


def _output_number(value: Any) -> int:
    return value if type(value) is int and 0 <= value <= _MOST_OUTPUTS else 0


def _object_rows(value: Any) -> list[Mapping[str, Any]]:
    """The entries of a list: what is no object counts as an empty one, so that places are kept."""
    return [mapping(row) for row in value] if isinstance(value, list) else []


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else ""
