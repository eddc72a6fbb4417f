"""Fixed values with which a node fails in every run, conditions that are constant, excluded types.

Each check was compared with n8n's engine (tests/faults/test_failing_values.py): the value fails
there, and the values beside it that work are not reported. Values that an expression computes, and
texts with `{{ }}`, which other rules report, are not judged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from orgflow.backends.n8n.format.condition_parameters import Comparison, rules_of
from orgflow.backends.n8n.format.json_values import inside
from orgflow.backends.n8n.format.workflow_document import Node, Path
from orgflow.backends.n8n.lint.lint_report import Report
from orgflow.backends.n8n.lint.value_rules import ConstantCondition, ExcludedNode, FailingValue
from orgflow.backends.n8n.node_types.conditions import FIRST_TYPES, OPERATIONS

from orgflow_ir.diagnostics import Severity
from orgflow_ir.model.records import NamedTuple

_EXCLUDED: Final = frozenset({"executeCommand", "localFileTrigger"})
"""Types in the default of NODES_EXCLUDE in n8n 2."""


class Fault(NamedTuple):
    """A fault of a value, as the end of a sentence, the remedy, the path of the value, and the
    effect of the fault."""

    what: str
    help: str
    path: Path
    effect: str = "so the node fails"


def check_values(report: Report, active: frozenset[int]) -> None:
    """The values of every node that can run."""
    for node in report.workflow.nodes:
        if node.disabled:
            continue
        if node.short in _EXCLUDED:
            report.add(
                ExcludedNode,
                node,
                f"`{node.name}` has the type `{node.short}`, which n8n 2 does not load by default",
                "use another node, or remove the type from NODES_EXCLUDE on the server",
                "type",
            )
        if node.index not in active or not node.versioned:
            continue
        for fault in _find_faults(node):
            report.add(
                FailingValue,
                node,
                f"`{node.name}`: {fault.what}, {fault.effect}",
                fault.help,
                "parameters",
                *fault.path,
                severity=Severity.WARNING if _goes_on(node) else None,
            )
        _check_constant(report, node)


def _goes_on(node: Node) -> bool:
    return node.on_error.startswith("continue") or node.raw.get("continueOnFail") is True


def _find_faults(node: Node) -> Iterator[Fault]:
    for check in _CHECKS.get(node.short, ()):
        yield from check(node)


def _is_fixed(value: Any) -> bool:
    """Whether a value is fixed: no expression, and no text that was meant as one."""
    return not isinstance(value, str) or not (value.startswith("=") or "{{" in value)


# -- Edit Fields -----------------------------------------------------------------------------------

_NUMBER: Final = re.compile(
    r"(?P<whole>0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+)"
    r"|[+-]?(?:Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
)
"""The texts from which JavaScript's `Number` makes a number, without the empty one."""


def _check_assignments(node: Node) -> Iterator[Fault]:
    """The fixed values of assignments, which n8n converts to their types."""
    options = node.parameters.get("options")
    ignores = isinstance(options, Mapping) and options.get("ignoreConversionErrors") is True
    if node.version < 3.3 or node.parameters.get("mode", "manual") != "manual" or ignores:
        return
    assignments = inside(node.parameters, "assignments", "assignments")
    for index, item in enumerate(assignments if isinstance(assignments, list) else ()):
        if not isinstance(item, Mapping) or not _is_fixed(value := item.get("value")):
            continue
        kind = item.get("type")
        fits = _FITTING.get(kind) if isinstance(kind, str) else None
        if value is None or fits is None or fits(value):
            continue
        shown = (
            f"the text `{value[:40]}`" if isinstance(value, str) else f"`{json.dumps(value)[:40]}`"
        )
        yield Fault(
            f"`{item.get('name')}` has the type {kind} and the value {shown}",
            f"write a value of the type {kind}, or change the type",
            ("assignments", "assignments", index, "value"),
        )


def _fits_number(value: Any) -> bool:
    if not isinstance(value, str):
        return not isinstance(value, dict | list)
    return not value.strip() or _NUMBER.fullmatch(value.strip()) is not None


def _fits_boolean(value: Any) -> bool:
    if isinstance(value, str):
        number = _NUMBER.fullmatch(value.strip())
        if number is None:
            return value.lower() in ("true", "false")
        return (int(number[0], 0) if number["whole"] else float(number[0])) in (0, 1)
    return isinstance(value, list) or value in (True, False, 0, 1)


def _fits_array(value: Any) -> bool:
    if not isinstance(value, str):
        return isinstance(value, list)
    # n8n also reads single quotes: only what begins otherwise is sure.
    return value.strip().startswith("[")


def _fits_object(value: Any) -> bool:
    if not isinstance(value, str):
        return isinstance(value, dict)
    return value.strip().startswith("{") or value.strip() == "null"


_FITTING: Final[Mapping[str, Callable[[Any], bool]]] = {
    "number": _fits_number,
    "boolean": _fits_boolean,
    "array": _fits_array,
    "object": _fits_object,
}


def _check_raw(node: Node) -> Iterator[Fault]:
    """The JSON of Edit Fields, which has to be an object."""
    value = node.parameters.get("jsonOutput")
    if node.version < 3 or node.parameters.get("mode") != "raw" or not isinstance(value, str):
        return
    if _is_fixed(value) and not value.strip().startswith("{"):
        yield Fault("its JSON is not an object", "write an object: `{ … }`", ("jsonOutput",))


# -- requests and answers --------------------------------------------------------------------------

_PLACEHOLDER: Final = re.compile(r"(?i)your|example|<|xxx|placeholder|insert|todo|\.\.\.|…")
_JSON_PARTS: Final = (
    ("sendBody", "specifyBody", "jsonBody", "JSON body"),
    ("sendQuery", "specifyQuery", "jsonQuery", "JSON query"),
    ("sendHeaders", "specifyHeaders", "jsonHeaders", "JSON headers"),
)


def _check_request(node: Node) -> Iterator[Fault]:
    """The address and the JSON texts of an HTTP Request, which n8n parses strictly."""
    if node.version < 3:
        return
    url = node.parameters.get("url")
    text = url.strip() if isinstance(url, str) and _is_fixed(url) else ""
    if text and not text.startswith(("http://", "https://")) and not _PLACEHOLDER.search(text):
        yield Fault(
            f"its address `{text[:60]}` does not begin with `http://` or `https://`",
            "write the whole address",
            ("url",),
        )
    for sends, specifies, name, label in _JSON_PARTS:
        value = node.parameters.get(name)
        if node.parameters.get(sends) is not True or node.parameters.get(specifies) != "json":
            continue
        if name == "jsonBody" and node.parameters.get("contentType", "json") != "json":
            continue
        if isinstance(value, str) and _is_fixed(value) and not _is_json(value):
            yield Fault(
                f"its {label} is not valid JSON",
                "write names and texts in double quotes, without a comma at the end",
                (name,),
            )


def _check_answer(node: Node) -> Iterator[Fault]:
    value = node.parameters.get("responseBody")
    if node.parameters.get("respondWith", "firstIncomingItem") != "json":
        return
    if isinstance(value, str) and value and _is_fixed(value) and not _is_json(value):
        yield Fault(
            "its JSON is not valid",
            "write names and texts in double quotes, without a comma at the end",
            ("responseBody",),
        )


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse_constant(name: str) -> None:
    raise ValueError(name)  # JavaScript has no NaN in JSON


# -- operations ------------------------------------------------------------------------------------


_DATE: Final = re.compile(r"\d{4}-(?P<month>\d\d)-(?P<day>\d\d)(?:[T ].*)?")
_GERMAN_DATE: Final = re.compile(r"(?P<day>\d\d?)\.\d\d?\.\d{4}.*")


def _is_no_date(text: str) -> bool:
    """Whether n8n (luxon and JavaScript's `Date`) surely reads no date from a text."""
    date, german = _DATE.fullmatch(text), _GERMAN_DATE.fullmatch(text)
    if date is not None:
        return not (1 <= int(date["month"]) <= 12 and 1 <= int(date["day"]) <= 31)
    if german is not None:
        return int(german["day"]) > 12
    return not any(c.isdecimal() for c in text) or (text.isdecimal() and len(text) > 9)


def _check_date(node: Node) -> Iterator[Fault]:
    date = node.parameters.get("dateTime")
    if node.parameters.get("resume") != "specificTime" or not isinstance(date, str):
        return
    if _is_fixed(date) and date.strip() and _is_no_date(date.strip()):
        yield Fault(
            f"its date `{date[:40]}` is not a date",
            "write a date such as `2030-12-31T12:00:00`",
            ("dateTime",),
        )


def _check_batch(node: Node) -> Iterator[Fault]:
    size = node.parameters.get("batchSize", 1)
    if size is None or not _is_fixed(size):
        return
    number = _NUMBER.fullmatch(size.strip()) if isinstance(size, str) else None
    if isinstance(size, str):
        size = float(int(number[0], 0) if number["whole"] else number[0]) if number else 0
    if isinstance(size, int | float) and size < 1:
        yield Fault(
            f"its batch size `{node.parameters['batchSize']}` is not a number from 1",
            "write a number from 1",
            ("batchSize",),
            "so neither the loop nor what is behind `done` runs",
        )


def _check_wait(node: Node) -> Iterator[Fault]:
    amount = node.parameters.get("amount")
    if node.parameters.get("resume", "timeInterval") != "timeInterval" or amount is None:
        return
    if isinstance(amount, bool) or not _is_fixed(amount):
        return
    if not _fits_number(amount):
        yield Fault(f"its wait `{amount}` is not a number", "write a number", ("amount",))
    elif isinstance(amount, int | float) and amount < 0:
        yield Fault(f"its wait {amount:g} is negative", "write a number from 0", ("amount",))


def _is_unset(value: Any) -> bool:
    return value is None or value == "" or value == []


def _check_sort(node: Node) -> Iterator[Fault]:
    if node.parameters.get("type", "simple") == "simple" and _is_unset(
        inside(node.parameters, "sortFieldsUi", "sortField")
    ):
        yield Fault("it has no field to sort by", "add a field", ("sortFieldsUi",))


def _check_aggregate(node: Node) -> Iterator[Fault]:
    fields = node.parameters.get("fieldsToAggregate")
    if node.parameters.get("aggregate", "aggregateIndividualFields") != "aggregateIndividualFields":
        return
    if isinstance(fields, Mapping) and _is_unset(fields.get("fieldToAggregate")):
        yield Fault("it has no field to aggregate", "add a field", ("fieldsToAggregate",))


def _check_summary(node: Node) -> Iterator[Fault]:
    values = inside(node.parameters, "fieldsToSummarize", "values")
    blank = isinstance(values, list) and any(
        isinstance(value, Mapping) and _is_unset(value.get("field")) for value in values
    )
    if _is_unset(values) or blank:
        yield Fault("it has no field to summarize", "add a field", ("fieldsToSummarize",))


def _check_duplicates(node: Node) -> Iterator[Fault]:
    inputs = "removeDuplicateInputItems"
    if node.version >= 2 and node.parameters.get("operation", inputs) != inputs:
        return
    name = {"selectedFields": "fieldsToCompare", "allFieldsExcept": "fieldsToExclude"}.get(
        str(node.parameters.get("compare", "allFields"))
    )
    if name is not None and _is_unset(node.parameters.get(name)):
        yield Fault("it has no field to compare", "name the fields", (name,))


def _check_matching(node: Node) -> Iterator[Fault]:
    """A Merge that matches fields and has none."""
    own = node.parameters
    if node.version < 3 or own.get("mode") != "combine":
        return
    if own.get("combineBy", "combineByFields") != "combineByFields":
        return
    name = "fieldsToMatchString"
    unset = _is_unset(own.get(name))
    if own.get("advanced") is True:
        name = "mergeByFields"
        unset = _is_unset(inside(own, name, "values"))
    if unset:
        yield Fault("it has no fields to match", "name the fields that both inputs have", (name,))


# -- conditions ------------------------------------------------------------------------------------


def _list_comparisons(node: Node) -> Iterator[tuple[Comparison, int, Path]]:
    """The comparisons of version 2 and later, each with their number in its condition."""
    if node.version < (3 if node.short == "switch" else 2):
        return
    if node.short == "switch" and node.parameters.get("mode", "rules") != "rules":
        return
    rules = rules_of(node.short, node.version, node.parameters)
    for rule in rules.rules if rules is not None else ():
        if rule.condition.first:
            continue  # the shape of version 1, which later versions ignore: OF439
        if rule.condition.raw.get("combinator") not in ("and", "or", None):
            continue  # never true: OF439
        comparisons = rule.condition.comparisons
        for comparison in comparisons:
            yield comparison, len(comparisons), (*rule.place, *comparison.place)


def _check_patterns(node: Node) -> Iterator[Fault]:
    for comparison, number, place in _list_comparisons(node):
        pattern = comparison.right
        if comparison.operation not in ("regex", "notRegex") or not isinstance(pattern, str):
            continue
        fault = _pattern_fault(pattern) if _is_fixed(pattern) and number == 1 else ""
        if fault:
            yield Fault(
                f"`{pattern[:40]}` is not a regular expression: {fault}",
                "correct the pattern",
                (*place, "rightValue"),
            )


_SLASHED: Final = re.compile(r"/(.*)/[a-z]*", re.DOTALL)
_TOKEN: Final = re.compile(
    r"(?P<escape>\\[\s\S])|(?P<class>\[(?:\\[\s\S]|[^\]\\])*\])"
    r"|(?P<open>\((?P<kind>\?(?:<?[=!]|:|<\w+>)?)?)"
    r"|(?P<close>\))|(?P<times>[*+?]|\{\d+(?:,\d*)?\})\??|(?P<end>\\$)|(?P<rest>[\s\S])"
)


def _pattern_fault(text: str) -> str:
    """Why JavaScript refuses a pattern; empty if it does not, or it is not sure."""
    slashed = _SLASHED.fullmatch(text)
    depth, repeatable = 0, False
    for token in _TOKEN.finditer(slashed[1] if slashed is not None else text):
        kind = token.lastgroup
        if kind == "kind":
            kind = "open"
        if kind == "open":
            if token["kind"] == "?":
                return "a group begins in a form that JavaScript does not have"
            depth, repeatable = depth + 1, False
        elif kind == "close":
            depth, repeatable = depth - 1, True
            if depth < 0:
                return "a parenthesis closes nothing"
        elif kind == "times":
            if not repeatable:
                return "a sign of repetition repeats nothing"
            repeatable = False
        elif kind == "end":
            return "it ends with a backslash"
        elif kind == "rest" and token[0] == "[":
            return "a bracket is not closed"
        else:
            repeatable = token[0] not in "^$|" or kind != "rest"
    return "a parenthesis is not closed" if depth else ""


_LITERALS: Final[Mapping[str, tuple[type, ...]]] = {"string": (str,), "number": (int, float)}
_COMPUTED: Final = object()
"""The value of an expression that reads nothing and computes something."""

_EXPRESSION: Final = re.compile(r"=\{\{(.*)\}\}", re.DOTALL)
_QUOTED: Final = re.compile(r"'[^'\\]*'|\"[^\"\\]*\"")
_NAMES: Final = re.compile(r"[A-Za-z_$`][\w$]*")
_WORDS: Final = frozenset({"true", "false", "null", "undefined", "NaN", "Infinity"})
_ON_PURPOSE: Final = frozenset({"0", "1", "true", "false", "yes", "no"})
"""Texts that people compare with themselves to switch a branch on."""


def _constant_of(value: Any) -> tuple[bool, Any]:
    """Whether a value is the same for every item, and which it is."""
    match = _EXPRESSION.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        return _is_fixed(value), value
    text = match[1].strip()
    if not text or "}}" in text:
        return False, None
    if _NUMBER.fullmatch(text):
        return True, float(text) if not re.match(r"0[xXoObB]", text) else _COMPUTED
    if _QUOTED.fullmatch(text):
        return True, text[1:-1]
    if text in ("true", "false"):
        return True, text == "true"
    names = _NAMES.findall(_QUOTED.sub("0", text))
    return all(name in _WORDS for name in names), _COMPUTED


def _is_constant(comparison: Comparison) -> bool:
    """Whether a comparison has one result for every item, and nobody means it so: "true is true"
    and "1 = 1" are written to switch a branch on, and a fixed text that "exists" as the last rule
    of a Switch."""
    if comparison.operation not in OPERATIONS.get(comparison.kind, ()):
        return False  # never true: OF439
    fixed, left = _constant_of(comparison.left)
    if not fixed or left in (None, "") or isinstance(left, bool):
        return False
    if comparison.single:
        return left is _COMPUTED
    fixed, right = _constant_of(comparison.right)
    if not fixed:
        return False
    kinds = _LITERALS.get(comparison.kind, ())
    for value, written in ((left, comparison.left), (right, comparison.right)):
        # A literal of another type is OF440.
        if value is written and not isinstance(value, kinds):
            return False
    if comparison.operation == "equals" and left == right and left is not _COMPUTED:
        return isinstance(left, str) and left.strip().lower() not in _ON_PURPOSE
    return True


def _check_constant(report: Report, node: Node) -> None:
    """Comparisons of fixed values, and conditions that nobody has filled in."""
    _check_unfilled(report, node)
    for comparison, number, place in _list_comparisons(node):
        empty = comparison.left == "" and comparison.right == "" and not comparison.single
        empty = empty and comparison.kind == "string" and comparison.operation == "equals"
        if number != 1 or not (empty or _is_constant(comparison)):
            continue
        left, right = (str(side)[:40] for side in (comparison.left, comparison.right))
        report.add(
            ConstantCondition,
            node,
            f"the condition of `{node.name}` is empty, so every item matches"
            if empty
            else f"`{node.name}` "
            + (
                f"tests the fixed value `{left}`"
                if comparison.single
                else f"compares the fixed value `{left}` with "
                + ("itself" if left == right else "another one")
            )
            + ": the result is the same for every item",
            "write the value of the item as an expression: `={{ $json.… }}`",
            "parameters",
            *place,
            "leftValue",
        )


def _part_of(value: Any, key: Any) -> Any:
    """The entry of a list or the value of an object; `None` if it is not there."""
    return value[key] if isinstance(value, list) or key in value else None


def _check_unfilled(report: Report, node: Node) -> None:
    """Conditions without any comparison."""
    if node.short == "switch" and node.version < 3:
        return
    rules = rules_of(node.short, node.version, node.parameters)
    for rule in rules.rules if rules is not None and not rules.unseen else ():
        given: Any = node.parameters
        for key in rule.place:
            if not isinstance(given, list | Mapping):
                break
            given = _part_of(given, key)
        computed = isinstance(given, Mapping) and isinstance(given.get("conditions"), str)
        if rule.condition.comparisons or computed or not isinstance(given, Mapping | None):
            continue
        if node.version >= 2 and given and not given.keys().isdisjoint(FIRST_TYPES):
            continue  # the shape of version 1, which later versions ignore: OF439
        report.add(
            ConstantCondition,
            node,
            f"the conditions of `{node.name}` are empty, so "
            + ("no item matches" if rule.condition.either else "every item matches"),
            "add a condition, or remove the node",
            "parameters",
            *rule.place,
            # Without the parameter, nobody has opened the node yet.
            severity=Severity.INFO if given is None else None,
        )


_CHECKS: Final[Mapping[str, tuple[Callable[[Node], Iterator[Fault]], ...]]] = {
    "set": (_check_assignments, _check_raw),
    "httpRequest": (_check_request,),
    "httpRequestTool": (_check_request,),
    "respondToWebhook": (_check_answer,),
    "wait": (_check_wait, _check_date),
    "splitInBatches": (_check_batch,),
    "sort": (_check_sort,),
    "aggregate": (_check_aggregate,),
    "summarize": (_check_summary,),
    "removeDuplicates": (_check_duplicates,),
    "merge": (_check_matching,),
    "if": (_check_patterns,),
    "filter": (_check_patterns,),
    "switch": (_check_patterns,),
}
