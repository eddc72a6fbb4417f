"""Tasks of people who are asked by mail, in Slack or in Teams, on n8n's engine: what is sent, and
what becomes of the answer. Mail goes to an SMTP server of the tests; what Slack and Teams would be
sent to an HTTP server in their place."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from email.message import EmailMessage
from typing import Any

import pytest
from engine_fixture import missing
from orgflow.backends.n8n.engine.install import engine_status
from orgflow.backends.n8n.engine.local import LocalEngine, RunRequest
from orgflow.backends.n8n.engine.runs import EngineRun
from orgflow.backends.n8n.format.document import Workflow
from orgflow.backends.n8n.format.form_fields import hidden_fields
from orgflow.backends.n8n.merge.three_way_merge import merge_workflows
from orgflow.backends.n8n.plan.target import N8N_TARGET
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.backends.n8n.verify.verify import verify_process
from orgflow.compiler import compile_model
from orgflow.evaluation.replay import replay_model
from outside_servers import HttpServer, MailServer, outside

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.model import Event, Expression, Flow, Gateway, Model, Process, Task
from orgflow_ir.model.bindings import Field, Form, Parameter
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.targets import Emitted
from orgflow_ir.targets.verification import Verdict

CREDENTIALS = {"mail": "smtp", "slack": "slackApi", "teams": "microsoftTeamsOAuth2Api"}
CHANNELS = tuple(CREDENTIALS)
FIELDS = (
    Field(name="amount", label="Amount", type="long", required=True),
    Field(name="note", label="Note", type="string"),
)


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[HttpServer, MailServer]]:
    with outside() as found:
        http, _ = found
        said = '{"ok": true}'
        http.answer("/api/chat.postMessage", (200, "application/json", said))
        yield found


@pytest.fixture(scope="module")
def engine(servers: tuple[HttpServer, MailServer]) -> Iterator[LocalEngine]:
    if not engine_status().installed:
        missing("n8n's engine is not installed")
    http, mail = servers
    credentials = {
        "smtp": mail.credential,
        "slackApi": {"accessToken": "x", "instead": {"https://slack.com": f"http://{http.place}"}},
        "microsoftTeamsOAuth2Api": {
            "graphApiBaseUrl": f"http://{http.place}", "grantType": "authorizationCode",
            "clientId": "a", "clientSecret": "b", "accessTokenUrl": f"http://{http.place}/token",
            "oauthTokenData": {"access_token": "t", "token_type": "Bearer"},
        },
    }  # fmt: skip
    with LocalEngine(reach=(http.place, mail.place), credentials=credentials) as running:
        yield running


def model(form: Form) -> Model:
    """Somebody is asked; behind it a gateway that reads the amount."""
    task = Task(id="t", name="Check order", doc="Look at <b>all</b> of it.", task_type="user",
                binding=form)  # fmt: skip
    nodes = (
        Event(id="s", position="start"), task, Gateway(id="g", gateway_kind="exclusive"),
        Event(id="big", name="Big", position="end"),
        Event(id="small", name="Small", position="end"),
    )  # fmt: skip
    flows = (
        Flow(id="f0", source="s", target="t"), Flow(id="f1", source="t", target="g"),
        Flow(id="f2", source="g", target="big", condition=Expression(text="${amount > 10}")),
        Flow(id="f3", source="g", target="small", condition=Expression(text="${amount <= 10}")),
    )  # fmt: skip
    return Model(id="m", processes=(Process(id="p", name="P", nodes=nodes, flows=flows),))


def made(source: Model, **options: str) -> tuple[Emitted, list[Diagnostic]]:
    registry = Registry()
    ctx = PassContext(registry=registry, options=options)
    found = compile_model(source, registry.backends["n8n"], ctx)
    assert found is not None, ctx.diagnostics
    return found, ctx.diagnostics


def workflow_of(source: Model, **options: str) -> Workflow:
    """The workflow, with the credential that its form needs."""
    found: Workflow = made(source, **options)[0].compiled["p"].root.workflow
    for node in found["nodes"]:
        if node["parameters"].get("operation") == "sendAndWait":
            kind = CREDENTIALS[options["people"]]
            node["credentials"] = {kind: {"id": "1", "name": "tests"}}
    return found


def played(engine: LocalEngine, workflow: Workflow, *answers: dict[str, Any]) -> EngineRun:
    start = next(n["name"] for n in workflow["nodes"] if n["type"].endswith("Trigger"))
    request = RunRequest(workflow, start, answers={"Check order": list(answers)}, data=True)
    (run,) = engine.run_many([request])
    return run


def test_a_mail_asks_and_its_answer_decides(
    engine: LocalEngine, servers: tuple[HttpServer, MailServer]
) -> None:
    """The mail goes to the assignee that the run computes, with a link to the form."""
    source = model(Form(fields=FIELDS, assignee="${boss}", inputs=(
        Parameter(name="hint", text="<i> for ${boss}"),)))  # fmt: skip
    workflow = workflow_of(source, people="mail", sender="shop@a.example", trigger="manual")
    mails = servers[1].mails
    for amount, end in (("11", "Big"), ("3", "Small")):
        mails.clear()
        request = RunRequest(
            workflow, "Start", items=[{"json": {"boss": "kim@a.example"}}], data=True,
            answers={"Check order": [{"Amount": amount}]},
        )  # fmt: skip
        (run,) = engine.run_many([request])
        assert run.status == "success", run.error
        assert run.order[-1].node == end
        assert [(w.node, w.kind, w.resumed) for w in run.waits] == [
            ("Check order", "form", "answer")
        ]
        ((to, mail),) = mails
        assert to == ["kim@a.example"]
        assert (mail["from"], mail["subject"]) == ("shop@a.example", "Check order")
        text = content(mail)
        assert "Look at &lt;b&gt;all&lt;/b&gt; of it." in text
        assert "hint: &lt;i&gt; for kim@a.example" in text
        assert "Open the form" in text
        assert "/webhook-waiting/" in text


@pytest.mark.parametrize("boss", ["kim", None, ["kim", "lee"]])
def test_nobody_gets_a_mail_without_an_address(
    engine: LocalEngine, servers: tuple[HttpServer, MailServer], boss: Any
) -> None:
    """The name of a user is no address: the run stops and names it, unless the model has one for
    another candidate, or an inbox is set."""
    form = Form(fields=FIELDS, assignee="${boss}")
    mails = servers[1].mails
    for form_, inbox, to in (
        (form, "", None),
        (form, "all@a.example", "all@a.example"),
        (form.replace(candidate_users="lou@a.example"), "", "lou@a.example"),
    ):
        mails.clear()
        options = {"inbox": inbox} if inbox else {}
        source = model(form_)
        options |= {"people": "mail", "sender": "shop@a.example", "trigger": "manual"}
        if to is None:
            found = made(source, **options)[1]
            assert [
                d for d in found if d.code == "OF426" and "the recipient of its mail" in d.message
            ]
        request = RunRequest(
            workflow_of(source, **options), "Start", items=[{"json": {"boss": boss}}], data=True,
            answers={"Check order": [{"Amount": "3"}]},
        )  # fmt: skip
        (run,) = engine.run_many([request])
        assert [one for ones, _ in mails for one in ones] == ([] if to is None else [to])
        assert (run.status == "success") == (to is not None), run.error
        if to is None:
            assert "which is not a mail address" in (run.error or "")


def content(mail: EmailMessage) -> str:
    body = mail.get_body(("html", "plain"))
    assert body is not None
    return str(body.get_content())


def test_slack_asks_and_its_answer_decides(
    engine: LocalEngine, servers: tuple[HttpServer, MailServer]
) -> None:
    http = servers[0]
    for inbox, channel in (("#orders", "#orders"), ("@kim", "@kim"), ("U0123456", "U0123456")):
        workflow = workflow_of(model(Form(fields=FIELDS)), people="slack", inbox=inbox)
        http.received.clear()
        run = played(engine, workflow, {"Amount": "12"})
        assert run.status == "success", run.error
        assert run.order[-1].node == "Big"
        (sent,) = http.received
        assert sent.path == "/api/chat.postMessage"
        said = json.loads(sent.body)
        assert said["channel"] == channel
        assert "Check order\n\nLook at &lt;b&gt;all" in sent.body.replace("\\n", "\n")
        assert "/webhook-waiting/" in sent.body


def test_teams_asks_and_its_answer_decides(
    engine: LocalEngine, servers: tuple[HttpServer, MailServer]
) -> None:
    http = servers[0]
    http.answer("/v1.0/chats/19%3Ax@thread.v2/messages", (200, "application/json", "{}"))
    source = model(Form(fields=FIELDS))
    workflow = workflow_of(source, people="teams", inbox="19:x@thread.v2")
    http.received.clear()
    run = played(engine, workflow, {"Amount": "12"})
    assert run.status == "success", run.error
    assert run.order[-1].node == "Big"
    (sent,) = http.received
    assert "/v1.0/chats/" in sent.path
    assert "Check order" in sent.body
    assert "/webhook-waiting/" in sent.body


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("version", ["2.41", "1.123"])
def test_every_run_is_that_of_the_model(channel: str, version: str, engine: LocalEngine) -> None:
    """Nothing is sent by a replay; the workflow is proved to do what the model says."""
    source = model(Form(fields=FIELDS, outputs=(Parameter(name="kept", text="${note}"),)))
    found, _ = made(source, people=channel, inbox="a@b.example", version=version)
    report = replay_model(source, found, LocalRunner(engine), PassContext())
    assert {(r.verdict, r.divergence) for r in report.runs} == {("equal", None)}
    assert len({tuple(r.elements) for r in report.runs}) == 2
    options = {"people": channel, "inbox": "a@b.example", "version": version}
    ctx = PassContext(target=N8N_TARGET, options=options)
    workflow = found.compiled["p"].root.workflow
    assert verify_process(source, source.processes[0], workflow, ctx).verdict is Verdict.PROVED


@pytest.mark.parametrize("channel", CHANNELS)
def test_an_answer_in_n8n_1_has_no_time(channel: str, engine: LocalEngine) -> None:
    """Nothing of n8n tells it from the output of another node, so the page identifies itself."""
    source = model(Form(fields=FIELDS))
    workflow = workflow_of(source, people=channel, inbox="a@b.example", version="1.123")
    (asking,) = [node for node in workflow["nodes"] if node["name"] == "Check order"]
    (page,) = hidden_fields(asking["parameters"])
    answer = {"Amount": "12", page: json.loads(hidden_fields(asking["parameters"])[page])}
    start = next(n["name"] for n in workflow["nodes"] if n["type"].endswith("Trigger"))
    for output, end in (({"data": answer}, "Big"), ({"amount": 3}, "Small")):
        stubs = {"Check order": {"visits": [output], "mode": "replace"}}
        (run,) = engine.run_many([RunRequest(workflow, start, stubs=stubs)])
        assert run.order[-1].node == end, run.error
        asking["type"], asking["typeVersion"] = "n8n-nodes-base.noOp", 1  # by a person
        asking["parameters"] = {}


@pytest.mark.parametrize("channel", CHANNELS)
def test_what_is_open_is_reported(channel: str) -> None:
    """The credential in any case; who gets it where neither model nor options name anybody."""
    _, found = made(model(Form(fields=FIELDS, assignee="kim")), people=channel)
    assert [d.code for d in found if d.code in ("OF424", "OF426")].count("OF424") == 1
    open_ones = [d.message for d in found if d.code == "OF426"]
    assert any("the recipient of its" in message for message in open_ones), open_ones
    _, found = made(
        model(Form(fields=FIELDS)), people=channel, inbox="a@b.example", sender="c@b.example"
    )
    assert [d.message for d in found if d.code == "OF426"] == []


@pytest.mark.parametrize("channel", CHANNELS)
def test_a_form_without_fields_is_sent_as_it_is(channel: str, engine: LocalEngine) -> None:
    task = Task(id="t", name="Check order", task_type="manual")
    nodes = (Event(id="s", position="start"), task, Event(id="e", name="End", position="end"))
    flows = (Flow(id="f0", source="s", target="t"), Flow(id="f1", source="t", target="e"))
    source = Model(id="m", processes=(Process(id="p", nodes=nodes, flows=flows),))
    inbox = {"mail": "a@b.example", "slack": "#x", "teams": "19:x@thread.v2"}[channel]
    workflow = workflow_of(source, people=channel, inbox=inbox, sender="c@b.example")
    run = played(engine, workflow, {})
    assert run.status == "success", run.error
    assert run.order[-1].node == "End"


def test_a_form_that_comes_again_takes_no_page_of_an_earlier_round(engine: LocalEngine) -> None:
    """Too small an amount is asked for again; a page of the first round answers nothing."""
    source = model(Form(fields=FIELDS))
    (process,) = source.processes
    flows = tuple(
        f.replace(target="j") if f.id == "f0" else f.replace(target="j") if f.id == "f3" else f
        for f in process.flows
    )
    nodes = (*(n for n in process.nodes if n.id != "small"),
             Gateway(id="j", gateway_kind="exclusive"))  # fmt: skip
    flows = (*flows, Flow(id="f9", source="j", target="t"))
    source = source.replace(processes=(process.replace(nodes=nodes, flows=flows),))
    workflow = workflow_of(source, people="mail", inbox="a@b.example", sender="c@b.example")
    asks = next(n for n in workflow["nodes"] if n["name"] == "Check order")
    hidden = [
        r for r in asks["parameters"]["formFields"]["values"] if r["fieldType"] == "hiddenField"
    ]
    assert len(hidden) == 1
    stale = {"Amount": "99", "orgflowPage": "check-order 0"}
    run = played(engine, workflow, {"Amount": "1"}, stale, {"Amount": "20"})
    assert run.status == "success", run.error
    assert len([n for n in run.order if n.node == "Check order"]) == 3
    (data,) = [n.items for n in run.order if n.node == "Check order data"][-1:]
    assert data is not None
    assert data[0][0]["amount"] == 20


def test_the_option_of_the_inbox_is_checked() -> None:
    assert N8N_TARGET.values["inbox"]("two words") is not None
    assert N8N_TARGET.values["inbox"]("#orders") is None
    assert "mail" in N8N_TARGET.options["people"]


def test_who_was_chosen_in_n8n_stays_when_the_model_changes() -> None:
    """A person chooses channel and credential; the model gets a field."""
    base = workflow_of(model(Form(fields=FIELDS)), people="slack", inbox="#orders")
    for node in base["nodes"]:
        node.pop("credentials", None)
    theirs = copy.deepcopy(base)
    (asks,) = [n for n in theirs["nodes"] if n["name"] == "Check order"]
    asks["parameters"]["channelId"]["value"] = "#desk"
    asks["credentials"] = {"slackApi": {"id": "1", "name": "mine"}}
    more = (*FIELDS, Field(name="why", label="Why?", type="string"))
    ours = workflow_of(model(Form(fields=more)), people="slack", inbox="#orders")
    for node in ours["nodes"]:
        node.pop("credentials", None)
    merged = merge_workflows(base, theirs, ours)
    assert merged.workflow is not None
    (found,) = [n for n in merged.workflow["nodes"] if n["name"] == "Check order"]
    assert found["parameters"]["channelId"]["value"] == "#desk"
    assert found["credentials"] == asks["credentials"]
    labels = [row["fieldLabel"] for row in found["parameters"]["formFields"]["values"]]
    assert labels == ["Amount", "Note", "Why?"]
    assert merged.conflicts == ()
