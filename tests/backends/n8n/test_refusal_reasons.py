"""Refusals state what of the model is the reason, also where one refusal follows from another."""

from __future__ import annotations

from pathlib import Path

import pytest
from one_task import HEAD
from orgflow.compiler import compile_model, load

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
        (
            UNDONE,
            {
                "t": "`Cancel` in it stays its own process",
                "h": "it begins when `Book` as a whole is compensated",
                "c": "it begins `Cancel`, which is not supported",
            },
        ),
    ],
)
def test_reasons(tmp_path: Path, steps: str, reasons: dict[str, str]) -> None:
    path = tmp_path / "model.bpmn"
    head = HEAD.replace("<process", f"{ESCALATION}<process")
    path.write_text(f"{head}{steps}</process></definitions>")
    registry = Registry()
    ctx = PassContext(registry=registry)
    model = load(str(path), registry, ctx)
    assert model is not None
    assert compile_model(model, registry.backends["n8n"], ctx) is None
    said = {d.element: d.message for d in ctx.diagnostics if d.code == "OF403"}
    assert [one for id, one in reasons.items() if one not in said.get(id, "")] == []
