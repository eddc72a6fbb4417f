"""Values of FEEL from JSON and to it, as emitted code converts them.

A number means its shortest decimal; a decimal leaves as the nearest number. JSON has no dates:
where a date, time or duration is declared, its text is one, and all of them leave as text.
"""

from __future__ import annotations

import math
from decimal import Decimal

from orgflow_ir.analysis.expressions.feel import calendar
from orgflow_ir.analysis.expressions.feel.evaluator import Unsupported
from orgflow_ir.analysis.expressions.feel.functions.conversions import text_of
from orgflow_ir.analysis.expressions.feel.types import (
    ConstrainedType,
    ContextType,
    ListType,
    SimpleType,
    Type,
)
from orgflow_ir.analysis.expressions.feel.values import Function, Value, imported

_PARSERS = {
    "date": calendar.parse_date,
    "time": calendar.parse_time,
    "date and time": calendar.parse_date_time,
    "days and time duration": calendar.parse_duration,
    "years and months duration": calendar.parse_duration,
}


def from_json(value: object, of: Type) -> Value:
    """A value of JSON as one of FEEL. Texts that are declared dates, times or durations become
    those, null where they are none."""
    return _typed(imported(value), of)


def _typed(value: Value, of: Type) -> Value:
    match of, value:
        case ConstrainedType(base, _), _:
            return _typed(value, base)
        case SimpleType(name), str() if name in _PARSERS:
            return _PARSERS[name](value)
        case ListType(element), tuple():
            return tuple(_typed(one, element) for one in value)
        case ContextType(entries), dict():
            types = dict(entries)
            return {k: _typed(v, types[k]) if k in types else v for k, v in value.items()}
    return value


def to_json(value: Value) -> object:
    """A value as JSON.

    Raises:
        Unsupported: it is, or holds, a function or a number beyond JSON's.
    """
    match value:
        case None | bool() | str():
            return value
        case Decimal():
            number = float(value)
            if math.isinf(number):
                raise Unsupported("a number that JSON does not have")
            return int(number) if number.is_integer() and abs(number) < 2**53 else number
        case tuple():
            return [to_json(one) for one in value]
        case dict():
            return {name: to_json(one) for name, one in value.items()}
        case Function():
            raise Unsupported("a function as JSON")
    return text_of(value)
