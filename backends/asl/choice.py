"""Conditions as rules of a Choice state.

A Choice state compares the value at a path with a constant or another path; it computes nothing.
Presence is tested before a comparison, since reading a missing value would end the execution.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, assert_never

from orgflow.backends.asl.names import safe_path

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program import methods, readings
from orgflow_ir.program.evaluator import evaluate, is_truthy
from orgflow_ir.program.feel_operators import FEEL
from orgflow_ir.program.syntax import (
    Apply,
    Arithmetic,
    Call,
    Comparison,
    ComparisonOperator,
    ConditionError,
    Constant,
    Empty,
    Exact,
    Logical,
    Negative,
    Not,
    Path,
    Structure,
    Tree,
    Variable,
    variables,
)

Rule = dict[str, Any]
"""A comparison, or an `And`, `Or`, `Not` of comparisons; without `Next`."""


class Place(NamedTuple):
    """A place of a variable: `root` tells whether its source has it at all."""

    root: str
    path: str


Test = Callable[[str], Rule]
"""The rule that a value at a path meets a test."""

Reader = Callable[[Path], Sequence[Place]]
"""The places of a variable, nearest source first; never empty."""

TOKEN = "$.results"
"""A path that always exists."""

_SWAPPED: dict[ComparisonOperator, ComparisonOperator] = {
    "<": ">", "<=": ">=", ">": "<", ">=": "<=",
}  # fmt: skip
_WORDS = {"<": "LessThan", "<=": "LessThanEquals", ">": "GreaterThan", ">=": "GreaterThanEquals"}


def check_sayable(tree: Tree) -> None:
    """Raise `ConditionError` for a tree that a Choice state does not support."""
    for path in variables(tree):
        if not safe_path(path):
            raise ConditionError(f"a path cannot refer to `{'.'.join(path)}`")
    to_rule(tree, lambda path: [Place("$.input", "$.input")])


def is_value(path: str, value: str) -> Rule:
    """Whether the value at `path` is the text `value`."""
    return _join_rules(is_present(path), {"Variable": path, "StringEquals": value})


def is_true(path: str) -> Rule:
    """Whether `true` stands at `path`."""
    return _join_rules(is_present(path), {"Variable": path, "BooleanEquals": True})


def any_of(rules: Sequence[Rule]) -> Rule:
    """Whether one of the rules holds; never without rules."""
    if not rules:
        return _constant_rule(False)
    return rules[0] if len(rules) == 1 else {"Or": list(rules)}


def all_of(rules: Sequence[Rule]) -> Rule:
    """Whether every one of the rules holds."""
    return rules[0] if len(rules) == 1 else _join_rules(*rules)


def equal_paths(a: str, b: str) -> Rule:
    """Whether two existing values at paths are the same text, number, boolean or null; a Choice
    state cannot compare lists and objects."""
    null = _join_rules({"Variable": a, "IsNull": True}, {"Variable": b, "IsNull": True})
    return any_of(
        [null, *(_compare_typed("==", a, b, kind) for kind in ("Numeric", "String", "Boolean"))]
    )


def negate_rule(rule: Rule) -> Rule:
    """Whether the rule does not hold."""
    return rule["Not"] if set(rule) == {"Not"} else {"Not": rule}


def to_rule(tree: Tree, reader: Reader, holds: Test | None = None) -> Rule:
    """The rule that holds if the tree is true, for values of matching types in any language.

    Args:
        tree: a condition or a part of it.
        reader: the places of variables.
        holds: the rule by which a variable is true; truthiness without it.

    Raises `ConditionError` if a Choice state has no operator for it.
    """
    match tree:
        case Constant(value) if isinstance(value, bool):
            return _constant_rule(value)
        case Not():
            return negate_rule(to_rule(tree.operand, reader, _TRUTHS[tree.operation.name]))
        case Call(methods.IS_TRUE, (Variable(path),)):
            return _test_nearest(reader(path), _true_in_juel)
        case Variable(path):
            if tree.reading is readings.FLAG:
                return _test_nearest(reader(path), _true_in_juel)
            return _test_nearest(reader(path), holds or _is_truthy)
        case Logical():
            word = "And" if tree.operator == "and" else "Or"
            inner = _TRUTHS[tree.operation.name]
            return {word: [to_rule(side, reader, inner) for side in tree.operands]}
        case Comparison():
            return _comparison_rule(tree, reader)
        case Arithmetic():
            raise ConditionError("a Choice state cannot compute")
        case Empty(_, (Variable(path),)):
            return _test_nearest(reader(path), _is_empty)
        case Exact(body):
            return to_rule(_to_shared(body), reader)
        case Constant() | Apply() | Structure():
            raise ConditionError("a Choice state has no such test")
        case _:
            assert_never(tree)


def is_untestable(path: str) -> Rule:
    """Whether `path` has an empty list or any object: a Choice state cannot distinguish them, so
    their emptiness is unknown."""
    scalars = ("IsNull", "IsString", "IsNumeric", "IsBoolean")
    tests = ({"Variable": path, test: True} for test in scalars)
    return _join_rules(
        is_present(path), negate_rule(any_of(list(tests))), negate_rule(is_present(f"{path}[0]"))
    )


def _is_empty(path: str) -> Rule:
    text = _join_rules(is_present(path), {"Variable": path, "StringEquals": ""})
    return any_of([_is_absent(path), text])


def _to_shared(tree: Tree) -> Tree:
    """A test over exact values as one over values of JSON, where it is one: comparisons, and tests
    whether something is defined. Raises `ConditionError`."""
    from orgflow_ir.program import structures  # of few conditions

    match tree:
        case Variable():
            return tree
        case structures.Path(base, name):
            inner = _to_shared(base)
            if isinstance(inner, Variable):
                return Variable((*inner.path, name))
        case Constant(Decimal() as number):
            return Constant(int(number) if number == int(number) else float(number))
        case Constant():
            return tree
        case Comparison() | Logical():
            return tree.operation(*map(_to_shared, tree.operands))
        case structures.FunctionCall(
            Variable(("not",)), (Comparison(_, (_, Constant(None))) as test,)
        ):
            return FEEL.negation(_to_shared(test))  # the others may be null, which `not` keeps
    raise ConditionError("a Choice state has no such test")


def _comparison_rule(tree: Comparison, reader: Reader) -> Rule:
    left, right = _fold_operand(tree.left), _fold_operand(tree.right)
    if tree.operator == "!=":
        return negate_rule(_compare_operands("==", left, right, tree, reader))
    return _compare_operands(tree.operator, left, right, tree, reader)


def _compare_operands(
    op: ComparisonOperator,
    left: Constant | Variable,
    right: Constant | Variable,
    tree: Comparison,
    reader: Reader,
) -> Rule:
    if isinstance(left, Variable) and isinstance(right, Variable):
        return _test_nearest(
            reader(left.path),
            lambda a: _test_nearest(reader(right.path), lambda b: _compare_paths(op, a, b)),
        )
    if isinstance(left, Variable):
        assert isinstance(right, Constant)
        return _test_nearest(reader(left.path), lambda path: _constant_test(op, path, right))
    if isinstance(right, Variable):
        swapped = _SWAPPED.get(op, op)
        return _test_nearest(reader(right.path), lambda path: _constant_test(swapped, path, left))
    value = evaluate(tree.operation(left, right), {})
    # For `!=`, the caller negates whether the constants are equal.
    return _constant_rule(is_truthy(value) if op == tree.operator else value is False)


def _fold_operand(tree: Tree) -> Constant | Variable:
    """A variable or a constant. Raises `ConditionError` for what would have to be computed."""
    if isinstance(tree, Negative) and isinstance(tree.operand, Constant):
        value = tree.operand.value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return Constant(-value, tree.span)
    if not isinstance(tree, Constant | Variable):
        raise ConditionError("a Choice state cannot compute")
    return tree


_TYPE_WORDS = {bool: "Boolean", str: "String", int: "Numeric", float: "Numeric"}
"""The comparisons of a Choice state by the type of their constant."""


def _constant_test(op: ComparisonOperator, path: str, constant: Constant) -> Rule:
    value = constant.value
    if value is None:
        if op != "==":
            raise ConditionError("null is neither less nor greater")
        return _is_absent(path)
    word = _TYPE_WORDS.get(type(value))
    if word is None:
        raise ConditionError("a Choice state compares texts, numbers and truth values only")
    if op == "==":
        return _join_rules(is_present(path), {"Variable": path, f"{word}Equals": value})
    if isinstance(value, bool):
        raise ConditionError("a truth value is neither less nor greater")
    return _join_rules(is_present(path), {"Variable": path, f"{word}{_WORDS[op]}": value})


def _compare_paths(op: ComparisonOperator, a: str, b: str) -> Rule:
    """Two variables compared: of which type they are shows only in the execution."""
    kinds = ("Numeric", "String", "Boolean") if op == "==" else ("Numeric", "String")
    rules = [
        _join_rules(is_present(a), is_present(b), _compare_typed(op, a, b, kind)) for kind in kinds
    ]
    if op == "==":
        rules.append(_join_rules(_is_absent(a), _is_absent(b)))
    return any_of(rules)


def _compare_typed(op: ComparisonOperator, a: str, b: str, kind: str) -> Rule:
    word = "Equals" if op == "==" else _WORDS[op]
    return _join_rules(
        {"Variable": a, f"Is{kind}": True},
        {"Variable": b, f"Is{kind}": True},
        {"Variable": a, f"{kind}{word}Path": b},
    )


def _true_in_juel(path: str) -> Rule:
    """Whether a value is true in JUEL, where the text `true` is."""
    texts = ({"Variable": path, "StringEquals": text} for text in ("true", "True", "TRUE"))
    return _join_rules(
        is_present(path), any_of([{"Variable": path, "BooleanEquals": True}, *texts])
    )


def no_truth(path: str, *, texts: bool) -> Rule:
    """Whether a value is not a truth value: `texts` are truth values in JUEL."""
    tests = ["IsNull", "IsBoolean", *(["IsString"] if texts else [])]
    return _join_rules(
        is_present(path), negate_rule(any_of([{"Variable": path, test: True} for test in tests]))
    )


def _is_truthy(path: str) -> Rule:
    tests: tuple[tuple[str, object], ...] = (
        ("BooleanEquals", False),
        ("NumericEquals", 0),
        ("StringEquals", ""),
    )
    return negate_rule(any_of([_is_absent(path), *({"Variable": path, k: v} for k, v in tests)]))


_TRUTHS: Mapping[str, Test] = {
    f"{language} {operator}": test
    for language, test in (
        ("juel", _true_in_juel), ("typed", is_true), ("feel", is_true), ("js", _is_truthy),
        ("java", _is_truthy), ("python", _is_truthy),
    )
    for operator in ("not", "and", "or")
}  # fmt: skip
"""The rule by which a variable is true as an operand of logic, by the operation."""


def _test_nearest(places: Sequence[Place], test: Callable[[str], Rule]) -> Rule:
    """The test at the nearest source that has the variable, else at the last one."""
    rule = test(places[-1].path)
    for place in reversed(places[:-1]):
        has = is_present(place.root)
        rule = {"Or": [_join_rules(has, test(place.path)), _join_rules(negate_rule(has), rule)]}
    return rule


def is_present(path: str) -> Rule:
    """Whether `path` has any value, including null."""
    return {"Variable": path, "IsPresent": True}


def _is_absent(path: str) -> Rule:
    return {"Or": [negate_rule(is_present(path)), {"Variable": path, "IsNull": True}]}


def _constant_rule(value: bool) -> Rule:
    return {"Variable": TOKEN, "IsPresent": value}


def _join_rules(*rules: Rule) -> Rule:
    flat: list[Rule] = []
    for rule in rules:
        flat += rule["And"] if set(rule) == {"And"} else [rule]
    return {"And": flat}
