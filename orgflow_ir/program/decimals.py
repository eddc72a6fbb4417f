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
    number = _compute_value(tree, value)
    if number is None or isinstance(number, float):
        return number
    return int(number) if number == int(number) else float(number)


def _compute_value(tree: Tree, value: Callable[[Tree], Any]) -> Decimal | float | int | None:
    match tree:
        case Negative():
            return _compute_operation("-", 0, _compute_value(tree.operand, value))
        case Arithmetic():
            left, right = (_compute_value(side, value) for side in tree.operands)
            return _compute_operation(tree.operator, left, right)
        case Constant(float() as number):
            return Decimal(repr(number))
        case Call(methods.UNSURE, (operand,)):
            operand_value = value(operand)
            return (
                Decimal(repr(operand_value))
                if isinstance(operand_value, float)
                else Decimal(operand_value)
            )
        case _:
            operand_value = value(tree)
            return (
                int(operand_value)
                if isinstance(operand_value, float) and operand_value.is_integer()
                else operand_value
            )


def _compute_operation(operator: str, left: Any, right: Any) -> Decimal | float | int | None:
    if left is None or right is None:
        return None
    if operator == "/" and right == 0:
        return None
    if isinstance(left, float) or isinstance(right, float):
        near: float = _in_order(operator, float(left), float(right))
        return near
    if isinstance(left, int) and isinstance(right, int) and operator != "/":
        whole: int = _in_order(operator, left, right)
        fits = _is_int(whole) if _is_int(left) and _is_int(right) else abs(whole) <= _MOST_SAFE
        return whole if fits else None
    left, right = Decimal(left), Decimal(right)
    match operator:
        case "+":
            return _EXACT.add(left, right)
        case "-":
            return _EXACT.subtract(left, right)
        case "*":
            return _EXACT.multiply(left, right)
    return _compute_quotient(left, right)


def _is_int(number: int) -> bool:
    """Whether Java's type `int` has a number."""
    return -MOST_INT - 1 <= number <= MOST_INT


def _in_order(operator: str, left: Any, right: Any) -> Any:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
    return left / right


def _compute_quotient(dividend: Decimal, divisor: Decimal) -> Decimal:
    """The exact quotient, or one that is rounded (`BigDecimalMath.divideImpl` of Groovy)."""
    digits = [len(number.as_tuple().digits) for number in (dividend, divisor)]
    exact = Context(prec=digits[0] + 4 * digits[1], Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Inexact])
    try:
        return exact.divide(dividend, divisor)
    except Inexact:
        pass
    near = Context(max(digits) + MORE_DIGITS, ROUND_HALF_UP, MIN_EMIN, MAX_EMAX, traps=[])
    quotient = near.divide(dividend, divisor)
    places = max(_count_places(dividend), _count_places(divisor), PLACES)
    if _count_places(quotient) <= places:
        return quotient
    return quotient.quantize(Decimal((0, (1,), -places)), ROUND_HALF_UP, _EXACT)


def _count_places(number: Decimal) -> int:
    power = number.as_tuple().exponent
    assert isinstance(power, int)
    return -power
