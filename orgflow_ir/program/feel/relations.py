"""Relations of FEEL values: three-valued logic, equality, order, ranges and constants (DMN 1.5,
10.3.2)."""

from __future__ import annotations

from orgflow_ir.program.feel import calendar
from orgflow_ir.program.feel.values import (
    POINTS,
    Date,
    DateTime,
    Days,
    Months,
    Range,
    Time,
    Value,
    kind,
)


def is_contained(value: Value, tested: Value) -> bool | None:
    """Whether a value equals a test value, is in a range, or matches one item of a list. The
    result is null if the test value is: it is no constant then, but missing or not valid."""
    if isinstance(tested, Range) and not isinstance(value, Range):
        return is_in_range(tested, value)
    if isinstance(tested, tuple):
        if isinstance(value, tuple) and equal_values(value, tested) is True:
            return True
        return any(
            is_in_range(element, value) is True
            if isinstance(element, Range) and not isinstance(value, Range)
            else equal_values(value, element) is True
            for element in tested
        )
    return None if tested is None and value is not None else equal_values(value, tested)


def is_in_range(range_: Range, value: Value) -> bool | None:
    """Whether a value lies in a range; null if it cannot be compared with the ends."""
    low, high = range_.low, range_.high
    above = (
        True if low is None else compare_values(">=" if range_.low_included else ">", value, low)
    )
    below = (
        True if high is None else compare_values("<=" if range_.high_included else "<", value, high)
    )
    return conjoin_truths(above, below)


def conjoin_truths(left: Value, right: Value) -> bool | None:
    """Conjunction in three-valued logic; operands that are not booleans count as null."""
    if left is False or right is False:
        return False
    return True if left is True and right is True else None


def disjoin_truths(left: Value, right: Value) -> bool | None:
    """Disjunction in three-valued logic."""
    if left is True or right is True:
        return True
    return False if left is False and right is False else None


def equal_values(left: Value, right: Value) -> bool | None:
    """Equality (DMN 1.5, table 54): null equals only itself; values of different types are not
    comparable."""
    if left is None or right is None:
        return left is None and right is None
    first = kind(left)
    if first != kind(right):
        return None
    match first:
        case "list":
            return len(left) == len(right) and all(
                equal_values(a, b) is True for a, b in zip(left, right, strict=True)
            )
        case "context":
            return left.keys() == right.keys() and all(
                equal_values(left[k], right[k]) is True for k in left
            )
        case "range":
            return (
                (left.low_included, left.high_included) == (right.low_included, right.high_included)
                and equal_values(left.low, right.low) is True
                and equal_values(left.high, right.high) is True
            )
        case "date" | "time" | "date and time":
            return bool(calendar.instant_of(left) == calendar.instant_of(right))
        case "function":
            return bool(left is right)
    return bool(left == right)


def compare_values(operator: str, left: Value, right: Value) -> bool | None:
    """Equality or order of two values; null if their types are not comparable."""
    if operator in ("==", "!="):
        equal = equal_values(left, right)
        return equal if equal is None or operator == "==" else not equal
    first = kind(left)
    if first != kind(right) or first not in POINTS:
        return None
    if isinstance(left, Date | Time | DateTime):
        left, right = calendar.instant_of(left), calendar.instant_of(right)
        if left.local != right.local:
            return None
        left, right = left.nanos, right.nanos
    elif isinstance(left, Days):
        left, right = left.nanos, right.nanos
    elif isinstance(left, Months):
        left, right = left.months, right.months
    match operator:
        case "<":
            return bool(left < right)
        case "<=":
            return bool(left <= right)
        case ">":
            return bool(left > right)
    return bool(left >= right)


def make_range(low: Value, high: Value, low_included: bool, high_included: bool) -> Value:
    """A range; null if its ends are not comparable."""
    ends = [end for end in (low, high) if end is not None]
    if any(kind(end) not in POINTS for end in ends) or len({kind(end) for end in ends}) > 1:
        return None
    return Range(low, high, low_included, high_included)


def parse_at_literal(text: str) -> Value:
    """The date, time or duration in a text; null if it is malformed."""
    for parse in (
        calendar.parse_date,
        calendar.parse_time,
        calendar.parse_date_time,
        calendar.parse_duration,
    ):
        parsed = parse(text)
        if parsed is not None:
            return parsed
    return None
