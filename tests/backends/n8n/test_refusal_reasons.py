"""Refusals state what of the model is the reason, also where one refusal follows from another."""

from __future__ import annotations

from pathlib import Path

import pytest
from one_task import HEAD
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model

from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

ESCALATION = '<escalation id="E" name="Late" escalationCode="LATE"/>'
CALL = """<startEvent id="s"/><callActivity id="t" name="Ask" calledElement="review"/>
<boundaryEvent id="b" name="Late" attachedToRef="t"><escalationEventDefinition escalationRef="E"/>
</boundaryEvent><endEvent id="e"/><endEvent id="f"/>
<sequenceFlow id="f0" sourceRef="s" targetRef="t"/>
<sequenceFlow id="f1" sourceRef="t" targetRef="e"/>
<sequenceFlow id="f2" sourceRef="b" targetRef="f"/>"""
UNDONE = """<startEvent id="s"/><subProcess id="t" name="Book"><startEvent id="a"/>
<task id="k" name="Flight"/><endEvent id="z"/>
<sequenceFlow id="g0" sourceRef="a" targetRef="k"/>
<sequenceFlow id="g1" sourceRef="k" targetRef="z"/>
<subProcess id="h" name="Cancel" triggeredByEvent="true"><startEvent id="c" name="Undo">
<compensateEventDefinition/></startEvent><task id="l" name="Refund"/><endEvent id="y"/>
<sequenceFlow id="h0" sourceRef="c" targetRef="l"/>
<sequenceFlow id="h1" sourceRef="l" targetRef="y"/>
</subProcess></subProcess><endEvent id="e"><compensateEventDefinition/></endEvent>
<sequenceFlow id="f0" sourceRef="s" targetRef="t"/>
<sequenceFlow id="f1" sourceRef="t" targetRef="e"/>"""


@pytest.mark.parametrize(
    ("steps", "reasons"),
    [
        (CALL, {"b": "the process `review` that throws it is in none of the files"}),
        (UNDONE, {"h": "it begins when `Book` as a whole is compensated"}),
    ],
)
def test_reasons(tmp_path: Path, steps: str, reasons: dict[str, str]) -> None:
    path = tmp_path / "model.bpmn"
    head = HEAD.replace("<process", f"{ESCALATION}<process")
    path.write_text(f"{head}{steps}</process></definitions>")
    registry = Registry()
    ctx = PassContext(registry=registry)
    model = load_model(str(path), registry, ctx)
    assert model is not None
    assert compile_model(model, registry.backends["n8n"], ctx) is None
    said = {d.element: d.message for d in ctx.diagnostics if d.code == "OF403"}
    assert [one for id, one in reasons.items() if one not in said.get(id, "")] == []


def said(folder: Path, steps: str) -> list[str]:
    """All messages of compiling a process."""
    path = folder / "model.bpmn"
    flows = (
        '<startEvent id="s"/><endEvent id="e"/><sequenceFlow id="f0" sourceRef="s" targetRef="t"/>'
        '<sequenceFlow id="f1" sourceRef="t" targetRef="e"/>'
    )
    path.write_text(f"{HEAD}{steps}{flows}</process></definitions>")
    registry = Registry()
    ctx = PassContext(registry=registry)
    model = load_model(str(path), registry, ctx)
    assert model is not None
    assert compile_model(model, registry.backends["n8n"], ctx) is not None
    return [d.message for d in ctx.diagnostics]


def test_settings_of_a_form_are_named(tmp_path: Path) -> None:
    found = said(tmp_path, '<userTask id="t" name="Ask" flowable:skipExpression="${skip}"/>')
    assert [one for one in found if "the setting `skipExpression` of `Ask`" in one]


def test_work_of_a_listener_is_not_that_of_its_task(tmp_path: Path) -> None:
    found = said(
        tmp_path,
        '<userTask id="t" name="Ask"><extensionElements><camunda:taskListener event="create" '
        'class="org.acme.Log"/></extensionElements></userTask>',
    )
    assert [one for one in found if one.startswith("the listener of `Ask` has no implementation")]


def test_the_list_of_camunda_8_has_a_name(tmp_path: Path) -> None:
    found = said(
        tmp_path,
        '<serviceTask id="t" name="Check"><extensionElements><zeebe:taskDefinition type="check"/>'
        "</extensionElements><multiInstanceLoopCharacteristics><extensionElements>"
        '<zeebe:loopCharacteristics inputCollection="=items" inputElement="item"/>'
        "</extensionElements></multiInstanceLoopCharacteristics></serviceTask>",
    )
    assert [one for one in found if "`Check` is repeated for each item of `items`" in one]


@pytest.mark.parametrize("event", ["start", "end"])
def test_code_at_the_end_is_not_executed_when_an_event_interrupts(
    tmp_path: Path, event: str
) -> None:
    """Camunda 7 calls it then as well."""
    found = said(
        tmp_path,
        f'<scriptTask id="t" name="Check" scriptFormat="groovy"><extensionElements>'
        f'<camunda:executionListener event="{event}"><camunda:script scriptFormat="groovy">'
        "execution.setVariable('x', 1)</camunda:script></camunda:executionListener>"
        "</extensionElements><script>if (bad) throw new BpmnError('NO')</script></scriptTask>"
        '<boundaryEvent id="b" attachedToRef="t"><errorEventDefinition/></boundaryEvent>'
        '<endEvent id="g"/><sequenceFlow id="f2" sourceRef="b" targetRef="g"/>',
    )
    told = [one for one in found if "is not executed when an event interrupts the activity" in one]
    assert len(told) == (event == "end")
