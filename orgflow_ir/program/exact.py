"""Comparisons of computed numbers in FEEL that doubles decide as decimal numbers do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program.syntax import (
    Arithmetic,
    Comparison,
    ComparisonOperator,
    Constant,
    Negative,
    Tree,
    Variable,
)

_MOST_DIGITS = 15
"""As many digits of a decimal number are kept by a double."""

_FLIPPED: dict[ComparisonOperator, ComparisonOperator] = {
    "<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!=",
}  # fmt: skip


class Limit(NamedTuple):
    """A variable and the number at which a value that is computed from it equals its limit, with
    the operator by which both are compared."""

    operator: ComparisonOperator
    variable: Variable
    value: int | float


def find_limit(tree: Comparison) -> Comparison | Limit | None:
    """A comparison of a variable, computed with a constant, that doubles decide as the decimal
    numbers of FEEL do; `None` if there is none.

    It is the comparison itself if no double is decided otherwise. Else the variable is compared
    with the number at which the computed value is equal to the limit.
    """
    operator, left, right = tree.operator, tree.left, tree.right
    if isinstance(right, Arithmetic):
        operator, left, right = _FLIPPED[operator], right, left
    if not isinstance(left, Arithmetic):
        return None
    first = isinstance(left.left, Variable)
    variable, factor = (left.left, left.right) if first else (left.right, left.left)
    numbers = [_read_number(side) for side in (factor, right)]
    if not isinstance(variable, Variable) or None in numbers:
        return None
    by, to = (Decimal(repr(n)) for n in numbers)
    sign = left.operator
    # The value of the variable at which both sides are equal.
    if sign == "*" and by:
        at = Fraction(to) / Fraction(by)
    elif sign == "/" and by and first:
        at = Fraction(to * by)
    elif sign in ("+", "-"):
        at = Fraction(to - by if sign == "+" else to + by if first else by - to)
    else:
        return None
    falls = (by < 0) if sign in ("*", "/") else (sign == "-" and not first)
    if abs(at) >= 10**15:
        return None
    if sign in ("*", "/") and _same_doubles(operator, sign, numbers, at):
        return tree
    limit = Decimal(at.numerator) / Decimal(at.denominator)
    short = len(limit.as_tuple().digits) <= _MOST_DIGITS and Fraction(limit) == at
    if operator in ("==", "!=") or not short:
        return None
    whole = limit == limit.to_integral_value()
    value = int(limit) if whole else float(limit)
    return Limit(_FLIPPED[operator] if falls else operator, variable, value)


def _read_number(tree: Tree) -> int | float | None:
    """The value of a number of few digits, with its sign."""
    inner = tree.operand if isinstance(tree, Negative) else tree
    if not isinstance(inner, Constant) or type(inner.value) not in (int, float):
        return None
    value = inner.value
    assert isinstance(value, int | float)
    if len(Decimal(repr(value)).as_tuple().digits) > _MOST_DIGITS:
        return None
    return -value if isinstance(tree, Negative) else value


def _same_doubles(
    operator: ComparisonOperator, sign: str, numbers: list[int | float | None], at: Fraction
) -> bool:
    """Whether doubles near the number at which a product or quotient is equal to its limit are
    decided as decimals are; the rounding of others is less than their distance."""
    by, to = numbers
    assert by is not None
    assert to is not None
    near = float(at)
    below = above = near
    tried = [near]
    for _ in range(8):
        below, above = math.nextafter(below, -math.inf), math.nextafter(above, math.inf)
        tried += [below, above]
    limit, factor = Fraction(Decimal(repr(to))), Fraction(Decimal(repr(by)))
    for double in tried:
        value = Fraction(Decimal(repr(double)))
        exact = value * factor if sign == "*" else value / factor
        rounded = double * by if sign == "*" else double / by
        if _compare_numbers(operator, exact, limit) != _compare_numbers(operator, rounded, to):
            return False
    return True


def _compare_numbers(
    operator: ComparisonOperator, left: Fraction | float, right: Fraction | float
) -> bool:
    match operator:
        case "==":
            return left == right
        case "!=":
            return left != right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case ">=":
            return left >= right


_WHOLE_LIMIT = 10**15


def is_decided_by_doubles(tree: Comparison) -> bool:
    """Whether doubles decide a comparison with arithmetic as decimals do: that of a variable with a
    constant (`find_limit`), or of the result of one operation on whole numbers with a whole
    number. The double nearest to a whole number is on the same side of any below 2**53."""
    sides = (tree.left, tree.right)
    if find_limit(tree) == tree:
        return True
    computed = [side for side in sides if isinstance(side, Arithmetic)]
    if len(computed) != 1 or computed[0].operator not in ("+", "-", "*"):
        return False
    parts = [side for side in sides if not isinstance(side, Arithmetic)]
    return all(map(_is_whole, (*parts, computed[0].left, computed[0].right)))


def _is_whole(tree: Tree) -> bool:
    if isinstance(tree, Variable):
        return tree.type == "whole"
    number = _read_number(tree)
    return isinstance(number, int) and abs(number) <= _WHOLE_LIMIT


_Term = tuple[Tree, ...]


def list_terms(tree: Comparison) -> tuple[_Term, ...] | None:
    """A comparison as the sum of products that is compared with 0: those of the left side, and
    those of the right side with another sign. `None` if it has another operation, a product whose
    digits decimals of FEEL round, or a sum that may be a text."""
    sums = _list_summands(tree.left), _list_summands(tree.right)
    left, right = sums
    if left is None or right is None:
        return None
    every = (*left, *((Constant(-1), *term) for term in right))
    operands = [factor for term in every for factor in term]
    known = all(
        isinstance(operand, Constant)
        or (isinstance(operand, Variable) and operand.type is not None)
        for operand in operands
    )
    numbers = any(_read_number(side) is not None for side in (tree.left, tree.right))
    if not known and (not numbers or (tree.operator == "!=" and _adds_variables(tree))):
        return None
    return tuple(map(_normalise_product, every)) if all(map(_is_short, every)) else None


def _adds_variables(tree: Comparison) -> bool:
    sides = (tree.left, tree.right)
    return any(
        side.operator == "+"
        and not any(isinstance(part, Constant) for part in (side.left, side.right))
        for side in sides
        if isinstance(side, Arithmetic)
    )


def _list_summands(tree: Tree) -> tuple[_Term, ...] | None:
    if isinstance(tree, Arithmetic):
        left, right = _list_summands(tree.left), _list_summands(tree.right)
        if left is None or right is None:
            return None
        match tree.operator:
            case "+":
                return (*left, *right)
            case "-":
                return (*left, *((Constant(-1), *term) for term in right))
            case "*":
                return tuple((*first, *second) for first in left for second in right)
        return None
    if isinstance(tree, Variable) and not any(step.lstrip("-").isdigit() for step in tree.path):
        return ((tree,),)
    number = _read_number(tree)
    return None if number is None else ((Constant(number),),)


def _normalise_product(term: _Term) -> _Term:
    """A product with its signs in one factor."""
    signs = [factor for factor in term if factor == Constant(-1)]
    others = tuple(factor for factor in term if factor != Constant(-1))
    if len(signs) % 2 == 0:
        return others or (Constant(1),)
    number = next((factor for factor in others if isinstance(factor, Constant)), None)
    if number is None:
        return (Constant(-1), *others)
    assert isinstance(number.value, int | float)
    negative = Constant(-number.value)
    return tuple(negative if factor is number else factor for factor in others)


def _is_short(term: _Term) -> bool:
    return sum(factor != Constant(-1) for factor in term) <= 2


def sign_of(products: Sequence[Sequence[int | float]]) -> int:
    """The sign of a sum of products of decimal numbers, computed without rounding."""
    total = sum(math.prod(Fraction(Decimal(repr(n))) for n in product) for product in products)
    return (total > 0) - (total < 0)
