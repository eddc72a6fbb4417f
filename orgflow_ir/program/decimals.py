"""Arithmetic of Groovy, where literals with a fraction and quotients of whole numbers are exact
decimals, and variables with a fraction are doubles.

Decimals are those of Java (`BigDecimal`), whose number of decimal places depends on those of the
operands. Python's have the same, if an exact result is not rounded.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, ROUND_HALF_UP, Context, Decimal, Inexact
from typing import Any

from orgflow_ir.program import methods
from orgflow_ir.program.syntax import (
    MOST_INT,
    Arithmetic,
    Call,
    Constant,
    Negative,
    Tree,
)

PLACES = 10
"""Decimal places of a quotient that no decimal is equal to, if no operand has more."""

MORE_DIGITS = 10
"""The digits of such a quotient beyond those of the longer operand."""

_MOST_SAFE = 2**53 - 1
_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)


def value_in_groovy(tree: Tree, value: Callable[[Tree], Any]) -> float | None:
    """The value of an arithmetic expression; `None` for a division by zero, and where the type of
    its whole numbers does not have the result.

    Args:
        tree: the expression.
        value: the numbers of its operands.
    """
    found = _value(tree, value)
    if found is None or isinstance(found, float):
        return found
    return int(found) if found == int(found) else float(found)


def _value(tree: Tree, value: Callable[[Tree], Any]) -> Decimal | float | int | None:
    match tree:
        case Negative():
            return _computed("-", 0, _value(tree.operand, value))
        case Arithmetic():
            left, right = (_value(side, value) for side in tree.operands)
            return _computed(tree.operator, left, right)
        case Constant(float() as number):
            return Decimal(repr(number))
        case Call(methods.UNSURE, (operand,)):
            found = value(operand)
            return Decimal(repr(found)) if isinstance(found, float) else Decimal(found)
        case _:
            found = value(tree)
            return int(found) if isinstance(found, float) and found.is_integer() else found


def _computed(operator: str, one: Any, two: Any) -> Decimal | float | int | None:
    if one is None or two is None:
        return None
    if operator == "/" and two == 0:
        return None
    if isinstance(one, float) or isinstance(two, float):
        near: float = _in_order(operator, float(one), float(two))
        return near
    if isinstance(one, int) and isinstance(two, int) and operator != "/":
        whole: int = _in_order(operator, one, two)
        fits = _is_int(whole) if _is_int(one) and _is_int(two) else abs(whole) <= _MOST_SAFE
        return whole if fits else None
    one, two = Decimal(one), Decimal(two)
    match operator:
        case "+":
            return _EXACT.add(one, two)
        case "-":
            return _EXACT.subtract(one, two)
        case "*":
            return _EXACT.multiply(one, two)
    return _quotient(one, two)


def _is_int(number: int) -> bool:
    """Whether Java's type `int` has a number."""
    return -MOST_INT - 1 <= number <= MOST_INT


def _in_order(operator: str, one: Any, two: Any) -> Any:
    match operator:
        case "+":
            return one + two
        case "-":
            return one - two
        case "*":
            return one * two
    return one / two


def _quotient(one: Decimal, two: Decimal) -> Decimal:
    """The exact quotient, or one that is rounded (`BigDecimalMath.divideImpl` of Groovy)."""
    digits = [len(number.as_tuple().digits) for number in (one, two)]
    exact = Context(prec=digits[0] + 4 * digits[1], Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Inexact])
    try:
        return exact.divide(one, two)
    except Inexact:
        pass
    near = Context(max(digits) + MORE_DIGITS, ROUND_HALF_UP, MIN_EMIN, MAX_EMAX, traps=[])
    found = near.divide(one, two)
    places = max(_places(one), _places(two), PLACES)
    if _places(found) <= places:
        return found
    return found.quantize(Decimal((0, (1,), -places)), ROUND_HALF_UP, _EXACT)


def _places(number: Decimal) -> int:
    power = number.as_tuple().exponent
    assert isinstance(power, int)
    return -power
