"""Dates, moments and durations of FEEL as plain JavaScript.

A date is the number of its day, so that JavaScript compares and subtracts dates; `NaN` stands for
null, which no comparison matches. A moment (a date and time) keeps its time in nanoseconds and its
offset or time zone, as FEEL does. Durations are constants or differences. The calendar repeats
after 400 years, 146,097 days, so that JavaScript's dates compute every year.
"""

from __future__ import annotations

from orgflow.backends.javascript.code_values import (
    TEMPORAL,
    Kind,
    Untranslated,
    Value,
    print_helper_call,
)
from orgflow.backends.javascript.literals import js_string

from orgflow_ir.program.feel.conversion_functions import text_of
from orgflow_ir.program.feel.signatures import SIGNATURES
from orgflow_ir.program.feel.values import (
    DAY,
    NANOS,
    Date,
    DateTime,
    Days,
    Months,
    Unsupported,
)
from orgflow_ir.program.structure_evaluation import evaluate
from orgflow_ir.program.structures import AtLiteral, FunctionCall, parts
from orgflow_ir.program.syntax import Arithmetic, Negative, Tree, Variable

_MOST_DAYS = 10**6
"""Differences of dates up to this length are compared with parts of a day as well."""

_UNITS: dict[str, tuple[int, int]] = {
    "days": (DAY, 10**12), "hours": (3600 * NANOS, 24), "minutes": (60 * NANOS, 60),
    "seconds": (NANOS, 60),
}  # fmt: skip
"""The nanoseconds of each part of a duration, and its limit."""


def is_constant(tree: Tree) -> bool:
    """Whether an expression may be a date or duration that reads neither variables nor the
    clock."""
    if not isinstance(tree, AtLiteral | Arithmetic | FunctionCall | Negative):
        return False
    names = [part.name for part in parts(tree) if isinstance(part, Variable)]
    temporal = {"date", "date and time", "duration", "years and months duration"}
    is_temporal = not temporal.isdisjoint(names) or any(
        isinstance(p, AtLiteral) for p in parts(tree)
    )
    return is_temporal and SIGNATURES.keys() >= set(names) and {"now", "today"}.isdisjoint(names)


def print_constant(tree: Tree) -> Value:
    """Code for the date or duration of an expression that is constant."""
    try:
        value = evaluate(tree)
    except Unsupported:
        raise Untranslated from None
    match value:
        case None:
            return Value("null", "null")
        case Date() | DateTime():
            text = js_string(text_of(value))
            kind: Kind = "date" if isinstance(value, Date) else "moment"
            return Value(print_helper_call(kind, text), kind, loose=text, simple=True, sure=True)
        case Days(nanos):
            text = js_string(text_of(value))
            return Value("", "days", loose=text, simple=True, sure=True, constant=nanos)
        case Months(count):
            text = js_string(text_of(value))
            return Value(str(count), "months", loose=text, simple=True, sure=True, constant=count)
    raise Untranslated


def is_known(value: Value) -> str:
    """A test that a date or duration, or a number that may be `NaN`, is not null."""
    if value.sure:
        return "true"
    return (
        f"{value.js} !== null"
        if value.kind in ("moment", "duration")
        else f"!Number.isNaN({value.js})"
    )


def as_json(value: Value) -> str:
    """Code for the text of a date or duration, or null."""
    if value.loose:
        return value.loose
    writers = {"date": "dateText", "moment": "momentText", "span": "spanText",
               "months": "monthsText", "duration": "durationText"}  # fmt: skip
    if value.kind not in writers:
        raise Untranslated
    return print_helper_call(writers[value.kind], value.js)


def print_today() -> Value:
    """The current day."""
    shown = "new Date().toISOString().slice(0, 10)"
    return Value("today()", "date", loose=shown, simple=True, sure=True)


def print_now() -> Value:
    """The current moment."""
    shown = r'new Date().toISOString().replace(/\.?0+Z$/, "Z")'
    return Value("now()", "moment", loose=shown, simple=True, sure=True)


def of_text(kind: Kind, code: str) -> Value:
    """The date or moment that a text contains; null for another value."""
    return Value(print_helper_call(kind, code), kind, simple=True)


def day_of(value: Value) -> Value:
    """The day of a date or moment."""
    if value.kind == "date":
        return value
    if value.kind != "moment":
        raise Untranslated
    if value.js == "now()":
        return print_today()
    code = f"{value.js}.day" if value.sure else f"({value.js}?.day ?? NaN)"
    return Value(code, "date", simple=True, sure=value.sure)


def moment_of(value: Value) -> Value:
    """A date as the start of its day in UTC."""
    if value.kind == "moment":
        return value
    if value.kind != "date" or not value.sure:
        raise Untranslated
    return Value(f"({{ day: {value.js}, nanos: 0, zone: 0 }})", "moment", sure=True)


def months_between(start: Value, end: Value) -> Value:
    """Whole months from one day to another."""
    first, last = day_of(start), day_of(end)
    sure = first.sure and last.sure
    return Value(
        print_helper_call("monthsBetween", first.js, last.js), "months", simple=True, sure=sure
    )


def print_part(value: Value, name: str) -> Value:
    """A property: a number, or `NaN` where the value is null."""
    of, code = value.kind, value.js
    if of in ("date", "moment") and name in ("year", "month", "day", "weekday"):
        day = day_of(value).js
        numbers = {
            "year": f"yearOf({day})",
            "month": f"(utc({day}).getUTCMonth() + 1)",
            "day": f"utc({day}).getUTCDate()",
            "weekday": f"((utc({day}).getUTCDay() + 6) % 7 + 1)",
        }
        return _print_number(numbers[name], value)
    if of == "moment" and name in ("hour", "minute", "second"):
        nanos = f"{code}.nanos" if value.sure else f"({code}?.nanos ?? NaN)"
        unit, limit = {"hour": ("36e11", 24), "minute": ("6e10", 60), "second": ("1e9", 60)}[name]
        return _print_number(f"(Math.floor({nanos} / {unit}) % {limit})", value)
    if of == "span" and name in _UNITS:
        return _print_number(code if name == "days" else f"({code} * 0)", value)
    if of == "elapsed" and name in _UNITS:
        unit_, limit = _UNITS[name]
        return _print_number(print_helper_call("wholeUnits", code, f"{unit_}n", f"{limit}n"), value)
    if of == "months" and name in ("years", "months"):
        return _print_number(
            f"Math.trunc({code} / 12)" if name == "years" else f"({code} % 12)", value
        )
    raise Untranslated


def _print_number(code: str, of: Value) -> Value:
    return Value(code, "number" if of.sure else "nan", simple=True)


def name_of_day(value: Value, helper: str) -> Value:
    """The name of the day or month of a date."""
    day = day_of(value)
    guards = () if day.sure else (is_known(day),)
    return Value(print_helper_call(helper, day.js), "text", guards, simple=True)


def print_calculation(sign: str, left: Value, right: Value) -> Value:
    """A sum or difference with a date or duration."""
    if sign == "+" and right.kind not in ("days", "months"):
        left, right = right, left
    if sign not in ("+", "-"):
        raise Untranslated
    by = right.constant
    if right.kind in ("days", "months") and by is not None:
        return _print_shifted(left, by if sign == "+" else -by, months=right.kind == "months")
    if sign == "-" and left.kind == right.kind == "date":
        sure = left.sure and right.sure
        return Value(f"({left.js} - {right.js})", "span", simple=True, sure=sure)
    if sign == "-" and left.kind == right.kind == "moment":
        return Value(print_helper_call("elapsed", right.js, left.js), "elapsed", simple=True)
    raise Untranslated


def _print_shifted(value: Value, by: int, *, months: bool) -> Value:
    match value.kind, months:
        case ["date", True]:
            return Value(print_helper_call("addMonths", value.js, str(by)), "date", simple=True)
        case ["date", False]:
            days = by // DAY
            if abs(days) > 10**12:
                raise Untranslated
            code = f"{value.js} {'-' if days < 0 else '+'} {abs(days)}"
            if value.js == "today()" and abs(days) < 10**9:
                return Value(f"({code})", "date", simple=True, sure=True)
            return Value(print_helper_call("dated", code), "date", simple=True)
        case ["moment", True]:
            return Value(print_helper_call("addMonthsTo", value.js, str(by)), "moment", simple=True)
        case ["moment", False]:
            days, nanos = divmod(by, DAY)
            if abs(days) > 10**12:
                raise Untranslated
            return Value(
                print_helper_call("addTime", value.js, str(days), str(nanos)), "moment", simple=True
            )
    raise Untranslated


def print_order(sign: str, first: Value, second: Value) -> str:
    """Whether two values are ordered; false if one is null."""
    if first.kind == second.kind == "moment":
        return f"{print_helper_call('compare', first.js, second.js)} {sign} 0"
    left, right = _print_comparable(first, second)
    return f"{left} {sign} {right}" if left else "false"


def print_equality(first: Value, second: Value, *, positive: bool) -> str:
    """Whether two dates or durations are equal, or whether they differ."""
    sure = first.sure or second.sure
    if first.kind == second.kind == "moment":
        code = f"{print_helper_call('compare', first.js, second.js)} === 0"
        if not sure:
            code = f"({code} || ({first.js} ?? {second.js}) === null)"
    else:
        left, right = _print_comparable(first, second)
        if not left:
            # Values of different types neither equal nor differ, unless one is null.
            if first.sure and second.sure:
                return "false"
            raise Untranslated
        code = f"{left} === {right}" if sure else f"Object.is({left}, {right})"
    return code if positive else f"!({code})"


def _print_comparable(first: Value, second: Value) -> tuple[str, str]:
    """Codes that JavaScript compares as FEEL compares the values; empty for values of different
    types."""
    if "duration" in (first.kind, second.kind):
        raise Untranslated
    if first.kind == second.kind and first.kind in ("date", "months"):
        return first.js, second.js
    lengths = {"span", "elapsed", "days"}
    if not lengths >= {first.kind, second.kind}:
        if {first.kind, second.kind} <= TEMPORAL:
            return "", ""
        raise Untranslated
    kinds = {first.kind, second.kind} - {"days"}
    if len(kinds) != 1:
        raise Untranslated
    return _print_length(first, "span" in kinds), _print_length(second, "span" in kinds)


def _print_length(value: Value, in_days: bool) -> str:
    """The code of a duration in days or in nanoseconds."""
    nanos = value.constant
    if nanos is None:
        return value.js
    if not in_days:
        return f"{nanos}n"
    if nanos % DAY == 0:
        return str(nanos // DAY)
    if nanos % NANOS or abs(nanos) > _MOST_DAYS * DAY:
        raise Untranslated
    return repr(nanos / DAY)
