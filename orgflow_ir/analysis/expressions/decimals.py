"""Arithmetic of Groovy, where literals with a fraction and quotients of whole numbers are exact
decimals, and variables with a fraction are doubles."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from orgflow_ir.analysis.expressions.syntax import Arithmetic, Call, Constant, Negative, Tree

PLACES = 10
"""Decimal places to which Groovy rounds a quotient that no decimal is equal to."""

MOST = 2**31 - 1
"""The largest number of Java's type `int`."""


def value_in_groovy(tree: Tree, value: Callable[[Tree], Any]) -> float | None:
    """The value of an arithmetic expression; `None` for a division by zero, and where `int` does
    not have the result.

    Args:
        tree: the expression.
        value: the numbers of its operands.
    """
    found = _value(tree, value)
    if found is None or isinstance(found, float):
        return found
    return int(found) if found.denominator == 1 else float(found)


def _value(tree: Tree, value: Callable[[Tree], Any]) -> Fraction | float | int | None:
    match tree:
        case Negative(operand):
            return _computed("-", 0, _value(operand, value))
        case Arithmetic(operator, left, right):
            return _computed(operator, _value(left, value), _value(right, value))
        case Constant(float() as number):
            return Fraction(repr(number))
        case Call("unsure", (operand,)):
            found = value(operand)
            return Fraction(repr(found)) if isinstance(found, float) else Fraction(found)
        case _:
            found = value(tree)
            return int(found) if isinstance(found, float) and found.is_integer() else found


def _computed(operator: str, one: Any, two: Any) -> Fraction | float | int | None:
    if one is None or two is None:
        return None
    if isinstance(one, float) or isinstance(two, float):
        one, two = float(one), float(two)
    if operator == "/":
        return _quotient(one, two) if two != 0 else None
    found = one + two if operator == "+" else one - two if operator == "-" else one * two
    small = isinstance(found, int) and max(abs(one), abs(two)) <= MOST
    return None if small and abs(found) > MOST else found


def _quotient(one: Any, two: Any) -> Fraction | float:
    if isinstance(one, float):
        return float(one / two)
    found = Fraction(one) / Fraction(two)
    rest = found.denominator
    for factor in (2, 5):
        while rest % factor == 0:
            rest //= factor
    if rest == 1:
        return found
    scaled = abs(found) * 10**PLACES
    rounded = Fraction(int(scaled + Fraction(1, 2)), 10**PLACES)
    return rounded if found > 0 else -rounded
