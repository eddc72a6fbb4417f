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
            done = client.wait_for(client.executions(row["id"])[-1], 60)
            assert done["status"] == "success", done["data"]["resultData"].get("error")
            assert {"Good", "Bad"} & done["data"]["resultData"]["runData"].keys() == {end}
    assert cli.run(["undeploy", str(tmp_path), "--take-over"]) == 0
    assert set(client.workflows()) == before
