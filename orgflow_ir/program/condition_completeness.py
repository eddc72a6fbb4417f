"""Completeness of a gateway's conditions: values for which no condition or several conditions are
true.

Values are tried systematically: numbers on both sides of every constant in a comparison and between
them, the texts of comparisons and one other text, both truth values. Every finding is a fact; the
absence of findings proves nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from orgflow_ir.program.evaluator import evaluate
from orgflow_ir.program.syntax import (
    Comparison,
    Constant,
    Negative,
    Path,
    Scalar,
    Tree,
    Variable,
    is_plain,
    nodes,
)

Values = Mapping[Path, Any]

MAX_TRIES = 5_000
"""Maximum number of value combinations tried for one gateway."""

OTHER = "something else"
"""A text that occurs in no condition."""

_TRUTHS = frozenset(("true", "false"))


def find_uncovered(trees: Sequence[Tree]) -> Values | None:
    """Values for which no condition is true."""
    for values in _list_assignments(trees):
        if not any(evaluate(tree, values) for tree in trees):
            return values
    return None


def find_overlapping(first: Tree, second: Tree) -> Values | None:
    """Values for which both conditions are true."""
    for values in _list_assignments((first, second)):
        if evaluate(first, values) and evaluate(second, values):
            return values
    return None


def values_text(values: Values) -> str:
    """`amount = 7 and status = 'open'`, for a message."""
    return " and ".join(f"{'.'.join(path)} = {_write_literal(v)}" for path, v in values.items())


def _write_literal(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)


def _list_assignments(trees: Sequence[Tree]) -> Iterator[Values]:
    if not all(map(is_plain, trees)):
        return  # values that texts and collections are asked for are not tried
    domains: dict[Path, list[Any]] = {}
    for tree in trees:
        for path, value in _list_compared(tree):
            domain = domains.setdefault(path, [])
            if value is not None and not any(v == value and type(v) is type(value) for v in domain):
                domain.append(value)
    spread = {path: _spread_values(values) for path, values in domains.items()}
    combinations = itertools.product(*spread.values())
    for combination in itertools.islice(combinations, MAX_TRIES):
        yield dict(zip(spread, combination, strict=True))


def _list_compared(tree: Tree) -> Iterator[tuple[Path, Scalar]]:
    """Variables with the constants they are compared with (`None`: used as it is)."""
    for node in nodes(tree):
        if isinstance(node, Variable):
            yield node.path, None
        elif isinstance(node, Comparison):
            for variable, other in ((node.left, node.right), (node.right, node.left)):
                constant = _find_constant(other)
                if isinstance(variable, Variable) and constant is not None:
                    yield variable.path, constant


def _find_constant(tree: Tree) -> Scalar:
    if isinstance(tree, Constant):
        return tree.value
    if isinstance(tree, Negative) and isinstance(tree.operand, Constant):
        value = tree.operand.value
        return -value if isinstance(value, int | float) and value is not True else None
    return None


def _spread_values(constants: Sequence[Any]) -> list[Any]:
    """Values on both sides of the constants; truth values where there is none. A text that is only
    compared with `true` and `false` is a truth value as a form hands it on: nothing else is
    tried."""
    numbers = sorted({c for c in constants if isinstance(c, int | float) and c is not True})
    numbers = [n for n in numbers if not isinstance(n, bool)]
    texts = [c for c in constants if isinstance(c, str)]
    if not numbers and not texts:
        return [True, False]
    truths = {text.casefold() for text in texts} <= _TRUTHS and not numbers
    result: list[Any] = list(texts)
    if truths:
        result += sorted(_TRUTHS - {text.casefold() for text in texts})
    if any(isinstance(c, bool) for c in constants):
        result += [True, False]
    for low, high in itertools.pairwise(numbers):
        result += [low, (low + high) / 2 if high - low < 2 else (low + high) // 2]
    if numbers:
        result += [numbers[-1], numbers[0] - 1, numbers[-1] + 1]
    if texts and not truths:
        result.append(OTHER)
    return result
