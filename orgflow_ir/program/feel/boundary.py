"""Conversion between JSON and FEEL values, as in emitted code.

A number is read as its shortest decimal; a decimal is written as the nearest number. JSON has no
dates: a text is converted if the declared type is a date, time or duration; all of these are
    written as text.
"""

from __future__ import annotations

import math
from decimal import Decimal

from orgflow_ir.program.feel import calendar
from orgflow_ir.program.feel.conversion_functions import text_of
from orgflow_ir.program.feel.types import (
    ConstrainedType,
    ContextType,
    ListType,
    SimpleType,
    Type,
)
from orgflow_ir.program.feel.values import Function, Unsupported, Value, import_value

_PARSERS = {
    "date": calendar.parse_date,
    "time": calendar.parse_time,
    "date and time": calendar.parse_date_time,
    "days and time duration": calendar.parse_duration,
    "years and months duration": calendar.parse_duration,
}


def from_json(value: object, of: Type) -> Value:
    """A value of JSON as one of FEEL. Convert texts declared as dates, times or durations; null if
    they are malformed."""
    return convert_texts(import_value(value), of)


def convert_texts(value: Value, of: Type) -> Value:
    """A value in which texts are those of dates, times and durations, as its type states."""
    match of, value:
        case [ConstrainedType(base, _), _]:
            return convert_texts(value, base)
        case [SimpleType(name), str()] if name in _PARSERS:
            return _PARSERS[name](value)
        case [ListType(element), tuple()]:
            return tuple(convert_texts(element_value, element) for element_value in value)
        case [ContextType(entries), dict()]:
            types = dict(entries)
            return {k: convert_texts(v, types[k]) if k in types else v for k, v in value.items()}
    return value


def to_json(value: Value) -> object:
    """A value as JSON.

    Raises:
        Unsupported: the value is, or contains, a function or a number that JSON cannot represent.
    """
    match value:
        case None | bool() | str():
            return value
        case Decimal():
            number = float(value)
            if math.isinf(number):
                raise Unsupported("a number that JSON cannot represent")
            return int(number) if number.is_integer() and abs(number) < 2**53 else number
        case tuple():
            return [to_json(element) for element in value]
        case dict():
            return {name: to_json(element) for name, element in value.items()}
        case Function():
            raise Unsupported("a function as JSON")
    return text_of(value)
