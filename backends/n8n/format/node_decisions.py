"""The decisions of If, Filter and Switch: rules in order, comparable regardless of their notation.

A rule holds if a formula does. A formula and its negation are one *atom* with two signs, so a
negated condition with swapped branches counts as the same decision.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from orgflow.backends.n8n.format.condition_parameters import Condition, rules_of
from orgflow.backends.n8n.format.expression_parts import value_code
from orgflow.backends.n8n.format.json_values import mapping
from orgflow.backends.n8n.format.parameter_values import split_test
from orgflow.backends.n8n.format.workflow_document import Node

from orgflow_ir.model.records import NamedTuple

_NOT = re.compile(r"\s*!\s*\((?P<code>.*)\)\s*", re.DOTALL)

_OLD_NAMES: Mapping[str, str] = {
    "equal": "equals", "notEqual": "notEquals", "larger": "gt", "largerEqual": "gte",
    "smaller": "lt", "smallerEqual": "lte", "isEmpty": "empty", "isNotEmpty": "notEmpty",
}  # fmt: skip
"""Operations of version 1 under the names of version 2."""

_POSITIVE: Mapping[str, str] = {
    "notEquals": "equals", "false": "true", "notExists": "exists", "notEmpty": "empty",
    "notContains": "contains", "notStartsWith": "startsWith", "notEndsWith": "endsWith",
    "notRegex": "regex", "lte": "gt", "lt": "gte", "beforeOrEquals": "after",
    "before": "afterOrEquals", "lengthNotEquals": "lengthEquals", "lengthLte": "lengthGt",
    "lengthLt": "lengthGte",
}  # fmt: skip
"""Operations that hold exactly if another does not."""

_SIGNS: Mapping[str, str] = {
    "equals": "=", "notEquals": "≠", "gt": ">", "gte": "≥", "lt": "<", "lte": "≤",
    "true": "is true", "false": "is false", "exists": "exists", "notExists": "does not exist",
    "empty": "is empty", "notEmpty": "is not empty", "contains": "contains",
    "notContains": "does not contain", "startsWith": "starts with", "endsWith": "ends with",
    "regex": "matches", "notRegex": "does not match", "after": "is after", "before": "is before",
}  # fmt: skip
_UNARY = frozenset({"true", "false", "exists", "notExists", "empty", "notEmpty"})


class Rule(NamedTuple):
    """A branch: taken if `atom` is true (or false, by `holds`); `words` is the condition as
    written, `exclusive` is a value and the value that it equals, if the atom is only that."""

    atom: str
    holds: bool
    output: int
    words: str
    label: str = ""
    exclusive: tuple[str, str] | None = None


class Decision(NamedTuple):
    """The decision of a node: the first rule that holds, or with `every` all that do; otherwise
    `otherwise` (`None`: the item is dropped). `labels` are the names of outputs. `total`: one rule
    always holds."""

    rules: tuple[Rule, ...]
    otherwise: int | None
    every: bool
    labels: Mapping[int, str]
    total: bool = False

    def taken(self, true: frozenset[str]) -> tuple[int, ...]:
        """The outputs by which an item leaves if exactly these atoms are true."""
        outputs: list[int] = []
        for rule in self.rules:
            if (rule.atom in true) is rule.holds:
                outputs.append(rule.output)
                if not self.every:
                    break
        if not outputs and self.otherwise is not None:
            outputs.append(self.otherwise)
        return tuple(dict.fromkeys(outputs))

    def label(self, outputs: tuple[int, ...]) -> str:
        """The labels of the outputs taken."""
        return ", ".join(self.labels.get(o) or str(o) for o in outputs) or "no branch"


def operand_key(value: Any) -> str:
    """A text that two operands share if they are written alike, but for white space around code."""
    code = value_code(value)
    return _json_text("={{ " + code.strip() + " }}" if code is not None else value)


def decision_of(
    step: Node, parameters: Mapping[str, Any], key_of: Callable[[Any], str] = operand_key
) -> Decision | None:
    """The decision of a step; `None` for one other than If, Filter or Switch, or a disabled one.

    Args:
        step: the node.
        parameters: its parameters, which may name other nodes than those of the file.
        key_of: a text that operands share if they have the same value.
    """
    if step.disabled:
        return None
    row_rules = rules_of(step.short, step.version, parameters)
    if row_rules is None:
        computed = step.short == "switch"
        return _computed_decision(step, parameters, key_of) if computed else None
    if step.short in ("if", "filter"):
        atom, holds, words, exclusive = _condition_formula(row_rules.rules[0].condition, key_of)
        names = ("true", "false") if step.short == "if" else ("kept", "dropped")
        rule = Rule(atom, holds, 0, words, exclusive=exclusive)
        return Decision((rule,), 1, False, dict(enumerate(names)))
    rules: list[Rule] = []
    labels: dict[int, str] = {}
    for row_rule in row_rules.rules:
        atom, holds, words, exclusive = _condition_formula(row_rule.condition, key_of)
        label = row_rule.label if row_rule.label.strip() else ""
        labels[row_rule.output] = label or words
        rules.append(Rule(atom, holds, row_rule.output, words, label, exclusive))
    otherwise = len(rules) if row_rules.fallback == "extra" else row_rules.fallback
    if row_rules.fallback == "extra":
        labels[len(rules)] = row_rules.fallback_name or "otherwise"
    return Decision(tuple(rules), otherwise, row_rules.every, labels)


def _computed_decision(
    step: Node, parameters: Mapping[str, Any], key_of: Callable[[Any], str]
) -> Decision:
    """A Switch that computes the number of its output."""
    key = "numberOutputs" if step.version >= 3 else "outputsAmount"
    count = parameters.get(key, 4)
    count = count if type(count) is int and 0 <= count <= 256 else 4
    output_words = operand_text(parameters.get("output", ""))
    output_key = key_of(parameters.get("output", ""))
    by_number = tuple(
        Rule(
            json.dumps([output_key, i]),
            True,
            i,
            f"{output_words} = {i}",
            str(i),
            (output_key, str(i)),
        )
        for i in range(count)
    )
    return Decision(by_number, None, False, {}, total=True)


# -- formulas ------------------------------------------------------------------------------------

_Literal = tuple[str, str, str, str, bool]
"""Left side, type, operation, right side, and the expected truth value."""


def _condition_formula(
    condition: Condition, key_of: Callable[[Any], str]
) -> tuple[str, bool, str, tuple[str, str] | None]:
    """Atom, sign, words, and what excludes another atom."""
    options = _unusual_options(condition)
    either = condition.either
    literals: list[_Literal] = []
    words: list[str] = []
    for comparison in condition.comparisons:
        name = comparison.operation or ""
        name = _OLD_NAMES.get(name, name) if condition.first else name
        whole = name != "true" or comparison.kind != "boolean" or either or condition.first
        for left in [comparison.left] if whole else split_test(comparison.left):
            literals.append(
                _comparison_literal(left, comparison.kind, name, comparison.right, key_of)
            )
        words.append(_comparison_words(comparison.left, name, comparison.right))
    sentence = (" or " if either else " and ").join(words) or "always"
    if len(literals) == 1:
        left, kind, name, right, holds = literals[0]
        constant = not str(condition.comparisons[0].right).startswith("=")
        exclusive = (left, right) if name == "equals" and constant else None
        return json.dumps([left, kind, name, right, *options]), holds, sentence, exclusive
    plain = json.dumps([either, sorted(set(literals)), *options])
    negated = json.dumps(
        [not either, sorted({(*literal[:4], not literal[4]) for literal in literals}), *options]
    )
    return min(plain, negated), plain <= negated, sentence, None


def _unusual_options(condition: Condition) -> tuple[str, ...]:
    """The options of a condition under which n8n compares otherwise than in compiled workflows. n8n
    reads them where the condition is; without them it validates types strictly, minds case, and
    converts values by the rules of version 1."""
    if condition.first:
        return ()
    options = mapping(condition.raw.get("options"))
    unusual = (
        ("strict", options.get("typeValidation", "strict") == "strict"),
        ("ignores case", not options.get("caseSensitive", True)),
        ("version 1", options.get("version", 1) == 1),
    )
    return tuple(word for word, applies in unusual if applies)


def _comparison_literal(
    left: Any, kind: str, name: str, right: Any, key_of: Callable[[Any], str]
) -> _Literal:
    holds = True
    if name in _POSITIVE:
        name, holds = _POSITIVE[name], False
    if name == "true" and isinstance(left, str):
        inner = _NOT.fullmatch(value_code(left) or "")
        if inner is not None and _is_closed(inner["code"]):
            left, holds = "={{ " + inner["code"].strip() + " }}", not holds
    other = "" if name in _UNARY else key_of(right)
    return key_of(left), kind, name, other, holds


def _is_closed(code: str) -> bool:
    """Whether a piece of code is within one pair of brackets when they are put around it."""
    depth = 0
    for sign in code:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return False
    return depth == 0


_OURS = re.compile(
    r"\(\$\('(?P<node>(?:[^'\\]|\\.)*)'\)\.isExecuted \? \$\('(?P=node)'\)\.last\(0\)\.json\."
    r"(?P<path>[\w.?]+) : undefined\)"
)
"""The compiler's code for reading a field of the node that sets it (`parameters.read_field`)."""


def _comparison_words(left: Any, name: str, right: Any) -> str:
    sign = _SIGNS.get(name, name or "=")
    sides = [_OURS.sub(r"\g<path> of “\g<node>”", operand_text(side)) for side in (left, right)]
    return f"{sides[0]} {sign}" + ("" if name in _UNARY else f" {sides[1]}")


def operand_text(value: Any) -> str:
    """The code of an expression, otherwise the value as JSON."""
    code = value_code(value)
    return code.strip() if code is not None else _json_text("" if value is None else value)


def _json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
