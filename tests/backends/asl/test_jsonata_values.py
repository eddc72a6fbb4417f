"""Translations to JSONata: the rows with expected values, and random operands and tables. An
expression has the expected value or ends with an error of its own, and never another value."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pytest
from jsonata_tools import RAISED, Case, Referee, jsonata_referee, read_rows, same_json
from orgflow.backends.asl.jsonata.decision_code import print_decision
from orgflow.backends.asl.jsonata.error_entry import THROWN
from orgflow.backends.asl.jsonata.expression_code import PRINTED, REFUSED, SPECIAL
from orgflow.backends.asl.jsonata.functions import read_definitions, with_functions
from orgflow.backends.asl.jsonata.program_code import print_program
from orgflow.frontends.dmn.dmn_reader import read_dmn
from random_tables import random_item, random_table
from seeds import seeds

import orgflow_ir.program
from orgflow_ir.decisions.evaluate import decide_json
from orgflow_ir.decisions.found import FoundDecision, Unusable
from orgflow_ir.decisions.model import Definitions
from orgflow_ir.decisions.process_variables import link_process_decision
from orgflow_ir.languages.recognise import read_condition
from orgflow_ir.model import Expression
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program.evaluator import evaluate
from orgflow_ir.program.feel.values import Unsupported
from orgflow_ir.program.syntax import (
    OPERATIONS,
    Apply,
    ConditionError,
    Constant,
    Tree,
    as_javascript,
    nodes,
    variables,
)
from orgflow_ir.work.mappings import read_value
from orgflow_ir.work.scripts import read_script
from orgflow_ir.work.statements import Assign, Decide, Evaluate, When, assigned

VARIABLES = "$states.input.vars"
ERROR = object()
"""The expected value where the run has to stop."""

LANGUAGES = {
    "-": None, "xpath": "http://www.w3.org/1999/XPath", "java": "http://www.java.com/java",
    "mvel": "http://www.mvel.org/2.0",
}  # fmt: skip


@pytest.fixture(scope="module")
def referee() -> Iterator[Referee]:
    with jsonata_referee() as found:
        yield found


class Row(NamedTuple):
    """A text, how it is printed, its variables, and the expected value."""

    text: str
    code: Callable[[], str]
    given: dict[str, Any]
    wanted: Any


def check_rows(rows: Sequence[Row], referee: Referee) -> tuple[int, int]:
    """The number of rows with a translation, and of those with the expected value; the others end
    with an error that the translation raises."""
    printed: list[tuple[Row, str]] = []
    for row in rows:
        try:
            printed.append((row, row.code()))
        except ConditionError:
            continue
    answers = referee.answers([Case(code, {"input": {"vars": row.given}}) for row, code in printed])
    equal, wrong = 0, []
    for (row, code), answer in zip(printed, answers, strict=True):
        value = answer.get("value", ERROR)
        if isinstance(value, dict) and THROWN in value:
            value = ERROR
        raised = answer.get("code", RAISED) == RAISED and "missing" not in answer
        if not raised or (value is not ERROR and not same_json(value, row.wanted)):
            wrong.append((row.text, row.given, row.wanted, answer, code))
        equal += same_json(value, row.wanted) or value is row.wanted
    assert wrong == []
    return len(printed), equal


def parse_condition(language: str, text: str) -> Tree:
    tree = read_condition(Expression(text=text, language=LANGUAGES.get(language, language)))
    assert tree is not None
    return tree


def condition_code(tree: Tree) -> str:
    """A program that sets `r` to whether a condition holds."""
    ends = (Assign("r", Constant(value)) for value in (True, False))
    return print_program((When(tree, *((end,) for end in ends)),), VARIABLES)


def value_code(tree: Tree) -> str:
    """A program that sets `r` to a value."""
    return print_program((Assign("r", tree),), VARIABLES)


def condition_rows() -> list[Row]:
    ends = {"true": {"r": True}, "false": {"r": False}, "error": ERROR}
    return [
        Row(
            text,
            partial(condition_code, parse_condition(language, text)),
            json.loads(given),
            ends[wanted],
        )
        for language, text, given, wanted in read_rows("condition_rows.txt")
    ]


def script_row(language: str, code: str, given: str, after: str) -> Row | None:
    """The variables that a script sets; `None` for a script that no target reads."""
    try:
        script = read_script(json.loads(code), LANGUAGES.get(language, language), sets=None)
    except ConditionError:
        return None
    last = () if script.value is None else (Evaluate(script.value),)
    statements = (*script.statements, *last)
    names = {*assigned(statements)}
    wanted: Any = ERROR
    if after not in ("error", "stop"):
        wanted = {name: value for name, value in json.loads(after).items() if name in names}
    return Row(code, partial(print_program, statements, VARIABLES), json.loads(given), wanted)


def test_conditions_have_their_values(referee: Referee) -> None:
    rows = condition_rows()
    printed, equal = check_rows(rows, referee)
    assert printed > len(rows) * 3 // 4
    assert equal > printed * 9 // 10


def test_scripts_set_their_variables(referee: Referee) -> None:
    rows = [row for r in read_rows("script_rows.txt") if (row := script_row(*r)) is not None]
    printed, equal = check_rows(rows, referee)
    assert printed > len(rows) * 3 // 4
    assert equal > printed * 9 // 10


def test_values_of_feel_have_their_values(referee: Referee) -> None:
    rows = []
    for text, given, wanted in read_rows("value_rows.txt"):
        value = json.loads(wanted)
        stops = isinstance(value, str) and value.endswith(" is a list.")
        code = partial(value_code, read_value(f"= {text}", "feel"))
        rows.append(Row(text, code, json.loads(given), ERROR if stops else {"r": value}))
    printed, equal = check_rows(rows, referee)
    assert printed > len(rows) // 3
    assert equal > printed * 9 // 10


def test_texts_have_their_values(referee: Referee) -> None:
    rows = []
    for text, given, wanted in read_rows("text_rows.txt"):
        value = json.loads(wanted)
        expected = ERROR if value == "error" else {"r": value}
        rows.append(Row(text, partial(value_code, read_value(text)), json.loads(given), expected))
    printed, equal = check_rows(rows, referee)
    assert printed == len(rows)
    assert equal > printed * 9 // 10


# -- random operands ---------------------------------------------------------------------------

OPERANDS: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3.5, -0.25, 1e3, 12345678, 2**31, 1e-4, "", "a", "b", "abc",
    "5", "2.5", " 5 ", "true", "False", "x y", [], [1], ["a"], [1, "a", None], {}, {"k": 1},
    {"price": 5, "name": "a"},
)  # fmt: skip


@pytest.mark.parametrize("seed", seeds(100))
def test_random_operands_have_the_values_of_the_evaluator(seed: int, referee: Referee) -> None:
    draw = random.Random(seed)
    trees: list[tuple[str, Tree]] = []
    for language, text, _, _ in read_rows("condition_rows.txt"):
        if draw.random() < 0.1:
            trees.append((text, parse_condition(language, text)))
    cases, tried = [], []
    for text, tree in trees:
        try:
            code = condition_code(tree)
        except ConditionError:
            continue
        paths = list(dict.fromkeys(variables(tree)))
        if any(len(path) > 1 for path in paths):
            continue  # the evaluator takes values by path
        for _ in range(6):
            given = {path[0]: draw.choice(OPERANDS) for path in paths}
            cases.append(Case(code, {"input": {"vars": given}}))
            tried.append((text, tree, given))
    wrong = []
    for (text, tree, given), answer in zip(tried, referee.answers(cases), strict=True):
        wanted = evaluate(tree, {(name,): value for name, value in given.items()})
        if "error" in answer:
            assert answer["code"] == RAISED, (text, given, answer)
        elif answer["value"] != {"r": _is_truthy(wanted)}:
            wrong.append((text, given, wanted, answer))
    assert len(tried) > 100
    assert wrong == []


def _is_truthy(value: Any) -> bool:
    """Whether a value that is no truth value lets a flow of JavaScript be taken."""
    return isinstance(value, list | dict) or bool(value)


# -- decision tables ---------------------------------------------------------------------------

CELL = (
    '<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" name="D" namespace="n">'
    '<decision id="rating" name="Rating"><decisionTable hitPolicy="FIRST"><input><inputExpression>'
    '<text>x</text></inputExpression></input><output name="r"/><rule><inputEntry><text><![CDATA[{}'
    "]]></text></inputEntry><outputEntry><text>true</text></outputEntry></rule><rule><inputEntry>"
    "<text>-</text></inputEntry><outputEntry><text>false</text></outputEntry></rule>"
    "</decisionTable></decision></definitions>"
)


def link_decision(definitions: Definitions) -> FoundDecision:
    (decision,) = definitions.decisions
    return link_process_decision("d.dmn", definitions, [], decision)


def decision_code(decision: FoundDecision) -> str:
    decide = Decide(decision, "r", "value")
    code = print_decision(decide, lambda name: f"$entry($s, {json.dumps(name)})")
    return with_functions(f"($s := {VARIABLES}; {code})")


def test_cells_match_as_they_should(referee: Referee) -> None:
    rows = [
        Row(
            cell,
            partial(decision_code, link_decision(read_dmn(CELL.format(cell).encode()))),
            {"x": json.loads(value)},
            json.loads(wanted),
        )
        for cell, value, wanted in read_rows("cell_rows.txt")
    ]
    printed, equal = check_rows(rows, referee)
    assert equal == printed > len(rows) // 2


@pytest.mark.parametrize("seed", seeds(200))
def test_random_tables_decide_as_feel_does(seed: int, referee: Referee) -> None:
    draw = random.Random(seed)
    cases, wanted = [], []
    for _ in range(12):
        table = random_table(draw)
        try:
            decision = link_decision(table)
            code = decision_code(decision)
        except (ConditionError, Unusable):
            continue
        for _ in range(15):
            item = random_item(draw)
            cases.append(Case(code, {"input": {"vars": item}}))
            try:
                wanted.append(
                    (item, json.loads(json.dumps(decide_json(decision.model, "Result", item))))
                )
            except Unsupported:
                wanted.append((item, ERROR))
    assert cases
    answers = referee.answers(cases)
    wrong = [
        (item, value, answer, case.code)
        for (item, value), answer, case in zip(wanted, answers, cases, strict=True)
        if (value is ERROR) is not (answer.get("code") == RAISED)
        or (value is not ERROR and not same_json(answer.get("value", ERROR), value))
    ]
    assert wrong == []


# -- the table ---------------------------------------------------------------------------------


def used_operations() -> Mapping[str, str]:
    """The operations of JavaScript that trees of the rows contain, with a text of each."""
    found: dict[str, str] = {}
    for language, text, _, _ in read_rows("condition_rows.txt"):
        for node in nodes(as_javascript(parse_condition(language, text))):
            if isinstance(node, Apply):
                found.setdefault(node.operation.name, text)
    return found


def test_every_operation_has_a_row_or_is_refused() -> None:
    from orgflow.backends.javascript.expression_code import ONLY_INSIDE
    from orgflow.backends.javascript.expression_code import PRINTED as IN_JAVASCRIPT
    from orgflow.backends.javascript.expression_code import SPECIAL as SPECIAL_IN_JAVASCRIPT

    for module in pkgutil.iter_modules(orgflow_ir.program.__path__, "orgflow_ir.program."):
        importlib.import_module(module.name)  # each defines its operations
    known = {*PRINTED, *SPECIAL, *REFUSED}
    assert {*IN_JAVASCRIPT, *SPECIAL_IN_JAVASCRIPT, *ONLY_INSIDE} - known == set()
    assert known <= OPERATIONS.keys()
    assert REFUSED.isdisjoint(PRINTED)
    assert set(used_operations()) - known == set()


def test_every_function_is_called() -> None:
    from orgflow.backends.asl import work_states
    from orgflow.backends.asl.jsonata import (
        decision_code,
        expression_code,
        operand_checks,
        program_code,
    )

    modules = (decision_code, expression_code, operand_checks, program_code, work_states)
    texts = [inspect.getsource(module) for module in modules]
    definitions = read_definitions()
    for name in definitions:
        others = [text for other, text in definitions.items() if other != name]
        assert any(re.search(rf"\{name}\b", text) for text in (*texts, *others)), name
