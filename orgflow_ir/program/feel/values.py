"""FEEL values without a Python type, and the rules that all values share.

Numbers are `Decimal`, strings `str`, booleans `bool`, null `None`, lists `tuple`, contexts `dict`.
Dates are not Python's: FEEL years have up to nine digits, seconds have nine decimal places, and
times may have an offset or a named time zone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from orgflow_ir.model.records import dataclass
from orgflow_ir.program.feel.types import (
    ANY,
    ConstrainedType,
    ContextType,
    FunctionType,
    ListType,
    RangeType,
    SimpleType,
    Type,
)


class Unsupported(Exception):
    """A FEEL construct that this evaluator does not support; the text names it."""


INPUT = "?"
"""The name of the input of a unary test."""

Value = Any
"""`None | bool | str | Decimal | Date | Time | DateTime | Days | Months | Range | Function |
tuple[Value, ...] | dict[str, Value]`."""

NANOS = 1_000_000_000
DAY = 86_400 * NANOS


@dataclass(frozen=True)
class Date:
    """A day of the proleptic Gregorian calendar."""

    year: int
    month: int
    day: int


@dataclass(frozen=True)
class Time:
    """A time of day; `zone` is an offset in seconds, the name of a time zone, or `None`."""

    hour: int
    minute: int
    second: int
    nano: int = 0
    zone: int | str | None = None

    @property
    def nanos(self) -> int:
        """Nanoseconds since midnight."""
        return ((self.hour * 60 + self.minute) * 60 + self.second) * NANOS + self.nano


@dataclass(frozen=True)
class DateTime:
    """A day and a time."""

    date: Date
    time: Time


@dataclass(frozen=True)
class Days:
    """A days and time duration."""

    nanos: int


@dataclass(frozen=True)
class Months:
    """A years and months duration."""

    months: int


@dataclass(frozen=True)
class Range:
    """A range; an end that is `None` is unbounded."""

    low: Value
    high: Value
    low_included: bool
    high_included: bool


@dataclass(frozen=True, eq=False)
class Function:
    """A function: names and types of its parameters, and its implementation.

    `call` takes values by position or, with `names`, by name. Built-in functions have several
    signatures, so their `parameters` are `None`.
    """

    parameters: tuple[tuple[str, Type], ...] | None
    call: Callable[[Sequence[Value], Sequence[str] | None], Value]
    result: Type = ANY


def kind(value: Value) -> str:
    """The name of a value's type, as in `instance of`."""
    match value:
        case None:
            return "Null"
        case bool():
            return "boolean"
        case Decimal() | int() | float():
            return "number"
        case str():
            return "string"
        case tuple() | list():
            return "list"
        case dict():
            return "context"
        case Date():
            return "date"
        case Time():
            return "time"
        case DateTime():
            return "date and time"
        case Days():
            return "days and time duration"
        case Months():
            return "years and months duration"
        case Range():
            return "range"
        case Function():
            return "function"
    raise TypeError(f"{type(value).__name__} is not a FEEL value")


POINTS = frozenset(
    {
        "number", "string", "date", "time", "date and time", "days and time duration",
        "years and months duration",
    }
)  # fmt: skip
"""Kinds of values that have an order."""


def accepts_value(parameter: str, value: Value) -> bool:
    """Whether a value belongs to a kind used in signatures."""
    kind_of_value = kind(value)
    match parameter:
        case "any":
            return True
        case "point":
            return kind_of_value in POINTS
        case "duration":
            return kind_of_value.endswith("duration")
    return kind_of_value == parameter


def without_constraints(of: Type) -> Type:
    """A type without its restrictions, since `instance of` ignores them."""
    match of:
        case ConstrainedType(base, _):
            return without_constraints(base)
        case ListType(element):
            return ListType(without_constraints(element))
        case ContextType(entries):
            return ContextType(tuple((name, without_constraints(entry)) for name, entry in entries))
    return of


def is_callable_as(function: Function, parameters: tuple[Type, ...], result: Type) -> bool:
    if function.parameters is None:
        return True
    return (
        len(function.parameters) == len(parameters)
        and all(
            type_conforms(given, own)
            for given, (_, own) in zip(parameters, function.parameters, strict=True)
        )
        and (function.result == ANY or type_conforms(function.result, result))
    )


def type_conforms(type_: Type, other: Type) -> bool:
    """Whether every value of `type_` belongs to `other`."""
    if type_ == other or other == SimpleType("Any") or type_ == SimpleType("Null"):
        return True
    match type_, other:
        case [ConstrainedType(base, _), _]:
            return type_conforms(base, other)
        case (ListType(a), ListType(b)) | (RangeType(a), RangeType(b)):
            return type_conforms(a, b)
        case [ListType(), SimpleType("list")]:
            return True
        case [ContextType(a), ContextType(b)]:
            own = dict(a)
            return all(name in own and type_conforms(own[name], of) for name, of in b)
        case [FunctionType(a, first), FunctionType(b, second)]:
            return (
                len(a) == len(b)
                and all(type_conforms(y, x) for x, y in zip(a, b, strict=True))
                and type_conforms(first, second)
            )
    return False


_EXACT = 2**53


def _to_double(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def import_value(value: object) -> Value:
    """Convert a value of Python or JSON to FEEL: numbers become decimals, lists tuples.

    Raises `TypeError` for values without an equivalent in FEEL.
    """
    match value:
        case int() | float() if not isinstance(value, bool):
            # JSON's numbers are doubles wherever they end up.
            number = Decimal(repr(value if -_EXACT < value < _EXACT else _to_double(value)))
            return number if number.is_finite() else None
        case list() | tuple():
            return tuple(import_value(v) for v in value)
        case Mapping():
            return {str(name): import_value(v) for name, v in value.items()}
    kind(value)
    return value
