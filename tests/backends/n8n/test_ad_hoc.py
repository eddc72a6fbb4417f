"""Ad-hoc sub-processes in one of their orders: its runs on the engine are runs of the model."""

from __future__ import annotations

import json

import pytest
from bpmn_text import definitions, model_of
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.compiler import compile_model
from orgflow.passes.parallel_writes import ParallelWritesPass
from sub_process_models import end, process, start, task

from orgflow_ir.flow.token_game.replay import follow_execution
from orgflow_ir.flow.token_game.semantics import Game, Policy
from orgflow_ir.model import Expression, Flow, Model, SubProcess
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry


def hoc(*flows: str, sequential: bool = False, until: str = "") -> Model:
    """A, B and C without an order, then D."""
    arcs = [Flow(id=f"i{n}", source=f[0], target=f[1]) for n, f in enumerate(flows)]
    inside = SubProcess(
        id="sub",
        name="Prepare",
        flavour="ad-hoc",
        nodes=(task("a"), task("b"), task("c")),
        flows=tuple(arcs),
        sequential=sequential,
        completion=Expression(text=until) if until else None,
    )
    nodes = [start("s"), inside, task("d"), end("e")]
    return process(nodes, "s>sub", "sub>d", "d>e")


def played(model: Model, engine: LocalEngine, registry: Registry, data: dict[str, object]) -> str:
    """The tasks that the engine did, each by its letter."""
    ctx = PassContext(registry=registry)
    made = compile_model(model, registry.backends["n8n"], ctx, allow_lossy=True)
    assert made is not None, ctx.diagnostics
    workflow = json.loads(made.artifacts[0].text)
    trigger = next(n["name"] for n in workflow["nodes"] if n["type"].endswith("Trigger"))
    run = engine.run(workflow, trigger, items=[{"json": data}])
    assert run.status == "success", run.error
    return "".join(step.node for step in run.order if step.node in "ABCD")


CASES: dict[str, tuple[Model, dict[str, object], str]] = {
    "nothing said": (hoc(), {}, "ABCD"),
    "one after the other": (hoc(sequential=True), {}, "ABCD"),
    "an order of two": (hoc("ca"), {}, "CABD"),
    "it never holds": (hoc(until="${x > 5}"), {"x": 1}, "ABCD"),
    "it holds at once": (hoc(until="${x > 5}"), {"x": 9}, "AD"),
}


@pytest.mark.parametrize("name", CASES)
def test_each_step_is_done_once_until_the_condition_holds(
    engine: LocalEngine, registry: Registry, name: str
) -> None:
    model, data, expected = CASES[name]
    done = played(model, engine, registry, data)
    assert done == expected
    game = Game(model, Policy(once=True))
    assert follow_execution(game, "p", None, done.lower(), {}, set("abcd")).ok


def test_it_is_refused_where_nothing_may_be_lost(registry: Registry) -> None:
    ctx = PassContext(registry=registry)
    assert compile_model(hoc(), registry.backends["n8n"], ctx) is None
    (refusal,) = (d for d in ctx.diagnostics if d.severity == "error")
    assert (refusal.code, refusal.element) == ("OF402", "sub")
    assert "which steps are done" in refusal.message


@pytest.mark.parametrize(
    "flows", [("ab", "ac"), ("ac", "bc")], ids=["it ends twice", "it begins twice"]
)
def test_steps_without_one_order_are_refused(registry: Registry, flows: tuple[str, ...]) -> None:
    ctx = PassContext(registry=registry)
    assert compile_model(hoc(*flows), registry.backends["n8n"], ctx, allow_lossy=True) is None
    assert {d.code for d in ctx.diagnostics if d.severity == "error"} == {"OF403"}


TOOLS = (
    '<startEvent id="s"/><sequenceFlow id="f1" sourceRef="s" targetRef="h"/>'
    '<adHocSubProcess id="h" name="Agent"><extensionElements>{}</extensionElements>'
    '<scriptTask id="a" name="Refund"><extensionElements><zeebe:script expression="=1" '
    'resultVariable="result"/></extensionElements></scriptTask>'
    '<serviceTask id="b" name="Ask"><extensionElements><zeebe:taskDefinition type="ask"/>'
    '<zeebe:ioMapping><zeebe:input source="=result" target="given"/>'
    '<zeebe:output source="=2" target="result"/></zeebe:ioMapping></extensionElements>'
    "</serviceTask></adHocSubProcess>"
    '<sequenceFlow id="f2" sourceRef="h" targetRef="e"/><endEvent id="e"/>'
)


@pytest.mark.parametrize(
    ("chosen", "reason"),
    [
        (
            '<zeebe:taskDefinition type="agent:1"/>',
            "a worker for the job type `agent:1` chooses its steps in each run",
        ),
        (
            '<zeebe:adHoc activeElementsCollection="=[call.name]"/>',
            "the list `[call.name]` chooses its steps in each run",
        ),
        ('<zeebe:adHoc outputCollection="results"/>', ""),
    ],
)
def test_steps_that_a_worker_or_a_list_chooses_are_not_done_one_after_the_other(
    registry: Registry, chosen: str, reason: str
) -> None:
    """An agent of Camunda 8 calls one tool or another: all of them would be wrong. The variables
    of a tool are its own."""
    zeebe = ' xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"'
    model = model_of(definitions(f'<process id="p">{TOOLS.format(chosen)}</process>', zeebe))
    ctx = PassContext(registry=registry)
    made = compile_model(model, registry.backends["n8n"], ctx, allow_lossy=True)
    refused = [d.message for d in ctx.diagnostics if d.code == "OF403"]
    assert (made is None) == bool(reason)
    assert [reason in message for message in refused] == [True] * bool(reason)
    ParallelWritesPass().run(model, ctx)
    assert bool([d for d in ctx.diagnostics if d.code == "OF330"]) == (not reason)
