"""Completeness of a decision table: inputs for which no rule or several rules hold.

Inputs are tried systematically: numbers on both sides of every constant of a column and between
them, the texts of the column and one other text, both truth values. Every finding is a fact; the
absence of findings proves nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from decimal import Decimal

from orgflow_ir.decisions.found import FoundDecision
from orgflow_ir.decisions.link import Logic
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program.feel.conversion_functions import text_of
from orgflow_ir.program.feel.values import Value
from orgflow_ir.program.structure_evaluation import Scope, passes_tests
from orgflow_ir.program.structures import (
    Coerced,
    DecisionTable,
    Part,
    RangeLiteral,
    TableRule,
    UnaryTest,
    UnaryTests,
    parts,
)
from orgflow_ir.program.syntax import Constant, Negative, Tree

MAX_TRIES = 20_000
"""Maximum number of input combinations tried per table."""

OTHER = "something else"
"""A text that occurs in no rule."""

_ONE_RULE = ("UNIQUE", "ANY", "FIRST", "PRIORITY")
"""Hit policies that need a rule for every input."""

_KNOWN = (Constant, Negative, RangeLiteral, UnaryTest, UnaryTests)


class Example(NamedTuple):
    """Inputs by the expression of their column, and the matching rules, from 1."""

    inputs: tuple[tuple[str, Value], ...]
    rules: tuple[int, ...]

    def text(self) -> str:
        """``amount = 7 and kind = "vip"``, for a message."""
        return " and ".join(f"{name} = {text_of(value)}" for name, value in self.inputs)


class Completeness(NamedTuple):
    """Inputs that match no rule, and inputs that match several; `None` if none was found."""

    gap: Example | None
    overlap: Example | None


def find_completeness(decision: FoundDecision) -> Completeness | None:
    """The completeness of a decision table; `None` for other decisions, and for tables whose cells
    contain more than constants, comparisons, ranges, lists and negations of these."""
    tree = find_table(decision)
    if tree is None:
        return None
    if not all(is_simple(tests) for rule in tree.rules for tests in rule.tests):
        return None
    gap = overlap = None
    wants_all = tree.hit_policy in _ONE_RULE and all(o.default is None for o in tree.outputs)
    for values in _list_inputs(tree):
        hits = [at for at, rule in enumerate(tree.rules) if _rule_holds(rule, values)]
        if gap is None and wants_all and not hits:
            gap = _example(decision, tree, values, hits)
        if overlap is None and len(hits) > 1 and _have_clash(tree, hits):
            overlap = _example(decision, tree, values, hits)
    return Completeness(gap, overlap)


def find_table(decision: FoundDecision) -> DecisionTable | None:
    """The linked decision table of a decision; `None` for other decisions, and without rules."""
    unit = next(u for u in decision.model.units.values() if u.key.endswith(f"#{decision.id}"))
    tree = unit.tree if isinstance(unit, Logic) else None
    while isinstance(tree, Coerced):
        tree = tree.value
    return tree if isinstance(tree, DecisionTable) and tree.rules else None


def is_simple(tests: Part) -> bool:
    """Whether a cell has constants, comparisons, ranges, lists and negations of these alone."""
    return all(isinstance(part, _KNOWN) for part in parts(tests))


def _have_clash(table: DecisionTable, hits: Sequence[int]) -> bool:
    if table.hit_policy == "ANY":
        return len({table.rules[at].entries for at in hits}) > 1
    return table.hit_policy == "UNIQUE"


def _rule_holds(rule: TableRule, values: Sequence[Value]) -> bool:
    return all(passes_tests(tests, value) for tests, value in zip(rule.tests, values, strict=True))


def _example(
    decision: FoundDecision, table: DecisionTable, values: Sequence[Value], hits: Sequence[int]
) -> Example:
    asked = [
        (name, value)
        for at, (name, value) in enumerate(zip(decision.columns, values, strict=True))
        if any(rule.tests[at].tests for rule in table.rules)
    ]
    return Example(tuple(asked), tuple(at + 1 for at in hits))


def _list_inputs(table: DecisionTable) -> Iterator[tuple[Value, ...]]:
    columns = []
    for at, column in enumerate(table.inputs):
        values = list_values([rule.tests[at] for rule in table.rules], column.allowed)
        if column.allowed is not None:
            values = [v for v in values if passes_tests(column.allowed, v, Scope({}))]
        columns.append(values)
    yield from itertools.islice(itertools.product(*columns), MAX_TRIES)


def list_values(tests: Sequence[UnaryTests], allowed: UnaryTests | None) -> list[Value]:
    """Inputs on both sides of the constants of a column; null where it asks nothing."""
    constants: dict[Decimal | str | bool, None] = {}
    for tests_of_input in (*tests, *((allowed,) if allowed is not None else ())):
        for constant in _list_constants(tests_of_input):
            constants.setdefault(constant)
    numbers = sorted(v for v in constants if isinstance(v, Decimal))
    texts = [v for v in constants if isinstance(v, str)]
    result: list[Value] = []
    if any(isinstance(v, bool) for v in constants):
        result += [True, False]
    for low, high in itertools.pairwise(numbers):
        result += [low, (low + high) / 2 if high - low < 2 else (low + high) // 2]
    if numbers:
        result += [numbers[-1], numbers[0] - 1, numbers[-1] + 1]
    result += texts
    if texts and allowed is None:
        result.append(OTHER)
    return result or [None]


def _list_constants(tests: Part) -> Iterator[Decimal | str | bool]:
    stack: list[Part] = [tests]
    while stack:
        part = stack.pop()
        value = _read_number(part)
        if value is not None:
            yield value
            continue
        if isinstance(part, Constant) and part.value is not None:
            assert isinstance(part.value, Decimal | str | bool)
            yield part.value
        stack.extend(p for p in _list_parts_below(part))


def _read_number(part: Part) -> Decimal | None:
    """The value of `-5`."""
    if isinstance(part, Negative) and isinstance(part.operand, Constant):
        value = part.operand.value
        return -value if isinstance(value, Decimal) else None
    return None


def _list_parts_below(part: Part) -> list[Tree | UnaryTest]:
    match part:
        case UnaryTests(tests):
            return list(tests)
        case UnaryTest(_, operand):
            return [operand]
        case RangeLiteral(low, high):
            return [end for end in (low, high) if end is not None]
    return []
