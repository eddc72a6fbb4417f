"""Coded conditions: parsing, JavaScript, evaluation, and n8n's own evaluator as the referee."""

from __future__ import annotations

from typing import Any

import pytest
from orgflow.backends.javascript.expression_code import to_js
from orgflow.backends.javascript.literals import js_string

from orgflow_ir.flow.token_game.stub_data import Unplayable, nest_values, solve_demands
from orgflow_ir.languages.javascript import JavaScriptParser
from orgflow_ir.languages.recognise import read_condition
from orgflow_ir.model import Expression
from orgflow_ir.program.evaluator import evaluate
from orgflow_ir.program.syntax import ConditionError, Tree, variables


def parse(text: str) -> Tree:
    return JavaScriptParser(text).parse()


def js(text: str) -> str:
    return to_js(parse(text), lambda path: "v_" + "_".join(path))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("amount > 1000", "(v_amount > 1000)"),
        ("amount = 3 and not ok", "((v_amount === 3) && !(v_ok))"),
        ("not a == b", "!((v_a == v_b))"),
        ("!a == b", "(!(v_a) == v_b)"),
        (
            "status eq \"open\" || status != 'done'",
            '((v_status == "open") || (v_status != "done"))',
        ),
        ("order.total * 2 >= 10.5", "((v_order_total * 2) >= 10.5)"),
        (
            "empty name",
            '((v) => v == null || v === "" || (typeof v === "object" && '
            "Object.keys(v).length === 0))(v_name)",
        ),
        ("x != null", "(v_x != null)"),
        ("x = null", "(v_x == null)"),
        ("x === null", "(v_x === null)"),
        ('x == "1"', '(v_x == "1")'),
        ('execution.getVariable("stock") < -1', "(v_stock < -(1))"),
        ("(a or b) and c", "((v_a || v_b) && v_c)"),
    ],
)
def test_javascript(text: str, expected: str) -> None:
    assert js(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "a >", "a b", "f(x)", "a = ", "1 2", "a[b]", "if a then b else c", "`x`", "a ? b",
     "(" * 100 + "a" + ")" * 100, "a = 'x"],
)  # fmt: skip
def test_what_is_not_in_the_grammar(text: str) -> None:
    with pytest.raises(ConditionError):
        parse(text)


@pytest.mark.parametrize(
    ("text", "language", "code"),
    [
        ("Yes", None, False),
        ("amount > 1000 EUR", None, False),
        ("amount > 1000", None, True),
        ("${approved}", None, True),
        ("#{ approved }", None, True),
        ("= approved", None, True),
        ("approved", "http://www.omg.org/spec/FEEL/20140401", True),
        ("approved", None, False),
        ("customer is happy", None, False),
        ("payment == received", None, True),
    ],
)
def test_code_or_label(text: str, language: str | None, code: bool) -> None:
    assert (read_condition(Expression(text=text, language=language)) is not None) == code


def test_marked_code_that_cannot_be_read_is_an_error_not_a_label() -> None:
    with pytest.raises(ConditionError):
        read_condition(Expression(text="${service.isVip(customer)}"))


@pytest.mark.parametrize("text", ["}}", "a{{b}}c", "\u2028", 'quo"te', "back\\slash", "{{{{"])
def test_strings_cannot_end_an_expression(text: str) -> None:
    quoted = js_string(text)
    assert "}}" not in quoted
    assert "{{" not in quoted


def test_solver_finds_values_and_gives_up_on_contradictions() -> None:
    big, small = parse("amount > 1000"), parse("amount < 10")
    values = solve_demands([(big, True), (small, False)])
    assert evaluate(big, values)
    assert not evaluate(small, values)
    with pytest.raises(Unplayable):
        solve_demands([(big, True), (small, True)])
    with pytest.raises(Unplayable):
        solve_demands([(parse("1 = 2"), True)])


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("${l[2] == 1}", {"l": [None, None, 1]}),
        ('${m["²"] == 1}', {"m": {"²": 1}}),
        ("${l[2000000000] == 1}", None),
    ],
)
def test_positions_in_the_data_of_a_run(text: str, data: dict[str, Any] | None) -> None:
    """A list is as long as its last position that is read, within limits."""
    tree = read_condition(Expression(text=text))
    assert tree is not None
    values = solve_demands([(tree, True)])
    if data is None:
        with pytest.raises(Unplayable):
            nest_values(values)
    else:
        assert nest_values(values) == data


def test_variables_in_order() -> None:
    assert list(variables(parse("a.b > c and d"))) == [("a", "b"), ("c",), ("d",)]
