"""People who are asked by mail, Slack or Teams, on a real server: the message arrives, its link
opens the form, and the answer that is entered there decides how the run continues."""

from __future__ import annotations

import html
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from editor_browser import wait_for_form
from fixed_hosts import FixedHosts
from orgflow import cli
from orgflow.backends.n8n.server.client.client import Client
from outside_servers import outside
from user_runs import executions_of

Json = dict[str, Any]
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
MAIL = "n8n{people=mail,sender=office@a.example}"


def ask_by_mail(client: Client, browser: Any, folder: Path) -> None:
    """With the environment of a user of the server of `client`."""
    before = set(client.workflows())
    model, file = folder / "approval.bpmn", folder / "credentials.json"
    model.write_text(MODEL, "utf-8")
    with outside() as (_, mail):
        smtp = {k: v for k, v in mail.credential.items() if k != "hostName"}
        given = [{"name": "Mail of a live test", "type": "smtp", "data": smtp}]
        file.write_text(json.dumps(given), "utf-8")
        deploy = ["deploy", str(model), "--target", MAIL, "--credentials", str(file)]
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
                fill_in(browser, html.unescape(link), amount)
                until(lambda wanted=number: len(_executions(client, id)) == wanted)
                until(lambda: newest(client, id)["status"] == "success")
                done = newest(client, id)["data"]["resultData"]["runData"]
                assert {"Big", "Small"} & done.keys() == {end}
        finally:
            assert cli.run(["undeploy", str(model), "--target", MAIL]) == 0


def fill_in(browser: Any, link: str, amount: str) -> None:
    page = browser.new_page()
    page.goto(link)
    wait_for_form(page, "Check order")
    page.locator("#field-0").fill(amount)
    with page.expect_response(lambda answer: answer.request.method == "POST"):
        page.click("#submit-btn")
    page.close()


HOSTILE = "<b>A & B</b>\n{{ 1 }}"
SHOWN = "&lt;b&gt;A &amp; B&lt;/b&gt;"
TOKEN = {"access_token": "at", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "r"}
SERVICES: dict[str, tuple[str, str, Json, str]] = {
    "slack": (
        "#approvals", "slackApi", {"accessToken": "at"}, "https://slack.com/api/chat.postMessage",
    ),
    "teams": (
        "19:chat@thread.v2", "microsoftTeamsOAuth2Api",
        {"clientId": "c", "clientSecret": "s", "oauthTokenData": TOKEN},
        "https://graph.microsoft.com/v1.0/chats/19:chat@thread.v2/messages",
    ),
}  # fmt: skip
"""For each service: who is asked, type and content of the credential, and what is called."""


def local_services(folder: Path) -> FixedHosts:
    """Slack and Teams on this machine."""
    hosts = ("slack.com", "graph.microsoft.com")
    answer = {"ok": True, "id": "m1", "channel": "C1", "ts": "1.2", "message": {"text": "sent"}}
    return FixedHosts(folder, hosts, lambda _: answer)


def ask_by_message(
    calling: Client, services: FixedHosts, browser: Any, folder: Path, by: str
) -> None:
    """With the environment of a user of the server of `calling`, which reaches `services`."""
    inbox, kind, data, called = SERVICES[by]
    before = set(calling.workflows())
    model, file = folder / f"{by}.bpmn", folder / "credentials.json"
    model.write_text(MODEL.replace("by mail", f"by {by}"), "utf-8")
    file.write_text(json.dumps([{"name": f"Access of {by}", "type": kind, "data": data}]), "utf-8")
    target = ["--target", f"n8n{{people={by},inbox={inbox}}}"]
    assert cli.run(["deploy", str(model), *target, "--credentials", str(file)]) == 0
    (id,) = set(calling.workflows()) - before
    (hook,) = [n for n in calling.workflow(id)["nodes"] if n["name"] == "Order"]
    url = f"{calling.url}/webhook/{hook['parameters']['path']}"
    for number, (amount, end) in enumerate((("11", "Big"), ("3", "Small")), 1):
        services.called.clear()
        assert calling.call(url, {"boss": HOSTILE})["status"] == 200
        until(lambda: bool(services.called))
        (sent,) = services.called
        assert (sent.method, sent.url) == ("POST", called)
        assert sent.headers["authorization"] == "Bearer at"
        if by == "slack":
            assert sent.body["channel"] == inbox
            sections = [one for one in sent.body["blocks"] if one["type"] == "section"]
            assert sections[0]["text"]["text"] == f"Check order\n\nFor: {SHOWN}\n{{{{ 1 }}}}"
            (actions,) = [one for one in sent.body["blocks"] if one["type"] == "actions"]
            (link,) = [button["url"] for button in actions["elements"]]
        else:
            text = sent.body["body"]["content"]
            words = f"Check order<br/><br/>For: {SHOWN}<br/>{{{{ 1 }}}}<br><br>"
            assert text.startswith(words)
            (link,) = re.findall(r'href="([^"]*)"', text)
        fill_in(browser, link, amount)
        until(lambda wanted=number: len(_executions(calling, id)) == wanted)
        until(lambda: newest(calling, id)["status"] == "success")
        done = newest(calling, id)["data"]["resultData"]["runData"]
        assert {"Big", "Small"} & done.keys() == {end}
    assert cli.run(["undeploy", str(model), *target]) == 0
    assert set(calling.workflows()) == before


def newest(client: Client, workflow: str) -> Json:
    """The last execution; one that changes its state is in none of n8n's lists for a moment."""
    while not (found := _executions(client, workflow)):
        time.sleep(0.1)
    return client.execution(str(max(int(one["id"]) for one in found)))


def _executions(client: Client, workflow: str) -> list[Json]:
    return [one for one in executions_of(client) if one["workflowId"] == workflow]


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.2)
