"""Events that wait for a condition: where nothing else is under way, it holds or never will."""

from __future__ import annotations

import json
from typing import Any

import pytest
from event_models import event, line
from n8n_scopes import flows
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.compiler import compile_model
from played_models import compiled, faults

from orgflow_ir.model import Event, EventDefinition, Expression, Gateway, Model, Process, Task
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry


def waiting(text: str) -> Event:
    definition = EventDefinition(kind="conditional", expression=Expression(text=text))
    return Event(id="w", name="Paid", position="catch", definitions=(definition,))


def model(text: str) -> Model:
    return line(event("s", "start"), waiting(text), Task(id="t", name="Ship"), event("e", "end"))


def beside(text: str) -> Model:
    """Something else is done while the event waits."""
    nodes = (
        event("s", "start"),
        Gateway(id="f", gateway_kind="parallel"),
        waiting(text),
        Task(id="t", name="Ship"),
        Gateway(id="j", gateway_kind="parallel"),
        event("e", "end"),
    )
    arcs = flows("s>f", "f>w", "f>t", "w>j", "t>j", "j>e")
    return Model(id="m", processes=(Process(id="p", nodes=nodes, flows=arcs),))


def workflow(model: Model, registry: Registry) -> Any:
    made = compile_model(model, registry.backends["n8n"], PassContext(registry=registry))
    assert made is not None
    return json.loads(made.artifacts[0].text)


@pytest.mark.parametrize(
    ("text", "data", "goes_on"),
    [
        ("${sum > 5}", {"sum": 7}, True),
        ("${sum > 5}", {"sum": 5}, False),
        ("=paid and sum > 1", {"paid": True, "sum": 2}, True),
        ("${true}", {}, True),
        ("${false}", {}, False),
    ],
)
def test_it_goes_on_if_the_condition_holds(
    engine: LocalEngine, registry: Registry, text: str, data: dict[str, Any], goes_on: bool
) -> None:
    made = workflow(model(text), registry)
    trigger = next(n["name"] for n in made["nodes"] if n["type"].endswith("Trigger"))
    run = engine.run(made, trigger, items=[{"json": data}])
    assert (run.status == "success") is goes_on
    assert ("Ship" in [step.node for step in run.order]) is goes_on
    if not goes_on:
        assert "waits for a condition that does not hold" in (run.error or "")


@pytest.mark.parametrize("text", ["${sum > 5}", "until it is sunny"])
@pytest.mark.parametrize("make", [model, beside], ids=["alone", "beside a step"])
def test_runs_are_those_of_the_model(
    engine: LocalEngine, registry: Registry, text: str, make: Any
) -> None:
    made, errors = compiled(make(text), registry)
    assert made is not None, errors
    assert faults(make(text), made, LocalRunner(engine), registry) == []


@pytest.mark.parametrize("case", [model("until it is sunny"), beside("${sum > 5}")])
def test_it_stays_a_placeholder_where_it_cannot_be_judged(registry: Registry, case: Model) -> None:
    (node,) = (n for n in workflow(case, registry)["nodes"] if n["name"] == "Paid")
    assert node["type"] == "n8n-nodes-base.noOp"
    assert "Placeholder" in node["notes"]
