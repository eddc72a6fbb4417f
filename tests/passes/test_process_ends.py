"""What never runs, and what only looks as if it did not."""

from __future__ import annotations

from orgflow import compiler
from orgflow.compilation.reading import load_model

from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

UNDONE = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">
<process id="p" isExecutable="true">
  <startEvent id="s"/><task id="book" name="Book flight"/>{boundary}
  <task id="undo" name="Cancel flight"{undo}/><endEvent id="e"/>
  <sequenceFlow id="f1" sourceRef="s" targetRef="book"/>
  <sequenceFlow id="f2" sourceRef="book" targetRef="e"/>
  {way}
</process></definitions>"""
BOUNDARY = (
    '<boundaryEvent id="b" attachedToRef="book"><compensateEventDefinition id="d"/></boundaryEvent>'
)


def never(registry: Registry, text: str) -> list[str]:
    return said_of("OF111", registry, text)


def said_of(code: str, registry: Registry, text: str) -> list[str]:
    ctx = PassContext(registry=registry)
    source = SourceFile("m.bpmn", text.encode())
    model = load_model(source, registry, ctx)
    assert model is not None
    compiler.check_model(model, ctx)
    return [d.message for d in ctx.diagnostics if d.code == code]


def test_compensation_comes_by_an_association(registry: Registry) -> None:
    way = '<association id="a" associationDirection="One" sourceRef="b" targetRef="undo"/>'
    undo = ' isForCompensation="true"'
    assert never(registry, UNDONE.format(boundary=BOUNDARY, undo=undo, way=way)) == []
    assert never(registry, UNDONE.format(boundary=BOUNDARY, undo=undo, way="")) == []


def test_a_task_without_a_way_to_it_never_runs(registry: Registry) -> None:
    (said,) = never(registry, UNDONE.format(boundary="", undo="", way=""))
    assert said.startswith("`Cancel flight` never runs")


def test_what_a_misplaced_event_keeps_from_running_is_told_once(registry: Registry) -> None:
    boundary = '<boundaryEvent id="b" attachedToRef="book"><cancelEventDefinition/></boundaryEvent>'
    way = '<sequenceFlow id="f3" sourceRef="b" targetRef="undo"/>'
    assert never(registry, UNDONE.format(boundary=boundary, undo="", way=way)) == []
    empty = '<subProcess id="h" triggeredByEvent="true"><task id="t" name="T"/></subProcess>'
    assert (
        never(registry, UNDONE.format(boundary=empty, undo=' isForCompensation="true"', way=""))
        == []
    )


def test_a_dead_end_that_an_event_can_interrupt_does_not_end_every_run(registry: Registry) -> None:
    text = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">
<process id="p" name="Watch"><startEvent id="s"/><task id="t" name="Observe"/>
<boundaryEvent id="b" name="Called off" attachedToRef="t"{attributes}><messageEventDefinition/>
</boundaryEvent><endEvent id="e"/><sequenceFlow id="f1" sourceRef="s" targetRef="t"/>
<sequenceFlow id="f2" sourceRef="b" targetRef="e"/></process></definitions>"""
    (said,) = said_of("OF130", registry, text.format(attributes=""))
    assert "ends there unless a boundary event interrupts it" in said
    (said,) = said_of("OF130", registry, text.format(attributes=' cancelActivity="false"'))
    assert "a run that reaches it ends there, although" in said
