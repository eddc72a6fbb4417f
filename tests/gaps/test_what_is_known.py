"""What the model does say is not called open: who sends a message, which step sets a variable."""

from __future__ import annotations

import pytest
from bpmn_text import parse

from orgflow_ir.gaps.find import find_gaps
from orgflow_ir.pipeline import PassContext

HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="t" '
    'xmlns:camunda="http://camunda.org/schema/1.0/bpmn" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
)
POOLS = (
    '<collaboration id="c"><participant id="customer" name="Customer"/>'
    '<participant id="shop" name="Shop" processRef="p"/>'
    '<messageFlow id="m1" sourceRef="customer" targetRef="s"/>'
    '<messageFlow id="m2" sourceRef="tell" targetRef="customer"/></collaboration>'
)
FORM = (
    "<extensionElements><camunda:formData>"
    '<camunda:formField id="stock" type="long"/></camunda:formData></extensionElements>'
)


def gaps(condition: str, pools: str = "", form: str = "") -> list[str]:
    """The messages of all gaps of an order whose gateway has a condition."""
    model, _ = parse(
        f'{HEAD}{pools}<process id="p" name="Order" isExecutable="true">'
        '<startEvent id="s" name="Ordered"><messageEventDefinition/></startEvent>'
        f'<userTask id="check" name="Check">{form}</userTask>'
        '<exclusiveGateway id="g" name="In stock?" default="f4"/>'
        '<intermediateThrowEvent id="tell" name="Tell"><messageEventDefinition/>'
        '</intermediateThrowEvent><endEvent id="e" name="Done"/><endEvent id="no" name="No"/>'
        '<sequenceFlow id="f1" sourceRef="s" targetRef="check"/>'
        '<sequenceFlow id="f2" sourceRef="check" targetRef="g"/>'
        '<sequenceFlow id="f3" sourceRef="g" targetRef="tell">'
        f'<conditionExpression xsi:type="tFormalExpression">{condition}</conditionExpression>'
        '</sequenceFlow><sequenceFlow id="f4" sourceRef="g" targetRef="no"/>'
        '<sequenceFlow id="f5" sourceRef="tell" targetRef="e"/></process></definitions>'
    )
    assert model is not None
    return [gap.message for gap in find_gaps(model, PassContext())]


def test_the_other_ends_of_message_flows_are_named() -> None:
    said = gaps("${stock == 1}", POOLS)
    assert (
        "`Ordered` starts with a message from `Customer`, but the model does not define how it "
        "arrives"
    ) in said
    assert (
        "`Tell` sends a message to `Customer`, but the model does not define how it is delivered"
    ) in said
    said = gaps("${stock == 1}")
    assert "`Ordered` starts with a message, but the model does not define its sender" in said


@pytest.mark.parametrize(
    ("condition", "form", "open_names"),
    [
        ("${stock == 1}", "", "read `stock`, but the model does not define which step sets it"),
        ("${stock == 1}", FORM, ""),
        ("${stock == 1 and vip}", FORM, "read `vip`, but the model does not define which step"),
    ],
)
def test_a_variable_that_a_form_sets_is_not_open(
    condition: str, form: str, open_names: str
) -> None:
    found = [one for one in gaps(condition, form=form) if "which step" in one]
    assert len(found) == bool(open_names)
    assert all(open_names in one for one in found)


def test_a_start_sets_nothing_by_itself() -> None:
    model, _ = parse(
        f'{HEAD}<process id="p"><startEvent id="s" name="Ordered"/>'
        '<exclusiveGateway id="g" name="Big?" default="f3"/><task id="a" name="A"/>'
        '<endEvent id="e" name="Done"/><sequenceFlow id="f1" sourceRef="s" targetRef="g"/>'
        '<sequenceFlow id="f2" sourceRef="g" targetRef="a">'
        '<conditionExpression xsi:type="tFormalExpression">${x > 5}</conditionExpression>'
        '</sequenceFlow><sequenceFlow id="f3" sourceRef="g" targetRef="e"/>'
        '<sequenceFlow id="f4" sourceRef="a" targetRef="e"/></process></definitions>'
    )
    assert model is not None
    (found,) = (gap for gap in find_gaps(model, PassContext()) if gap.kind == "variable")
    assert found.help == "let the input of the run, or a step before it, set it"
