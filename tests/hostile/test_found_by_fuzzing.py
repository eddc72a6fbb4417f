"""What `benchmarks/fuzz_readers.py` found, as small as it could be made."""

from __future__ import annotations

import copy
import itertools
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from bpmn_text import process
from cli_cases import DEADLOCK
from orgflow import compiler
from orgflow.backends.n8n.engine_model.behaviour import node_behaviour
from orgflow.compilation.reading import load_model

from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

DECISION = (
    '<startEvent id="s"/><exclusiveGateway id="g" name="OK?"/><task id="a" name="A"/>'
    '<task id="b" name="B"/><sequenceFlow id="f0" sourceRef="s" targetRef="g"/>'
    '<sequenceFlow id="f1" name="yes" sourceRef="g" targetRef="a"/>'
    '<sequenceFlow id="f2" name="no" sourceRef="g" targetRef="b"/>'
)
NO_START = DECISION.replace('<startEvent id="s"/>', "").replace(
    '<sequenceFlow id="f0" sourceRef="s" targetRef="g"/>', ""
)
FORK_FIRST = (
    '<parallelGateway id="g"/><parallelGateway id="j"/><task id="b" name="B"/>'
    '<sequenceFlow id="f1" sourceRef="g" targetRef="j"/><task id="c" name="C"/>'
    '<sequenceFlow id="f2" sourceRef="g" targetRef="j"/>'
    '<sequenceFlow id="f3" sourceRef="g" targetRef="c"/>'
    '<sequenceFlow id="f4" sourceRef="c" targetRef="j"/>'
    '<sequenceFlow id="f5" sourceRef="j" targetRef="b"/>'
)
CONDITIONAL_DEFAULT = (
    '<startEvent id="s"/><exclusiveGateway id="g" name="OK?" default="f1"/><task id="a" name="A"/>'
    '<sequenceFlow id="f0" sourceRef="s" targetRef="g"/>'
    '<sequenceFlow id="f1" name="x" sourceRef="g" targetRef="a">'
    "<conditionExpression>amount &lt; 100</conditionExpression></sequenceFlow>"
)


def compiled(content: str) -> tuple[Any, Any, dict[str, Any]]:
    """Backend, model and workflow of a process that compiles without an error."""
    registry = Registry(outside=False)
    ctx = PassContext(registry=registry)
    source = SourceFile("m.bpmn", process(content).encode())
    model = load_model(source, registry, ctx, from_="bpmn")
    assert model is not None
    backend = registry.backends["n8n"]
    made = compiler.compile_model(model, backend, ctx)
    assert made is not None, [d.message for d in ctx.diagnostics]
    return backend, model, json.loads(made.artifacts[0].text)


def verified(backend: Any, model: Any, workflow: Any) -> tuple[str, ...]:
    ctx = PassContext(registry=Registry(outside=False))
    source = SourceFile("w.json", json.dumps(workflow).encode())
    results = backend.verify(model, source, ctx)
    assert not [d.message for d in ctx.diagnostics if d.code.startswith("OF9")]
    return tuple(r.verdict.value for r in results)


@pytest.mark.parametrize(
    "content", [NO_START, FORK_FIRST, CONDITIONAL_DEFAULT], ids=["decision", "fork", "default"]
)
def test_models_that_were_compiled_into_faulty_workflows(content: str) -> None:
    """A process that begins with a gateway, without a start event: the decision node was not
    connected, and a fork right before a join ended in KeyError. A lone default flow with a
    condition became a Switch without rules."""
    assert verified(*compiled(content)) == ("proved",)


def _notes(flow: dict[str, Any]) -> list[dict[str, Any]]:
    return [n for n in flow["nodes"] if n["type"].endswith("stickyNote")]


def _node(flow: dict[str, Any], kind: str) -> dict[str, Any]:
    return next(n for n in flow["nodes"] if n["type"].endswith(kind))


def _tag_of_the_trigger(flow: dict[str, Any]) -> None:
    trigger = _node(flow, "manualTrigger")
    step = next(n for n in flow["nodes"] if n["name"] == "A")
    step["notes"] = trigger["notes"]
    flow["nodes"].remove(trigger)


ODD: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a note without a name": lambda f: _notes(f)[0].pop("name"),
    "a note with a list as its name": lambda f: _notes(f)[0].update(name=[]),
    "a list as an id": lambda f: _node(f, "noOp").update(id=[1]),
    "the tag of the trigger on a step": _tag_of_the_trigger,
    "parameters that are a text": lambda f: _node(f, ".switch").update(parameters="x"),
    "rules that are a text": lambda f: _node(f, ".switch")["parameters"].update(rules="x"),
    "rules that are a number": lambda f: _node(f, ".switch")["parameters"].update(
        rules={"values": 1.5}
    ),
    "rules that are texts": lambda f: _node(f, ".switch")["parameters"].update(
        rules={"values": ["x", None]}
    ),
    "options that are a text": lambda f: _node(f, ".switch")["parameters"].update(options="x"),
    "conditions that are a number": lambda f: _node(f, ".switch")["parameters"]["rules"]["values"][
        0
    ].update(conditions=1e300),
    "an operator that is a text": lambda f: _node(f, ".switch")["parameters"]["rules"]["values"][0][
        "conditions"
    ]["conditions"][0].update(operator="equals"),
}


@pytest.fixture(scope="module")
def decision() -> tuple[Any, Any, dict[str, Any]]:
    return compiled(DECISION)


@pytest.mark.parametrize("odd", ODD)
def test_verify_takes_any_workflow(decision: tuple[Any, Any, dict[str, Any]], odd: str) -> None:
    backend, model, workflow = decision
    changed = copy.deepcopy(workflow)
    ODD[odd](changed)
    assert changed != workflow
    assert verified(backend, model, changed)


PARAMETERS: list[tuple[str, float, Any]] = [
    ("merge", 3.2, {"mode": "combine", "combineBy": "combineByPosition", "options": "x"}),
    ("merge", 3.2, {"mode": "combine", "combineBy": "combineByPosition", "numberInputs": -1}),
    ("merge", 3.2, {"mode": "combine", "combineBy": "combineByPosition", "numberInputs": 10**30}),
    ("merge", 3.2, {"mode": "append", "numberInputs": float("inf")}),
    ("merge", 3.2, {"mode": "chooseBranch", "useDataOfInput": float("inf")}),
    (
        "merge",
        3.2,
        {
            "mode": "combine",
            "combineBy": "combineByPosition",
            "options": {"clashHandling": {"values": {"resolveClash": "preferInput" + "9" * 5000}}},
        },
    ),
    ("switch", 3.2, {"mode": "expression", "numberOutputs": 900}),
    ("switch", 3.2, {"mode": "expression", "numberOutputs": 0}),
    ("switch", 3.2, {"mode": "expression", "numberOutputs": 10**30}),
    ("switch", 3.2, {"rules": {"values": 1.5}}),
    ("switch", 3.2, {"rules": "x", "options": []}),
    ("switch", 3.2, {"rules": {"values": [{}] * 5000}}),
    ("splitInBatches", 3, {"options": "x"}),
    ("wait", 1.1, {"unit": ["hours"]}),
    ("executeWorkflow", 1.2, {"workflowId": "w", "options": "x"}),
    ("if", 2.2, "x"),
]


@pytest.mark.parametrize(("kind", "version", "parameters"), PARAMETERS)
def test_the_machine_takes_any_parameters(kind: str, version: float, parameters: Any) -> None:
    row = {"type": f"n8n-nodes-base.{kind}", "typeVersion": version, "parameters": parameters}
    found = node_behaviour(row, 2, frozenset({"w"}))
    if found.count is not None:
        found.count((1, 1))
    if found.choices is not None:
        for counts in itertools.islice(found.choices(1, 1), 50):
            assert sum(counts) <= 2


def test_ways_out_of_a_switch_come_in_the_order_of_its_outputs() -> None:
    row = {"type": "n8n-nodes-base.switch", "typeVersion": 3.2,
           "parameters": {"rules": {"values": [{}, {}]}}}  # fmt: skip
    choices = node_behaviour(row, 2, frozenset()).choices
    assert choices is not None
    assert list(choices(2, 2)) == [(2, 0), (1, 1), (1, 0), (0, 2), (0, 1), (0, 0)]
    row["parameters"] = {"mode": "expression", "numberOutputs": 2}
    choices = node_behaviour(row, 2, frozenset()).choices
    assert choices is not None
    assert list(choices(2, 2)) == [(2, 0), (1, 1), (0, 2)]
    assert list(choices(0, 2)) == [(0, 0)]


@pytest.mark.parametrize("kind", ["exclusiveGateway", "parallelGateway", "inclusiveGateway"])
def test_a_join_behind_a_gateway_that_nothing_reaches_is_wired(kind: str) -> None:
    content = (
        f'<startEvent id="s"/><task id="a" name="A"/><{kind} id="x"/>'
        '<parallelGateway id="j"/><task id="b" name="B"/>'
        '<sequenceFlow id="f0" sourceRef="s" targetRef="a"/>'
        '<sequenceFlow id="f1" sourceRef="a" targetRef="j"/>'
        '<sequenceFlow id="f2" sourceRef="x" targetRef="j"/>'
        '<sequenceFlow id="f3" sourceRef="j" targetRef="b"/>'
    )
    registry = Registry(outside=False)
    ctx = PassContext(registry=registry)
    source = SourceFile("m.bpmn", process(content).encode())
    model = load_model(source, registry, ctx, from_="bpmn")
    assert model is not None
    made = compiler.compile_model(model, registry.backends["n8n"], ctx, force=True)
    assert made is not None, [d.message for d in ctx.diagnostics]
    wires = json.loads(made.artifacts[0].text)["connections"]
    inputs = {
        (wire["node"], wire["index"])
        for ports in wires.values() for port in ports["main"] for wire in port
    }  # fmt: skip
    assert {("Join before B", 0), ("Join before B", 1)} <= inputs


def test_a_task_that_leads_to_itself_twice_is_refused_at_once() -> None:
    content = (
        '<startEvent id="s"/><task id="t"/><sequenceFlow id="f0" sourceRef="s" targetRef="t"/>'
        '<sequenceFlow id="f1" sourceRef="t" targetRef="t"/>'
        '<sequenceFlow id="f2" sourceRef="t" targetRef="t"/>'
    )
    registry = Registry(outside=False)
    ctx = PassContext(registry=registry)
    source = SourceFile("m.bpmn", process(content).encode())
    model = load_model(source, registry, ctx, from_="bpmn")
    assert model is not None
    begun = time.process_time()
    assert compiler.compile_model(model, registry.backends["asl"], ctx, force=True) is None
    assert time.process_time() - begun < 5


def test_an_event_gateway_without_events_is_refused_by_the_asl_target() -> None:
    content = (
        '<startEvent id="s"/><eventBasedGateway id="g"/>'
        '<sequenceFlow id="f" sourceRef="s" targetRef="g"/>'
    )
    registry = Registry(outside=False)
    ctx = PassContext(registry=registry)
    source = SourceFile("m.bpmn", process(content).encode())
    model = load_model(source, registry, ctx, from_="bpmn")
    assert model is not None
    assert compiler.compile_model(model, registry.backends["asl"], ctx, force=True) is None
    assert any(d.code in ("OF110", "OF403") for d in ctx.diagnostics)


def test_a_cycle_that_nothing_enters_is_refused_by_the_asl_target() -> None:
    registry = Registry(outside=False)
    ctx = PassContext(registry=registry)
    content = (
        '<exclusiveGateway id="a"/><task id="t" name="T"/>'
        '<sequenceFlow id="f" sourceRef="a" targetRef="t"/>'
        '<sequenceFlow id="g" sourceRef="t" targetRef="a"/>'
    )
    source = SourceFile("m.bpmn", process(content).encode())
    model = load_model(source, registry, ctx, from_="bpmn")
    assert model is not None
    assert compiler.compile_model(model, registry.backends["asl"], ctx, force=True) is None
    assert any(
        "it contains no element that it can begin with" in d.message for d in ctx.diagnostics
    )


def test_a_deadlock_is_still_one() -> None:
    """The fix of what begins without a start must not hide what is wrong."""
    registry = Registry(outside=False)
    ctx = PassContext(registry=registry)
    model = load_model(SourceFile("m.bpmn", DEADLOCK.encode()), registry, ctx, from_="bpmn")
    assert model is not None
    assert compiler.compile_model(model, registry.backends["n8n"], ctx) is None
    assert any(d.code == "OF201" for d in ctx.diagnostics)


@pytest.mark.parametrize(
    "extra",
    [
        ("{urn:x}t*pe", "1"), ("@{urn:x}t*pe", "1"), ("{urn:x}a", "<a><b></a>"), ("", ""),
        ("{http://www.omg.org/spec/BPMN/20100524/MODEL}text", "</process>"), ("@{urn:x}", "1"),
        ("{urn:orgflow:n8n}{a}b", "1"), ("{urn:orgflow:n8n}a b", '{"x": "]]>"}'),
        ("a", "<a/><b/>"), ("@a b", "c"),
    ],
)  # fmt: skip
def test_kept_data_that_xml_cannot_have_survives_bpmn(extra: tuple[str, str]) -> None:
    from orgflow_ir.model import Event, Flow, Model, Process, Task

    model = Model(
        id="m",
        extra=(extra,),
        processes=(
            Process(
                id="p",
                nodes=(Event(id="s", position="start"), Task(id="t", extra=(extra,))),
                flows=(Flow(id="f", source="s", target="t", extra=(extra,)),),
                extra=(extra,),
            ),
        ),
    )
    registry = Registry(outside=False)
    (made,) = registry.backends["bpmn"].emit(model, PassContext(registry=registry)).artifacts
    ctx = PassContext(registry=registry)
    source = SourceFile("m.bpmn", made.text.encode())
    again = load_model(source, registry, ctx, from_="bpmn")
    assert again is not None, made.text
    (process_,) = again.processes
    assert extra in process_.extra
    assert extra in process_.nodes[1].extra
    assert extra in process_.flows[0].extra
