"""Functions in scripts and conditions have the values of real interpreters, or stop the run."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from orgflow.backends.javascript.lambda_code import name_function
from orgflow.backends.javascript.operation_functions import list_function_text, read_functions
from orgflow.backends.n8n.engine.local import LocalEngine

from orgflow_ir.languages.recognise import read_condition
from orgflow_ir.model import Expression
from orgflow_ir.program import function_rows
from orgflow_ir.program.evaluator import evaluate
from orgflow_ir.program.lambdas import LIST_FUNCTIONS, BoundValues
from orgflow_ir.program.syntax import OPERATIONS, FunctionRow, Tree, variables
from orgflow_ir.work.mappings import read_value
from orgflow_ir.work.scripts import read_script

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

import function_values  # noqa: E402
from function_values import Case, judge_case, run_cases, same_value  # noqa: E402

ROWS = Path(__file__).with_name("function_rows.txt")


def read_rows() -> Iterator[tuple[Case, str]]:
    """The recorded cases with their values as JSON, `error` or `stop`."""
    for line in ROWS.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            language, kind, text, given, value = line.split("\t")
            yield Case(language, json.loads(text), kind == "condition", json.loads(given)), value


def test_there_are_rows_of_every_language() -> None:
    rows = list(read_rows())
    assert {case.language for case, _ in rows} == {*function_values.GRAMMARS}
    assert len(rows) > 400
    assert sum(value not in ("error", "stop") for _, value in rows) > 300


@pytest.mark.slow
def test_values_on_the_engine(engine: LocalEngine) -> None:
    rows = list(read_rows())
    values, reasons = run_cases(engine, [case for case, _ in rows])
    assert reasons == {}
    wrong = []
    for (case, wanted), ours in zip(rows, values, strict=True):
        stops = ours is function_values.STOP
        if wanted in ("error", "stop") and not stops:
            wrong.append((case, wanted, ours))
        elif wanted not in ("error", "stop"):
            assert ours is not None
            if stops or not same_value(json.loads(wanted), ours["value"]):
                wrong.append((case, wanted, ours))
    assert wrong == []


def read_tree(case: Case) -> Tree:
    text = f"${{{case.text}}}" if case.language == "juel" else case.text
    if case.is_condition:
        language = None if case.language == "juel" else case.language
        tree = read_condition(Expression(text=text, language=language))
        assert tree is not None
        return tree
    if case.language == "juel":
        return read_value(text)
    value = read_script(case.text, case.language).value
    assert value is not None
    return value


def test_values_in_the_evaluator() -> None:
    """Where a function of the table has a value in Python, it is that of the interpreter."""
    wrong = []
    for case, wanted in read_rows():
        tree = read_tree(case)
        given = BoundValues(case.given)
        values = {}
        for path in variables(tree):
            try:
                values[path] = given[path]
            except KeyError:
                continue
        found = evaluate(tree, values)
        if wanted in ("error", "stop") or found is None:
            continue  # whether a run stops is tested on the engine
        expected = json.loads(wanted)
        if case.is_condition:
            found = bool(found)
        if not same_value(expected, found):
            wrong.append((case, wanted, found))
    assert wrong == []


@pytest.mark.parametrize(
    ("language", "text", "given", "value"),
    [
        ("python", "[c for c in s.upper()]", "ab", None),  # a list of characters, which stops
        ("python", "len([c for c in s.split(',') if c])", "a,,b", 2),
        ("javascript", "Math.round(s)", 0.49999999999999994, 0),  # the sum with 0.5 is 1
        ("javascript", "Math.round(s)", -2.5, -2),
    ],
)
def test_corners_in_the_evaluator(language: str, text: str, given: Any, value: Any) -> None:
    tree = read_tree(Case(language, text, False, {"s": given}))
    assert evaluate(tree, {("s",): given}) == value


FUNCTIONS = {row.name: row for row in OPERATIONS.values() if isinstance(row, FunctionRow)}
NAMES = {name_function(row) for row in FUNCTIONS.values()} | {
    re.sub(r" (\w)", lambda m: m[1].upper(), name) for name in LIST_FUNCTIONS
}


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_row_has_a_function_in_javascript(name: str) -> None:
    assert list_function_text(name).startswith("(")


def test_every_function_in_javascript_is_of_a_row_or_called_by_one() -> None:
    called = {
        word for name in NAMES for word in re.findall(r"const (\w+) = \(", list_function_text(name))
    }
    assert set(read_functions("functions")) - NAMES - called == set()
    assert len(FUNCTIONS) > 60


def test_a_row_that_the_printer_does_not_know_is_an_error() -> None:
    toy = function_rows.define_function("toy function", lambda value: value)
    del OPERATIONS["toy function"]
    with pytest.raises(KeyError):
        list_function_text(name_function(toy))


@pytest.mark.parametrize(
    ("answer", "ours", "verdict"),
    [
        ({"value": 5}, {"value": 5.0}, "equal"),
        ({"value": 5}, {"value": 6}, "silent"),
        ({"value": True}, {"value": 1}, "silent"),
        ({"error": "x"}, {"value": None}, "silent"),
        ({"error": "x"}, function_values.STOP, "stops"),
        ({"value": [1]}, None, "refused"),
    ],
)
def test_the_referee_can_fail(answer: dict[str, Any], ours: Any, verdict: str) -> None:
    assert judge_case(Case("python", "a", False, {}), answer, ours) == verdict


REFUSED = (
    ("javascript", "a.map((x, i) => i)", "takes a function of 1 parameters"),
    ("javascript", "a.map(x => { return 1 })", "is not supported"),
    ("javascript", "a.find(x => x.b == 1) === undefined", "`===` with a result of `find`"),
    ("javascript", "parseInt(a, 16)", "only decimal numbers"),
    ("javascript", "a.sort()", "calls of `sort` are not supported"),
    ("groovy", "a.collect { x, y -> x }", "takes a function of 1 parameters"),
    ("groovy", "a.each { it }", "calls of `each` are not supported"),
    ("python", "[x for x in a for y in b]", "only a single `for`"),
    ("python", "a[::2]", "is not supported here"),
)


@pytest.mark.parametrize(("language", "text", "reason"), REFUSED)
def test_what_is_not_supported_is_refused(language: str, text: str, reason: str) -> None:
    from orgflow_ir.program.syntax import ConditionError

    with pytest.raises(ConditionError, match=re.escape(reason)):
        read_script(f"execution.setVariable('r', {text})", language)


INSIDE_EACH_OTHER = (
    ("javascript", "l.filter(x => l.some(y => y > x))", [1, 2]),
    ("javascript", "l.map(x => l.map(y => l.filter(z => z > x && z > y).length)[0])", [0, 0, 0]),
    ("javascript", "l.map(x => l.map(y => l.filter(z => z > x).length)[0])", [0, 2, 1]),
    ("groovy", "l.collect { x -> l.count { y -> y > x } }", [0, 2, 1]),
    ("python", "[[y for y in l if y > x] for x in l]", [[], [3, 2], [3]]),
)


def test_a_function_in_another_one_reads_its_parameter(engine: LocalEngine) -> None:
    """The parameter of the inner function had the name of the outer one."""
    cases = [Case(lang, text, False, {"l": [3, 1, 2]}) for lang, text, _ in INSIDE_EACH_OTHER]
    values, _ = run_cases(engine, cases)
    assert values == [{"value": value} for *_, value in INSIDE_EACH_OTHER]


THROWING = (
    ("javascript", "l.includes(k) || s == 'b'", {"l": None, "k": 1, "s": "b"}),
    ("juel", "l.contains(k) || s == 'b'", {"l": None, "k": 1, "s": "b"}),
    ("groovy", "(s + s).startsWith('b')", {"s": 5}),
    ("juel", "s.startsWith('a') && n > 1 || k == 1", {"s": None, "k": 1, "n": 2}),
)


def test_a_condition_that_calls_a_method_of_nothing_stops(engine: LocalEngine) -> None:
    """n8n takes an expression that throws for null: the other branch ran."""
    cases = [Case(language, text, True, given) for language, text, given in THROWING]
    values, _ = run_cases(engine, cases)
    assert values == [function_values.STOP] * len(cases)
