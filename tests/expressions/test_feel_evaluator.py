"""The evaluator of FEEL, by the tables of DMN 1.5 (chapter 10)."""

from __future__ import annotations

from typing import Any

import pytest

from orgflow_ir.languages.feel.parser import parse_expression
from orgflow_ir.program.feel import calendar
from orgflow_ir.program.feel.builtin_functions import IMPLEMENTATIONS
from orgflow_ir.program.feel.conversion_functions import text_of
from orgflow_ir.program.feel.signatures import SIGNATURES
from orgflow_ir.program.feel.values import Date, Unsupported, import_value
from orgflow_ir.program.structure_evaluation import evaluate


def shown(text: str, **values: Any) -> str:
    names = {name: import_value(value) for name, value in values.items()}
    return text_of(evaluate(parse_expression(text, names), names))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # Decimals.
        ("0.1 + 0.2 = 0.3", "true"),
        ("1 / 3", "0.3333333333333333333333333333333333"),
        ("2 ** 0.5", "1.414213562373095048801688724209698"),
        ("2 ** -2", "0.25"),
        ("1 / 0", "null"),
        ("-(1 / 3)", "-0.3333333333333333333333333333333333"),
        ("abs(-1 / 3)", "0.3333333333333333333333333333333333"),
        ("10 ** 6145", "null"),
        ("12345678901234567890123456789012345", "12345678901234567890123456789012340"),
        # Three truth values (table 50).
        ("null and false", "false"),
        ("null and true", "null"),
        ("null or true", "true"),
        ("null or false", "null"),
        ('"x" and true', "null"),
        ("not(null)", "null"),
        # Equality (table 54).
        ('1 = "1"', "null"),
        ("null = null", "true"),
        ("1 = null", "false"),
        ("[1, 2] = [1, 2.0]", "true"),
        ("{a: 1} = {a: 1}", "true"),
        ('@"10:00:00Z" = @"11:00:00+01:00"', "true"),
        ('is(@"10:00:00Z", @"11:00:00+01:00")', "false"),
        # Order.
        ('"b" > "a"', "true"),
        ("true > false", "null"),
        ('@"2024-01-01" < @"2024-01-01T00:00:00"', "null"),
        # Dates and durations (table 56).
        ('@"2024-01-31" + @"P1M"', "2024-02-29"),
        ('@"2024-03-01" - @"2024-02-28"', "P2D"),
        ('@"23:30:00" + @"PT1H"', "00:30:00"),
        ('@"2024-12-31T23:30:00Z" + @"PT1H"', "2025-01-01T00:30:00Z"),
        ('@"P1Y" / @"P1M"', "12"),
        ('@"P1D" * 1.5', "P1DT12H"),
        ('@"999999999-12-31" + @"P1D"', "null"),
        ('@"-0001-03-01" - @"P1D"', "-0001-02-28"),
        ('date and time("2024-07-01T12:00:00@Europe/Paris").time offset', "PT2H"),
        ('date and time("12024-07-01T12:00:00@Europe/Paris").time offset', "PT2H"),
        ('date and time("2024-07-01T12:00:00Z") = '
         'date and time("2024-07-01T14:00:00@Europe/Paris")', "true"),
        ('date and time(date and time("2024-07-01T12:00:00Z"), "Asia/Tokyo")',
         "2024-07-01T21:00:00@Asia/Tokyo"),
        ('date("2024-02-30")', "null"),
        ('day of week(@"2024-02-29")', '"Thursday"'),
        ('week of year(@"2021-01-03")', "53"),
        # Lists.
        ("[1, 2, 3][-1]", "3"),
        ("[1, 2, 3][4]", "null"),
        ("[1, 2, 3][item > 1]", "[2, 3]"),
        ("[{a: 1}, {a: 2}].a", "[1, 2]"),
        ("[{a: 1}, {a: 2}][a > 1].a", "[2]"),
        ("7[1]", "7"),
        ("null[true]", "[]"),
        ("for i in 1..3, j in [i] return i * j", "[1, 4, 9]"),
        ("for i in 1..5 return if i < 3 then 1 else partial[-1] + partial[-2]", "[1, 1, 2, 3, 5]"),
        ("some x in [1, 2] satisfies x > 1", "true"),
        ("every x in [] satisfies x", "true"),
        ("every x in [true, null] satisfies x", "null"),
        # Functions.
        ("(function(a, b) a - b)(b: 1, a: 3)", "2"),
        ("(function(a: number) a)(\"x\")", "null"),
        ("sort([3, 1, 2], function(a, b) a > b)", "[3, 2, 1]"),
        ("substring(string: \"foobar\", start position: -2, length: 1)", '"a"'),
        ("string length(\"\\U01F40Eab\")", "3"),
        ("abs(n: -1)", "1"),
        ("abs(-1, 2)", "null"),
        ('number(from: "1.000,5", grouping separator: ".", decimal separator: ",")', "1000.5"),
        ("number(from: \"1,5\", decimal separator: \",\")", "1.5"),
        ("sum(1, 2, 3) = sum([1, 2, 3])", "true"),
        ("mode([6, 3, 9, 6, 6, 1, 1, 1])", "[1, 6]"),
        ("modulo(-12, 5)", "3"),
        ("decimal(2.5, 0)", "2"),
        ("round half up(-2.5, 0)", "-3"),
        ("round half down(2.5, 0)", "2"),
        ("ceiling(-1.56, 1)", "-1.5"),
        ("sqrt(16)", "4"),
        ("log(10)", "2.302585092994045684017991454684364"),
        ("exp(1)", "2.718281828459045235360287471352662"),
        ("concatenate([1], 2, [3])", "[1, 2, 3]"),
        ("distinct values([1, 2, 1.0])", "[1, 2]"),
        ("list replace([2, 4, 7, 8], function(item, new) item < new, 5)", "[5, 5, 7, 8]"),
        ("context put({a: {b: 1}}, [\"a\", \"c\"], 2)", "{a: {b: 1, c: 2}}"),
        ("context merge([{a: 1}, {a: 2, b: 3}])", "{a: 2, b: 3}"),
        ("get entries({a: 1})[1].key", '"a"'),
        # Patterns are those of XQuery.
        ("matches(\"a\\nb\", \"a.b\")", "false"),
        ("matches(\"a\\nb\", \"a.b\", \"s\")", "true"),
        ("matches(\"hello\", \"HELLO\", \"i\")", "true"),
        ("replace(\"abracadabra\", \"bra\", \"*\")", '"a*cada*"'),
        ("replace(\"abc\", \"(b)\", \"[$1]\")", '"a[b]c"'),
        ("replace(\"abc\", \"(b\", \"x\")", "null"),
        ("split(\"John Doe\", \"\\\\s\")", '["John", "Doe"]'),
        # Ranges.
        ("before([1..10], [11..20])", "true"),
        ("meets([1..5], [5..10])", "true"),
        ("overlaps([5..8], [1..5))", "false"),
        ("overlaps before([1..5], [3..8])", "true"),
        ("during(5, (<= 5))", "true"),
        ("range(\"[18..21)\").end included", "false"),
        ("range(\"[21..18)\")", "null"),
        # Types.
        ("[1, 2] instance of list<number>", "true"),
        ("[1, \"a\"] instance of list<number>", "false"),
        ("{a: 1, b: 2} instance of context<a: number>", "true"),
        ("[1..2] instance of range<number>", "true"),
        ("null instance of number", "false"),
    ],
)  # fmt: skip
def test_values(text: str, value: str) -> None:
    assert shown(text) == value


def test_numbers_from_outside_are_those_of_json() -> None:
    assert shown("x", x=12345678901234567890123) == "12345678901234568000000"
    assert shown("x", x=9007199254740991) == "9007199254740991"
    assert shown("x", x=0.1) == "0.1"
    assert shown("x", x=10**400) == "null"
    assert shown("x", x=float("nan")) == "null"


def test_values_from_outside() -> None:
    assert shown("a.b[item > 1] = [2.5] and t", a={"b": [1, 2.5]}, t=True) == "true"


@pytest.mark.parametrize(
    "text",
    [
        'function(x) external {java: {class: "java.lang.Math", method signature: "abs(double)"}}',
        "for i in 1..10000000 return i",
        r'matches("a", "\\p{L}")',
        r'matches("aa", "(a)\\1")',
        "string([abs])",
    ],
)
def test_what_is_not_computed_is_refused(text: str) -> None:
    with pytest.raises(Unsupported):
        evaluate(parse_expression(text))


def test_every_signature_has_an_implementation() -> None:
    needed = {s.implementation for signatures in SIGNATURES.values() for s in signatures}
    assert needed <= IMPLEMENTATIONS.keys()


def test_days_are_counted_as_the_standard_library_does() -> None:
    import datetime

    for number in range(1, 3_652_059, 997):
        day = datetime.date.fromordinal(number)
        date = Date(day.year, day.month, day.day)
        count = number - datetime.date(1970, 1, 1).toordinal()
        assert calendar.day_number(date) == count
        assert calendar.date_from_number(count) == date
        assert calendar.weekday_of(date) == day.isoweekday()
        assert calendar.week_of_year(date) == day.isocalendar().week
