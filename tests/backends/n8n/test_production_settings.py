"""What a workflow needs where it runs for others: who is told of failures, limits, callers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from n8n_stand_in import KEY, StandIn
from one_task import HEAD
from orgflow import cli
from orgflow.backends.n8n.engine.local import LocalEngine

Json = dict[str, Any]

MODEL = f"""{HEAD.replace('<process id="p"', '<process id="p" name="Pay"')}
<laneSet id="ls"><lane id="l" name="Accounting"><flowNodeRef>t</flowNodeRef></lane></laneSet>
<startEvent id="s"/><sequenceFlow id="f0" sourceRef="s" targetRef="t"/>
<serviceTask id="t" name="Charge {{{{ $json }}}} “card”"/>
<sequenceFlow id="f1" sourceRef="t" targetRef="g"/><exclusiveGateway id="g"/>
<sequenceFlow id="f2" sourceRef="g" targetRef="e"><conditionExpression>${{ok}}</conditionExpression>
</sequenceFlow>
<sequenceFlow id="f3" sourceRef="g" targetRef="x">
<conditionExpression>${{!ok}}</conditionExpression></sequenceFlow>
<endEvent id="e" name="Paid"/>
<endEvent id="x" name="Card refused"><errorEventDefinition errorRef="err"/></endEvent>
</process><error id="err" name="Refused" errorCode="R1"/></definitions>"""
TARGET = "n8n{errors=workflow,timeout=PT10M,callers=model}"


def compiled(folder: Path, target: str = TARGET) -> dict[str, Json]:
    """The workflows of the model, by file; proved to do what it says."""
    model, out = folder / "model.bpmn", folder / "out"
    model.write_text(MODEL, "utf-8")
    assert cli.run(["compile", str(model), "--target", target, "-o", f"{out}/", "--verify"]) == 0
    return {path.name: json.loads(path.read_text("utf-8")) for path in out.glob("*.json")}


def test_nothing_is_set_unless_it_is_asked_for(tmp_path: Path) -> None:
    (workflow,) = compiled(tmp_path, "n8n").values()
    assert workflow["settings"] == {"executionOrder": "v1"}


def test_settings(tmp_path: Path) -> None:
    found = compiled(tmp_path)
    pay, errors = found["pay.json"], found["pay-what-failed.json"]
    assert pay["settings"] == {
        "executionOrder": "v1",
        "executionTimeout": 600,
        "errorWorkflow": errors["id"],
        "callerPolicy": "none",
    }
    assert errors["settings"]["callerPolicy"] == "workflowsFromSameOwner"
    assert "errorWorkflow" not in errors["settings"]


def test_called_workflows_may_be_called(tmp_path: Path) -> None:
    found = compiled(tmp_path, "n8n{callers=model,stubs=workflow}")
    assert found["pay.json"]["settings"]["callerPolicy"] == "none"
    model = tmp_path / "model.bpmn"
    text = MODEL.replace('<serviceTask id="t"', '<serviceTask id="t" camunda:class="a.B"')
    model.write_text(text, "utf-8")
    out = tmp_path / "called"
    target = "n8n{callers=model,errors=workflow}"
    assert cli.run(["compile", str(model), "--target", target, "-o", f"{out}/"]) == 0
    work = json.loads((out / "a-b-class.json").read_text("utf-8"))
    assert work["settings"]["callerPolicy"] == "workflowsFromSameOwner"
    assert "errorWorkflow" not in work["settings"]  # other models may call it, too


def test_a_process_may_be_called_errors(tmp_path: Path) -> None:
    model, out = tmp_path / "model.bpmn", tmp_path / "out"
    model.write_text(MODEL.replace('<process id="p"', '<process id="errors"'), "utf-8")
    assert cli.run(["compile", str(model), "--target", TARGET, "-o", f"{out}/"]) == 0
    assert {path.name for path in out.glob("*.json")} == {"pay.json", "pay-what-failed.json"}


@pytest.mark.parametrize(
    ("text", "seconds"), [("PT1S", 1), ("90", 90), ("P1D", 86_400), ("PT1H30M", 5400)]
)
def test_time_limits(text: str, seconds: int, tmp_path: Path) -> None:
    (workflow,) = compiled(tmp_path, f"n8n{{timeout={text}}}").values()
    assert workflow["settings"]["executionTimeout"] == seconds


@pytest.mark.parametrize("text", ["0", "PT0.5S", "-5", "P1M", "soon", "9" * 30])
def test_what_is_no_time_limit(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "model.bpmn"
    model.write_text(MODEL, "utf-8")
    assert cli.run(["compile", str(model), "--target", f"n8n{{timeout={text}}}"]) == 2
    assert "such as `PT10M`, or a number of seconds" in " ".join(capsys.readouterr().err.split())


CARD = "Charge {{ $json }} “card”"


@pytest.mark.parametrize(
    ("node", "error", "step", "text"),
    [
        (
            CARD,
            {"message": "402", "description": "no money"},
            CARD,
            f"“{CARD}” (Accounting) of “Pay” failed: 402: no money",
        ),
        (
            "Card refused",
            {"message": "R1: Refused"},
            "Card refused",
            "“Pay” ended with the error “Card refused”: R1: Refused",
        ),
        ("Another", {"message": "?"}, "Another", "“Another” of “Pay” failed: ?"),
        (None, {}, "", "“Pay” failed: no reason is known"),
    ],
)
def test_what_failed_is_said_in_the_words_of_the_model(
    node: str | None, error: Json, step: str, text: str, engine: LocalEngine, tmp_path: Path
) -> None:
    """The item is as n8n's server makes it (`execute-error-workflow`)."""
    found = compiled(tmp_path)
    failed = {"id": "7", "url": "https://n8n.example/x/7", "error": error, "mode": "webhook"}
    if node is not None:
        failed["lastNodeExecuted"] = node
    item = {"json": {"execution": failed, "workflow": {"id": "w1", "name": "Pay"}}}
    run = engine.run(found["pay-what-failed.json"], "A run failed", items=[item], data=True)
    assert run.status == "success", run.error
    assert [one.node for one in run.order] == ["A run failed", "What failed", "Report the failure"]
    (said,) = run.order[-1].items[0]  # type: ignore[index]
    assert said["text"] == text
    assert (said["step"], said["run"], said["address"]) == (step, "7", "https://n8n.example/x/7")


def test_deploy_links_the_workflow_of_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server = StandIn()
    try:
        monkeypatch.setenv("N8N_API_KEY", KEY)
        model = tmp_path / "model.bpmn"
        model.write_text(MODEL, "utf-8")
        deploy = ["deploy", "--url", server.url, "--target", TARGET, str(model)]
        assert cli.run(deploy) == 0, capsys.readouterr().err
        rows = {row["name"]: row for row in server.workflows.values()}
        errors = rows["Pay: what failed"]
        assert rows["Pay"]["settings"]["errorWorkflow"] == errors["id"]
        assert cli.run(deploy) == 0, capsys.readouterr().err
        assert "unchanged" in capsys.readouterr().out
        assert len(server.workflows) == 2
    finally:
        server.close()
