"""Values of expressions in Python, and the conversions of JavaScript.

Values are those of JSON: None, truth values, numbers, texts, lists and dictionaries; a variable
without a value is `UNDEFINED`, which JavaScript distinguishes from null.
"""

from __future__ import annotations

import math
from typing import Any


class Undefined:
    """The value in JavaScript of a variable that has none; it is null everywhere else."""

    def __bool__(self) -> bool:
        return False


UNDEFINED = Undefined()


class NoAnswer(Exception):
    """The language ends the evaluation with an error here."""


def or_null(value: Any) -> Any:
    """The value, or null if there is none."""
    return None if value is UNDEFINED else value


def is_nothing(value: Any) -> bool:
    return value is None or value is UNDEFINED


def type_name(value: Any) -> str:
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "text"
    return "nothing" if is_nothing(value) else "object"


def length_of(value: Any) -> int | None:
    return len(value) if isinstance(value, str | list | tuple | dict) else None


def equal_values(left: Any, right: Any) -> bool:
    """Whether values are equal without conversion: Python's true is 1."""
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(equal_values, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal_values(left[k], right[k]) for k in left)
    if is_nothing(left) or is_nothing(right):
        return is_nothing(left) and is_nothing(right)
    return type_name(left) == type_name(right) and bool(left == right)


def same_values(left: Any, right: Any) -> bool:
    """Objects are the same where they are one object, all else where it is equal."""
    if type_name(left) == "object":
        return left is right
    return (
        bool(left == right) if type_name(left) != "number" else to_double(left) == to_double(right)
    )


def calculate_numbers(operator: str, left: Any, right: Any) -> Any:
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    if operator == "*":
        return left * right
    if right == 0:
        undefined = operator == "%" or left == 0 or left != left
        return math.nan if undefined else math.copysign(math.inf, left) * math.copysign(1, right)
    if operator == "/":
        return left / right
    return math.nan if math.isinf(left) else math.fmod(left, right)


def compare_ordered(sign: str, left: Any, right: Any) -> bool:
    """An order of two numbers, two texts or two truth values. Texts are ordered as in Java and
    JavaScript, by the units of UTF-16."""
    if isinstance(left, str):
        left, right = (text.encode("utf-16-be", "surrogatepass") for text in (left, right))
    return compare_plainly(sign, left, right)


def compare_plainly(sign: str, left: Any, right: Any) -> bool:
    """An order of two numbers, truth values, or texts by their code points."""
    compare = {"<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}[sign]
    if isinstance(left, int) != isinstance(right, int):
        left, right = float(left), float(right)
    return bool(getattr(left, compare)(right))


def equal_if_typed(left: Any, right: Any) -> bool:
    """Equality without conversion: null equals only null, and values of one type by content."""
    if is_nothing(left) or is_nothing(right):
        return is_nothing(left) and is_nothing(right)
    return type_name(left) == type_name(right) and equal_values(left, right)


def equal_loosely(left: Any, right: Any) -> bool:
    """ECMA-262, 7.2.15 (IsLooselyEqual)."""
    if is_nothing(left) or is_nothing(right):
        return is_nothing(left) and is_nothing(right)
    if type_name(left) == type_name(right):
        return same_values(left, right)
    left, right = to_primitive(left), to_primitive(right)
    if isinstance(left, str) and isinstance(right, str):
        return left == right
    return bool(js_number(left) == js_number(right))


def to_primitive(value: Any) -> Any:
    """ECMA-262, 7.1.1 (ToPrimitive) for the objects that JSON has."""
    if isinstance(value, list | tuple):
        return ",".join("" if is_nothing(v) else js_text(to_primitive(v)) for v in value)
    return "[object Object]" if isinstance(value, dict) else value


def js_number(value: Any) -> float:
    """ECMA-262, 7.1.4 (ToNumber) for a primitive."""
    if value is None:
        return 0.0
    if value is UNDEFINED:
        return math.nan
    if not isinstance(value, str):
        return to_double(value)
    text = value.strip(" \t\n\r\v\f\u00a0\ufeff\u2028\u2029")
    if not text:
        return 0.0
    for prefix, base in (("0x", 16), ("0o", 8), ("0b", 2)):
        if text[:2].lower() == prefix:
            digits = text[2:]
            return to_double(int(digits, base)) if digits.isalnum() and digits.isascii() and all(
                int(c, 36) < base for c in digits
            ) else math.nan  # fmt: skip
    if text.lstrip("+-") == "Infinity" and len(text) <= 9:
        return -math.inf if text[0] == "-" else math.inf
    if any(c not in "0123456789.eE+-" for c in text):
        return math.nan
    try:
        return float(text)
    except ValueError:
        return math.nan


def to_double(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def js_text(value: Any) -> str:
    """ECMA-262, 7.1.17 (ToString) for a primitive."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if value is UNDEFINED:
        return "undefined"
    return js_digits(to_double(value))


def js_digits(number: float) -> str:
    """ECMA-262, 6.1.6.1.20 (Number::toString): shortest digits; exponent beyond 21 places."""
    if number != number:
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    mantissa, _, exponent = f"{abs(number)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if count > 1 else ""
    return f"{sign}{digits[0]}{tail}e{'+' if point > 0 else '-'}{abs(point - 1)}"


def scalar_text(value: Any) -> str:
    """The text of a truth value, number or text in Java. Raises `NoAnswer` for a list or object,
    whose text depends on its class."""
    if type_name(value) == "object":
        raise NoAnswer
    return js_text(value)
