"""Classes that listeners name, as steps: every run on n8n's engine is one of the model."""

from __future__ import annotations

from pathlib import Path

import pytest
from one_task import HEAD
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model
from played_models import faults

from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry


def flows(*pairs: str) -> str:
    return "".join(
        f'<sequenceFlow id="f{at}" sourceRef="{source}" targetRef="{target}"/>'
        for at, (source, target) in enumerate(pair.split() for pair in pairs)
    )


def calls(*listeners: str) -> str:
    """Listeners: the event, and the class."""
    inner = "".join(
        f'<camunda:executionListener event="{event}" class="{name}"/>'
        for event, name in (one.split() for one in listeners)
    )
    return f"<extensionElements>{inner}</extensionElements>"


def task(id: str, inside: str = "") -> str:
    return f'<serviceTask id="{id}" name="{id}" camunda:class="{id}">{inside}</serviceTask>'


FAILS = '<boundaryEvent id="b" attachedToRef="sub"><errorEventDefinition/></boundaryEvent>'
LOOP = "<standardLoopCharacteristics><loopCondition>${more}</loopCondition></standardLoopCharacteristics>"  # noqa: E501
SUB = (
    '<subProcess id="sub" name="Sub">{0}<startEvent id="i"/>'
    + task("In", calls("start A"))
    + '<endEvent id="o"/><sequenceFlow id="g" sourceRef="i" targetRef="In"/>'
    '<sequenceFlow id="h" sourceRef="In" targetRef="o"/></subProcess>'
)
CASES = {
    "before and after a task": task("T", calls("start A", "start B", "end C"))
    + flows("s T", "T e"),
    "a repeated task": f'<userTask id="T" name="T">{calls("start A", "end B")}{LOOP}</userTask>'
    + flows("s T", "T e"),
    "of the process and its events": calls("start A", "end B")
    + f'<intermediateThrowEvent id="T" name="T">{calls("start C", "end D")}'
    "</intermediateThrowEvent>" + flows("s T", "T e"),
    "an error event around catches its errors": SUB.format("") + FAILS + '<endEvent id="x"/>'
    + flows("s sub", "sub e", "b x"),
    "an error event of two levels around catches its errors": (
        '<subProcess id="sub" name="Outer"><startEvent id="os"/><endEvent id="oe"/>'
        + SUB.format("").replace('id="sub"', 'id="inner"')
        + '<sequenceFlow id="j" sourceRef="os" targetRef="inner"/>'
        '<sequenceFlow id="k" sourceRef="inner" targetRef="oe"/></subProcess>' + FAILS
        + '<endEvent id="x"/>' + flows("s sub", "sub e", "b x")
    ),
    "an error event that begins a sub-process catches its errors": (
        '<subProcess id="sub" name="Sub" triggeredByEvent="true"><startEvent id="i">'
        '<errorEventDefinition/></startEvent><endEvent id="o"/>'
        '<sequenceFlow id="g" sourceRef="i" targetRef="o"/></subProcess>'
        + task("T", calls("start A", "end B")) + flows("s T", "T e")
    ),
    "a gateway": '<exclusiveGateway id="T" name="T">' + calls("start A", "end B")
    + '</exclusiveGateway><endEvent id="x" name="No"/>' + flows("s T")
    + '<sequenceFlow id="y" sourceRef="T" targetRef="e"><conditionExpression>${ok}'
    '</conditionExpression></sequenceFlow><sequenceFlow id="n" sourceRef="T" targetRef="x">'
    "<conditionExpression>${!ok}</conditionExpression></sequenceFlow>",
}  # fmt: skip


@pytest.mark.parametrize("title", CASES)
@pytest.mark.parametrize("stubs", ["workflow", "placeholder"])
def test_runs_with_steps_for_listeners(
    tmp_path: Path, engine: LocalEngine, registry: Registry, title: str, stubs: str
) -> None:
    path = tmp_path / "model.bpmn"
    steps = CASES[title]
    path.write_text(
        f'{HEAD}{steps}<startEvent id="s"/><endEvent id="e" name="Done"/></process></definitions>'
    )
    ctx = PassContext(registry=registry)
    model = load_model(str(path), registry, ctx)
    assert model is not None
    backend = registry.backend("n8n")
    assert backend is not None
    made = compile_model(model, backend, ctx, options={"stubs": stubs})
    assert made is not None, [d.message for d in ctx.diagnostics]
    assert not [d.message for d in ctx.diagnostics if "is not executed" in d.message]
    assert faults(model, made, LocalRunner(engine), registry, {"stubs": stubs}) == []
