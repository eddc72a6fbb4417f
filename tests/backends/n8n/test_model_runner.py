"""Runs on the engine model: node by node what the engine does; what is not known is reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from n8n_scopes import around, choosing, parallel
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.backends.n8n.replay.model_runner import ModelRunner
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model
from orgflow.evaluation.replay import ReplayReport, replay_model

from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.targets.artifact import Emitted

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = sorted(ROOT.glob("examples/*/model.bpmn"))

SCRIPTS = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
    xmlns:flowable="http://flowable.org/bpmn" id="d" targetNamespace="x">
  <error id="e" errorCode="late" />
  <process id="p" name="Order" isExecutable="true">
    <startEvent id="start" name="Order received" />
    <scriptTask id="sum" name="Add up" scriptFormat="javascript">
      <script>execution.setVariable("total", 3);</script>
    </scriptTask>
    <serviceTask id="book" name="Book">
      <extensionElements />
    </serviceTask>
    <boundaryEvent id="failed" name="Too late" attachedToRef="book">
      <errorEventDefinition errorRef="e" />
    </boundaryEvent>
    <parallelGateway id="split" />
    <task id="a" name="Pack" /><task id="b" name="Bill" />
    <parallelGateway id="join" />
    <endEvent id="end" name="Done" />
    <endEvent id="lost" name="Not booked" />
    <sequenceFlow id="f1" sourceRef="start" targetRef="sum" />
    <sequenceFlow id="f2" sourceRef="sum" targetRef="book" />
    <sequenceFlow id="f3" sourceRef="book" targetRef="split" />
    <sequenceFlow id="f4" sourceRef="split" targetRef="a" />
    <sequenceFlow id="f5" sourceRef="split" targetRef="b" />
    <sequenceFlow id="f6" sourceRef="a" targetRef="join" />
    <sequenceFlow id="f7" sourceRef="b" targetRef="join" />
    <sequenceFlow id="f8" sourceRef="join" targetRef="end" />
    <sequenceFlow id="f9" sourceRef="failed" targetRef="lost" />
  </process>
</definitions>
"""


def compiled(text: bytes, name: str, registry: Registry) -> tuple[Model, Emitted]:
    ctx = PassContext(registry=registry)
    model = load_model(SourceFile(name, text), registry, ctx, diagram=True)
    assert model is not None
    made = compile_model(model, registry.backends["n8n"], ctx)
    assert made is not None, ctx.diagnostics
    return model, made


def both(model: Model, made: Emitted, engine: LocalEngine) -> tuple[ReplayReport, ReplayReport]:
    real = replay_model(model, made, LocalRunner(engine), PassContext())
    return real, replay_model(model, made, ModelRunner(), PassContext())


def same(real: ReplayReport, modelled: ReplayReport) -> None:
    assert real.runs
    assert [(r.verdict, r.executed) for r in modelled.runs] == [
        (r.verdict, r.executed) for r in real.runs
    ]


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.parent.name for path in EXAMPLES])
def test_every_run_of_an_example(path: Path, engine: LocalEngine, registry: Registry) -> None:
    same(*both(*compiled(path.read_bytes(), str(path), registry), engine))


def test_errors_and_code(engine: LocalEngine, registry: Registry) -> None:
    """A task that fails and is caught by an event; code, whose items the engine gets scripted."""
    model, made = compiled(SCRIPTS.encode(), "order.bpmn", registry)
    real, modelled = both(model, made, engine)
    same(real, modelled)
    assert {run.executed[-1] for run in modelled.runs} == {"Done", "Not booked"}
    assert modelled.changed == (
        "`Add up` is not executed: it passes on each item that it receives",
    )


@pytest.mark.parametrize("sub", [choosing(), parallel()])
def test_called_workflows(sub: object, engine: LocalEngine, registry: Registry) -> None:
    model = around(sub)  # type: ignore[arg-type]  # a sub-process of the support module
    made = compile_model(model, registry.backends["n8n"], PassContext(registry=registry))
    assert made is not None
    same(*both(model, made, engine))


def test_a_node_that_is_not_known_is_reported(registry: Registry) -> None:
    """Somebody put a Code node in the place of a task: how many items it hands on is not known."""
    text = (ROOT / "examples/leave-request/model.bpmn").read_bytes()
    model, made = compiled(text, "model.bpmn", registry)
    for process in made.compiled.values():
        for row in process.root.workflow["nodes"]:
            if row["name"] == "Send rejection":
                row.update(
                    type="n8n-nodes-base.code", typeVersion=2, parameters={"jsCode": "return [];"}
                )
    report = replay_model(model, made, ModelRunner(), PassContext())
    met = [run for run in report.runs if run.verdict != "equal"]
    assert met
    assert {run.verdict for run in met} == {"unplayable"}
    assert {run.divergence for run in met} == {
        "the engine model does not know how many items `Send rejection` passes on"
    }
    assert not report.ok
