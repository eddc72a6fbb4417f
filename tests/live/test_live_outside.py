"""A model whose work is a request, a mail and a named class, on a real server with credentials."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from engine_fixture import missing
from orgflow import cli
from orgflow.backends.n8n.server.client.client import Client
from orgflow.backends.n8n.server.install import OLDER_VERSION, server_status
from orgflow.backends.n8n.server.process import N8nServer, Owner
from outside_servers import outside
from user_runs import executions_of

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


@pytest.fixture(scope="module")
def older(owner: Owner) -> Iterator[Client]:
    """A client of a fresh n8n 1."""
    found = server_status(OLDER_VERSION)
    if found.files is None:
        missing(f"n8n {OLDER_VERSION} is not installed: {found.problem}")
    with N8nServer(files=found.files) as running, Client(running.url) as connected:
        connected.set_up_owner(owner.email, owner.password)
        yield connected


@pytest.mark.parametrize(("server_of", "version"), [("client", "2.41"), ("older", "1.123")])
def test_a_request_and_a_mail_are_sent_with_credentials_of_a_file(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    server_of: str, version: str,
) -> None:  # fmt: skip
    client: Client = request.getfixturevalue(server_of)
    target = f"n8n{{version={version}}}"
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
        deploy = ["deploy", str(model), "--target", target, "--credentials", str(file)]
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
            deadline = time.monotonic() + 120
            while not mail.mails and time.monotonic() < deadline:
                time.sleep(0.2)
            (got,) = http.received
            assert (got.body, got.headers["authorization"]) == ('{"a":"A"}', "Bearer tok")
            assert got.headers["idempotency-key"].startswith(f"{whole['id']}-")
            ((to, message),) = mail.mails
            assert (to, message["subject"]) == (["kim@a.example"], "Invoice R-7")
            made = {client.workflow(one)["name"] for one in set(client.workflows()) - before}
            assert made == {"Invoice by live test", "org.acme.Book (class)"}
        finally:
            assert cli.run(["undeploy", str(model), "--target", target]) == 0
    assert set(client.workflows()) == before


ORDER = Path(__file__).resolve().parents[2] / "examples/order-to-cash/model.bpmn"
CONDITIONS = {
    "f_in_stock_what_to_prepare": "inStock",
    "f_in_stock_announce_delay": "!inStock",
    "f_what_to_prepare_pack_goods": "goods",
    "f_what_to_prepare_create_licences": "licences",
    "f_what_to_prepare_arrange_installation": "goods",
    "f_paid_in_full_close_split": "paid",
    "f_paid_in_full_send_reminder": "!paid",
}
"""What the branches of the example test, so that nobody has to put a node in place that decides."""
REST = """<bpmn:extensionElements><camunda:connector><camunda:inputOutput>
<camunda:inputParameter name="url">http://PLACE/invoices</camunda:inputParameter>
<camunda:inputParameter name="method">POST</camunda:inputParameter>
<camunda:inputParameter name="payload">{"of": "${order}"}</camunda:inputParameter>
<camunda:outputParameter name="invoice">${JSON(response).prop("number").stringValue()}
</camunda:outputParameter></camunda:inputOutput><camunda:connectorId
>http-connector</camunda:connectorId></camunda:connector></bpmn:extensionElements>"""
MAIL = """<bpmn:extensionElements><flowable:field name="to" expression="${customer}"/>
<flowable:field name="subject" expression="Receipt ${invoice}"/>
<flowable:field name="text" stringValue="Thank you"/></bpmn:extensionElements>"""


def order_to_cash(place: str) -> str:
    """The example, whose invoice is made by a REST connector and whose receipt is a mail."""
    text = ORDER.read_text("utf-8")
    for flow, code in CONDITIONS.items():
        found = re.search(rf'<bpmn:sequenceFlow id="{flow}"[^>]*?/>', text)
        assert found is not None
        condition = f"<bpmn:conditionExpression>${{{code}}}</bpmn:conditionExpression>"
        text = text.replace(found[0], f"{found[0][:-2]}>{condition}</bpmn:sequenceFlow>")
    for task, more, inner in (
        ("check_stock", ' camunda:expression="${inStock}" camunda:resultVariable="checked"', ""),
        ("create_invoice", "", REST.replace("PLACE", place)),
        ("send_receipt", ' flowable:type="mail"', MAIL),
    ):
        opened = re.search(rf'<bpmn:\w+Task id="{task}"[^>]*>', text)
        assert opened is not None
        text = text.replace(opened[0], f"{opened[0][:-1]}{more}>{inner}")
    spaces = (
        '<bpmn:definitions xmlns:camunda="http://camunda.org/schema/1.0/bpmn" '
        'xmlns:flowable="http://flowable.org/bpmn" '
    )
    return text.replace("<bpmn:definitions ", spaces, 1)


def runs_of(client: Client, workflow: str) -> list[dict[str, Any]]:
    """The executions of a workflow, also those that wait."""
    found = [one["id"] for one in executions_of(client) if one["workflowId"] == workflow]
    return [client.execution(one) for one in found]


@pytest.mark.parametrize("server_of", ["client", "older"])
def test_order_to_cash_runs_to_its_end_in_production(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server_of: str
) -> None:
    """Nobody opens the editor: a call that lacks something is refused, a complete one sends a
    request, two messages and a mail; a run that fails is reported in the words of the model."""
    client: Client = request.getfixturevalue(server_of)
    monkeypatch.setenv("N8N_API_KEY", client.key)
    monkeypatch.setenv("N8N_URL", client.url)
    before = set(client.workflows())
    with outside() as (http, mail):
        http.answer("/invoices", (201, "application/json", '{"number": "R-7"}'))
        model, file = tmp_path / "order.bpmn", tmp_path / "credentials.json"
        model.write_text(order_to_cash(http.place), "utf-8")
        smtp = {k: v for k, v in mail.credential.items() if k != "hostName"}
        file.write_text(json.dumps([{"name": "Post", "type": "smtp", "data": smtp}]), "utf-8")
        options = (
            "people=placeholder,errors=workflow,timeout=PT10M,payload=checked,callers=model,"
            f"sender=shop@a.example,messages=http://{http.place}/bus"
        )
        target = ["--target", f"n8n{{{options}}}"]
        assert cli.run(["deploy", str(model), *target, "--credentials", str(file)]) == 0
        try:
            made = [client.workflow(one) for one in set(client.workflows()) - before]
            rows = {row["name"]: row for row in made}
            whole, errors = rows["Order to cash"], rows["Order to cash: what failed"]
            assert whole["settings"]["errorWorkflow"] == errors["id"]
            (hook,) = [n for n in whole["nodes"] if n["name"] == "Order received"]
            url = f"{client.url}/webhook/{hook['parameters']['path']}"
            given: dict[str, Any] = {
                "order": "A", "customer": "kim@a.example", "inStock": True, "goods": True,
                "licences": False, "paid": True,
            }  # fmt: skip

            def ended(workflow: str, count: int) -> list[dict[str, Any]]:
                deadline = time.monotonic() + 120
                while time.monotonic() < deadline:
                    found = runs_of(client, workflow)
                    done = [one for one in found if one.get("status") in ("success", "error")]
                    if len(done) >= count:
                        return done
                    time.sleep(0.3)
                raise AssertionError(f"{workflow} has not ended {count} times")

            def pay() -> None:
                """As the bank: by a call of the address of the run that waits for it."""
                deadline = time.monotonic() + 120
                while time.monotonic() < deadline:
                    runs = runs_of(client, whole["id"])
                    for run in runs:
                        if run.get("status") == "waiting":
                            told = client.resume(run, {"sum": 3}, suffix="receive-payment")
                            assert told["status"] == 200
                            return
                    time.sleep(0.3)
                raise AssertionError("no run waits for a payment")

            refused = httpx.post(url, json={**given, "inStock": "yes"}, timeout=120)
            assert refused.status_code == 400
            assert refused.json()["problems"] == ["“inStock” has to be true or false"]
            answer = httpx.post(url, json=given, timeout=120)
            assert (answer.status_code, answer.json()["message"]) == (200, "Workflow was started")
            pay()
            runs = ended(whole["id"], 2)
            assert [one["status"] for one in runs] == ["success", "success"]
            sent = {one.path: json.loads(one.body) for one in http.received}
            assert sent["/invoices"] == {"of": "A"}
            assert sent["/bus/send-invoice"]["data"]["invoice"] == "R-7"
            ((to, message),) = mail.mails
            assert (to, message["subject"]) == (["kim@a.example"], "Receipt R-7")
            assert message["from"] == "shop@a.example"
            nobody = {**given, "customer": ""}
            assert httpx.post(url, json=nobody, timeout=120).status_code == 200
            pay()
            (report,) = ended(errors["id"], 1)
            said = report["data"]["resultData"]["runData"]["Report the failure"][0]
            text = said["data"]["main"][0][0]["json"]["text"]
            assert text.startswith("“Send receipt” (Accounting) of “Order to cash” failed: ")
        finally:
            assert cli.run(["undeploy", str(model), *target]) == 0
    assert set(client.workflows()) == before
