"""Numbers of FEEL: decimals of 34 digits, rounded half to even (IEEE 754 decimal128; DMN 1.5,
10.3.2.3.1). Results that are not finite are null.

Python's operators and `abs` round to the default context's 28 digits: only the methods of `CONTEXT`
and those that do not round (`copy_abs`, comparisons, `to_integral_value`) are used on numbers.
"""

from __future__ import annotations

from decimal import (
    ROUND_CEILING,
    ROUND_DOWN,
    ROUND_FLOOR,
    ROUND_HALF_DOWN,
    ROUND_HALF_EVEN,
    ROUND_HALF_UP,
    ROUND_UP,
    Context,
    Decimal,
)
from typing import Literal

CONTEXT = Context(prec=34, rounding=ROUND_HALF_EVEN, Emin=-6143, Emax=6144, traps=[])
_WIDE = Context(prec=13_000, Emin=-999_999, Emax=999_999, traps=[])
"""Exact for every value that a decimal128 can be scaled to."""

Rounding = Literal["ceiling", "down", "floor", "half-down", "half-even", "half-up", "up"]
_MODES = {
    "ceiling": ROUND_CEILING, "down": ROUND_DOWN, "floor": ROUND_FLOOR,
    "half-down": ROUND_HALF_DOWN, "half-even": ROUND_HALF_EVEN, "half-up": ROUND_HALF_UP,
    "up": ROUND_UP,
}  # fmt: skip

MIN_SCALE, MAX_SCALE = -6111, 6176
"""Valid range of the number of decimal places for rounding (DMN 1.5, table 74)."""


def require_finite(value: Decimal) -> Decimal | None:
    """The result of an arithmetic operation; null if it is undefined."""
    return value if value.is_finite() else None


def compute_operation(operator: str, left: Decimal, right: Decimal) -> Decimal | None:
    """`left operator right` for `+ - * / % **`. Raises `ValueError` for another operator."""
    match operator:
        case "+":
            return require_finite(CONTEXT.add(left, right))
        case "-":
            return require_finite(CONTEXT.subtract(left, right))
        case "*":
            return require_finite(CONTEXT.multiply(left, right))
        case "/":
            return require_finite(CONTEXT.divide(left, right)) if right else None
        case "%":
            return require_finite(CONTEXT.remainder(left, right)) if right else None
        case "**":
            return require_finite(CONTEXT.power(left, right)) if left or right else Decimal(1)
    raise ValueError(f"{operator} is not an operator of numbers")


def round_to_scale(value: Decimal, scale: int, mode: Rounding) -> Decimal | None:
    """A number with at most `scale` decimal places; null if the scale is out of bounds."""
    if not MIN_SCALE <= scale <= MAX_SCALE:
        return None
    step = Decimal(1).scaleb(-scale, _WIDE)
    return require_finite(CONTEXT.plus(value.quantize(step, _MODES[mode], _WIDE)))


def to_integer(value: Decimal) -> int | None:
    """A whole number as an integer; `None` for other numbers."""
    return int(value) if value == value.to_integral_value() else None


def plain_digits(value: Decimal) -> str:
    """The digits of a number without exponent and trailing zeros."""
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
