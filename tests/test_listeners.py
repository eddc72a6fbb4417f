"""Listeners of what is no task: who sets a variable, and what is not executed."""

from __future__ import annotations

from pathlib import Path

import pytest
from one_task import HEAD
from orgflow.compiler import load

from orgflow_ir.analysis.control_flow.graph import ControlFlow
from orgflow_ir.analysis.decisions import DecisionConventions, decide
from orgflow_ir.analysis.variables import Read, Setter, Variables
from orgflow_ir.analysis.work.listeners import place
from orgflow_ir.lowering.listeners import listeners_as_steps
from orgflow_ir.model import Element, Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

SETS = "<camunda:script scriptFormat='groovy'>execution.setVariable('x', 1)</camunda:script>"
CODE = f"<camunda:executionListener event='EVENT'>{SETS}</camunda:executionListener>"
CLASS = "<camunda:executionListener event='EVENT' class='org.acme.Log'/>"


def model(folder: Path, *, what: str = CODE, at: str, event: str) -> Model:
    """A process that asks for `x`, with a listener at the element `at`."""
    listener = f"<extensionElements>{what.replace('EVENT', event)}</extensionElements>"
    parts = {
        "p": "", "s": '<startEvent id="s">{}</startEvent>',
        "a": '<sequenceFlow id="a" sourceRef="s" targetRef="t">{}</sequenceFlow>',
        "t": '<manualTask id="t" name="T"/>',
        "b": '<sequenceFlow id="b" sourceRef="t" targetRef="i"/>',
        "i": '<intermediateThrowEvent id="i" name="I">{}</intermediateThrowEvent>',
        "c": '<sequenceFlow id="c" sourceRef="i" targetRef="g"/>',
        "g": '<exclusiveGateway id="g" name="G" default="e">{}</exclusiveGateway>',
        "d": '<sequenceFlow id="d" sourceRef="g" targetRef="y">{}'
        "<conditionExpression>${{x == 1}}</conditionExpression></sequenceFlow>",
        "e": '<sequenceFlow id="e" sourceRef="g" targetRef="n"/>',
        "y": '<endEvent id="y" name="Y">{}</endEvent>', "n": '<endEvent id="n"/>',
    }  # fmt: skip
    body = "".join(text.format(listener if id == at else "") for id, text in parts.items())
    path = folder / "model.bpmn"
    path.write_text(HEAD + (listener if at == "p" else "") + body + "</process></definitions>")
    registry = Registry()
    read = load(str(path), registry, PassContext(registry=registry))
    assert read is not None
    return read


def setters(read: Model) -> tuple[Setter, ...]:
    (process,) = read.processes
    graph = ControlFlow(process)
    variables = Variables(graph, decide(process, graph, DecisionConventions()), PassContext())
    return variables.setters(Read("g", ("x",), "condition"))


@pytest.mark.parametrize(
    ("at", "event", "setter"),
    [("p", "start", "s"), ("s", "end", "s"), ("a", "take", "s"), ("i", "start", "i")],
)
def test_a_listener_sets_what_its_code_sets(
    tmp_path: Path, at: str, event: str, setter: str
) -> None:
    assert Setter(setter, "script") in setters(model(tmp_path, at=at, event=event))


@pytest.mark.parametrize(
    ("at", "event", "setter"),
    [("p", "start", "s"), ("s", "end", "s"), ("a", "take", "s"), ("i", "start", "i")],
)
def test_a_listener_of_unknown_code_may_set_anything(
    tmp_path: Path, at: str, event: str, setter: str
) -> None:
    found = setters(model(tmp_path, what=CLASS, at=at, event=event))
    assert Setter(setter, "unknown") in found
    assert Setter("t", "unknown") in found


def test_beside_a_setter_that_the_model_names_a_class_still_counts(tmp_path: Path) -> None:
    both = CODE.replace("EVENT", "end") + CLASS
    found = setters(model(tmp_path, what=both, at="i", event="start"))
    assert [tuple(one) for one in found if one.by != "payload"] == [("i", "script")]
    both = model(tmp_path, at="s", event="end"), model(tmp_path, what=CLASS, at="a", event="take")
    assert {one.by for read in both for one in setters(read)} == {"script", "unknown", "payload"}


@pytest.mark.parametrize(
    ("at", "event", "reason"),
    [
        ("p", "end", ""),
        ("i", "take", "it has no event `take`"),
        ("g", "end", ""),
        ("y", "end", ""),
        ("d", "start", "flows have no event `start`"),
    ],
)
def test_where_steps_do_the_work_of_listeners(
    tmp_path: Path, at: str, event: str, reason: str
) -> None:
    read = model(tmp_path, at=at, event=event)
    (process,) = read.processes
    elements: list[Element] = [process, *process.nodes, *process.flows]
    (element,) = (one for one in elements if at == one.id)
    left = [one.reason for one in place(element, process, ControlFlow(process)).left]
    assert left == ([reason] if reason else [])
    again = listeners_as_steps(listeners_as_steps(read))
    made = [n for n in again.processes[0].nodes if element.id in n.derived_from and n.id != at]
    ends = 2 if at == "p" else 1
    flows = 2 if at == "g" else 1
    assert len(made) == (0 if reason else max(ends, flows))
