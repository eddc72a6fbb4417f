"""Short translations of FEEL: the whole language is the referee of the shared grammar, for every
value, in the evaluator and in Node."""

from __future__ import annotations

import functools
import itertools
import json
import random
from typing import Any

import pytest
from engine_fixture import START, flow, reads
from feel_random import plain_expression
from orgflow.backends.javascript.exact_code import print_inline
from orgflow.backends.javascript.expression_code import to_js
from orgflow.backends.n8n.emit.decision_code import on_item
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.format.expressions import read_parameter
from orgflow.evaluation.dmn_kit import run_javascript
from seeds import seeds

from orgflow_ir.languages.feel.reading import read_feel
from orgflow_ir.languages.recognise import read_condition
from orgflow_ir.model import Expression
from orgflow_ir.program.evaluator import evaluate, is_truthy
from orgflow_ir.program.structure_evaluation import evaluate_json
from orgflow_ir.program.substitution import with_types
from orgflow_ir.program.syntax import ConditionError, KnownType, Path, Tree, variables
from orgflow_ir.work.mappings import read_value

VALUES: tuple[Any, ...] = (
    None, True, False, "", "a", "b", "5", "\uff5e", "\U0001f600", 0, -1, 1, 5, 0.1, 0.2, 0.3, -0.5,
    4.999999999999999, 100, 110, 84.03361344537815, 84.03361344537817, 1e21, [], [1], [5, "a"],
    {}, {"b": 5}, {"b": "a"}, {"b": [5]}, [{"b": 5}], [{"b": "a"}, {"b": 0.1}], [[{"b": 5}]],
    [None], [{"b": None}],
)  # fmt: skip
FEW: tuple[Any, ...] = (
    None, True, "a", "\uff5e", "\U0001f600", "", 0, 0.1, 0.2, 0.3, -5, 5, 1e21, [1], {"b": 5},
)  # fmt: skip

ONE = (
    "a", "not(a)", "a = 5", "a != 5", "a > 5", "a <= 0", "not(a > 5)", "not(a = 5)", "5 < a",
    "a = true", "a != false", 'a = "a"', 'a != "a"', 'a > "a"', 'not(a < "b")', "a = null",
    "a > -0.6", "a * 2 > 10", "a * 2 = 10", "a * 2 != 10", "a * 1.19 > 100", "a * 1.19 >= 100",
    "not(a * 1.19 >= 100)", "a * 1.1 > 110", "a * -3 < 0.3", "a + 0.1 > 0.3", "a + 0.1 >= 0.3",
    "a + 0.2 = 0.3", "a + 0.2 != 0.3", "not(a + 0.2 = 0.3)", "10 - a < 5", "0.3 <= a * 3",
    "a / 3 > 0.1", "not(a / 3 > 0.1)", "a - 0.1 = 0", "a * a > 0.04", "a * a = 0.04",
    "a * 3 > 0.1 * 3", "a > 0 and a < 5", "a > 0 or a", "not(a > 0 and a < 5)", "a[1] = 5",
    "a[1] > 0.3", "a[2] != 5", "a[1].b = 5", 'a[1].b = "a"', "a[1].b > 0", "not(a[1].b > 0)",
    "not(a[1].b = 5)", "a[1].b != 5", "a[2].b <= 0.1", "a.b = 5", "a.b > 4", "-1 < a",
    "a.b != 5", "not(a.b = 5)", "a.b = null", "a.b != null", "a.b = a.c", "a.b.c != 1",
    "a.length > 2", "a.length = null", "a[1].length = 1",
)  # fmt: skip
TWO = (
    "a > b", "a <= b", "not(a > b)", "a = b", "a != b", "a and b", "a or b", "not(a or b)",
    "a + b > 0.3", "a + b = 0.3", "a + b != 0.3", "not(a + b > 0.3)", "a - b >= 0.1",
    "a * b > 0.02", "a + b * 2 > 0.5", "a * b - 3 < b", "a > b * 3", "a * 0.1 + b * 0.2 = 0.05",
    "(a + b) * 2 > 0.6", "a > 5 or b > 5", "a + b > a", "a * b != 0.02",
)  # fmt: skip
CASES: list[tuple[str, dict[str, Any]]] = [
    *((text, {"a": value}) for text in ONE for value in VALUES),
    *((text, {"a": one, "b": two}) for text in TWO for one, two in itertools.product(FEW, FEW)),
]
TYPES: dict[KnownType, tuple[Any, ...]] = {
    "number": (None, 0, -1, 5, 0.1, 0.2, 0.3, 100, 110, 84.03361344537815, 1e21),
    "whole": (None, 0, -1, 5, 7, 100, 9007199254740991, -9007199254740991),
    "text": (None, "", "a", "5", "\uff5e", "\U0001f600"),
    "truth": (None, True, False),
}


def _paths(tree: Tree, given: dict[str, Any]) -> dict[Path, Any]:
    values: dict[Path, Any] = {}
    for path in variables(tree):
        value: Any = given
        for part in path:
            value = _part(value, part)
        values[path] = value
    return values


def _part(value: Any, name: str) -> Any:
    if isinstance(value, list):
        return [_part(one, name) for one in value]
    return value.get(name) if isinstance(value, dict) else None


_read = functools.cache(read_feel)


def _by_feel(text: str, given: dict[str, Any]) -> Any:
    return evaluate_json(_read(text), {(name,): value for name, value in given.items()})


def _in_node(codes: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    programs = [
        f"const $json = {json.dumps(given)};\nreturn JSON.stringify(({code}) ?? null);"
        for code, given in codes
    ]
    found = run_javascript(programs)
    failed = [
        (*case, text) for case, (kind, text) in zip(codes, found, strict=True) if kind != "value"
    ]
    assert failed == []
    return [json.loads(value, parse_int=_double) for _, value in found]


def _double(digits: str) -> int | float:
    """A number of JSON, which is a double in JavaScript."""
    return int(digits) if abs(int(digits)) < 2**53 else float(digits)


def test_conditions_mean_what_feel_means() -> None:
    trees = {text: read_condition(Expression(text=f"= {text}")) for text, _ in CASES}
    codes = {text: to_js(tree, on_item) for text, tree in trees.items() if tree is not None}
    in_node = _in_node([(codes[text], given) for text, given in CASES])
    wrong = []
    for (text, given), shown in zip(CASES, in_node, strict=True):
        tree = trees[text]
        assert tree is not None
        wanted = _by_feel(text, given) is True
        mine = evaluate(tree, _paths(tree, given)) is True
        if not wanted is mine is shown and not (wanted is mine is is_truthy(shown)):
            wrong.append((text, given, wanted, mine, shown))
    assert wrong == []


def test_mapped_values_mean_what_feel_means() -> None:
    trees = {text: read_value(f"= {text}", "feel") for text, _ in CASES}
    codes = {text: to_js(tree, on_item) for text, tree in trees.items()}
    in_node = _in_node([(codes[text], given) for text, given in CASES])
    wrong = []
    for (text, given), shown in zip(CASES, in_node, strict=True):
        wanted = _by_feel(text, given)
        mine = evaluate(trees[text], _paths(trees[text], given))
        if not wanted == mine == shown or type(wanted) is not type(shown):
            wrong.append((text, given, wanted, mine, shown))
    assert wrong == []


@pytest.mark.parametrize("type", TYPES)
def test_conditions_of_known_types_mean_what_feel_means(type: KnownType) -> None:
    codes: list[tuple[str, dict[str, Any]]] = []
    wanted: list[tuple[str, dict[str, Any], bool]] = []
    for text in (*ONE, *TWO):
        if "." in text.replace("0.", "").replace("1.1", "") or "[" in text:
            continue  # parts of values have no known type
        tree = read_condition(Expression(text=f"= {text}"))
        assert tree is not None
        code = to_js(with_types(tree, lambda _: type), on_item)
        pairs = itertools.product(TYPES[type], TYPES[type] if text in TWO else (None,))
        for one, two in pairs:
            given = {"a": one, "b": two}
            codes.append((code, given))
            wanted.append((text, given, _by_feel(text, given) is True))
    found = zip(wanted, _in_node(codes), strict=True)
    assert [(*row, shown) for row, shown in found if bool(shown) is not row[2]] == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("n > 5", "($json.n > 5)"),
        ("n = 5", "($json.n === 5)"),
        ("n * 1.19 > 100", "(($json.n * 1.19) > 100)"),
        ("n * 1.1 > 110", "($json.n > 100)"),
        ("n + 0.1 > 0.3", "($json.n > 0.2)"),
        ("b and n > 3", "($json.b && ($json.n > 3))"),
        ("b", "$json.b"),
        ("not(b)", "($json.b === false)"),
        (
            "w + v > 100",
            "(($json.w != null) && (($json.v != null) && (($json.w + $json.v) > 100)))",
        ),
        ('t != "x"', '($json.t !== "x")'),
    ],
)
def test_conditions_of_known_types_are_short(text: str, code: str) -> None:
    types: dict[Path, KnownType] = {
        ("n",): "number", ("w",): "whole", ("v",): "whole", ("b",): "truth", ("t",): "text",
    }  # fmt: skip
    tree = read_condition(Expression(text=f"= {text}"))
    assert tree is not None
    assert to_js(with_types(tree, types.get), on_item) == code


DIRECT_ONE = (
    "count(a) > 0", "count(a) = 0", "not(count(a) = 1)", "count(a) != 1", "count(a.b) >= 1",
    "sum(a) > 4", "sum(a) = 5", "sum(a.b) >= 5", "sum(a)", 'contains(a, "a")',
    'not(contains(a, "a"))', 'starts with(a, "a")', 'ends with(a.b, "a")', "string length(a) > 0",
    "string length(a)", 'upper case(a) = "A"', "lower case(upper case(a))", "is defined(a)",
    "not(is defined(a.b))", "is defined(a) and a.b = 5", 'a in ("a", "b")', "not(a in (1, 5))",
    'a in ["a", 5]', "not(a in [5, 1])", "a in [1..5]", "not(a in (0..5])", 'a in ["a".."b"]',
    "a in (> 1, < 0)", "not(a in (>= 1))", "a in (null)", "not(a in (null, 5))", "a in -1",
    "a between 0 and 5", "not(a between 0.2 and 5)", 'a between "a" and "b"',
    'list contains(a, "a")', "list contains(a, 5)", "not(list contains(a, 5))",
    "list contains(a, a)", 'some x in a satisfies x = "a"', "some x in a satisfies x > 1",
    "every x in a satisfies x > 1", 'not(every x in a.b satisfies x = "a")',
    "every x in a satisfies x.b = 5", "some item in a satisfies item.b > 1", "a[item > 1]",
    "a[b > 1]", "count(a[b > 1]) > 0", "a[item.b = 5]", "a[b = a] = []", "a[item = 5] != [5]",
    "not(a[b = 5] = [])", "if a > 1 then true else false", "if a > 1 then a else null",
    "if a.b = 5 then a.b else 1", "all(a)", "any(a)", "not(all(a))", "not(any(a))",
    "modulo(a, 2) = 0", "modulo(a, 0.3)", "modulo(a, 2) = 1", "get or else(a, 5)",
    "get or else(a, 5) = 5", "a[1]", "a[2]", "a[-1]", "a[0]", "a[1].b", "a.b[1]", "a.b[1].b",
    "a[1].b != 5", "a.length > 2", "a.b.length = 1", "a.keys", "a.b = a.b", "not(a.b = a)",
    "a != a.b", '"x" + a', 'a + "x"', '"x" + a.b + "y"', "string length(\"x\" + a)", "a * 1.19",
    "a + 0.1", "a - 0.3", "0.1 - a", "a * a", "a + a", "a + a.b", "-1 * a", "2 * (a + 1)",
    "a - (a - 0.1)", "a + 1 > a", "not(a + 1 > a.b)", "a - 0.1 != 0.2", "a.b * a.b > 0.04",
    "[a, 1]", "{x: a, y: [a.b]}", '{"x y": a}.x y', "for x in a return x.b",
    "for x in a return x * 2", "for x in a return 1", "append(a, 1)", "append(a, a, null)",
    'string join(a, ", ")', "string join(a)", "count(append(a, 1))", "string(a)",
    'string(a) + " EUR"', "string(a.b)", 'string length(string(a)) > 1', "a and true",
    "a = 5 and a", "for part in a return part.b", "some exact in a satisfies exact > 1",
    "for v in a return v = a", "for class in a return class",
    "some x in a satisfies (some x in x.b satisfies x = 5)",
    "for x in a return for y in a return x = y", "{part: a}.part", '{"}}": a, b: "{{"}',
    "for one1 in a return a[item = one1]", "a[b[item = 5] = [5]]", "for same in a return same = a",
    "a[count(item) > 0]", "for größe in a return größe.b", "a.größe = 5", "a.link = null",
    "for one in a return list contains(a, one)",
    "some one in a.b satisfies list contains([5, 1], one)",
    "not(a) or a > 1", "a / 3", "a / 3 > 0.1", "not(a / 3 > 0.1)", "10 / a", "a / 0", "a / -7",
    "1 / (a - 5)", "{x: a, y: [1, {z: x}]}", "{x: a * 1.1, y: x > 5, z: x}",
    "{count: a, y: count}", "{x: 1, y: {x: a, z: x}, z: x}",
    "a / 8 = 0.625", "a / 3 != 0.1", "-1 / a", "2 / 3", "a / 3 = a / 3", "(a + 1) / 3",
)  # fmt: skip
DIRECT_TWO = (
    "a + b", "a - b", "a * b", "a - b > 0.25 * a", "a + 1 < b", "a.b = b.b", "a.b != b.b",
    "not(a.b = b.b)", "a.b < b.b", "count(a) = b", "not(count(a) = b)", "count(a) > count(b)",
    "count(a) != count(b) or a = b", "list contains(a, b)", "a[b = 5]", "a[item > b]",
    "some x in a satisfies x = b", "for x in a return x + b", "if a = b then a else b",
    'contains(a, b)', "upper case(a) > lower case(b)", "[a, b] = [b, a]", "{x: a} = {x: b}",
    "{x: a} != {x: b}", "a * b - a", "(a + b) * 2 = 1", "a + b + a", "a + b + 0.1",
    "a + b + 0.1 != 0.3", "a + b + a > 1", "not(a + 1 = b + 1)", "a + 1 = b + 1",
    "a * 1 = b * 1 or b = 5", "a / b", "a / b > 0.25", "a / b = 0.5", "not(a / b = 2)",
    "a / b != 2",
    "a / b > b / a", "(a - b) / b",
)  # fmt: skip
MORE: tuple[Any, ...] = (
    *VALUES, ["a"], [["a"]], ["a", None], ["b", "a"], [True], [False, None], [[]], {"b": [1, 5]},
    {"length": 3}, {"b": {"length": 1}}, [{"b": 5}, {"b": 0.1}], [{"item": 5}], [5, 0.1],
    {"a": 5, "b": {"b": 5}}, 1e-7, -1.5e-9, 123456789012345.67, -1e22, 'say "\\',
    {"x": {"y": None}}, {"keys": 5},
)  # fmt: skip
FEWER: tuple[Any, ...] = (
    None, True, "a", "", 0.1, 0.2, 5, 1e21, [5], {"b": 5}, [{"b": [1]}],
)  # fmt: skip
DIRECT_CASES: list[tuple[str, dict[str, Any]]] = [
    *((text, {"a": value}) for text in DIRECT_ONE for value in MORE),
    *(
        (text, {"a": one, "b": two})
        for text in DIRECT_TWO
        for one, two in itertools.product(FEWER, repeat=2)
    ),
]


def _directly(text: str, condition: bool) -> str:
    def read(name: str) -> str | None:
        return on_item((name,)) if name in ("a", "b") else None

    return print_inline(read_feel(text).body, read, condition=condition) or ""


@pytest.mark.parametrize("condition", [True, False])
def test_plain_javascript_means_what_feel_means(condition: bool) -> None:
    codes = {text: _directly(text, condition) for text, _ in DIRECT_CASES}
    assert [text for text, code in codes.items() if not code] == []
    assert _differences(codes, DIRECT_CASES, condition=condition) == []


@pytest.mark.parametrize("condition", [True, False])
def test_plain_javascript_of_random_expressions(condition: bool) -> None:
    rng = random.Random(7)
    codes: dict[str, str] = {}
    while len(codes) < 400:
        text = plain_expression(rng, rng.choice((1, 2, 2, 3)))
        try:
            code = _directly(text, condition)
        except ConditionError:
            continue
        if code:
            codes[text] = code
    cases = [
        (text, {"a": rng.choice(MORE), "b": rng.choice(MORE)}) for text in codes for _ in range(6)
    ]
    assert _differences(codes, cases, condition=condition) == []


DATES_ONE = (
    "duration(a)",
    "string(duration(a))",
    "duration(a) = null",
    '{wait: duration(a), other: @"P1D"}',
    "date(a)",
    "date(a) < today()",
    "not(date(a) < today())",
    "date(a) = today()",
    "today() >= date(a)",
    'date(a) < date("2024-03-01")',
    'date(a) = date("2024-02-29")',
    'date(a) != @"2024-02-29"',
    'not(date(a) = date("2024-02-29"))',
    'date(a) in [date("2024-01-01")..date("2024-12-31")]',
    'not(date(a) in [date("2024-01-01")..date("2024-12-31")))',
    'date(a) in (> @"2024-01-01")',
    'date(a) in (@"2024-02-29", @"1999-12-31")',
    'date(a) between @"2024-01-01" and today()',
    "date(a) = null",
    "is defined(date(a))",
    "date(a).year",
    "date(a).month = 2",
    "date(a).day",
    "date(a).weekday",
    "date(a).weekday in [1..5]",
    "date(a).year + 1",
    "date(a).year > 2000",
    "not(date(a).year = 2024)",
    "date(a).year != 2024",
    "date(a).month * 2 > 3",
    "date(a).year = a",
    "day of week(date(a))",
    "string length(day of week(date(a)))",
    'day of week(date(a)) in ("Saturday", "Sunday")',
    "month of year(date(a))",
    "day of year(date(a))",
    'date(a) + duration("P1D")',
    'date(a) - @"P1M"',
    'date(a) + @"P400Y"',
    'date(a) + @"PT36H"',
    'date(a) - @"PT36H"',
    'date(a) + @"P13M" > date(a)',
    '@"P1D" + date(a)',
    'date(a) + @"-P1Y2M"',
    'date(a) - today() < @"P30D"',
    'date(a) - @"2024-01-01"',
    'date(a) - @"2024-01-01" > duration("P30D")',
    'not(date(a) - @"2024-01-01" > @"PT36H")',
    '(date(a) - @"2024-01-01").days',
    '(date(a) - @"2024-01-01").hours',
    'date(a) - @"2024-01-01" = @"P59D"',
    'years and months duration(date(a), @"2024-02-29")',
    'years and months duration(date(a), @"2024-02-28").years >= 18',
    '"due " + string(date(a))',
    'years and months duration(date(a), @"2024-02-28").months',
    "string(date(a))",
    'years and months duration(date(a), @"2024-02-28") > @"P1Y"',
    'date(a) > @"2024-01-01T00:00:00"',
    "date and time(a)",
    "date and time(a) < now()",
    "not(date and time(a) < now())",
    'date and time(a) < date and time("2024-03-31T02:30:00Z")',
    "date and time(a).hour",
    'date and time(a) = @"2024-03-31T02:30:00Z"',
    'date and time(a) != @"2024-03-31T02:30:00Z"',
    'date and time(a) >= date and time("2024-03-31T02:30:00")',
    "date and time(a).minute < 31",
    'date and time(a) + @"PT1H"',
    'date and time(a) - @"P1DT0.000000001S"',
    "date and time(a).second",
    'date and time(a) + @"P1M" > @"2024-03-31T02:30:00@Europe/Paris"',
    "date and time(a).year",
    'date and time(a) - @"2024-03-31T02:30:00Z" > @"PT36H"',
    "date(date and time(a))",
    '(date and time(a) - @"2024-03-31T02:30:00Z").days',
    "day of week(date and time(a))",
    '(date and time(a) - @"2024-03-31T02:30:00Z").hours',
    "date and time(a) = null",
    '(date and time(a) - @"2024-03-31T02:30:00Z").seconds',
    "string(date and time(a))",
    'date(date and time(a)) > @"2024-01-01"',
    "date and time(a) < today()",
    "date and time(date(now()))",
    "{due: date(a), at: [date and time(a)]}",
    "if date(a) > today() then date(a) else null",
    "for x in a return date(x)",
    'some x in a satisfies date(x) > @"2024-01-01"',
    'a = @"2024-02-29"',
    "a < today()",
    'date("x")',
    '@"P1Y"',
    'duration("P1DT2H")',
    '@"2024-02-30"',
    "append(a, date(a))",
    'date("2024-01-01").year',
    'date("2024-" + a)',
    'date(2024, 2, 29) + @"P1Y"',
)
PATTERNS = (
    'matches(a, "[A-Z]{2}[0-9]+")',
    'not(matches(a, "^a"))',
    'matches(a, "a.c$", "s")',
    'matches(a, "(")',
    r'matches(a, "^\\d{5}$")',
    'matches(a, "B", "i")',
    'matches(a, "/", "q")',
    'matches(a, "a/b")',
    'matches(a.b, "x")',
    'replace(a, "(b)(c)?", "[$1$2$0]")',
    'replace(a, "b", "$10")',
    'replace(a, "x*", "y")',
    r'replace(a, "[a-c]", "\\$")',
    'replace(a, "a", "$")',
    'replace(a, "B", "x", "i")',
    'replace(a, "a", "$a")',
    'substring before(a, "b")',
    'substring after(a, "b")',
    "substring(a, 2)",
    "substring(a, 1, 2)",
    'substring after(a, "/") = "b"',
    "substring(a, 3, 1)",
    'replace(a, "\U0001f600", "}}")',
)
TEXTS: tuple[Any, ...] = (
    None,
    5,
    "",
    "a",
    "b",
    "abc",
    "abcbc",
    "DE12",
    "de",
    "ab\nc",
    "12345",
    "a/b",
    "a/b/b",
    "$1",
    ["ab"],
    ["a", "b"],
    {"b": "x"},
    "\U0001f600b\U0001f600",
    "\n",
    "a\n",
    "AbC",
)
DATES_TWO = (
    "date(a) < date(b)",
    "date(a) = date(b)",
    "not(date(a) = date(b))",
    "date(a) != date(b)",
    "date(a) - date(b)",
    "(date(a) - date(b)).days > 30",
    'date(a) - date(b) >= @"P7D"',
    "years and months duration(date(a), date(b))",
    "date and time(a) < date and time(b)",
    "years and months duration(date(a), date(b)).years",
    "date and time(a) = date and time(b)",
    "date and time(a) != date and time(b)",
    "not(date and time(a) = date and time(b))",
    'date and time(a) - date and time(b) > @"PT1H"',
    "date(a) > date(b) or date(b) > date(a)",
    "(date and time(a) - date and time(b)).minutes",
    "date(a) between date(b) and today()",
    "date(a).year = date(b).month + 2022",
    "date(a) - date(b) = date(b) - date(a)",
    "years and months duration(date(a), date(b)) = years and months duration(date(b), date(a))",
)
DATE_VALUES: tuple[Any, ...] = (
    "P1Y2M",
    "-P13M",
    "PT36H",
    "P1DT2H3M4.5S",
    "-PT0.000000001S",
    "P",
    "PT",
    "P1W",
    "P0D",
    "-P0M",
    "P1DT",
    "P999999999Y1M",
    "P999999999Y",
    "PT99999999999999999999S",
    "PT9223372036854775808S",
    ["PT90M"],
    None,
    5,
    "",
    "x",
    [],
    {},
    True,
    "2024-02-29",
    "2024-02-30",
    "2023-02-28",
    "1999-12-31",
    "2024-1-1",
    "2024-00-10",
    "0001-01-01",
    "-0044-03-15",
    "-0000-01-01",
    "12024-07-01",
    "999999999-12-31",
    "-999999999-01-01",
    "2100-01-31",
    ["2024-02-29"],
    [["2024-01-01"]],
    ["2024-01-01", "2024-01-01"],
    "2024-02-29\n",
    "2024-03-31T02:30:00",
    "2024-03-31T02:30:00Z",
    "2024-03-31T03:30:00+01:00",
    "2024-03-31T02:30:00.000000001Z",
    "2024-03-31T02:30:00@Europe/Paris",
    "2024-10-27T02:30:00@Europe/Paris",
    "2024-10-27T02:30:00.5@Nowhere/City",
    "1750-01-01T00:00:00@Europe/London",
    "02024-01-01",
    "12024-07-01T00:00:00@Asia/Tokyo",
    "2024-03-31T24:00:00",
    "2024-03-31T02:30:00+15:00",
    "2024-03-31T02:30:00-05:30:15",
    "2024-03-31T02:30",
    "2024-03-31T02:30:00.123456789123-14:00",
    "2800-06-01T12:00:00@America/New_York",
    "999999999-12-31T23:59:59Z",
    "2023-12-31T23:59:59.999999999",
    "2024-03-31T02:30:60Z",
    "T10:00:00",
    "2024-02-29T",
    "2400-01-01T00:00:00@Europe/Paris",
)
FEW_DATES: tuple[Any, ...] = (
    None,
    "x",
    "2024-02-29",
    "2024-01-31",
    "2023-02-28",
    "-0044-03-15",
    "999999999-12-31",
    "2024-03-31T02:30:00",
    "2024-03-31T02:30:00Z",
    "2024-03-31T04:30:00@Europe/Paris",
    "2024-03-31T02:30:00.000000001Z",
    "2024-02-29T00:00:00",
)
DATE_CASES: list[tuple[str, dict[str, Any]]] = [
    *((text, {"a": value}) for text in DATES_ONE for value in DATE_VALUES),
    *((text, {"a": value}) for text in PATTERNS for value in TEXTS),
    *(
        (text, {"a": one, "b": two})
        for text in DATES_TWO
        for one, two in itertools.product(FEW_DATES, repeat=2)
    ),
]


@pytest.mark.parametrize("condition", [True, False])
def test_plain_javascript_of_dates_and_durations(condition: bool) -> None:
    codes = {text: _directly(text, condition) for text, _ in DATE_CASES}
    assert [text for text, code in codes.items() if not code] == []
    assert {read_parameter(f"={{{{ {code} }}}}").faults for code in codes.values()} == {()}
    assert _differences(codes, DATE_CASES, condition=condition) == []


def test_dates_and_patterns_on_the_engine(engine: LocalEngine) -> None:
    """n8n evaluates them between `{{` and `}}`, and refuses some of JavaScript there."""
    items = [{"a": "2024-03-31T02:30:00@Europe/Paris"}, {"a": "2024-02-29"}, {"a": "abc"}]
    texts = [*DATES_ONE, *PATTERNS]
    fields = {f"e{at}": _directly(text, False) for at, text in enumerate(texts)}
    workflow = flow([START, reads("R", **fields)], "T>R")
    run = engine.run(workflow, "T", items=[{"json": item} for item in items])
    assert run.status == "success", run.error
    (found,) = run.output
    for item, values in zip(items, found, strict=True):
        shown = {text: json.loads(values[f"e{at}"] or "null") for at, text in enumerate(texts)}
        assert shown == {text: _by_feel(text, item) for text in texts}


@pytest.mark.parametrize("seed", seeds(40))
def test_plain_javascript_of_random_dates(seed: int) -> None:
    rng = random.Random(seed)
    condition = seed % 2 == 0
    codes: dict[str, str] = {}
    while len(codes) < 60:
        text = plain_expression(rng, rng.choice((1, 2, 2, 3, 3)), dated=True)
        if "upper case" in text:  # JavaScript accepts names of time zones in any case
            continue
        try:
            code = _directly(text, condition)
        except ConditionError:
            continue
        if code:
            codes[text] = code
    values = (*DATE_VALUES, *FEW_DATES, *FEW_DATES, *MORE, {"b": "2024-01-31"})
    cases = [
        (text, {"a": rng.choice(values), "b": rng.choice(values)})
        for text in codes
        for _ in range(8)
    ]
    assert _differences(codes, cases, condition=condition) == []


@pytest.mark.parametrize("condition", [True, False])
@pytest.mark.parametrize("nested", ["({} = b)", "({} in (true, false, null))", "sum([{}])"])
def test_code_does_not_double_with_each_level(nested: str, condition: bool) -> None:
    """Code of deeply nested operands is left to the runtime."""
    text = "a"
    for _ in range(14):
        text = nested.format(text)
    assert len(_directly(text, condition)) < 100_000


def _differences(
    codes: dict[str, str], cases: list[tuple[str, dict[str, Any]]], *, condition: bool
) -> list[tuple[str, dict[str, Any], Any, Any]]:
    """Cases in which JavaScript has another value than FEEL."""
    found = _in_node([(codes[text], given) for text, given in cases])
    wrong = []
    for (text, given), shown in zip(cases, found, strict=True):
        wanted = _by_feel(text, given)
        if condition:
            wanted = wanted is True
        if wanted != shown or isinstance(wanted, bool) is not isinstance(shown, bool):
            wrong.append((text, given, wanted, shown))
    return wrong
