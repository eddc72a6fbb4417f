"""Calls of processes that are not in the model: work that only has a name."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator

import pytest
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.compiler import compile_model
from played_models import compiled, faults
from sub_process_models import ANY_ERROR, boundary, end, process, split, start, task

from orgflow_ir.model import CallActivity, Expression, Loop, Model
from orgflow_ir.model.bindings import Listener, Parameter, SubProcessCall
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

HANDS = SubProcessCall(
    process="Review",
    business_key="${key}",
    inputs=(Parameter(name="paper", text="${invoice}"),),
    outputs=(Parameter(name="fine", text="${ok}"),),
)


def calling(*calls: CallActivity, caught: bool = False) -> Model:
    """Calls one after the other, and a choice behind them."""
    nodes = [start("st"), task("a"), *calls, split("g", "exclusive", "Fine?")]
    nodes += [task("y"), task("n"), end("e1"), end("e2")]
    names = ["st", "a", *(call.id for call in calls), "g"]
    wires = [f"{one}>{other}" for one, other in itertools.pairwise(names)]
    wires += ["g>y:yes", "g>n:no", "y>e1", "n>e2"]
    if caught:
        nodes += [boundary(ANY_ERROR, at=calls[0].id), task("c"), end("e3")]
        wires += ["bd>c", "c>e3"]
    return process(nodes, *wires)


def call(id: str = "t", loop: Loop | None = None) -> CallActivity:
    return CallActivity(id=id, name=f"Ask {id}", called="Review", loop=loop)


MODELS = {
    "one": calling(call()),
    "two": calling(call(), call("u")),
    "that may fail": calling(call(), caught=True),
    "repeated": calling(call(loop=Loop(kind="multi-instance", cardinality=Expression(text="2")))),
}


@pytest.fixture
def runner(engine: LocalEngine) -> Iterator[LocalRunner]:
    return LocalRunner(engine)


@pytest.mark.parametrize("name", MODELS)
def test_the_engine_runs_it_as_the_token_game_does(
    runner: LocalRunner, registry: Registry, name: str
) -> None:
    made, errors = compiled(MODELS[name], registry)
    assert made is not None, errors
    assert faults(MODELS[name], made, runner, registry) == []


def test_one_workflow_a_process_with_its_contract(registry: Registry) -> None:
    model = calling(call().replace(binding=HANDS), call("u"))
    ctx = PassContext(registry=registry, options={"stubs": "workflow"})
    made = compile_model(model, registry.backends["n8n"], ctx, options={"stubs": "workflow"})
    assert made is not None, ctx.diagnostics
    assert len(made.artifacts) == 2
    caller, called = (json.loads(artifact.text) for artifact in made.artifacts)
    nodes = {node["name"]: node for node in caller["nodes"]}
    ids = {nodes[n]["parameters"]["workflowId"]["value"] for n in ("Ask t", "Ask u")}
    assert len(ids) == 1
    (about,) = (n for n in called["nodes"] if n["name"] == "About this workflow")
    text = about["parameters"]["content"].replace("\\", "")
    for line in ("process Review", "input paper = ${invoice}", "setting business key = ${key}"):
        assert line in text, text
    assert "ok" in text
    notes = [d.message for d in ctx.diagnostics if d.code == "OF401"]
    assert any("`Review`, whose steps are not in the model" in note for note in notes), notes


def test_listeners_of_the_call_change_nothing_of_what_it_passes_on(registry: Registry) -> None:
    """A stub of a process gets what the call names, whatever else an engine calls with it."""

    def passed(call: CallActivity) -> object:
        model, options = calling(call), {"stubs": "workflow"}
        ctx = PassContext(registry=registry, options=options)
        made = compile_model(model, registry.backends["n8n"], ctx, options=options)
        assert made is not None, ctx.diagnostics
        nodes = json.loads(made.artifacts[0].text)["nodes"]
        return [(n["name"], n["parameters"]) for n in nodes if n["name"].startswith("Ask")]

    bound = HANDS.replace(listeners=(Listener(event="end", by="class", target="org.acme.Log"),))
    assert passed(call().replace(binding=bound)) == passed(call().replace(binding=HANDS))


@pytest.mark.parametrize("called", ["${which}", "=which", "#{which}", "", None])
def test_which_process_an_expression_names_is_open(registry: Registry, called: str | None) -> None:
    made, errors = compiled(calling(call().replace(called=called)), registry)
    assert made is None
    assert any(e.startswith("OF403") for e in errors), errors
