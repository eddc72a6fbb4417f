"""Conditions as rules of a Choice state.

A Choice state compares what stands at a path with a constant or another path; it computes nothing.
What is absent is tested before it is compared, since reading it would end the execution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from orgflow.backends.asl.names import safe_path

from orgflow_ir.analysis.expressions.conditions import (
    Ast,
    ConditionError,
    compile_condition,
    evaluate,
    variables,
)
from orgflow_ir.model import Expression

Rule = dict[str, Any]
"""A comparison, or `And`, `Or`, `Not` of some; without `Next`."""


class Place(NamedTuple):
    """Where a variable may be read: `root` says whether that source has it at all."""

    root: str
    path: str


Reader = Callable[[tuple[str, ...]], Sequence[Place]]
"""The places of a variable, nearest source first; never none."""

TOKEN = "$.results"
"""A path that is always there."""

_SWAPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_WORDS = {"<": "LessThan", "<=": "LessThanEquals", ">": "GreaterThan", ">=": "GreaterThanEquals"}
_EQUAL = ("==", "===")
_UNEQUAL = ("!=", "!==")


def compile_sayable(condition: Expression) -> Ast | None:
    """The tree of a condition that a Choice state can say, `None` for a label. Raises
    `ConditionError` for code that it cannot."""
    tree = compile_condition(condition)
    if tree is not None:
        for path in variables(tree):
            if not safe_path(path):
                raise ConditionError(f"a path cannot name `{'.'.join(path)}`")
        to_rule(tree, lambda path: [Place("$.input", "$.input")])
    return tree


def is_value(path: str, value: str) -> Rule:
    """Whether the text `value` stands at `path`."""
    return _and(_present(path), {"Variable": path, "StringEquals": value})


def is_true(path: str) -> Rule:
    """Whether `true` stands at `path`."""
    return _and(_present(path), {"Variable": path, "BooleanEquals": True})


def any_of(rules: Sequence[Rule]) -> Rule:
    """Whether one of the rules holds; never, where there are none."""
    if not rules:
        return _constant(False)
    return rules[0] if len(rules) == 1 else {"Or": list(rules)}


def negated(rule: Rule) -> Rule:
    """Whether the rule does not hold."""
    return rule["Not"] if set(rule) == {"Not"} else {"Not": rule}


def to_rule(tree: Ast, reader: Reader) -> Rule:
    """The rule that holds where the tree is true, as in JavaScript for values of matching types.

    Raises `ConditionError` where a Choice state cannot say it.
    """
    kind = tree[0]
    if kind == "bool":
        return _constant(tree[1])
    if kind == "not":
        return negated(to_rule(tree[1], reader))
    if kind == "var":
        return _located(reader(tree[1]), _truthy)
    if kind == "bin" and tree[1] in ("&&", "||"):
        word = "And" if tree[1] == "&&" else "Or"
        return {word: [to_rule(tree[2], reader), to_rule(tree[3], reader)]}
    if kind == "bin":
        return _comparison(tree[1], tree[2], tree[3], reader)
    raise ConditionError("a Choice state has no such test")


def _comparison(op: str, left: Ast, right: Ast, reader: Reader) -> Rule:
    if op in _UNEQUAL:
        return negated(_comparison("==", left, right, reader))
    if op not in (*_WORDS, *_EQUAL):
        raise ConditionError("a Choice state cannot compute")
    left, right = _folded(left), _folded(right)
    if left[0] == right[0] == "var":
        return _located(
            reader(left[1]), lambda a: _located(reader(right[1]), lambda b: _paths(op, a, b))
        )
    if left[0] == "var":
        return _located(reader(left[1]), lambda path: _constant_test(op, path, right))
    if right[0] == "var":
        op = _SWAPPED.get(op, op)
        return _located(reader(right[1]), lambda path: _constant_test(op, path, left))
    return _constant(bool(evaluate(("bin", op, left, right), {})))


def _folded(tree: Ast) -> Ast:
    """A variable or a constant. Raises `ConditionError` for what would have to be computed."""
    if tree[0] == "neg" and tree[1][0] == "num":
        return ("num", -tree[1][1])
    if tree[0] not in ("var", "num", "str", "bool", "null"):
        raise ConditionError("a Choice state cannot compute")
    return tree


def _constant_test(op: str, path: str, constant: Ast) -> Rule:
    kind = constant[0]
    if kind == "null":
        if op not in _EQUAL:
            raise ConditionError("nothing is neither less nor greater")
        return _absent(path)
    word = {"num": "Numeric", "str": "String", "bool": "Boolean"}[kind]
    if op in _EQUAL:
        return _and(_present(path), {"Variable": path, f"{word}Equals": constant[1]})
    if kind == "bool":
        raise ConditionError("truth is neither less nor greater")
    return _and(_present(path), {"Variable": path, f"{word}{_WORDS[op]}": constant[1]})


def _paths(op: str, a: str, b: str) -> Rule:
    """Two variables compared: of which type they are shows only in the execution."""
    kinds = ("Numeric", "String", "Boolean") if op in _EQUAL else ("Numeric", "String")
    word = "Equals" if op in _EQUAL else _WORDS[op]
    rules = [
        _and(
            _present(a),
            _present(b),
            {"Variable": a, f"Is{kind}": True},
            {"Variable": b, f"Is{kind}": True},
            {"Variable": a, f"{kind}{word}Path": b},
        )
        for kind in kinds
    ]
    if op in _EQUAL:
        rules.append(_and(_absent(a), _absent(b)))
    return any_of(rules)


def _truthy(path: str) -> Rule:
    tests: tuple[tuple[str, object], ...] = (
        ("BooleanEquals", False),
        ("NumericEquals", 0),
        ("StringEquals", ""),
    )
    return negated(any_of([_absent(path), *({"Variable": path, k: v} for k, v in tests)]))


def _located(places: Sequence[Place], test: Callable[[str], Rule]) -> Rule:
    """The test at the nearest source that has the variable, else at the last one."""
    rule = test(places[-1].path)
    for place in reversed(places[:-1]):
        has = _present(place.root)
        rule = {"Or": [_and(has, test(place.path)), _and(negated(has), rule)]}
    return rule


def _present(path: str) -> Rule:
    return {"Variable": path, "IsPresent": True}


def _absent(path: str) -> Rule:
    return {"Or": [negated(_present(path)), {"Variable": path, "IsNull": True}]}


def _constant(value: bool) -> Rule:
    return {"Variable": TOKEN, "IsPresent": value}


def _and(*rules: Rule) -> Rule:
    flat: list[Rule] = []
    for rule in rules:
        flat += rule["And"] if set(rule) == {"And"} else [rule]
    return {"And": flat}
