"""Arithmetic of FEEL values: numbers, texts, dates and durations (DMN 1.5, table 56)."""

from __future__ import annotations

from decimal import Decimal

from orgflow_ir.program.feel import calendar, numbers
from orgflow_ir.program.feel.values import Date, DateTime, Days, Months, Time, Value


def negate_value(value: Value) -> Value:
    """A number or duration with the opposite sign; null for other values."""
    match value:
        case Decimal():
            return value.copy_negate() if value else value
        case Days(nanos):
            return Days(-nanos)
        case Months(count):
            return Months(-count)
    return None


def calculate_values(operator: str, left: Value, right: Value) -> Value:
    """`left operator right` (DMN 1.5, table 56); null for types that the operator does not take."""
    match left, right:
        case [Decimal(), Decimal()]:
            return numbers.compute_operation(operator, left, right)
        case [str(), str()]:
            return left + right if operator == "+" else None
        case [Days(), Days()]:
            match operator:
                case "+" | "-":
                    return calendar.make_days(
                        left.nanos + (right.nanos if operator == "+" else -right.nanos)
                    )
                case "/":
                    return numbers.compute_operation("/", Decimal(left.nanos), Decimal(right.nanos))
        case [Months(), Months()]:
            match operator:
                case "+" | "-":
                    count = left.months + (right.months if operator == "+" else -right.months)
                    return calendar.make_months(count)
                case "/":
                    return numbers.compute_operation(
                        "/", Decimal(left.months), Decimal(right.months)
                    )
        case (Days() | Months(), Decimal()):
            return _scale_duration(operator, left, right) if operator in ("*", "/") else None
        case [Decimal(), (Days() | Months())]:
            return _scale_duration("*", right, left) if operator == "*" else None
        case (Date() | Time() | DateTime(), Days()):
            if operator in ("+", "-"):
                return calendar.add_days(left, right.nanos if operator == "+" else -right.nanos)
        case (Date() | DateTime(), Months()):
            if operator in ("+", "-"):
                return calendar.add_months(left, right.months if operator == "+" else -right.months)
        case (Days(), (Date() | Time() | DateTime())) | (Months(), (Date() | DateTime())):
            return calculate_values("+", right, left) if operator == "+" else None
        case (Time(), Time()) | ((Date() | DateTime()), (Date() | DateTime())):
            return _subtract_moments(left, right) if operator == "-" else None
    return None


def _scale_duration(operator: str, value: Days | Months, by: Decimal) -> Value:
    """A duration multiplied or divided, cut to whole nanoseconds or months."""
    own = value.nanos if isinstance(value, Days) else value.months
    scaled = numbers.compute_operation(operator, Decimal(own), by)
    if scaled is None or scaled.copy_abs() > calendar.MAX_NANOS:
        return None
    return (
        calendar.make_days(int(scaled))
        if isinstance(value, Days)
        else calendar.make_months(int(scaled))
    )


def _subtract_moments(later: Date | Time | DateTime, earlier: Date | Time | DateTime) -> Value:
    first, second = calendar.instant_of(later), calendar.instant_of(earlier)
    # A date is the start of its day in UTC: it has no distance to a time without a zone.
    return calendar.make_days(first.nanos - second.nanos) if first[0] == second[0] else None
