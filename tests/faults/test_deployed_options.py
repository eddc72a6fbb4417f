"""`deploy` and `run --executions` compile a model with the options of its deployed workflow."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from n8n_stand_in import KEY, StandIn
from orgflow.cli import run

MODEL = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">'
    '<process id="P" name="Order" isExecutable="true"><startEvent id="s" name="Order received"/>'
    '<userTask id="t" name="Check order"/><endEvent id="e" name="Done"/>'
    '<sequenceFlow id="f1" sourceRef="s" targetRef="t"/>'
    '<sequenceFlow id="f2" sourceRef="t" targetRef="e"/></process></definitions>'
)


@pytest.fixture
def server() -> Iterator[StandIn]:
    made = StandIn()
    yield made
    made.close()


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "order.bpmn"
    path.write_text(MODEL, "utf-8")
    return str(path)


def run_command(*arguments: str) -> tuple[int, str, str]:
    """The exit code, and what is printed on both streams."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(list(arguments))
    return code, out.getvalue(), err.getvalue()


def deploy(server: StandIn, model: str, *options: str) -> tuple[int, str, str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("N8N_API_KEY", KEY)
        return run_command("deploy", model, "--url", server.url, *options)


def types_on(server: StandIn) -> set[str]:
    """The types of the nodes on the server."""
    (workflow,) = server.workflows.values()
    return {node["type"].rpartition(".")[2] for node in workflow["nodes"]}


def test_a_deployment_keeps_the_options_of_the_workflow(server: StandIn, model: str) -> None:
    code, _, err = deploy(server, model, "--target", "n8n{people=placeholder}")
    assert code == 0, err
    assert "wait" not in types_on(server)
    code, out, err = deploy(server, model)
    assert code == 0, err
    assert out.startswith("unchanged")
    assert "OF640" in err
    assert "`people=placeholder`" in err
    assert "wait" not in types_on(server)


def test_a_given_option_goes_before_that_of_the_workflow(server: StandIn, model: str) -> None:
    deploy(server, model, "--target", "n8n{people=placeholder}")
    code, _, err = deploy(server, model, "--target", "n8n{people=form}")
    assert code == 0, err
    assert "OF640" not in err
    assert "wait" in types_on(server)


def test_a_workflow_without_options_needs_none(server: StandIn, model: str) -> None:
    assert deploy(server, model)[0] == 0
    code, out, err = deploy(server, model)
    assert (code, "OF640" in err) == (0, False)
    assert out.startswith("unchanged")


def test_executions_are_compared_with_what_was_deployed(model: str, tmp_path: Path) -> None:
    """A placeholder in place of a page is no edit of the workflow."""
    workflow = tmp_path / "workflow.json"
    target = ("--target", "n8n{people=placeholder}")
    assert run_command("compile", model, *target, "-o", str(workflow))[0] == 0
    compiled: dict[str, Any] = json.loads(workflow.read_text("utf-8"))
    names = ("Order received", "Check order", "Done")
    data = {
        name: [{"startTime": at, "executionTime": 1, "executionStatus": "success",
                "source": [], "data": {"main": [[{"json": {}}]]}}]
        for at, name in enumerate(names)
    }  # fmt: skip
    execution = {
        "id": "1", "status": "success", "finished": True, "mode": "manual",
        "startedAt": "2026-01-01T00:00:00Z", "workflowId": "w", "workflowData": compiled,
        "data": {"resultData": {"runData": data, "lastNodeExecuted": "Done"}},
    }  # fmt: skip
    saved = tmp_path / "executions.json"
    saved.write_text(json.dumps(execution), "utf-8")
    code, out, err = run_command("run", model, "--executions", str(saved), "--target", "n8n")
    assert code == 0, out + err
    assert "edited" not in out
    assert "OF640" in err
