"""Conditions beyond comparisons, in the languages of the engines, on n8n's own engine.

What a row expects is what the language's own definition says, written down by hand; the evaluator
that the rest of the program uses is held to the same rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from orgflow.backends.n8n.engine.local import LocalEngine, RunRequest
from text_model import model
from variable_runs import compiled
from variable_scenarios import Scenario

from orgflow_ir.flow.token_game.stub_data import solve_demands
from orgflow_ir.languages.recognise import read_condition
from orgflow_ir.model import Expression, Model
from orgflow_ir.program.evaluator import evaluate, is_truthy
from orgflow_ir.program.syntax import ConditionError, variables

XPATH = "http://www.w3.org/1999/XPath"
FLOW = "start -> g\ng -> a: ask\ng -> b: default\na -> end1\nb -> end2"

ROWS: tuple[tuple[str, str | None, dict[str, Any], bool | None], ...] = (
    # text, declared language, variables, whether it holds (`None`: the run has to stop)
    ("${name.equals('x')}", None, {"name": "x"}, True),
    ("${!clarified.equals('yes')}", None, {"clarified": "no"}, True),
    ("${name.equalsIgnoreCase('VIP')}", None, {"name": "vip"}, True),
    ("${not users.isEmpty()}", None, {"users": []}, False),
    ("#{items.size()==0 && open}", None, {"items": [], "open": True}, True),
    ("#{items.size() > 1}", None, {"items": [1, 2]}, True),
    ("#{items.size() > 1}", None, {}, None),
    ("#{items.size() > 1}", None, {"items": None}, None),
    ("#{items.size() > 1}", None, {"items": 7}, None),
    ("${items.contains('a')}", None, {"items": ["b", "a"]}, True),
    ("${items.contains('a')}", None, {"items": "banana"}, True),
    ("${items.contains('a')}", None, {"items": {"a": 1}}, None),
    ("${name.trim().toLowerCase().startsWith('ab')}", None, {"name": "  ABC"}, True),
    ("${name.endsWith('z')}", None, {"name": "abc"}, False),
    ("${ok == true and name.length() > 2}", None, {"ok": False}, False),
    ("${execution.getVariable('g') == 'f8'}", None, {"g": "f8"}, True),
    ("${a.b == 'x' && !empty c}", None, {"a": {"b": "x"}, "c": [1]}, True),
    ("${a.b == 'x' && !empty c}", None, {"a": {"b": "x"}}, False),
    ("${orders[1].price <= 100}", None, {"orders": [{"price": 500}, {"price": 50}]}, True),
    ("${orders.get(1).price <= 100}", None, {"orders": [{"price": 500}, {"price": 500}]}, False),
    ("${map.get('k') == 1}", None, {"map": {"k": 1}}, True),
    ("${kind == 'a' ? amount > 10 : amount > 100}", None, {"kind": "a", "amount": 50}, True),
    ("${kind == 'a' ? amount > 10 : amount > 100}", None, {"kind": "b", "amount": 50}, False),
    ("${kind == 'a' ? amount > 10 : other}", None, {"kind": "a", "amount": 50}, True),
    ("${kind == 'a' ? amount > 10 : other}", None, {"kind": "b", "amount": 50}, None),
    ("${var:lowerThan(x, 10)}", None, {"x": 9}, True),
    ("${var:lowerThan(x, 10)}", None, {}, False),
    ("${variables:eq('x', 'a')}", None, {"x": "a"}, True),
    ("${vars:contains(xs, 'a')}", None, {"xs": ["a"]}, True),
    ("${var:isNotEmpty(xs)}", None, {}, False),
    ("${(a + b) * 2 == 10}", None, {"a": 2, "b": 3}, True),
    ("return KieFunctions.isTrue(ok);", None, {"ok": True}, True),
    ('return KieFunctions.equalsTo(n, "10");', None, {"n": 10}, True),
    ('return KieFunctions.between(n, "1", "5");', None, {"n": 6}, False),
    ('return "vip".equals(kind) || total > 5;', "http://www.java.com/java", {"kind": "vip"}, True),
    ("return name != null && name.contains(\"a\");", "http://www.java.com/java",
     {"name": None}, False),
    ("xs.includes('b') && xs.size() == 1", "javascript", {"xs": ["b"]}, True),
    ("bpmn:getDataObject('clarified') = 'yes'", XPATH, {"clarified": "yes"}, True),
    ("bpmn:getDataObject('order')/amount > 10", XPATH, {"order": {"amount": 11}}, True),
    ("/order/amount > 10 and not(/order/paid = 'no')", XPATH,
     {"order": {"amount": 11, "paid": "no"}}, False),
    ("count($meta/user) = 2", XPATH, {"meta": {"user": ["a", "b"]}}, True),
    ('= some risk in riskLevels satisfies risk = "red"', None, {"riskLevels": ["red"]}, True),
    ('= some risk in riskLevels satisfies risk = "red"', None, {"riskLevels": []}, False),
    ('= some risk in riskLevels satisfies risk = "red"', None, {}, None),
    ("= not(is defined(x))", None, {}, True),
    ("= is defined(x) and x > 3", None, {"x": 4}, True),
    ("= get or else(x, 5) > 3", None, {}, True),
    ("= count(xs) > 2", None, {"xs": [1, 2, 3]}, True),
    ("= count(xs) > 2", None, {"xs": None}, False),
    ("= rows[p > y][1].p = 2", None, {"rows": [{"p": 1}, {"p": 2}], "y": 1}, True),
    ('= contains(lower case(name), "ab") and amount between 1 and 5', None,
     {"name": "xAB", "amount": 5}, True),
    ('= if kind = "a" then n > 1 else n > 5', None, {"kind": "b", "n": 5}, False),
    ('= date("2024-05-01") < date(due)', None, {"due": "2024-05-02"}, True),
    ("= amount in [1..10]", None, {"amount": 10}, True),
    ('= list contains(["}}", "{{"], x)', None, {"x": "}}"}, True),
)  # fmt: skip


LANGUAGES = {
    "-": None, "javascript": "javascript", "xpath": XPATH, "java": "http://www.java.com/java",
    "mvel": "http://www.mvel.org/2.0", "groovy": "groovy", "python": "python",
}  # fmt: skip
RESULTS = {"true": True, "false": False, "error": None}


def more_rows() -> Iterator[tuple[str, str | None, dict[str, Any], bool | None]]:
    """The rows of `condition_rows.txt`."""
    lines = Path(__file__).with_name("condition_rows.txt").read_text("utf-8").splitlines()
    for line in lines:
        if not line.startswith("#"):
            language, text, given, wanted = line.split("\t")
            yield text, LANGUAGES[language], json.loads(given), RESULTS[wanted]


TYPICAL = ROWS
"""Conditions as real models have them."""

ROWS += tuple(more_rows())


def asking(text: str, language: str | None) -> Model:
    """A gateway with this condition and a default flow."""
    made = model(FLOW, {"g": "exclusive G?"}, {"ask": text})
    process = made.processes[0]
    flows = tuple(
        f.replace(condition=Expression(text=text, language=language)) if f.condition else f
        for f in process.flows
    )
    return made.replace(processes=(process.replace(flows=flows),))


@pytest.mark.slow
def test_conditions_on_the_engine(engine: LocalEngine) -> None:
    requests = []
    for text, language, given, _ in ROWS:
        process = compiled(Scenario(text, asking(text, language), {}))
        requests.append(RunRequest(process.root.workflow, "Start", items=[{"json": given}]))
    wrong = []
    for (text, _, given, wanted), run in zip(ROWS, engine.run_many(requests), strict=True):
        visited = {one.node for one in run.order}
        found = {("A",): True, ("B",): False}.get(tuple(sorted(visited & {"A", "B"})))
        if found is not wanted or (found is None) != (run.status == "error"):
            wrong.append((text, given, found, run.error))
    assert wrong == []


MISSING = object()
"""What a value has under a name that it does not have."""


def _part(value: Any, name: str, language: str | None) -> Any:
    if isinstance(value, list | str) and name.isdigit():
        return value[int(name)] if int(name) < len(value) else None
    if isinstance(value, list | str) and name == "length" and language == "javascript":
        return len(value.encode("utf-16-le")) // 2 if isinstance(value, str) else len(value)
    if isinstance(value, list):
        found = [_part(one, name, language) for one in value]
        return [None if one is MISSING else one for one in found]
    return value.get(name, MISSING) if isinstance(value, dict) else MISSING


@pytest.mark.parametrize(("text", "language", "given", "wanted"), ROWS)
def test_conditions_in_the_evaluator(
    text: str, language: str | None, given: dict[str, Any], wanted: bool | None
) -> None:
    tree = read_condition(Expression(text=text, language=language))
    assert tree is not None
    values: dict[tuple[str, ...], Any] = {}
    for path in variables(tree):
        value: Any = given
        for part in path:
            value = _part(value, part, language)
        if value is not MISSING:
            values[path] = value
    if wanted is not None:
        assert is_truthy(evaluate(tree, values)) is wanted


@pytest.mark.parametrize(("text", "language"), dict.fromkeys(row[:2] for row in TYPICAL))
def test_data_is_found_that_takes_both_ways(text: str, language: str | None) -> None:
    tree = read_condition(Expression(text=text, language=language))
    assert tree is not None
    if not list(variables(tree)):
        return
    for wanted in (True, False):
        assert json.dumps([[*path, v] for path, v in solve_demands([(tree, wanted)]).items()])


HOSTILE = (
    "${x.constructor.constructor('return process')()}",
    "${x.contains('}}') ? $jmespath : y}",
    "${''.getClass().forName('java.lang.Runtime')}",
    "${x['__proto__'].y == 1}",
    "${x.get('constructor') == 1}",
    '= contains(x, "}}{{ $env.A }}")',
    '= x.constructor.prototype = "a"',
    "= `process`.exit()",
    "= foo(x)",
    '= function(a) external {java: {class: "java.lang.Math"}}',
    "return Runtime.exec(x);",
    "/a/@b = 1",
    "bpmn:getDataObject('constructor')/x = 1",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_refused_or_read_as_data(engine: LocalEngine, text: str) -> None:
    """What is in the grammar is a value like any other; nothing of the text runs as code."""
    language = XPATH if text.startswith(("/", "bpmn")) else None
    try:
        tree = read_condition(Expression(text=text, language=language))
    except ConditionError:
        return
    assert tree is not None
    process = compiled(Scenario(text, asking(text, language), {}))
    given = {"x": "}}{{ $env.A }}", "process": {"exit": 1}}
    asked = RunRequest(process.root.workflow, "Start", items=[{"json": given}])
    (run,) = engine.run_many([asked])
    wanted = {True: "A", False: "B"}[text.startswith("= contains")]
    assert wanted in {one.node for one in run.order}, run.error
