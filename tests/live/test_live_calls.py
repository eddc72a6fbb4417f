"""A run that waits for a call is found by the address that its note says to hand out."""

from __future__ import annotations

import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_cases import orgflowc
from orgflow import cli
from orgflow.backends.n8n.server.client.client import Client
from orgflow.backends.n8n.server.client.workflows import WorkflowClient

MODEL = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d">
<message id="m" name="Order"/><process id="p" name="Payment by live test" isExecutable="true">
<startEvent id="s" name="Order"><messageEventDefinition messageRef="m"/></startEvent>
<task id="t" name="Tell the bank"/><receiveTask id="r" name="Payment arrives"/>
<exclusiveGateway id="g" name="Paid?" default="f4"/><task id="a" name="Ship"/>
<task id="b" name="Remind"/><endEvent id="e"/><endEvent id="f"/>
<sequenceFlow id="f0" sourceRef="s" targetRef="t"/><sequenceFlow id="f1" sourceRef="t"
targetRef="r"/><sequenceFlow id="f2" sourceRef="r" targetRef="g"/>
<sequenceFlow id="f3" sourceRef="g" targetRef="a"><conditionExpression>${paid}</conditionExpression>
</sequenceFlow><sequenceFlow id="f4" sourceRef="g" targetRef="b"/>
<sequenceFlow id="f5" sourceRef="a" targetRef="e"/><sequenceFlow id="f6" sourceRef="b"
targetRef="f"/></process></definitions>"""


def test_a_payment_is_posted_to_the_address_that_was_handed_out(
    client: Client, tmp_path: Path
) -> None:
    model, made = tmp_path / "payment.bpmn", tmp_path / "payment.json"
    model.write_text(MODEL, "utf-8")
    ran = orgflowc("compile", model, "--target", "n8n", "-o", made)
    assert ran.code == 0, ran.err
    workflow = json.loads(made.read_text("utf-8"))
    nodes = {node["name"]: node for node in workflow["nodes"]}
    code = re.search(
        r"\$execution\.resumeUrl\.replace\(.*?\$&'\)", nodes["Payment arrives"]["notes"]
    )
    assert code is not None
    told = "={{ ({ address: " + code[0] + " }) }}"
    nodes["Tell the bank"] |= {
        "type": "n8n-nodes-base.set",
        "typeVersion": 3.4,
        "parameters": {"mode": "raw", "jsonOutput": told, "options": {}},
    }
    id = client.create(workflow)
    try:
        client.publish(id)
        path = nodes["Order"]["parameters"]["path"]
        assert client.call(f"/webhook/{path}", {"order": 1})["status"] == 200
        (execution,) = client.executions(id)
        waiting = client.wait_for(execution, 120, states=("waiting",))
        runs = waiting["data"]["resultData"]["runData"]
        address = runs["Tell the bank"][0]["data"]["main"][0][0]["json"]["address"]
        place = "/" + address.split("/", 3)[3]
        assert client.call(place, {"paid": True})["status"] == 200
        data = client.wait_for(execution, 120)
        assert data["status"] == "success"
        assert "Ship" in data["data"]["resultData"]["runData"]
        assert client.call(place, {"paid": False})["status"] in (404, 409)
    finally:
        client.unpublish(id)
        client.delete(id)


GUARDED = MODEL.replace("Payment by live test", "Order by live test with a key").replace(
    '<receiveTask id="r" name="Payment arrives"/>', '<task id="r" name="Look at it"/>'
)
ONCE = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d">
<process id="p" name="Start by live test" isExecutable="true">
<startEvent id="s" name="Soon"><timerEventDefinition><timeDuration>PT1S</timeDuration>
</timerEventDefinition></startEvent><task id="t" name="Begin"/><endEvent id="e"/>
<sequenceFlow id="f0" sourceRef="s" targetRef="t"/><sequenceFlow id="f1" sourceRef="t"
targetRef="e"/></process></definitions>"""


@pytest.fixture
def deploys(
    client: Client, key: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., None]:
    """Deploys a model with options."""
    monkeypatch.setenv("N8N_API_KEY", key)

    def deploy(model: str, *more: str) -> None:
        file = tmp_path / "guarded.bpmn"
        file.write_text(model, "utf-8")
        assert cli.run(["deploy", str(file), "--url", client.url, *more]) == 0

    return deploy


def posted(url: str, headers: dict[str, str]) -> int:
    """The status of the answer to a call."""
    headers = {"Content-Type": "application/json", **headers}
    request = urllib.request.Request(url, b'{"paid": true}', headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def there(server: WorkflowClient, name: str) -> dict[str, Any]:
    """The workflow of this name on the server."""
    (row,) = [r for r in server.listed() if r["name"] == name and not r.get("isArchived")]
    return dict(server.workflow(str(row["id"])))


def test_a_workflow_with_a_key_and_a_secret_starts_for_who_has_both(
    client: Client, deploys: Callable[..., None], tmp_path: Path
) -> None:
    """By `deploy --keys` and the option `auth=header`; the next deploy keeps the key."""
    secrets = tmp_path / "secrets.json"
    secret = {"name": "X-Secret", "value": "open sesame"}
    secrets.write_text(
        json.dumps([{"name": "Who calls", "type": "httpHeaderAuth", "data": secret}]), "utf-8"
    )
    options = ("--target", "n8n{auth=header}", "--credentials", str(secrets))
    deploys(GUARDED, *options, "--keys")
    with WorkflowClient(client.url, client.key) as server:
        row = there(server, "Order by live test with a key")
        try:
            (path,) = [n["parameters"]["path"] for n in row["nodes"] if n["name"] == "Order"]
            plain, found = path.rsplit("-key", 1)
            assert re.fullmatch("[0-9a-f]{24}", found)
            url = f"{client.url}/webhook"
            assert posted(f"{url}/{plain}", {"X-Secret": "open sesame"}) == 404
            assert posted(f"{url}/{path}", {}) == 403
            assert posted(f"{url}/{path}", {"X-Secret": "wrong"}) == 403
            assert posted(f"{url}/{path}", {"X-Secret": "open sesame"}) == 200
            deploys(GUARDED.replace("Ship", "Send it"), *options)
            again = there(server, "Order by live test with a key")
            assert "Send it" in {n["name"] for n in again["nodes"]}
            assert [n["parameters"]["path"] for n in again["nodes"] if n["name"] == "Order"] == [
                path
            ]
            assert posted(f"{url}/{path}", {}) == 403
            assert posted(f"{url}/{path}", {"X-Secret": "open sesame"}) == 200
        finally:
            server.delete(str(row["id"]))


def test_a_start_that_comes_once_begins_when_the_workflow_is_published(
    client: Client, deploys: Callable[..., None]
) -> None:
    deploys(ONCE)
    with WorkflowClient(client.url, client.key) as server:
        row = there(server, "Start by live test")
        try:
            over: list[dict[str, Any]] = []
            deadline = time.monotonic() + 120
            while not over and time.monotonic() < deadline:
                over = [dict(e) for e in server.stored_executions(str(row["id"]))]
                over = [e for e in over if e["status"] in ("success", "error")]
                time.sleep(0.2)
            assert [e["status"] for e in over] == ["success"]
            assert "Begin" in over[0]["data"]["resultData"]["runData"]
        finally:
            server.delete(str(row["id"]))
