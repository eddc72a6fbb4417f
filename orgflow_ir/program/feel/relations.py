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


def is_contained(value: Value, found: Value) -> bool | None:
    """Whether a value equals a test value, is in a range, or matches one item of a list. The
    result is null if the test value is: it is no constant then, but missing or not valid."""
    if isinstance(found, Range) and not isinstance(value, Range):
        return is_in_range(found, value)
    if isinstance(found, tuple):
        if isinstance(value, tuple) and equal_values(value, found) is True:
            return True
        return any(
            is_in_range(element, value) is True
            if isinstance(element, Range) and not isinstance(value, Range)
            else equal_values(value, element) is True
            for element in found
        )
    return None if found is None and value is not None else equal_values(value, found)


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


def conjoin_truths(one: Value, two: Value) -> bool | None:
    """Conjunction in three-valued logic; operands that are not booleans count as null."""
    if one is False or two is False:
        return False
    return True if one is True and two is True else None


def disjoin_truths(one: Value, two: Value) -> bool | None:
    """Disjunction in three-valued logic."""
    if one is True or two is True:
        return True
    return False if one is False and two is False else None


def equal_values(one: Value, two: Value) -> bool | None:
    """Equality (DMN 1.5, table 54): null equals only itself; values of different types are not
    comparable."""
    if one is None or two is None:
        return one is None and two is None
    first = kind(one)
    if first != kind(two):
        return None
    match first:
        case "list":
            return len(one) == len(two) and all(
                equal_values(a, b) is True for a, b in zip(one, two, strict=True)
            )
        case "context":
            return one.keys() == two.keys() and all(
                equal_values(one[k], two[k]) is True for k in one
            )
        case "range":
            return (
                (one.low_included, one.high_included) == (two.low_included, two.high_included)
                and equal_values(one.low, two.low) is True
                and equal_values(one.high, two.high) is True
            )
        case "date" | "time" | "date and time":
            return bool(calendar.instant(one) == calendar.instant(two))
        case "function":
            return bool(one is two)
    return bool(one == two)


def compare_values(operator: str, one: Value, two: Value) -> bool | None:
    """Equality or order of two values; null if their types are not comparable."""
    if operator in ("==", "!="):
        equal = equal_values(one, two)
        return equal if equal is None or operator == "==" else not equal
    first = kind(one)
    if first != kind(two) or first not in POINTS:
        return None
    if isinstance(one, Date | Time | DateTime):
        one, two = calendar.instant(one), calendar.instant(two)
        if one.local != two.local:
            return None
        one, two = one.nanos, two.nanos
    elif isinstance(one, Days):
        one, two = one.nanos, two.nanos
    elif isinstance(one, Months):
        one, two = one.months, two.months
    match operator:
        case "<":
            return bool(one < two)
        case "<=":
            return bool(one <= two)
        case ">":
            return bool(one > two)
    return bool(one >= two)


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
        found = parse(text)
        if found is not None:
            return found
    return None
