"""Decision tables as the engines of their files evaluate them, where DMN differs."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape

import pytest
from dmn_kit import run_javascript
from orgflow.backends.n8n.feel.decisions import decision_code
from orgflow.backends.n8n.feel.plain_tables import plain_decision
from orgflow.frontends.dmn.reader import read_dmn

from orgflow_ir.analysis.expressions.feel.evaluator import Unsupported
from orgflow_ir.decisions.evaluate import decide_json
from orgflow_ir.decisions.found import FoundDecision, Unusable
from orgflow_ir.decisions.process_variables import linked

CAMUNDA7 = 'modeler:executionPlatform="Camunda Platform"'
CAMUNDA8 = 'modeler:executionPlatform="Camunda Cloud"'
FLOWABLE = 'xmlns:flowable="http://flowable.org/dmn"'
OPEN = ""

ERROR = "error"


def table(
    engine: str, cells: tuple[tuple[str, str], ...], *, type_ref: str = "", policy: str = "UNIQUE",
    allowed: str = "", named: str = "", language: str = "", cells_in: str = "",
) -> FoundDecision:  # fmt: skip
    rules = "".join(
        f"<rule><inputEntry{cells_in}><text>{escape(test)}</text></inputEntry>"
        f"<outputEntry><text>{escape(value)}</text></outputEntry></rule>"
        for test, value in cells
    )
    column = f' typeRef="{type_ref}"' if type_ref else ""
    values = f"<inputValues><text>{escape(allowed)}</text></inputValues>" if allowed else ""
    text = (
        '<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" name="D" '
        f'namespace="urn:d" xmlns:modeler="http://camunda.org/schema/modeler/1.0" {engine}>'
        f'<decision id="t" name="T"><decisionTable hitPolicy="{policy}">'
        f"<input{named}><inputExpression{column}{language}><text>x</text></inputExpression>"
        f"{values}</input>"
        f"<output/>{rules}</decisionTable></decision></definitions>"
    )
    definitions = read_dmn(text.encode())
    return linked("d.dmn", definitions, (), definitions.decisions[0])


def values(decision: FoundDecision, x: Any) -> set[Any]:
    """What the evaluator, the runtime on Node and, if the table is plain, its lines give."""
    item = {"x": x}
    try:
        found = {decide_json(decision.model, "T", item)}
    except Unsupported:
        found = {ERROR}
    codes = [decision_code(decision.model, "T"), plain_decision(decision.model, "T", "decision")]
    for kind, value in run_javascript([f"{c}\nreturn decision({item!r});".replace("None", "null")
                                       .replace("True", "true").replace("False", "false")
                                       for c in codes if c is not None]):  # fmt: skip
        found.add(ERROR if kind == "error" else value)
    return found


@pytest.mark.parametrize(
    ("type_ref", "cell", "x", "expected"),
    [
        ("integer", "5", "5", "hit"),
        ("integer", "5", 5, "hit"),
        ("integer", "5", "5.0", ERROR),
        ("integer", "5", 5.5, ERROR),
        ("integer", "5", "five", ERROR),
        ("integer", "5", 3000000000, ERROR),
        ("long", "3000000000", 3000000000, "hit"),
        ("long", "> 5", None, None),
        ("double", ">= 5.5", "5.5", "hit"),
        ("double", ">= 5.5", True, ERROR),
        ("number", ">= 5", "6", None),
        ("string", '"5"', 5, "hit"),
        ("string", '"5.5"', 5.5, "hit"),
        ("string", '"true"', True, "hit"),
        ("string", '"5"', [5], ERROR),
        ("boolean", "true", "TRUE", "hit"),
        ("boolean", "false", "no", "hit"),
        ("boolean", "true", 1, ERROR),
        ("date", '< date and time("2024-02-01T00:00:00")', "2024-01-31T10:00:00", "hit"),
        ("date", '< date and time("2024-02-01T00:00:00")', "2024-01-31", "hit"),
        ("date", '< date and time("2024-02-01T00:00:00")', "2024-02-01", None),
        ("date", '< date and time("2024-02-01T00:00:00")', "2024-01-31T10:00:00Z", ERROR),
        ("date", '< date and time("2024-02-01T00:00:00")', "soon", ERROR),
    ],
)
def test_camunda_7_converts_inputs(type_ref: str, cell: str, x: Any, expected: object) -> None:
    """To the type of the column, or the run fails; `number` is no type of Camunda 7."""
    assert values(table(CAMUNDA7, ((cell, '"hit"'),), type_ref=type_ref), x) == {expected}


@pytest.mark.parametrize("engine", [CAMUNDA8, FLOWABLE, OPEN])
def test_others_do_not(engine: str) -> None:
    assert values(table(engine, (("5", '"hit"'),), type_ref="integer"), "5") == {None}


@pytest.mark.parametrize(
    ("engine", "policy", "rules", "expected"),
    [
        (CAMUNDA7, "UNIQUE", (("> 1", "1"), ("> 2", "1")), ERROR),
        (CAMUNDA8, "UNIQUE", (("> 1", "1"), ("> 2", "1")), ERROR),
        (FLOWABLE, "UNIQUE", (("> 1", "1"), ("> 2", "1")), ERROR),
        (OPEN, "UNIQUE", (("> 1", "1"), ("> 2", "1")), None),
        (CAMUNDA7, "ANY", (("> 1", "1"), ("> 2", "2")), ERROR),
        (CAMUNDA7, "ANY", (("> 1", "1"), ("> 2", "1")), 1),
        (OPEN, "ANY", (("> 1", "1"), ("> 2", "2")), None),
        (CAMUNDA7, "FIRST", (("> 1", "1"), ("> 2", "2")), 1),
    ],
)
def test_rules_that_match_against_the_hit_policy(
    engine: str, policy: str, rules: tuple[tuple[str, str], ...], expected: object
) -> None:
    """Null in DMN (DMN 1.5, 8.2.8); an error in engines, and so on n8n."""
    assert values(table(engine, rules, policy=policy), 3) == {expected}


def test_engines_do_not_test_predefined_values() -> None:
    rules = (("> 1", "1"),)
    assert values(table(CAMUNDA7, rules, allowed="1, 2"), 3) == {1}
    assert values(table(OPEN, rules, allowed="1, 2"), 3) == {None}


@pytest.mark.parametrize(
    ("engine", "cell", "x", "expected"),
    [
        (CAMUNDA7, "x > 2", 3, "hit"),
        (CAMUNDA8, "x > 2", 3, "hit"),
        (CAMUNDA8, "x > 2", 1, None),
        (CAMUNDA8, "x > 2 and x < 5", 3, "hit"),
        (CAMUNDA8, 'x > 5, "a"', "a", "hit"),
        (CAMUNDA8, "? > 2", 3, "hit"),
        (CAMUNDA8, "true", 3, None),
        (CAMUNDA8, "true", True, "hit"),
        (OPEN, "x > 2", 3, None),
    ],
)
def test_a_true_expression_in_a_cell_is_a_match(
    engine: str, cell: str, x: Any, expected: object
) -> None:
    """In Camunda (feel-scala, `UnaryTestExpression`); in DMN, the input has to be equal to it."""
    assert values(table(engine, ((cell, '"hit"'),)), x) == {expected}


def test_the_input_has_a_name_in_camunda_7() -> None:
    assert values(table(CAMUNDA7, (("cellInput > 2", '"hit"'),)), 3) == {"hit"}
    named = ' xmlns:camunda="http://camunda.org/schema/1.0/dmn" camunda:inputVariable="n"'
    decision = table(CAMUNDA7, (("n > 2", '"hit"'),), named=named)
    assert decision.variables == ("x",)
    assert values(decision, 3) == {"hit"}
    assert table(CAMUNDA8, (("cellInput > 2", '"hit"'),)).variables == ("x", "cellInput")


def test_expressions_in_other_languages() -> None:
    """Names and constants are the same in FEEL; everything else is refused."""
    juel = ' expressionLanguage="juel"'
    assert values(table(CAMUNDA7, (("5", '"hit"'),), language=juel), 5) == {"hit"}
    with pytest.raises(Unusable, match="the expression language `juel` is not supported"):
        table(CAMUNDA7, (("cellInput == 5", '"hit"'),), cells_in=juel)
