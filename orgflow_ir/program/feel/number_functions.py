"""Functions of numbers (DMN 1.5, 10.3.4.6)."""

from __future__ import annotations

from decimal import Decimal

from orgflow_ir.program.feel.numbers import (
    CONTEXT,
    Rounding,
    compute_operation,
    require_finite,
    round_to_scale,
    to_integer,
)
from orgflow_ir.program.feel.values import Days, Months, Value


def _round_to_scale(n: Decimal, scale: Decimal | None, mode: Rounding) -> Value:
    digits = 0 if scale is None else to_integer(scale.to_integral_value("ROUND_DOWN"))
    return None if digits is None else round_to_scale(n, digits, mode)


def decimal(n: Decimal, scale: Decimal) -> Value:
    return _round_to_scale(n, scale, "half-even")


def floor(n: Decimal, scale: Decimal | None = None) -> Value:
    return _round_to_scale(n, scale, "floor")


def ceiling(n: Decimal, scale: Decimal | None = None) -> Value:
    return _round_to_scale(n, scale, "ceiling")


def round_up(n: Decimal, scale: Decimal) -> Value:
    return _round_to_scale(n, scale, "up")


def round_down(n: Decimal, scale: Decimal) -> Value:
    return _round_to_scale(n, scale, "down")


def round_half_up(n: Decimal, scale: Decimal) -> Value:
    return _round_to_scale(n, scale, "half-up")


def round_half_down(n: Decimal, scale: Decimal) -> Value:
    return _round_to_scale(n, scale, "half-down")


def abs_(n: Decimal | Days | Months) -> Value:
    match n:
        case Days(nanos):
            return Days(abs(nanos))
        case Months(count):
            return Months(abs(count))
    return n.copy_abs()


def modulo(dividend: Decimal, divisor: Decimal) -> Value:
    """`dividend - divisor * floor(dividend / divisor)`: the result has the sign of the divisor."""
    if not divisor:
        return None
    left, right = dividend.as_integer_ratio(), divisor.as_integer_ratio()
    # Over one denominator the remainder is that of whole numbers.
    rest = (left[0] * right[1]) % (right[0] * left[1])
    return compute_operation("/", Decimal(rest), Decimal(left[1] * right[1]))


def sqrt(number: Decimal) -> Value:
    return require_finite(CONTEXT.sqrt(number))


def log(number: Decimal) -> Value:
    return require_finite(CONTEXT.ln(number)) if number > 0 else None


def exp(number: Decimal) -> Value:
    return require_finite(CONTEXT.exp(number))


def odd(number: Decimal) -> Value:
    whole = to_integer(number)
    return None if whole is None else whole % 2 == 1


def even(number: Decimal) -> Value:
    whole = to_integer(number)
    return None if whole is None else whole % 2 == 0
