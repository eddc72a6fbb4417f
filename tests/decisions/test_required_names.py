"""The names under which decisions of a process read other decisions, by engine."""

from __future__ import annotations

from typing import Any

import pytest
from orgflow.frontends.dmn.dmn_reader import read_dmn

from orgflow_ir.decisions.evaluate import decide_json
from orgflow_ir.decisions.found import FoundDecision, Unusable
from orgflow_ir.decisions.process_variables import link_process_decision

CAMUNDA7 = 'modeler:executionPlatform="Camunda Platform"'
CAMUNDA8 = 'modeler:executionPlatform="Camunda Cloud"'
FLOWABLE = 'xmlns:flowable="http://flowable.org/dmn"'
OPEN = ""


def found(
    engine: str,
    expression: str,
    *,
    variable: str = "",
    outputs: tuple[str, ...] = ("desiredDish",),
    policy: str = "UNIQUE",
    input_variable: str = "",
) -> FoundDecision:
    """The decision `Beverages`, which requires `Dish` (id `dish_id`) and reads an expression."""
    columns = "".join(f'<output name="{name}"/>' for name in outputs)
    cells = "".join("<outputEntry><text>{0}</text></outputEntry>" for _ in outputs)
    rows = "".join(
        f"<rule><inputEntry><text>{test}</text></inputEntry>{cells.format(value)}</rule>"
        for test, value in (('"Summer"', '"Steak"'), ('"Winter"', '"Stew"'))
    )
    text = f"""<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" name="D"
      namespace="urn:d" xmlns:modeler="http://camunda.org/schema/modeler/1.0" {engine}>
      <inputData id="i" name="The season">{input_variable}</inputData>
      <decision id="dish_id" name="Dish">{variable}
        <informationRequirement><requiredInput href="#i"/></informationRequirement>
        <decisionTable hitPolicy="{policy}">
          <input><inputExpression><text>season</text></inputExpression></input>
          {columns}{rows}</decisionTable></decision>
      <decision id="beverages" name="Beverages">
        <informationRequirement><requiredDecision href="#dish_id"/></informationRequirement>
        <literalExpression><text>{expression}</text></literalExpression></decision>
    </definitions>"""
    definitions = read_dmn(text.encode())
    return link_process_decision("d.dmn", definitions, (), definitions.decisions[1])


def value(decision: FoundDecision, **given: Any) -> Any:
    return decide_json(decision.model, "Beverages", given)


VARIABLE = '<variable name="dish_v"/>'


@pytest.mark.parametrize(
    ("engine", "expression", "variable", "is_result"),
    [
        (CAMUNDA7, "desiredDish", "", True),
        (CAMUNDA7, "desiredDish", VARIABLE, True),
        (CAMUNDA7, "Dish", "", False),
        (CAMUNDA7, "dish_id", "", False),
        (CAMUNDA7, "dish_v", VARIABLE, False),
        (FLOWABLE, "desiredDish", "", True),
        (CAMUNDA8, "dish_id", "", True),
        (CAMUNDA8, "dish_v", VARIABLE, True),
        (CAMUNDA8, "dish_id", VARIABLE, False),
        (CAMUNDA8, "desiredDish", "", False),
        (OPEN, "Dish", "", True),
        (OPEN, "dish_id", "", True),
        (OPEN, "dish_v", VARIABLE, True),
        (OPEN, "desiredDish", "", True),
        (OPEN, "other", "", False),
    ],
)
def test_the_name_of_a_required_decision(
    engine: str, expression: str, variable: str, is_result: bool
) -> None:
    """Another name is a variable of the process, even if it resembles the decision."""
    decision = found(engine, expression, variable=variable)
    assert decision.variables == (("season",) if is_result else (expression,))
    given = {"season": "Winter", expression: "of the process"}
    assert value(decision, **given) == ("Stew" if is_result else "of the process")


@pytest.mark.parametrize(
    ("engine", "expression", "policy", "expected"),
    [
        (CAMUNDA7, "wine", "UNIQUE", "Stew"),
        (CAMUNDA7, 'wine = "Stew" and desiredDish = "Stew"', "UNIQUE", True),
        (CAMUNDA7, "wine", "COLLECT", ["Stew"]),
        (CAMUNDA8, "dish_id.wine", "UNIQUE", "Stew"),
        (CAMUNDA8, "dish_id", "UNIQUE", {"desiredDish": "Stew", "wine": "Stew"}),
        (CAMUNDA8, "dish_id.wine", "COLLECT", ["Stew"]),
        (OPEN, "Dish.wine", "UNIQUE", "Stew"),
    ],
)
def test_several_outputs(engine: str, expression: str, policy: str, expected: object) -> None:
    decision = found(engine, expression, outputs=("desiredDish", "wine"), policy=policy)
    assert decision.variables == ("season",)
    assert value(decision, season="Winter") == expected


def test_results_reach_later_decisions_of_camunda_7_only() -> None:
    """Camunda 7 puts results among the variables, Camunda 8 only into the requiring decision."""
    for engine, read in ((CAMUNDA7, "Stew"), (CAMUNDA8, None)):
        text = f"""<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" name="D"
          namespace="urn:d" xmlns:modeler="http://camunda.org/schema/modeler/1.0" {engine}>
          <decision id="dish" name="Dish"><variable name="dish"/>
            <literalExpression><text>"Stew"</text></literalExpression></decision>
          <decision id="middle" name="Middle">
            <informationRequirement><requiredDecision href="#dish"/></informationRequirement>
            <literalExpression><text>1</text></literalExpression></decision>
          <decision id="beverages" name="Beverages">
            <informationRequirement><requiredDecision href="#middle"/></informationRequirement>
            <literalExpression><text>dish</text></literalExpression></decision>
        </definitions>"""
        definitions = read_dmn(text.encode())
        decision = link_process_decision("d.dmn", definitions, (), definitions.decisions[2])
        assert decision.variables == (() if read else ("dish",))
        assert value(decision) == read


def test_input_data_that_no_expression_reads_is_no_variable() -> None:
    assert found(OPEN, "Dish").variables == ("season",)
    named = '<variable name="season" typeRef="string"/>'
    typed = found(OPEN, "Dish", input_variable=named)
    assert typed.variables == ("season",)
    assert value(typed, season="Winter") == "Stew"


def test_a_required_decision_that_is_not_valid_is_refused_even_if_nothing_reads_it() -> None:
    text = """<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" name="D"
      namespace="urn:d"><decision id="a" name="A">
        <literalExpression><text>1 +</text></literalExpression></decision>
      <decision id="b" name="B">
        <informationRequirement><requiredDecision href="#a"/></informationRequirement>
        <literalExpression><text>2</text></literalExpression></decision></definitions>"""
    definitions = read_dmn(text.encode())
    with pytest.raises(Unusable, match="`A` in d\\.dmn is not valid"):
        link_process_decision("d.dmn", definitions, (), definitions.decisions[1])


def test_the_reason_is_found_whatever_the_spaces_in_a_name() -> None:
    text = """<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" name="D"
      namespace="urn:d"><decision id="a" name="The  dish">
        <literalExpression><text>1 +</text></literalExpression></decision></definitions>"""
    definitions = read_dmn(text.encode())
    with pytest.raises(Unusable, match=r"`The dish` in d\.dmn is not valid: .+"):
        link_process_decision("d.dmn", definitions, (), definitions.decisions[0])


def test_of_two_results_of_one_name_the_later_one_is_read() -> None:
    """Camunda 7 evaluates requirements in their order, each after its own ones, and puts each
    result among the variables (`DefaultDmnDecisionContext`)."""

    def decision(id: str, output: str, value: str, *requires: str) -> str:
        needed = "".join(
            f'<informationRequirement><requiredDecision href="#{one}"/></informationRequirement>'
            for one in requires
        )
        return (
            f'<decision id="{id}" name="{id}"><variable name="{output}"/>{needed}'
            f"<literalExpression><text>{value}</text></literalExpression></decision>"
        )

    for requires, expected in ((("a", "b"), 2), (("b", "a"), 1), (("b", "c"), 3), (("c", "b"), 2)):
        text = (
            '<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" name="D" '
            'namespace="urn:d" xmlns:modeler="http://camunda.org/schema/modeler/1.0" '
            f"{CAMUNDA7}>{decision('a', 'x', '1')}{decision('b', 'x', '2')}"
            f"{decision('c', 'x', 'x + 2', 'a')}{decision('Top', 'y', 'x', *requires)}"
            "</definitions>"
        )
        definitions = read_dmn(text.encode())
        found = link_process_decision("d.dmn", definitions, (), definitions.decisions[3])
        assert decide_json(found.model, "Top", {}) == expected, requires


def test_files_that_import_each_other() -> None:
    files = [
        read_dmn(
            f"""<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" name="{name}"
            namespace="urn:{name}"><import name="{other}" namespace="urn:{other}"
            importType="https://www.omg.org/spec/DMN/20191111/MODEL/"/>
            <itemDefinition name="T"><typeRef>number</typeRef></itemDefinition>
            <decision id="d" name="d"><variable name="d" typeRef="{other}.T"/>
            <literalExpression><text>1</text></literalExpression></decision></definitions>""".encode()
        )
        for name, other in (("a", "b"), ("b", "a"))
    ]
    found = link_process_decision("a.dmn", files[0], files[1:], files[0].decisions[0])
    assert decide_json(found.model, "d", {}) == 1
