"""The contracts on every registered leaf, and every cell of the matrix of what targets can say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cli_cases import LINEAR

from orgflow_ir.diagnostics import Severity
from orgflow_ir.model.constructs import CONSTRUCTS
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.plugins.runners import RunnerError
from orgflow_ir.targets import support_level
from orgflow_ir.testing import check_backend, check_frontend, check_pass, check_runs, emit
from orgflow_ir.testing.conformance.backends import is_refused_or_omitted, legal_as_it_is
from orgflow_ir.testing.conformance.minimal_models import minimal_model

ROOT = Path(__file__).resolve().parent.parent
REGISTRY = Registry(outside=False)
PME = (
    b'{"tasks": [{"id": "task_1", "name": "Ship order", "type": "Task"}],'
    b' "events": [{"id": "event_1", "name": "Started", "type": "StartNoneEvent"},'
    b' {"id": "event_2", "name": "Finished", "type": "EndNoneEvent"}],'
    b' "gateways": [], "pools": [],'
    b' "sequenceFlows": [{"id": "sequenceFlow_1", "sourceRef": "event_1", "targetRef": "task_1"},'
    b' {"id": "sequenceFlow_2", "sourceRef": "task_1", "targetRef": "event_2"}],'
    b' "messageFlows": []}'
)
N8N = (
    b'{"name": "Order", "nodes": ['
    b'{"name": "Start", "type": "n8n-nodes-base.manualTrigger", "parameters": {}},'
    b' {"name": "Check order", "type": "n8n-nodes-base.noOp", "parameters": {}}], "connections":'
    b' {"Start": {"main": [[{"node": "Check order", "type": "main", "index": 0}]]}}}'
)
POWL = (
    b'{"powl": 1, "model": {"type": "partial-order", "nodes": ['
    b'{"id": "a", "type": "activity", "label": "Check order", "lane": "Sales"},'
    b' {"id": "b", "type": "activity", "label": "Ship order"}], "order": [["a", "b"]]}}'
)
DMN = (
    b'<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="d" name="Fee">'
    b'<decision id="fee" name="Fee"><variable name="fee" typeRef="number"/>'
    b"<literalExpression><text>amount * 2</text></literalExpression></decision></definitions>"
)
SAMPLES = {
    "bpmn": [SourceFile("order.bpmn", LINEAR.encode())],
    "ir": [SourceFile("order.json", minimal_model("task.user").to_json().encode())],
    "n8n": [SourceFile("order.json", N8N)],
    "pme": [SourceFile("order.json", PME)],
    "dmn": [SourceFile("fee.dmn", DMN)],
    "outline": [SourceFile("order.txt", b"start: every Monday\ncheck order | clerk | s1\n")],
    "powl": [SourceFile("order.json", POWL)],
    "mermaid": [SourceFile("order.mmd", b"flowchart LR\nA[Check] --> B{ok?} -->|yes| C[Ship]")],
    "triples": [SourceFile("order.txt", b"Start -> check\ncheck -> ship -> End\n")],
}


@pytest.mark.parametrize("name", sorted(REGISTRY.backends))
def test_a_backend_keeps_its_contract(name: str) -> None:
    check_backend(REGISTRY.backends[name], runs=False)


@pytest.mark.parametrize("name", sorted(REGISTRY.backends))
def test_a_backend_runs_as_its_models_say(name: str) -> None:
    try:
        played = check_runs(REGISTRY.backends[name])
    except RunnerError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"the engine of {name} is missing: {error}")
    assert played > 20 or REGISTRY.backends[name].engines() is None


@pytest.mark.parametrize("name", sorted(REGISTRY.frontends))
def test_a_frontend_keeps_its_contract(name: str) -> None:
    check_frontend(REGISTRY.frontends[name], SAMPLES[name])


@pytest.mark.parametrize("name", sorted(REGISTRY.passes))
def test_a_pass_keeps_its_contract(name: str) -> None:
    check_pass(REGISTRY.passes[name]())


@pytest.mark.parametrize("name", sorted(REGISTRY.backends))
@pytest.mark.parametrize("construct", sorted(CONSTRUCTS))
def test_every_cell_of_the_matrix(construct: str, name: str) -> None:
    backend = REGISTRY.backends[name]
    artifacts, said = emit(backend, minimal_model(construct))
    errors = [d for d in said if d.severity is Severity.ERROR]
    cell = support_level(backend.target, construct)
    if cell in ("refused", "degraded"):
        assert {d.code for d in errors} <= {"OF402", "OF403"}
        assert is_refused_or_omitted(construct, refused=artifacts is None, diagnostics=said), said
    elif artifacts is None and cell == "conditional":  # its minimal model is not what it asks for
        assert any(f"({construct})" in d.message for d in errors), errors
    elif artifacts is None:  # something else in the minimal model is refused
        assert all(f"({construct})" not in d.message for d in errors), errors
    elif cell == "lowered":
        lowered = any(d.code == "OF401" for d in said)
        assert lowered != legal_as_it_is(backend, construct, minimal_model(construct))


def test_a_context_without_a_registry_is_enough(tmp_path: Path) -> None:
    source = SAMPLES["bpmn"][0]
    model = REGISTRY.frontends["bpmn"].parse(source, PassContext())
    assert model is not None
    assert emit(REGISTRY.backends["n8n"], model)[0]
