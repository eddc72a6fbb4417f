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


def calculate_values(operator: str, one: Value, two: Value) -> Value:
    """`one operator two` (DMN 1.5, table 56); null for types that the operator does not accept."""
    match one, two:
        case Decimal(), Decimal():
            return numbers.computed(operator, one, two)
        case str(), str():
            return one + two if operator == "+" else None
        case Days(), Days():
            match operator:
                case "+" | "-":
                    return calendar.days(one.nanos + (two.nanos if operator == "+" else -two.nanos))
                case "/":
                    return numbers.computed("/", Decimal(one.nanos), Decimal(two.nanos))
        case Months(), Months():
            match operator:
                case "+" | "-":
                    count = one.months + (two.months if operator == "+" else -two.months)
                    return calendar.months(count)
                case "/":
                    return numbers.computed("/", Decimal(one.months), Decimal(two.months))
        case (Days() | Months(), Decimal()):
            return _scaled(operator, one, two) if operator in ("*", "/") else None
        case Decimal(), (Days() | Months()):
            return _scaled("*", two, one) if operator == "*" else None
        case (Date() | Time() | DateTime(), Days()):
            if operator in ("+", "-"):
                return calendar.add_days(one, two.nanos if operator == "+" else -two.nanos)
        case (Date() | DateTime(), Months()):
            if operator in ("+", "-"):
                return calendar.add_months(one, two.months if operator == "+" else -two.months)
        case (Days(), (Date() | Time() | DateTime())) | (Months(), (Date() | DateTime())):
            return calculate_values("+", two, one) if operator == "+" else None
        case (Time(), Time()) | ((Date() | DateTime()), (Date() | DateTime())):
            return _difference(one, two) if operator == "-" else None
    return None


def _scaled(operator: str, value: Days | Months, by: Decimal) -> Value:
    """A duration multiplied or divided, cut to whole nanoseconds or months."""
    own = value.nanos if isinstance(value, Days) else value.months
    found = numbers.computed(operator, Decimal(own), by)
    if found is None or found.copy_abs() > calendar.MAX_NANOS:
        return None
    return calendar.days(int(found)) if isinstance(value, Days) else calendar.months(int(found))


def _difference(one: Date | Time | DateTime, two: Date | Time | DateTime) -> Value:
    first, second = calendar.instant(one), calendar.instant(two)
    # A date beside a time without zone is the start of its day where that time is.
    mixed = isinstance(one, Date) is not isinstance(two, Date)
    return calendar.days(first.nanos - second.nanos) if mixed or first[0] == second[0] else None
