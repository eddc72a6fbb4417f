"""People who are asked by mail, on a real server: the mail arrives, its link opens the form, and
the answer that is entered there decides how the run continues."""

from __future__ import annotations

import html
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from editor_browser import browser_context, wait_for_form
from orgflow import cli
from orgflow.backends.n8n.server.client.client import Client
from orgflow.backends.n8n.server.process import N8nServer, Owner
from outside_servers import outside

MODEL = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:camunda="http://camunda.org/schema/1.0/bpmn" id="d"><message id="m" name="Order"/>
<process id="p" name="Approval by mail" isExecutable="true">
<startEvent id="s" name="Order"><messageEventDefinition messageRef="m"/></startEvent>
<userTask id="t" name="Check order" camunda:assignee="${boss}"><extensionElements>
<camunda:formData><camunda:formField id="amount" label="Amount" type="long"/></camunda:formData>
</extensionElements></userTask><exclusiveGateway id="g" name="How much?"/>
<endEvent id="big" name="Big"/><endEvent id="small" name="Small"/>
<sequenceFlow id="f0" sourceRef="s" targetRef="t"/>
<sequenceFlow id="f1" sourceRef="t" targetRef="g"/>
<sequenceFlow id="f2" sourceRef="g" targetRef="big"><conditionExpression>${amount &gt; 10}
</conditionExpression></sequenceFlow><sequenceFlow id="f3" sourceRef="g" targetRef="small">
<conditionExpression>${amount &lt;= 10}</conditionExpression></sequenceFlow>
</process></definitions>"""
TARGET = "n8n{people=mail,sender=office@a.example}"


@pytest.fixture(scope="module")
def browser(server: N8nServer, owner: Owner) -> Iterator[Any]:
    with browser_context(server, owner) as context:
        yield context


def test_the_link_in_a_mail_leads_to_the_form_whose_answer_decides(
    client: Client, browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("N8N_API_KEY", client.key)
    monkeypatch.setenv("N8N_URL", client.url)
    before = set(client.workflows())
    model, file = tmp_path / "approval.bpmn", tmp_path / "credentials.json"
    model.write_text(MODEL, "utf-8")
    with outside() as (_, mail):
        smtp = {k: v for k, v in mail.credential.items() if k != "hostName"}
        given = [{"name": "Mail of a live test", "type": "smtp", "data": smtp}]
        file.write_text(json.dumps(given), "utf-8")
        deploy = ["deploy", str(model), "--target", TARGET, "--credentials", str(file)]
        assert cli.run(deploy) == 0
        try:
            (id,) = set(client.workflows()) - before
            (hook,) = [n for n in client.workflow(id)["nodes"] if n["name"] == "Order"]
            url = f"{client.url}/webhook/{hook['parameters']['path']}"
            for number, (amount, end) in enumerate((("11", "Big"), ("3", "Small")), 1):
                mail.mails.clear()
                assert client.call(url, {"boss": "kim@a.example"})["status"] == 200
                until(lambda: bool(mail.mails))
                ((to, message),) = mail.mails
                assert (to, message["from"]) == (["kim@a.example"], "office@a.example")
                assert message["subject"] == "Check order"
                body = message.get_body(("html",))
                assert body is not None
                (link,) = re.findall(r'href="([^"]*)"', body.get_content())
                page = browser.new_page()
                page.goto(html.unescape(link))
                wait_for_form(page, "Check order")
                page.locator("#field-0").fill(amount)
                with page.expect_request(lambda request: request.method == "POST"):
                    page.click("#submit-btn")
                until(lambda wanted=number: len(client.executions(id)) == wanted)
                until(lambda: newest(client, id)["status"] == "success")
                done = newest(client, id)["data"]["resultData"]["runData"]
                assert {"Big", "Small"} & done.keys() == {end}
                page.close()
        finally:
            assert cli.run(["undeploy", str(model), "--target", TARGET]) == 0


def newest(client: Client, workflow: str) -> dict[str, Any]:
    found: dict[str, Any] = client.execution(client.executions(workflow)[-1])
    return found


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.2)
