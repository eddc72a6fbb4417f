"""Decision tables as the engines of their files evaluate them, where DMN differs."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape

import pytest
from orgflow.backends.javascript.decision_runtime_code import decision_code
from orgflow.backends.javascript.table_code import plain_decision
from orgflow.evaluation.dmn_kit import run_javascript
from orgflow.frontends.dmn.dmn_reader import read_dmn

from orgflow_ir.decisions.evaluate import decide_json
from orgflow_ir.decisions.found import FoundDecision, Unusable
from orgflow_ir.decisions.process_variables import link_process_decision
from orgflow_ir.program.feel.values import Unsupported

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
    return link_process_decision("d.dmn", definitions, (), definitions.decisions[0])


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


def with_outputs(
    engine: str, policy: str, outputs: str, rules: tuple[tuple[str, tuple[str, ...]], ...]
) -> FoundDecision:
    """A table of some outputs, as XML, and rules for the input `x`."""
    rows = "".join(
        f"<rule><inputEntry><text>{escape(test)}</text></inputEntry>"
        + "".join(f"<outputEntry><text>{one}</text></outputEntry>" for one in cells)
        + "</rule>"
        for test, cells in rules
    )
    text = (
        '<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" name="D" '
        f'namespace="urn:d" xmlns:modeler="http://camunda.org/schema/modeler/1.0" {engine}>'
        f'<decision id="t" name="T"><decisionTable hitPolicy={policy}>'
        "<input><inputExpression><text>x</text></inputExpression></input>"
        f"{outputs}{rows}</decisionTable></decision></definitions>"
    )
    definitions = read_dmn(text.encode())
    return link_process_decision("d.dmn", definitions, (), definitions.decisions[0])


def answers(decision: FoundDecision, x: Any) -> list[Any]:
    """What the evaluator, the runtime and plain lines give: one answer where they agree."""
    try:
        found = [decide_json(decision.model, "T", {"x": x})]
    except Unsupported:
        found = [ERROR]
    codes = [decision_code(decision.model, "T"), plain_decision(decision.model, "T", "decision")]
    written = [f"{code}\nreturn decision({{x: {x}}});" for code in codes if code is not None]
    for kind, value in run_javascript(written):
        one = ERROR if kind == "error" else value
        if one not in found:
            found.append(one)
    return found


NUMBER = '<output name="n" typeRef="number"/>'
DEFAULT = "<defaultOutputEntry><text>{}</text></defaultOutputEntry>".format
ONE = f'<output name="n">{DEFAULT(7)}</output>'
TWO = f'<output name="n">{DEFAULT(7)}</output><output name="m"/>'
BOTH = f'<output name="n">{DEFAULT(7)}</output><output name="m">{DEFAULT(8)}</output>'
NEVER = (("> 100", ("1",)),)
NEVER_TWO = (("> 100", ("1", "2")),)


@pytest.mark.parametrize(
    ("engine", "policy", "outputs", "rules", "expected"),
    [
        # dmn-scala: applyDefaultOutputEntries, for every hit policy
        (CAMUNDA8, '"COLLECT"', ONE, NEVER, 7),
        (CAMUNDA8, '"RULE ORDER"', ONE, NEVER, 7),
        (CAMUNDA8, '"COLLECT" aggregation="SUM"', ONE, NEVER, 7),
        (CAMUNDA8, '"COLLECT" aggregation="COUNT"', ONE, NEVER, 7),
        (CAMUNDA8, '"COLLECT" aggregation="COUNT"', NUMBER, NEVER, None),
        (CAMUNDA8, '"COLLECT"', NUMBER, NEVER, None),
        (CAMUNDA8, '"UNIQUE"', TWO, NEVER_TWO, 7),
        (CAMUNDA8, '"COLLECT"', TWO, NEVER_TWO, 7),
        (CAMUNDA8, '"COLLECT"', BOTH, NEVER_TWO, {"n": 7, "m": 8}),
        # Camunda 7 and Flowable have no default outputs
        (CAMUNDA7, '"UNIQUE"', ONE, NEVER, None),
        (CAMUNDA7, '"COLLECT"', ONE, NEVER, None),
        (CAMUNDA7, '"COLLECT" aggregation="COUNT"', ONE, NEVER, 0),
        (FLOWABLE, '"UNIQUE"', ONE, NEVER, None),
        (FLOWABLE, '"COLLECT" aggregation="COUNT"', NUMBER, NEVER, None),
        (OPEN, '"UNIQUE"', TWO, NEVER_TWO, {"n": 7, "m": None}),
        (OPEN, '"COLLECT"', ONE, NEVER, [7]),
        (OPEN, '"COLLECT" aggregation="COUNT"', NUMBER, NEVER, 0),
    ],
)
def test_the_value_if_no_rule_matches(
    engine: str, policy: str, outputs: str, rules: Any, expected: object
) -> None:
    assert answers(with_outputs(engine, policy, outputs, rules), 1) == [expected]


EQUAL = (("> 0", ("5",)), ("> 0", ("5",)), ("> 1", ("3",)))
TENTHS = (("> 0", ("0.1",)), ("> 0", ("0.2",)))
THREE = (("> 0", ("0.1",)), ("> 0", ("0.2",)), ("> 0", ("0.3",)))
EMPTY = (("> 0", ("5",)), ("> 0", ("",)))


@pytest.mark.parametrize(
    ("engine", "how", "rules", "expected"),
    [
        # Flowable: HitPolicyCollect.createDistinctOutputDoubleValues
        (FLOWABLE, "SUM", EQUAL, 8), (FLOWABLE, "COUNT", EQUAL, 2), (FLOWABLE, "MAX", EQUAL, 5),
        (CAMUNDA7, "SUM", EQUAL, 13), (CAMUNDA8, "COUNT", EQUAL, 3), (OPEN, "SUM", EQUAL, 13),
        # doubles
        (FLOWABLE, "SUM", TENTHS, 0.30000000000000004),
        (CAMUNDA7, "SUM", TENTHS, 0.30000000000000004),
        (CAMUNDA8, "SUM", TENTHS, 0.3), (OPEN, "SUM", TENTHS, 0.3),
        (CAMUNDA7, "SUM", THREE, 0.6000000000000001), (FLOWABLE, "SUM", THREE, ERROR),
        # matches without an output
        (CAMUNDA7, "COUNT", EMPTY, 1), (CAMUNDA7, "SUM", EMPTY, 5), (FLOWABLE, "SUM", EMPTY, 5),
        (OPEN, "COUNT", EMPTY, 2), (OPEN, "SUM", EMPTY, None),
    ],
)  # fmt: skip
def test_aggregation(engine: str, how: str, rules: Any, expected: object) -> None:
    table = with_outputs(engine, f'"COLLECT" aggregation="{how}"', NUMBER, rules)
    assert answers(table, 2) == [expected]


@pytest.mark.parametrize(
    ("engine", "how", "outputs", "reason"),
    [
        (CAMUNDA7, "COUNT", TWO, "Camunda 7 aggregates one output only"),
        (CAMUNDA8, "SUM", TWO, "Camunda 8 aggregates one output only"),
        (FLOWABLE, "SUM", TWO, "Flowable aggregates one output only"),
        (FLOWABLE, "SUM", '<output name="n" typeRef="integer"/>', "the type `number` only"),
        (FLOWABLE, "COUNT", '<output name="n" typeRef="string"/>', "the type `number` only"),
    ],
)
def test_what_engines_do_not_aggregate(engine: str, how: str, outputs: str, reason: str) -> None:
    rules = NEVER_TWO if outputs == TWO else NEVER
    with pytest.raises(Unusable, match=reason):
        with_outputs(engine, f'"COLLECT" aggregation="{how}"', outputs, rules)
