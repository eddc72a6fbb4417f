"""Models of a folder that name the same work, on a real server: one workflow does it for both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from orgflow import cli
from orgflow.backends.n8n.server.client.client import Client
from orgflow.backends.n8n.server.client.workflows import WorkflowClient

MODEL = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:camunda="http://camunda.org/schema/1.0/bpmn" id="d"><message id="m" name="Go"/>
<process id="{id}" name="{name} of a folder" isExecutable="true">
<startEvent id="s" name="{name}"><messageEventDefinition messageRef="m"/></startEvent>
<serviceTask id="t" name="Look up" camunda:type="external" camunda:topic="look-up"/>
<exclusiveGateway id="g" name="Good?"/><endEvent id="y" name="Good"/><endEvent id="n" name="Bad"/>
<sequenceFlow id="f0" sourceRef="s" targetRef="t"/>
<sequenceFlow id="f1" sourceRef="t" targetRef="g"/>
<sequenceFlow id="f2" sourceRef="g" targetRef="y"><conditionExpression>${{good}}
</conditionExpression></sequenceFlow><sequenceFlow id="f3" sourceRef="g" targetRef="n">
<conditionExpression>${{!good}}</conditionExpression></sequenceFlow></process></definitions>"""
CODE = "return [{ json: { good: $input.first().json.points > 3 } }];"


def test_what_a_folder_shares_is_implemented_once(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("N8N_API_KEY", client.key)
    monkeypatch.setenv("N8N_URL", client.url)
    before = set(client.workflows())
    for id, name in (("o", "Order"), ("r", "Return")):
        (tmp_path / f"{name}.bpmn").write_text(MODEL.format(id=id, name=name), "utf-8")
    assert cli.run(["deploy", str(tmp_path)]) == 0
    rows = {row["name"]: row for row in map(client.workflow, set(client.workflows()) - before)}
    assert set(rows) == {"Order of a folder", "Return of a folder", "look-up (topic)"}
    stub: dict[str, Any] = rows["look-up (topic)"]
    for row in stub["nodes"]:
        if row["name"] == "look-up":
            row |= {
                "type": "n8n-nodes-base.code", "typeVersion": 2, "parameters": {"jsCode": CODE}
            }  # fmt: skip
    body = {key: stub[key] for key in ("name", "nodes", "connections", "settings")}
    with WorkflowClient(client.url, client.key) as server:
        server.update(stub["id"], body)
    assert cli.run(["deploy", str(tmp_path)]) == 0  # what somebody filled stays
    for name in ("Order", "Return"):
        row = client.workflow(rows[f"{name} of a folder"]["id"])
        (hook,) = [n for n in row["nodes"] if n["name"] == name]
        for points, end in ((5, "Good"), (1, "Bad")):
            said = client.call(
                f"{client.url}/webhook/{hook['parameters']['path']}", {"points": points}
            )
            assert said["status"] == 200
            done = client.wait_for(client.executions(row["id"])[-1], 120)
            assert done["status"] == "success", done["data"]["resultData"].get("error")
            assert {"Good", "Bad"} & done["data"]["resultData"]["runData"].keys() == {end}
    assert cli.run(["undeploy", str(tmp_path), "--take-over"]) == 0
    assert set(client.workflows()) == before


HEAD = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:camunda="http://camunda.org/schema/1.0/bpmn" id="d"><message id="m" name="Go"/>
<process id="{id}" name="{name}" isExecutable="true">{start}{step}<endEvent id="e" name="Done"/>
<sequenceFlow id="f0" sourceRef="s" targetRef="t"/>
<sequenceFlow id="f1" sourceRef="t" targetRef="e"/></process></definitions>"""
START = '<startEvent id="s" name="{}"><messageEventDefinition messageRef="m"/></startEvent>'
CALL = '<callActivity id="t" name="Pay now" calledElement="livepay"/>'
TOPIC = '<serviceTask id="t" name="Book" camunda:type="external" camunda:topic="{}"/>'


def test_called_processes_and_renamed_work_of_a_folder(
    client: Client,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A model alone, then its folder with another caller; a topic with another name; a model alone
    whose called process is in another folder."""
    monkeypatch.setenv("N8N_API_KEY", client.key)
    monkeypatch.setenv("N8N_URL", client.url)
    before = set(client.workflows())
    for folder in ("shop", "bank"):
        (tmp_path / folder).mkdir()

    def write(place: str, id: str, name: str, start: str, step: str) -> None:
        text = HEAD.format(id=id, name=name, start=start, step=step)
        (tmp_path / place).write_bytes(text.replace("\n", "\r\n").encode())

    def names() -> dict[str, str]:
        rows = map(client.workflow, set(client.workflows()) - before)
        return {row["name"]: row["id"] for row in rows if not row.get("isArchived")}

    def deploy(place: str, code: int = 0) -> str:
        capsys.readouterr()
        assert cli.run(["deploy", str(tmp_path / place)]) == code, capsys.readouterr().err
        return " ".join(capsys.readouterr().err.split())

    plain = '<startEvent id="s" name="Called"/>'
    write("shop/Bestellung prüfen.bpmn", "liveorder", "Order live", START.format("Ordered"), CALL)
    write("shop/pay.bpmn", "livepay", "Pay live", plain, TOPIC.format("live-book"))
    deploy("shop/Bestellung prüfen.bpmn")
    one = names()
    assert set(one) == {
        "Order live", "Pay live (called by Order live)", "live-book (topic)",
    }  # fmt: skip
    write("shop/return.bpmn", "livereturn", "Return live", START.format("Returned"), CALL)
    assert "N8N013" in deploy("shop")
    shared = "Pay live (called by other files)"
    assert names()[shared] == one["Pay live (called by Order live)"]
    assert "N8N013" not in deploy("shop")
    with WorkflowClient(client.url, client.key) as server:
        stub = client.workflow(one["live-book (topic)"])
        for row in stub["nodes"]:
            if row["name"] == "live-book":
                row |= {
                    "type": "n8n-nodes-base.code", "typeVersion": 2,
                    "parameters": {"jsCode": "return $input.all();"},
                }  # fmt: skip
        body = {key: stub[key] for key in ("name", "nodes", "connections", "settings")}
        server.update(stub["id"], body)
    write("shop/pay.bpmn", "livepay", "Pay live", plain, TOPIC.format("live-enter"))
    said = deploy("shop")
    assert f"nothing calls `live-book (topic)` (id {stub['id']}), which somebody" in said
    rows = names()
    assert {"live-book (topic)", "live-enter (topic)"} < set(rows)
    (tmp_path / "shop" / "pay.bpmn").rename(tmp_path / "bank" / "pay.bpmn")
    assert "N8N014" in deploy("shop/Bestellung prüfen.bpmn")
    assert "N8N014" not in deploy(".")
    (hook,) = [n for n in client.workflow(rows["Order live"])["nodes"] if n["name"] == "Ordered"]
    said_ = client.call(f"{client.url}/webhook/{hook['parameters']['path']}", {})
    assert said_["status"] == 200
    done = client.wait_for(client.executions(rows["Order live"])[-1], 120)
    assert done["status"] == "success", done["data"]["resultData"].get("error")
    assert cli.run(["undeploy", str(tmp_path), "--take-over"]) == 0
    assert set(names()) == {"live-book (topic)", "livepay (process)"}
    for id in names().values():
        client.delete(id)
