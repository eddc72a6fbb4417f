"""The texts that Java has for values, as templates and `+` insert them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any


def is_double(value: Any) -> bool:
    """Whether a value is a double in Java, or the text of one."""
    if isinstance(value, str):
        return any(char in value for char in ".eE")
    return isinstance(value, float) and not value.is_integer()


def java_text(value: Any, double: bool = False, *, null: str = "") -> str:
    """The text of a JSON value in Java.

    Args:
        value: a value of JSON.
        double: whether a whole number is a double.
        null: the text of null.
    """
    if value is None:
        return null
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return _write_number(value, double)
    if isinstance(value, dict):
        pairs = (f"{key}={java_text(element, null='null')}" for key, element in value.items())
        return _write_list("{", pairs, "}")
    if isinstance(value, list | tuple):
        return _write_list("[", (java_text(element, null="null") for element in value), "]")
    return str(value)


def _write_list(start: str, texts: Iterable[str], end: str) -> str:
    return f"{start}{', '.join(texts)}{end}"


_MOST_DIGITS = 1e21
"""JavaScript writes numbers from here on with an exponent."""


def _write_number(value: float, double: bool) -> str:
    if value != value or value in (math.inf, -math.inf):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if value == int(value) and abs(value) < _MOST_DIGITS and not double:
        return str(int(value))
    number = float(value)
    if number == 0 or 1e-3 <= abs(number) < 1e7:
        return repr(number)
    digits, _, power = f"{abs(number)!r}".partition("e")
    whole, _, fraction = digits.partition(".")
    exponent = int(power or 0) + len(whole) - 1
    figures = (whole + fraction).rstrip("0")
    if whole == "0":
        figures = fraction.lstrip("0")
        exponent = int(power or 0) - (len(fraction) - len(figures)) - 1
    sign = "-" if number < 0 else ""
    return f"{sign}{figures[0]}.{figures[1:] or '0'}E{exponent}"
