"""A model whose work is a request, a mail and a named class, on a real server with credentials."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from orgflow import cli
from orgflow.backends.n8n.server.client.client import Client
from outside_servers import outside

MODEL = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:camunda="http://camunda.org/schema/1.0/bpmn" xmlns:flowable="http://flowable.org/bpmn"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d"><message id="m" name="Order"/>
<process id="p" name="Invoice by live test" isExecutable="true">
<startEvent id="s" name="Order"><messageEventDefinition messageRef="m"/></startEvent>
<serviceTask id="t" name="Make invoice"><extensionElements>
<zeebe:taskDefinition type="io.camunda:http-json:1" retries="3"/><zeebe:ioMapping>
<zeebe:input source="http://PLACE/invoices" target="url"/>
<zeebe:input source="POST" target="method"/>
<zeebe:input source="bearer" target="authentication.type"/>
<zeebe:input source="{{secrets.T}}" target="authentication.token"/>
<zeebe:input source="={a: order}" target="body"/></zeebe:ioMapping><zeebe:taskHeaders>
<zeebe:header key="resultExpression" value="={invoice: response.body.number}"/>
</zeebe:taskHeaders></extensionElements></serviceTask>
<sendTask id="u" name="Mail it" flowable:type="mail"><extensionElements>
<flowable:field name="from" stringValue="shop@a.example"/>
<flowable:field name="to" expression="${customer}"/>
<flowable:field name="subject" expression="Invoice ${invoice}"/>
<flowable:field name="text" expression="Hello"/></extensionElements></sendTask>
<serviceTask id="v" name="Book" camunda:class="org.acme.Book"/><endEvent id="e" name="Done"/>
<sequenceFlow id="f0" sourceRef="s" targetRef="t"/>
<sequenceFlow id="f1" sourceRef="t" targetRef="u"/>
<sequenceFlow id="f2" sourceRef="u" targetRef="v"/>
<sequenceFlow id="f3" sourceRef="v" targetRef="e"/>
</process></definitions>"""
TARGET = "n8n{stubs=workflow}"


def test_a_request_and_a_mail_are_sent_with_credentials_of_a_file(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("N8N_API_KEY", client.key)
    monkeypatch.setenv("N8N_URL", client.url)
    before = set(client.workflows())
    with outside() as (http, mail):
        http.answer("/invoices", (201, "application/json", '{"number": "R-7"}'))
        model, file = tmp_path / "invoice.bpmn", tmp_path / "credentials.json"
        model.write_text(MODEL.replace("PLACE", http.place), "utf-8")
        smtp = {k: v for k, v in mail.credential.items() if k != "hostName"}
        given = [
            {"name": "Post of a live test", "type": "smtp", "data": smtp},
            {"name": "Bearer of a live test", "type": "httpBearerAuth", "data": {"token": "tok"}},
        ]
        file.write_text(json.dumps(given), "utf-8")
        deploy = ["deploy", str(model), "--target", TARGET, "--credentials", str(file)]
        assert cli.run(deploy) == 0
        try:
            (whole,) = [
                row
                for one in set(client.workflows()) - before
                if (row := client.workflow(one))["name"] == "Invoice by live test"
            ]
            (hook,) = [n for n in whole["nodes"] if n["name"] == "Order"]
            url = f"{client.url}/webhook/{hook['parameters']['path']}"
            answer: dict[str, Any] = {"order": "A", "customer": "kim@a.example"}
            assert client.call(url, answer)["status"] == 200
            deadline = time.monotonic() + 60
            while not mail.mails and time.monotonic() < deadline:
                time.sleep(0.2)
            (got,) = http.received
            assert (got.body, got.headers["authorization"]) == ('{"a":"A"}', "Bearer tok")
            assert got.headers["idempotency-key"].startswith(f"{whole['id']}-")
            ((to, message),) = mail.mails
            assert (to, message["subject"]) == (["kim@a.example"], "Invoice R-7")
        finally:
            assert cli.run(["undeploy", str(model), "--target", TARGET]) == 0
    assert set(client.workflows()) == before
