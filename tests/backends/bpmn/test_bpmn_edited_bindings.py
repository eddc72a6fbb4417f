"""Bindings edited in the model, whatever an engine's extensions in the file still say."""

from __future__ import annotations

import pytest
from binding_values import filled
from bpmn_text import by_id, model_of
from bpmn_trips import REGISTRY, read
from orgflow.backends.bpmn.backend import BpmnBackend
from orgflow.backends.bpmn.format import BPMN

from orgflow_ir.model import CallActivity, Event, Model, Task
from orgflow_ir.model.bindings import BINDINGS, AnyBinding
from orgflow_ir.model.rewriter import Rewriter
from orgflow_ir.pipeline import PassContext

SOURCES = {
    "camunda": '<serviceTask id="x" camunda:class="org.acme.Ship" camunda:asyncBefore="true"/>',
    "flowable": '<serviceTask id="x" flowable:type="http"><extensionElements><flowable:field '
    'name="requestUrl" stringValue="https://a.example"/></extensionElements></serviceTask>',
    "zeebe": '<scriptTask id="x"><extensionElements><zeebe:script expression="=1"/>'
    "</extensionElements></scriptTask>",
    "form": '<userTask id="x" camunda:assignee="kim"><potentialOwner id="o">'
    "<resourceAssignmentExpression><formalExpression>staff</formalExpression>"
    "</resourceAssignmentExpression></potentialOwner></userTask>",
    "handler": '<task id="x" drools:taskName="Ship"/>',
    "script": '<scriptTask id="x" scriptFormat="groovy" camunda:resultVariable="r">'
    "<script>x</script></scriptTask>",
    "message": '<endEvent id="x"><messageEventDefinition camunda:class="org.acme.Tell"/>'
    "</endEvent>",
    "call": '<callActivity id="x" calledElement="other"><extensionElements>'
    '<camunda:in source="a" target="b"/></extensionElements></callActivity>',
}


def model(source: str) -> Model:
    """A model with the task `x`."""
    found = model_of(
        f'<definitions xmlns="{BPMN}" targetNamespace="urn:t" '
        'xmlns:camunda="http://camunda.org/schema/1.0/bpmn" '
        'xmlns:flowable="http://flowable.org/bpmn" '
        'xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" '
        'xmlns:drools="http://www.jboss.org/drools">'
        f'<process id="p">{SOURCES[source]}</process></definitions>'
    )
    assert task(found).binding is not None
    return found


def task(found: Model) -> Task | CallActivity | Event:
    """Its task."""
    node = by_id(found)["x"]
    assert isinstance(node, Task | CallActivity | Event)
    return node


def text(found: Model) -> str:
    """What the backend writes."""
    emitted = BpmnBackend().emit(found, PassContext(registry=REGISTRY))
    return emitted.artifacts[0].text


def edited(source: str, binding: AnyBinding | None) -> Model:
    """The model with another binding, and the engine's data left as they are."""
    found = model(source)
    rewriter = Rewriter(found)
    rewriter.replace("p", "x", task(found).replace(binding=binding))
    return rewriter.done()


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("kind", BINDINGS)
def test_a_binding_of_any_kind_comes_back(kind: str, source: str) -> None:
    changed = edited(source, filled(kind))
    again, said = read(text(changed))
    assert said == []
    assert task(again).binding == filled(kind)


@pytest.mark.parametrize("source", SOURCES)
def test_a_binding_that_was_taken_away_stays_away(source: str) -> None:
    again, _ = read(text(edited(source, None)))
    assert task(again).binding is None


@pytest.mark.parametrize("source", SOURCES)
def test_one_field_may_be_edited(source: str) -> None:
    binding = task(model(source)).binding
    assert binding is not None
    changed = binding.replace(retries="7")
    assert task(read(text(edited(source, changed)))[0]).binding == changed


@pytest.mark.parametrize("source", SOURCES)
def test_what_was_not_edited_is_written_as_it_was_read(source: str) -> None:
    written = text(model(source))
    again, _ = read(written)
    assert task(again).extra == task(model(source)).extra
    assert "orgflow:binding" not in written


def test_other_settings_of_the_engine_stay() -> None:
    written = text(edited("camunda", filled("mail")))
    assert "asyncBefore" in written
    assert "org.acme.Ship" not in written
