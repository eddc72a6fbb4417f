"""Listeners: who sets a variable, what becomes a step, and what is not executed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from one_task import HEAD
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model

from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.lowering.listeners import listeners_as_steps
from orgflow_ir.lowering.meaning import as_executed
from orgflow_ir.model import Element, Model, Task
from orgflow_ir.model.bindings import Worker
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.work.gateway_decisions import DecisionConventions, read_decisions
from orgflow_ir.work.listeners import place_listeners
from orgflow_ir.work.process_variables import Read, Setter, Variables

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
    read = load_model(str(path), registry, PassContext(registry=registry))
    assert read is not None
    return read


def setters(read: Model) -> tuple[Setter, ...]:
    (process,) = read.processes
    graph = ControlFlow(process)
    variables = Variables(
        graph, read_decisions(process, graph, DecisionConventions()), PassContext()
    )
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
    left = [one.reason for one in place_listeners(element, process, ControlFlow(process)).left]
    assert left == ([reason] if reason else [])
    again = listeners_as_steps(listeners_as_steps(read))
    made = [n for n in again.processes[0].nodes if element.id in n.derived_from and n.id != at]
    ends = 2 if at == "p" else 1
    flows = 2 if at == "g" else 1
    assert len(made) == (0 if reason else max(ends, flows))


TOOK, GAVE = (
    "it comes after the input mapping of the task",
    ("it comes before the output mapping of the task"),
)
CAUGHT = "an error event of the activity also catches its errors"
NOBODY = "the model does not state to whom the task is assigned"
INTERRUPTED = "it is also called when an event interrupts the activity"
MAPPED = (
    "<camunda:inputOutput><camunda:inputParameter name='a'>${b}</camunda:inputParameter>"
    "<camunda:outputParameter name='c'>${d}</camunda:outputParameter></camunda:inputOutput>"
)
CHANGED = "it is called when somebody changes the task"
CANCELLED = "it is called when the task is cancelled"
WAITS = "it is called at a time at which the task still waits"
TASK_EVENTS = "".join(
    f"<camunda:taskListener event='{event}' class='org.acme.{event}'/>"
    for event in ("assignment", "update", "create", "delete", "timeout")
)
JOBS_OF_TASK = (
    "<zeebe:userTask/><zeebe:assignmentDefinition assignee='bo'/><zeebe:taskListeners>"
    + "".join(
        f"<zeebe:taskListener eventType='{event}' type='log'/>"
        for event in ("canceling", "completing", "creating", "updating", "assigning")
    )
    + "</zeebe:taskListeners>"
)
JOBS = (
    "<zeebe:executionListeners><zeebe:executionListener eventType='end' type='log' retries='2'>"
    "<zeebe:taskHeaders><zeebe:header key='k' value='v'/></zeebe:taskHeaders>"
    "</zeebe:executionListener></zeebe:executionListeners>"
)
BOUNDARY = (
    '<boundaryEvent id="b" attachedToRef="t"><errorEventDefinition/></boundaryEvent>'
    '<endEvent id="x"/><sequenceFlow id="bx" sourceRef="b" targetRef="x"/>'
)


def task(folder: Path, inner: str, *, more: str = "", loop: str = "") -> Model:
    """A process of one user task."""
    path = folder / "model.bpmn"
    path.write_text(
        f'{HEAD}<startEvent id="s"/>'
        f'<userTask id="t" name="T"><extensionElements>{inner}</extensionElements>{loop}</userTask>'
        f'<endEvent id="e"/><sequenceFlow id="a" sourceRef="s" targetRef="t"/>'
        f'<sequenceFlow id="c" sourceRef="t" targetRef="e"/>{more}</process></definitions>'
    )
    registry = Registry()
    read = load_model(str(path), registry, PassContext(registry=registry))
    assert read is not None
    return read


def called(event: str, name: str = "org.acme.Log") -> str:
    return f"<camunda:executionListener event='{event}' class='{name}'/>"


@pytest.mark.parametrize(
    ("inner", "more", "reasons"),
    [
        (called("start") + called("end"), "", []),
        (called("start") + called("end") + MAPPED, "", [TOOK, GAVE]),
        (JOBS + MAPPED, BOUNDARY, []),
        (called("start") + called("end"), BOUNDARY, [CAUGHT, INTERRUPTED]),
        (
            "<camunda:taskListener event='complete' delegateExpression='${log}'/>"
            "<camunda:taskListener event='assignment' class='org.acme.Assigned'/>",
            BOUNDARY.replace("error", "timer"),
            [NOBODY],
        ),
        ("<camunda:executionListener event='start'/>", "", ["its code is not in the model"]),
        (TASK_EVENTS, "", [NOBODY, CHANGED, CANCELLED, WAITS]),
        (TASK_EVENTS.replace("camunda:", "flowable:"), "", [NOBODY, CHANGED, WAITS]),
        (
            TASK_EVENTS.replace("camunda:", "flowable:"),
            BOUNDARY,
            [NOBODY, CHANGED, WAITS, CAUGHT, INTERRUPTED],
        ),
        (JOBS_OF_TASK, "", [CANCELLED, CHANGED]),
        (JOBS_OF_TASK + MAPPED, "", [CANCELLED, CHANGED, TOOK, TOOK, GAVE]),
    ],
)
def test_where_steps_do_what_listeners_of_a_task_name(
    tmp_path: Path, inner: str, more: str, reasons: list[str]
) -> None:
    read = task(tmp_path, inner, more=more)
    (process,) = read.processes
    graph = ControlFlow(process)
    found = place_listeners(graph.nodes["t"], process, graph)
    assert [one.reason for one in found.left] == reasons
    steps = [
        n for n in listeners_as_steps(read).processes[0].nodes
        if "t" in n.derived_from and n.id != "t"
    ]  # fmt: skip
    assert len(steps) == len((*found.before, *found.after))


@pytest.mark.parametrize(
    ("listeners", "who", "names"),
    [
        (TASK_EVENTS, "bo", ["create", "assignment", "T"]),
        (
            TASK_EVENTS.replace("camunda:", "flowable:"),
            "bo",
            ["assignment", "create", "T", "delete"],
        ),
        (
            "<flowable:taskListener event='all' class='org.acme.L'/>",
            "bo",
            ["L", "L", "T", "L", "L"],
        ),
        (TASK_EVENTS, "${boss}", ["create", "T"]),
    ],
)
def test_listeners_of_a_task_are_called_in_the_order_of_its_engine(
    tmp_path: Path, listeners: str, who: str, names: list[str]
) -> None:
    performer = (
        "<humanPerformer><resourceAssignmentExpression><formalExpression>"
        f"{who}</formalExpression></resourceAssignmentExpression></humanPerformer>"
    )
    read = task(tmp_path, listeners, loop=performer)
    (again,) = listeners_as_steps(read).processes
    steps, order, at = ControlFlow(again), [], "s"
    while at != "e":
        (flow,) = steps.flows_out(at)
        at = flow.target
        node = steps.nodes[at]
        if isinstance(node, Task):
            by = node.binding.target if isinstance(node.binding, Worker) else node.name
            order.append((by or "").rpartition(".")[2])
    assert order == names


def test_code_that_a_class_comes_before_or_after_becomes_steps_as_well(tmp_path: Path) -> None:
    code, plain = CODE.replace("EVENT", "end"), CODE.replace("EVENT", "start")
    read = task(tmp_path, called("start") + plain + called("end") + code)
    (again,) = listeners_as_steps(read).processes
    steps = ControlFlow(again)
    order, at = [], "s"
    while at != "e":
        (flow,) = steps.flows_out(at)
        at = flow.target
        node = steps.nodes[at]
        order.append(getattr(getattr(node, "binding", None), "kind", ""))
    assert order == ["worker", "form", "worker", "script", ""]
    inner = steps.nodes["t"]
    assert isinstance(inner, Task)
    assert inner.binding is not None
    assert [one.by for one in inner.binding.listeners] == ["script"]


def test_a_job_has_the_headers_and_retries_of_its_listener(tmp_path: Path) -> None:
    (process,) = listeners_as_steps(task(tmp_path, JOBS)).processes
    (step,) = (n for n in process.nodes if "t" in n.derived_from and n.id != "t")
    assert isinstance(step, Task)
    expected = Worker(by="job", target="log", parameters=(("k", "v"),), retries="2")
    assert step.binding == expected


def test_what_the_source_has_no_place_for_gets_none_when_it_is_rewritten(tmp_path: Path) -> None:
    """The event goes when its process is rewritten, but the engine still calls the listener when
    the event interrupts the task."""
    read = task(tmp_path, called("end"), more=BOUNDARY)
    (process,) = read.processes
    nodes = tuple(n for n in process.nodes if n.id not in ("b", "x"))
    flows = tuple(f for f in process.flows if f.id != "bx")
    rewritten = read.replace(processes=(process.replace(nodes=nodes, flows=flows),))
    assert listeners_as_steps(rewritten, read) is rewritten
    assert listeners_as_steps(rewritten) is not rewritten


def test_listeners_of_a_repeated_task_are_called_in_each_round(tmp_path: Path) -> None:
    loop = "<multiInstanceLoopCharacteristics isSequential='true' camunda:collection='items'/>"
    made = as_executed(task(tmp_path, called("start") + called("end"), loop=loop))
    nodes = made.processes[0].nodes
    steps = [n.id for n in nodes if isinstance(n, Task) and isinstance(n.binding, Worker)]
    assert len(steps) == 2


def test_listeners_of_a_start_with_a_form_become_steps(tmp_path: Path) -> None:
    """The form has none of the listeners of its event."""
    form = "<camunda:formData><camunda:formField id='x' type='long'/></camunda:formData>"
    read = model(tmp_path, what=CODE + form, at="s", event="start")
    registry = Registry()
    ctx = PassContext(registry=registry)
    made = compile_model(read, registry.backends["n8n"], ctx)
    assert made is not None, ctx.diagnostics
    names = [node["name"] for node in json.loads(made.artifacts[0].text)["nodes"]]
    assert [name for name in names if name.startswith("Listener")]
