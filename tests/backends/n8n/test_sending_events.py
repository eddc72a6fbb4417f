"""Message events whose sending the model implements: played on the engine, and what they send."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_fixture import missing
from n8n_scopes import flows
from one_task import HEAD, compiled
from orgflow.backends.n8n.engine.install import engine_status
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.compiler import compile_model
from outside_servers import HttpServer, outside
from played_models import compiled as made_of
from played_models import faults

from orgflow_ir.model import Event, EventDefinition, Gateway, Model, Process, Task
from orgflow_ir.model.bindings import AnyBinding, Parameter, Script, Worker
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

MESSAGE = (EventDefinition(kind="message"),)


def model(binding: AnyBinding) -> Model:
    """A choice between an event that sends and goes on, and an end that sends."""
    nodes = (
        Event(id="s", position="start"),
        Gateway(id="g", name="Fine?", gateway_kind="exclusive"),
        Event(id="i", name="Told", position="throw", definitions=MESSAGE, binding=binding),
        Task(id="t", name="Work"),
        Event(id="e", name="Refused", position="end", definitions=MESSAGE, binding=binding),
        Event(id="d", name="Done", position="end"),
    )
    arcs = flows("s>g", "g>i:yes", "g>e:no", "i>t", "t>d")
    return Model(id="m", processes=(Process(id="p", nodes=nodes, flows=arcs),))


BINDINGS = {
    "topic": Worker(by="topic", target="tell", inputs=(Parameter(name="a", text="${b}"),)),
    "computed": Worker(by="expression", target="${1 + 1}", result="two"),
    "a script in no task": Script(language="groovy", code="class A {}"),
}


@pytest.mark.parametrize("name", BINDINGS)
def test_the_engine_runs_it_as_the_token_game_does(
    engine: LocalEngine, registry: Registry, name: str
) -> None:
    made, errors = made_of(model(BINDINGS[name]), registry)
    assert made is not None, errors
    assert faults(model(BINDINGS[name]), made, LocalRunner(engine), registry) == []


def test_it_calls_the_work_that_it_names(registry: Registry) -> None:
    ctx = PassContext(registry=registry, options={"stubs": "workflow"})
    made = compile_model(model(BINDINGS["topic"]), registry.backends["n8n"], ctx)
    assert made is not None, ctx.diagnostics
    workflows = {a.path: a.text for a in made.artifacts if a.path.endswith(".json")}
    assert len(workflows) == 2  # both call the same work
    nodes = {n["name"]: n for n in json.loads(next(iter(workflows.values())))["nodes"]}
    called = [nodes[n]["parameters"]["workflowId"] for n in ("Told", "Refused")]
    assert called[0] == called[1]
    assert "tell" in nodes["Told"]["notes"]
    codes = {d.element: d.code for d in ctx.diagnostics if d.element in ("i", "e")}
    assert set(codes.values()) <= {"OF401", "OF404"}


def test_a_model_that_names_nothing_keeps_its_events(registry: Registry) -> None:
    """Mappings alone send nothing."""
    only = model(Worker(inputs=(Parameter(name="a", text="b"),)))
    ctx = PassContext(registry=registry)
    assert compile_model(only, registry.backends["n8n"], ctx) is not None
    open_ = [d for d in ctx.diagnostics if d.code == "OF505"]
    assert {d.element for d in open_} == {"i", "e"}


CONNECTOR = """<messageEventDefinition><extensionElements><camunda:connector><camunda:inputOutput>
<camunda:inputParameter name="url">http://PLACE/bus</camunda:inputParameter>
<camunda:inputParameter name="method">POST</camunda:inputParameter>
<camunda:inputParameter name="payload">sum: ${sum}</camunda:inputParameter>
</camunda:inputOutput><camunda:connectorId>http-connector</camunda:connectorId></camunda:connector>
</extensionElements></messageEventDefinition>"""


@pytest.fixture
def http() -> Iterator[HttpServer]:
    with outside() as (found, _):
        yield found


def test_a_connector_sends_what_the_model_says(http: HttpServer, tmp_path: Path) -> None:
    if not engine_status().installed:
        missing("n8n's engine is not installed")
    http.answer("/bus", (200, "text/plain", "ok"))
    text = (
        f'{HEAD}<startEvent id="s"/><sequenceFlow id="f0" sourceRef="s" targetRef="e"/>'
        f'<endEvent id="e" name="Told">{CONNECTOR.replace("PLACE", http.place)}</endEvent>'
        "</process></definitions>"
    )
    process, _ = compiled(text, tmp_path)
    with LocalEngine(reach=(http.place,)) as engine:
        run = engine.run(process.root.workflow, "Start", items=[{"json": {"sum": 7}}], data=True)
    assert run.status == "success", run.error
    assert [one.body for one in http.received] == ["sum: 7"]
