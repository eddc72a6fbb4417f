"""A run that waits for a call is found by the address that its note says to hand out."""

from __future__ import annotations

import json
import re
from pathlib import Path

from cli_cases import orgflowc
from orgflow.backends.n8n.server.client.client import Client

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
        waiting = client.wait_for(execution, 60, states=("waiting",))
        runs = waiting["data"]["resultData"]["runData"]
        address = runs["Tell the bank"][0]["data"]["main"][0][0]["json"]["address"]
        place = "/" + address.split("/", 3)[3]
        assert client.call(place, {"paid": True})["status"] == 200
        data = client.wait_for(execution, 60)
        assert data["status"] == "success"
        assert "Ship" in data["data"]["resultData"]["runData"]
        assert client.call(place, {"paid": False})["status"] in (404, 409)
    finally:
        client.unpublish(id)
        client.delete(id)
