"""`orgflowc deploy` of a model that calls a process of another file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_cases import orgflowc
from deploy_faults import hook
from engine_fixture import call
from n8n_stand_in import KEY, StandIn
from orgflow.backends.n8n.server.deploy.succession import find_uncalled
from orgflow.backends.n8n.server.deployment_marker import with_marker

_HEAD = '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">'


def process(id: str, step: str) -> str:
    return (
        f'{_HEAD}<process id="{id}" name="{id.title()}"><startEvent id="s"/>{step}'
        '<endEvent id="e"/><sequenceFlow id="f" sourceRef="s" targetRef="t"/>'
        '<sequenceFlow id="g" sourceRef="t" targetRef="e"/></process></definitions>'
    )


@pytest.fixture
def server() -> Iterator[StandIn]:
    made = StandIn()
    try:
        yield made
    finally:
        made.close()


def test_the_called_process_goes_with_its_caller(server: StandIn, tmp_path: Path) -> None:
    """Beside the workflow that its own file becomes; a second deploy changes nothing."""
    files = tmp_path / "models"
    files.mkdir()
    called = '<callActivity id="t" name="Check" calledElement="part"/>'
    (files / "main.bpmn").write_text(process("main", called), "utf-8")
    (files / "part.bpmn").write_text(process("part", '<task id="t" name="Look"/>'), "utf-8")

    def deploy() -> dict[str, str]:
        done = orgflowc("deploy", "--url", server.url, files, "--json", env={"N8N_API_KEY": KEY})
        assert done.code == 0, done.err
        return {row["name"]: row["action"] for row in json.loads(done.out)["workflows"]}

    names = ("Main", "Part (called by other files)", "Part")
    assert deploy() == dict.fromkeys(names, "created")
    assert set(deploy().values()) == {"unchanged"}


def test_a_published_workflow_that_calls_a_new_one_that_calls_itself(
    server: StandIn, tmp_path: Path
) -> None:
    def deploy() -> dict[str, str]:
        done = orgflowc(*command, env={"N8N_API_KEY": KEY})
        assert done.code == 0, done.err
        return {row["name"]: row["action"] for row in json.loads(done.out)["workflows"]}

    place = tmp_path / "flows.json"
    command = ("deploy", "--url", server.url, place, "--json", "--take-over")
    caller, callee = hook("Caller", "caller"), hook("Callee", "callee")
    place.write_text(json.dumps([caller]), "utf-8")
    assert deploy()["Caller"] == "created"
    caller["nodes"].append(call("Call", callee["id"]))
    callee["nodes"].append(call("Again", callee["id"]))
    place.write_text(json.dumps([caller, callee]), "utf-8")
    assert deploy() == {"Callee": "created", "Caller": "updated"}
    assert all(row["active"] for row in server.workflows.values())


def test_a_workflow_that_appeared_during_a_deployment_loses_no_caller() -> None:
    """It is updated, and the server did not have it when the deployment began."""
    work = with_marker({**hook("Work"), "name": "Pay (called by other files)"}, "pay")
    rows = [{**work, "id": "w"}, {**hook("Old"), "id": "o", "nodes": [call("Call", "w")]}]
    new = {"o": hook("Old"), "appeared": hook("New")}
    (found,) = find_uncalled(rows, new, frozenset(new))
    assert (found.id, found.callers) == ("w", ("Old",))
