"""Errors that a called process throws: which event catches them, and the variables behind it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.engine.runs import RunRequest
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model
from orgflow.evaluation.replay import replay_model

from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

THROWS = 'if (a < 0) {{ throw new org.camunda.bpm.engine.delegate.BpmnError("{code}") }}\n'
MODEL = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
    'xmlns:camunda="http://camunda.org/schema/1.0/bpmn" '
    'xmlns:modeler="http://camunda.org/schema/modeler/1.0" targetNamespace="t" '
    'modeler:executionPlatform="Camunda Platform" modeler:executionPlatformVersion="7.21.0">'
    '<error id="e1" errorCode="LOW"/><process id="M" name="M" isExecutable="true">'
    '<startEvent id="s" name="Start"/><callActivity id="c" name="Call" calledElement="P">'
    '<extensionElements><camunda:in source="b" target="a"/>'
    '<camunda:out source="r" target="r"/></extensionElements></callActivity>'
    '<boundaryEvent id="low" name="Low" attachedToRef="c"><errorEventDefinition errorRef="e1"/>'
    '</boundaryEvent><boundaryEvent id="any" name="Any" attachedToRef="c"><errorEventDefinition/>'
    '</boundaryEvent><scriptTask id="x" name="X" scriptFormat="groovy"><script>'
    'execution.setVariable("q", a * 2)</script></scriptTask>'
    '<scriptTask id="y" name="Y" scriptFormat="groovy"><script>'
    'execution.setVariable("q", a * 3)</script></scriptTask>'
    '<endEvent id="done" name="Done"/><endEvent id="xe"/><endEvent id="ye"/>'
    '<sequenceFlow id="f1" sourceRef="s" targetRef="c"/>'
    '<sequenceFlow id="f2" sourceRef="c" targetRef="done"/>'
    '<sequenceFlow id="f3" sourceRef="low" targetRef="x"/>'
    '<sequenceFlow id="f4" sourceRef="any" targetRef="y"/>'
    '<sequenceFlow id="f5" sourceRef="x" targetRef="xe"/>'
    '<sequenceFlow id="f6" sourceRef="y" targetRef="ye"/></process>'
    '<process id="P" name="P" isExecutable="true"><startEvent id="ps"/>'
    '<scriptTask id="t" name="T" scriptFormat="groovy"><script>CODE'
    'execution.setVariable("r", a + 1)</script></scriptTask><endEvent id="pe"/>'
    '<sequenceFlow id="g1" sourceRef="ps" targetRef="t"/>'
    '<sequenceFlow id="g2" sourceRef="t" targetRef="pe"/></process></definitions>'
)


def compile_file(folder: Path, code: str) -> tuple[Any, Any, PassContext]:
    """The model with a script that throws a code, what it was compiled to, and the findings."""
    path = folder / "model.bpmn"
    path.write_text(MODEL.replace("CODE", THROWS.format(code=code).replace("<", "&lt;")), "utf-8")
    registry = Registry(outside=False)
    ctx = PassContext(registry=registry)
    model = load_model(str(path), registry, ctx)
    assert model is not None
    emitted = compile_model(model, registry.backends["n8n"], ctx)
    assert emitted is not None, ctx.diagnostics
    return model, emitted, ctx


@pytest.mark.parametrize(("code", "name", "q"), [("LOW", "X", 10), ("NEW", "Y", 15)])
def test_variables_behind_an_error_are_those_of_the_caller(
    engine: LocalEngine, tmp_path: Path, code: str, name: str, q: int
) -> None:
    """The called process has a variable of the same name."""
    _, emitted, _ = compile_file(tmp_path, code)
    main, called = (emitted.compiled[process].root.workflow for process in ("M", "P"))
    request = RunRequest(
        main, "Start", items=[{"json": {"a": 5, "b": -1}}], workflows={called["id"]: called},
        data=True,
    )  # fmt: skip
    (run,) = engine.run_many([request])
    assert run.status == "success", run.error
    (script,) = (node for node in run.order if node.node == name)
    assert script.items is not None
    assert script.items[0][0]["q"] == q


@pytest.mark.parametrize("code", ["LOW", "NEW"])
def test_run_follows_an_error_to_the_event_on_the_call(
    engine: LocalEngine, tmp_path: Path, code: str
) -> None:
    model, emitted, ctx = compile_file(tmp_path, code)
    report = replay_model(model, emitted, LocalRunner(engine), ctx)
    assert {run.verdict for run in report.runs} == {"equal"}
    executed = {name for run in report.runs for name in run.executed}
    reached, other = ("X", "Y") if code == "LOW" else ("Y", "X")
    assert reached in executed
    assert other not in executed


@pytest.mark.slow
def test_random_programs_with_errors_have_the_values_of_their_meaning(
    engine: LocalEngine, tmp_path: Path
) -> None:
    """Drawn by `benchmarks/run_values.py`, which executes each program in Python."""
    from run_values import check_seeds

    counts, wrong = check_seeds(engine, tmp_path, seed=5, models=3)
    assert wrong == []
    assert counts["compared"] > 20
