"""One process as several workflows: sub-processes that are called run as the token game does.

The target puts what is in sub-processes into the process around them, so these models are emitted
without legalisation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from model_gen import random_model
from n8n_compiled import emitted
from n8n_scopes import around, choosing, parallel
from orgflow.backends.n8n.emit.schema_check import check_schemas
from orgflow.backends.n8n.emit.workflow_check import check_workflow
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.evaluation.replay import replay_model
from seeds import at_least, seeds

from orgflow_ir.model import Model, SubProcess, Task
from orgflow_ir.pipeline import PassContext


def calls(workflow: Mapping[str, Any]) -> list[str]:
    kind = "n8n-nodes-base.executeWorkflow"
    found = (n["parameters"]["workflowId"]["value"] for n in workflow["nodes"] if n["type"] == kind)
    return list(found)


def test_a_sub_process_is_a_workflow_of_its_own() -> None:
    made = emitted(around(choosing()))
    caller, called = (json.loads(artifact.text) for artifact in made.artifacts)
    assert [a.path for a in made.artifacts] == ["order.json", "order-handle-order.json"]
    assert calls(caller) == [called["id"]]
    assert calls(called) == []
    assert caller["id"] != called["id"]
    for workflow in (caller, called):
        assert check_workflow(workflow) == ()
        assert check_schemas(workflow) == ()
        names = [node["name"] for node in workflow["nodes"]]
        assert len(set(names)) == len(names)
    types = {node["name"]: node["type"].rpartition(".")[2] for node in called["nodes"]}
    assert types["Start"] == "executeWorkflowTrigger"
    # a name is unique in its workflow: each has a step of this one
    assert "Prepare" in types
    assert any(node["name"] == "Prepare" for node in caller["nodes"])


def test_each_workflow_has_its_notes_and_its_map() -> None:
    made = emitted(around(choosing()))
    for artifact, scope, elements in zip(
        made.artifacts,
        (None, "sub"),
        ({"start", "a", "sub", "b", "end"}, {"s", "check", "g", "yes", "no", "e"}),
        strict=True,
    ):
        (content,) = (
            node["parameters"]["content"]
            for node in json.loads(artifact.text)["nodes"]
            if node["name"] == "About this workflow"
        )
        (line,) = re.findall(r"^\[orgflow\]: # \(orgflow-map 1 (.*)\)$", content, re.MULTILINE)
        said = json.loads(line)
        assert (said["process"], said.get("scope")) == ("p", scope)
        assert set(said["nodes"].values()) == elements


def test_the_source_map_tells_the_files_apart() -> None:
    made = emitted(around(choosing()))
    (inside,) = (p for p in made.source_map.of_element("check") if p.stands)
    (call,) = (p for p in made.source_map.of_element("sub") if p.stands)
    assert (inside.artifact, call.artifact) == ("order-handle-order.json", "order.json")
    row = json.loads(made.artifacts[1].text)
    assert row["nodes"][int(inside.place.rpartition("/")[2])]["name"] == "Check"


def test_ids_follow_from_the_model() -> None:
    first, again = emitted(around(parallel())), emitted(around(parallel()))
    assert first.artifacts == again.artifacts
    ids = [json.loads(a.text)["id"] for a in first.artifacts]
    assert len(set(ids)) == 3
    nodes = [n["id"] for a in first.artifacts for n in json.loads(a.text)["nodes"]]
    assert len(set(nodes)) == len(nodes)


@pytest.fixture
def runner(engine: LocalEngine) -> Iterator[LocalRunner]:
    return LocalRunner(engine)


@pytest.mark.parametrize("sub", [choosing(), parallel()], ids=lambda sub: sub.name)
def test_the_engine_runs_it_as_the_token_game_does(runner: LocalRunner, sub: SubProcess) -> None:
    model = around(sub)
    made = emitted(model)
    report = replay_model(model, made, runner, PassContext(), max_runs=6)
    assert report.ok, [(r.verdict, r.divergence, r.run.choices) for r in report.runs]
    assert len(report.runs) >= (2 if sub.name == "Handle order" else 1)


def nested(seed: int) -> Model:
    """A random process in the place of a task of another."""
    outer = random_model(3000 + seed, 6 + seed % 8, ("task", "xor", "and", "loop"))
    inner = random_model(4000 + seed, 5 + seed % 6, ("task", "xor", "and", "loop")).processes[0]
    process = outer.processes[0]
    tasks = [n for n in process.nodes if isinstance(n, Task)]
    place = tasks[seed % len(tasks)]
    sub = SubProcess(
        id=place.id,
        name=f"{place.name} in detail",
        nodes=tuple(n.replace(id=f"in_{n.id}") for n in inner.nodes),
        flows=tuple(
            f.replace(id=f"in_{f.id}", source=f"in_{f.source}", target=f"in_{f.target}")
            for f in inner.flows
        ),
    )
    nodes = tuple(sub if n is place else n for n in process.nodes)
    return outer.replace(processes=(process.replace(nodes=nodes),))


def test_random_sub_processes_run_as_the_token_game_does(runner: LocalRunner) -> None:
    played = 0
    for seed in seeds(30):
        model = nested(seed)
        report = replay_model(model, emitted(model), runner, PassContext(), max_runs=6)
        wrong = [(r.verdict, r.divergence, r.run.choices) for r in report.runs if r.f1 < 1]
        assert report.ok, f"seed {seed}: {wrong or [r.divergence for r in report.runs]}"
        played += len(report.runs)
    assert played >= at_least(60)
