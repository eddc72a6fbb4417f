"""The evaluator: each language's own rules, and Node as the referee of what is emitted."""

from __future__ import annotations

import json
import math
import random
import subprocess
from typing import Any

import pytest
from expression_texts import PARSERS, PATHS, SCALARS, tree
from orgflow.backends.javascript.expression_code import to_js
from orgflow.backends.n8n.engine.node import find_node

from orgflow_ir.languages.recognise import read_condition
from orgflow_ir.model import Expression
from orgflow_ir.program import syntax
from orgflow_ir.program.evaluator import evaluate, is_truthy
from orgflow_ir.program.java_operators import JAVA
from orgflow_ir.program.portable_operators import PORTABLE
from orgflow_ir.program.syntax import ConditionError, Path, as_javascript
from orgflow_ir.work.mappings import read_value

_REFEREE = """
const cases = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const shown = (v) => v === undefined || v === null ? ['nothing']
  : typeof v === 'number' ? ['number', Object.is(v, -0) ? '0' : String(v)] : [typeof v, String(v)];
console.log(JSON.stringify(cases.map(([code, v]) => {
  const found = new Function('v', 'return ' + code)(v);
  return [shown(found), Boolean(found)];
})));
"""


def _node(cases: list[tuple[str, dict[str, Any]]]) -> list[list[Any]]:
    node = find_node()
    done = subprocess.run(
        [str(node.path), "-e", _REFEREE], input=json.dumps(cases), capture_output=True,
        text=True, check=True, encoding="utf-8",
    )  # fmt: skip
    result: list[list[Any]] = json.loads(done.stdout)
    return result


def _shown(value: Any) -> list[str]:
    if value is None:
        return ["nothing"]
    if isinstance(value, bool):
        return ["boolean", "true" if value else "false"]
    if isinstance(value, str):
        return ["string", value]
    return ["number", _digits(float(value))]


def _digits(number: float) -> str:
    """JavaScript's spelling of the numbers that occur, by Python's own shortest digits."""
    if math.isnan(number) or math.isinf(number):
        return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    if number.is_integer() and abs(number) < 1e21:
        return str(int(number)) if abs(number) < 2**53 else repr(number)
    return repr(number)


def _row(rng: random.Random) -> dict[Path, Any]:
    """Values of some variables; a missing one is undefined."""
    return {path: rng.choice(SCALARS) for path in PATHS if rng.random() < 0.8}


def _cases(language: str, count: int) -> list[tuple[Any, dict[Path, Any], str, dict[str, Any]]]:
    rng = random.Random(f"{language} in node")
    found = []
    for _ in range(count):
        one, row = tree(rng, language), _row(rng)
        code = to_js(one, lambda path: f"v[{json.dumps('.'.join(path))}]")
        found.append((one, row, code, {".".join(p): v for p, v in row.items()}))
    return found


@pytest.mark.parametrize("language", PARSERS)
def test_the_value_of_the_translation_is_what_node_computes(language: str) -> None:
    cases = _cases(language, 1500)
    answers = _node([(code, values) for *_, code, values in cases])
    for (one, row, code, _), (shown, truth) in zip(cases, answers, strict=True):
        found = evaluate(as_javascript(one), row)
        assert is_truthy(found) is truth, (code, row)
        mine = _shown(found)
        if mine[0] == "number" and shown[0] == "number":
            assert _close(float(mine[1]), float(shown[1])), (code, row)
        else:
            assert mine == shown, (code, row)


def _close(one: float, two: float) -> bool:
    return one == two or (math.isnan(one) and math.isnan(two))


@pytest.mark.parametrize("language", PARSERS)
def test_an_answer_without_conversions_is_every_language_s(language: str) -> None:
    """Where nothing has to be converted, meaning and translation are the same."""
    rng = random.Random(f"{language} without conversions")
    answered = 0
    for _ in range(5000):
        one, row = tree(rng, language, 2), _row(rng)
        exact = evaluate(one, row, operators=PORTABLE)
        if isinstance(exact, bool):
            assert evaluate(one, row) is exact, (one, row)
            assert is_truthy(evaluate(as_javascript(one), row)) is exact, (one, row)
            answered += 1
    assert answered > 200


def _value(language: str, written: str, **values: Any) -> Any:
    parser = PARSERS[language]
    return evaluate(parser(written).parse(), {(name,): v for name, v in values.items()})


@pytest.mark.parametrize(
    ("written", "values", "answer"),
    [
        # Three-valued logic, DMN 1.3, table 42.
        ("a and b", {"a": False}, False),
        ("a and b", {"b": False}, False),
        ("a and b", {"a": True}, None),
        ("a or b", {"b": True}, True),
        ("a or b", {"a": False}, None),
        ("a or b", {"a": "yes", "b": True}, True),
        ("not a", {}, None),
        ("not a", {"a": "no"}, None),
        # One null.
        ("a = null", {}, True),
        ("a = null", {"a": 0}, False),
        ("a != null", {"a": 0}, True),
        # Different types have no answer.
        ("a = 1", {"a": "1"}, None),
        ("a > 1", {"a": "2"}, None),
        ("a > 1", {}, None),
        ("not (a > 1)", {}, None),
        ("a + b", {"a": "x", "b": "y"}, "xy"),
        ("a + b", {"a": "x", "b": 1}, None),
        ("a / 0 > 1", {"a": 1}, None),
    ],
)
def test_feel(written: str, values: dict[str, Any], answer: Any) -> None:
    assert _value("feel", written, **values) is answer or answer == "xy"


@pytest.mark.parametrize(
    ("written", "values", "answer"),
    [
        # Jakarta EL 3.0, 1.9.2: numbers before truth values before texts.
        ("a == 1", {"a": "1"}, True),
        ("a == true", {"a": "TRUE"}, True),
        ("a == 'true'", {"a": True}, True),
        ("a == b", {"a": None}, True),
        ("a == 0", {"a": None}, False),
        ("a == 1", {"a": "x"}, None),
        ("a == 1", {"a": True}, None),
        ("a < 5", {"a": None}, False),
        ("a <= b", {}, True),
        ("a > 9", {"a": "10"}, True),
        ("a > '9'", {"a": "10"}, False),
        ("not a", {"a": None}, True),
        ("not a", {"a": "no"}, True),
        ("a and b", {"a": "true", "b": True}, True),
        ("a && b", {"a": 1, "b": True}, None),
        ("a + b", {"a": "2", "b": 3}, 5),
        ("a + 1", {"a": None}, 1),
        ("a + 'x'", {"a": 1}, None),
        ("empty a", {"a": []}, True),
        ("empty a", {"a": {}}, True),
        ("empty a", {"a": "x"}, False),
        ("empty a", {}, True),
    ],
)
def test_juel(written: str, values: dict[str, Any], answer: Any) -> None:
    found = _value("juel", written, **values)
    assert found == answer
    assert type(found) is type(answer)


@pytest.mark.parametrize(
    ("written", "values", "answer"),
    [
        ("a == 1", {"a": "1"}, False),
        ("a == 'x'", {"a": "x"}, True),
        ("a == null", {}, True),
        ("a == 1.0", {"a": 1}, True),
        ("a > 1", {"a": "2"}, None),
        ("!a", {"a": ""}, True),
        ("a && b", {"a": "x", "b": [1]}, True),
    ],
)
def test_groovy(written: str, values: dict[str, Any], answer: Any) -> None:
    assert _value("groovy", written, **values) is answer


WRITTEN = (
    PARSERS["javascript"]("JSON.stringify(a)").parse(),
    PARSERS["groovy"]("groovy.json.JsonOutput.toJson(a)").parse(),
)


@pytest.mark.parametrize(
    "value",
    [1, 1.0, -2.5, 0, 2**53, 0.0001, True, None, "Zoé \"Q\" \x7f \U0001f600 \n\u2028\u0007",
     [1, [2.0], {}], {"a": {"b": None}, "c": "x"}],
)  # fmt: skip
def test_json_is_written_as_javascript_does(value: Any) -> None:
    for written in WRITTEN:
        [[shown, _]] = _node([(to_js(written, lambda path: f"v.{path[0]}"), {"a": value})])
        assert shown == ["string", evaluate(written, {("a",): value})]


@pytest.mark.parametrize("value", [1e-7, 2.0**60])
def test_json_with_exponents_has_no_answer(value: float) -> None:
    assert [evaluate(written, {("a",): value}) for written in WRITTEN] == [None, None]


@pytest.mark.parametrize("text", ["JSON.stringify(x)", "JSON.stringify(x.y)"])
def test_the_json_of_what_is_undefined_has_no_answer(text: str) -> None:
    assert evaluate(read_value(text, "javascript"), {}) is None


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ('${x + "1e400" > 1}', None),
        ("${x > %s.5}" % ("9" * 400), None),
        ("x > %s.5" % ("9" * 400), "groovy"),
        ("x > %s.5" % ("9" * 400), "javascript"),
    ],
)
def test_numbers_that_no_double_holds_are_refused(text: str, language: str | None) -> None:
    with pytest.raises(ConditionError):
        read_condition(Expression(text=text, language=language))


def test_the_kind_of_a_node_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text of many parts takes no time that grows with their square."""
    asked = 0
    add_texts = JAVA.arithmetic["+"]
    find_type = add_texts.type_of

    def count_calls(node: syntax.Arithmetic) -> syntax.KnownType | None:
        nonlocal asked
        asked += 1
        return find_type(node)

    monkeypatch.setattr(add_texts, "type_of", count_calls)
    text = read_value(" + '-' + ".join(f"v{at}" for at in range(100)), "groovy")
    as_javascript(text)
    assert 0 < asked <= len(list(syntax.nodes(text)))
