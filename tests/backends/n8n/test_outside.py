"""Requests and mails of models, sent by n8n's own engine to servers that the tests read.

What is expected is written down by hand from the manuals of the engines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any

import pytest
from engine_fixture import missing
from one_task import compiled, one_task, variables
from orgflow import cli
from orgflow.backends.n8n.engine.install import engine_status
from orgflow.backends.n8n.engine.local import EngineRun, LocalEngine, RunRequest
from outside_servers import HttpServer, MailServer, outside

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
Json = dict[str, Any]
JSON, TEXT = "application/json", "text/plain"
SECRETS = {
    "httpBearerAuth": {"token": "s3cret"},
    "httpBasicAuth": {"user": "kim", "password": "pw"},
    "httpHeaderAuth": {"name": "Authorization", "value": "Key 1"},
}


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[HttpServer, MailServer]]:
    with outside() as found:
        yield found


@pytest.fixture(scope="module")
def engine(servers: tuple[HttpServer, MailServer]) -> Iterator[LocalEngine]:
    if not engine_status().installed:
        missing("n8n's engine is not installed")
    http, mail = servers
    credentials = {**SECRETS, "smtp": mail.credential}
    with LocalEngine(reach=(http.place, mail.place), credentials=credentials) as running:
        yield running


def camunda(inputs: Json, outputs: Json, more: str = "", connector: str = "http-connector") -> str:
    rows = "".join(_parameter("inputParameter", n, v) for n, v in inputs.items())
    rows += "".join(_parameter("outputParameter", n, v) for n, v in outputs.items())
    return (
        '<serviceTask id="t" name="Work"><extensionElements><camunda:connector>'
        f"<camunda:inputOutput>{rows}</camunda:inputOutput><camunda:connectorId>{connector}</camunda:connectorId>"
        f"</camunda:connector>{more}</extensionElements></serviceTask>"
    )


def _parameter(tag: str, name: str, value: object) -> str:
    if isinstance(value, dict):
        entries = "".join(
            f'<camunda:entry key="{k}">{escape(v)}</camunda:entry>' for k, v in value.items()
        )
        inside = f"<camunda:map>{entries}</camunda:map>"
    else:
        inside = str(value) if str(value).startswith("<") else escape(str(value))
    return f'<camunda:{tag} name="{name}">{inside}</camunda:{tag}>'


def zeebe(inputs: Json, headers: Json, retries: str = "1") -> str:
    rows = "".join(f'<zeebe:input source="{escape(v)}" target="{n}"/>' for n, v in inputs.items())
    heads = "".join(f'<zeebe:header key="{n}" value="{escape(v)}"/>' for n, v in headers.items())
    return (
        '<serviceTask id="t" name="Work"><extensionElements>'
        f'<zeebe:taskDefinition type="io.camunda:http-json:1" retries="{retries}"/>'
        f"<zeebe:ioMapping>{rows}</zeebe:ioMapping><zeebe:taskHeaders>{heads}</zeebe:taskHeaders>"
        "</extensionElements></serviceTask>"
    )


def flowable(kind: str, **fields: str) -> str:
    rows = "".join(
        f'<flowable:field name="{n}"><flowable:expression>{escape(v)}</flowable:expression>'
        "</flowable:field>"
        for n, v in fields.items()
    )
    return (
        f'<serviceTask id="t" name="Work" flowable:type="{kind}"><extensionElements>{rows}'
        "</extensionElements></serviceTask>"
    )


def jbpm(handler: str, outputs: dict[str, str], **inputs: str) -> str:
    names = "".join(f'<dataInput id="i{n}" name="{n}"/>' for n in (*inputs, "TaskName")) + "".join(
        f'<dataOutput id="o{n}" name="{n}"/>' for n in outputs
    )
    given = "".join(
        f"<dataInputAssociation><targetRef>i{n}</targetRef><assignment><from>{escape(v)}</from>"
        f"<to>i{n}</to></assignment></dataInputAssociation>"
        for n, v in inputs.items()
    )
    taken = "".join(
        f"<dataOutputAssociation><sourceRef>o{n}</sourceRef><targetRef>{v}</targetRef>"
        "</dataOutputAssociation>"
        for n, v in outputs.items()
    )
    return (
        f'<task id="t" name="Work" xmlns:drools="http://www.jboss.org/drools" '
        f'drools:taskName="{handler}"><ioSpecification>{names}</ioSpecification>{given}{taken}</task>'
    )


def played(
    engine: LocalEngine, folder: Path, task: str, given: Json
) -> tuple[EngineRun, list[str], Json]:
    """The run of a process of one task, the messages of what is lost, and the task's node."""
    process, ctx = compiled(one_task(task), folder)
    workflow = process.root.workflow
    (node,) = [n for n in workflow["nodes"] if n["name"] == "Work"]
    kind = "smtp" if "email" in node["type"] else node["parameters"].get("genericAuthType")
    if kind is not None:  # as a person does
        node["credentials"] = {kind: {"id": "c1", "name": "mine"}}
    run = engine.run(workflow, "Start", items=[{"json": given}], data=True)
    said = [d.message for d in ctx.diagnostics if d.code in ("OF404", "OF424")]
    return run, said, dict(node)


def test_camunda_7(engine: LocalEngine, servers: tuple[HttpServer, Any], tmp_path: Path) -> None:
    http = servers[0]
    http.answer("/orders/7", (201, JSON, '{"id": "o1", "lines": [{"price": 3}]}'))
    task = camunda(
        {
            "url": f"http://{http.place}/orders/${{number}}",
            "method": "POST",
            "headers": {"Content-Type": "application/json", "X-From": "${who}"},
            "payload": '{"who": "${who}"}',
        },
        {
            "order": '${JSON(response).prop("id").stringValue()}',
            "price": '${S(response).prop("lines").elements().get(0).prop("price").value()}',
            "code": "${statusCode}",
        },
    )
    hostile = '"}}{{ $json }}"\\'
    run, said, _ = played(engine, tmp_path, task, {"number": 7, "who": "Kim", "body": hostile})
    assert said == []
    assert variables(run) == {
        "number": 7, "who": "Kim", "body": hostile, "order": "o1", "price": 3, "code": 201,
    }  # fmt: skip
    got = http.received[-1]
    assert (got.method, got.path, got.body) == ("POST", "/orders/7", '{"who": "Kim"}')
    assert (got.headers["content-type"], got.headers["x-from"]) == (JSON, "Kim")


def test_camunda_7_hands_over_answers_of_failure(
    engine: LocalEngine, servers: tuple[HttpServer, Any], tmp_path: Path
) -> None:
    http = servers[0]
    http.answer("/gone", (404, TEXT, "no"))
    task = camunda({"url": f"http://{http.place}/gone"}, {"code": "${statusCode}"})
    run, _, _ = played(engine, tmp_path, task, {})
    assert variables(run) == {"code": 404}


def test_soap(engine: LocalEngine, servers: tuple[HttpServer, Any], tmp_path: Path) -> None:
    http = servers[0]
    http.answer("/soap", (200, "text/xml", "<a>1</a>"))
    task = camunda(
        {"url": f"http://{http.place}/soap", "headers": {"SOAPAction": "urn:ship"},
         "payload": "<Envelope><id>${id}</id></Envelope>".replace("<", "&lt;")},
        {"answer": "${response}"},
        connector="soap-http-connector",
    )  # fmt: skip
    run, _, _ = played(engine, tmp_path, task.replace("&amp;lt;", "&lt;"), {"id": "x"})
    assert variables(run) == {"id": "x", "answer": "<a>1</a>"}
    got = http.received[-1]
    assert got.headers["soapaction"] == "urn:ship"
    assert got.headers["content-type"].startswith("text/xml")
    assert got.body == "<Envelope><id>x</id></Envelope>"


def test_camunda_8(engine: LocalEngine, servers: tuple[HttpServer, Any], tmp_path: Path) -> None:
    http = servers[0]
    http.answer("/rest", (200, JSON, '{"sum": 5, "name": "n"}'))
    task = zeebe(
        {
            "url": f'="http://{http.place}/" + path', "method": "post",
            "authentication.type": "bearer", "authentication.token": "{{secrets.CRM_TOKEN}}",
            "headers": '={"X-A": who}', "queryParameters": '={"q": 1 + 1}',
            "body": '={"who": who, "all": [1, 2]}',
        },
        {"resultVariable": "answer",
         "resultExpression": "={total: response.body.sum * 2, ok: status = 200}"},
    )  # fmt: skip
    run, said, node = played(engine, tmp_path, task, {"path": "rest", "who": "Zoé"})
    assert said == ["`Work` needs a bearer token (secret CRM_TOKEN)"]
    assert "CRM_TOKEN" not in str(node["parameters"])
    found = variables(run)
    assert isinstance(found, dict)
    assert (found["total"], found["ok"]) == (10, True)
    assert (found["answer"]["status"], found["answer"]["body"]) == (200, {"sum": 5, "name": "n"})
    got = http.received[-1]
    assert (got.method, got.path) == ("POST", "/rest?q=2")
    assert got.body == '{"who":"Zoé","all":[1,2]}'
    assert (got.headers["authorization"], got.headers["content-type"]) == ("Bearer s3cret", JSON)


@pytest.mark.parametrize(
    ("status", "text", "wanted"),
    [
        (200, "{}", {"answer": 200}),
        (404, "{}", "NOT_THERE: nobody"),
        (500, "{}", "HTTP 500 Internal Server Error"),
        (200, '{"state": "bad"}', "BAD: x"),
    ],
)
def test_errors_of_camunda_8(
    engine: LocalEngine, servers: tuple[HttpServer, Any], tmp_path: Path, status: int, text: str,
    wanted: Json | str,
) -> None:  # fmt: skip
    http = servers[0]
    http.answer("/err", (status, JSON, text))
    errors = (
        '=if error.code = "404" then bpmnError("NOT_THERE", "nobody") else '
        'if response.body.state = "bad" then bpmnError("BAD", "x") else null'
    )
    task = zeebe(
        {"url": f"http://{http.place}/err", "method": "GET"},
        {"errorExpression": errors, "resultExpression": "={answer: status}"},
    )
    run, _, _ = played(engine, tmp_path, task, {})
    assert variables(run) == wanted


CATCHING = """
<boundaryEvent id="b1" name="Nobody" attachedToRef="t">
<errorEventDefinition errorRef="E1"/></boundaryEvent>
<boundaryEvent id="b2" name="Trouble" attachedToRef="t"><errorEventDefinition/></boundaryEvent>
<endEvent id="e1" name="Not there"/><endEvent id="e2" name="Failed"/>
<sequenceFlow id="c1" sourceRef="b1" targetRef="e1"/>
<sequenceFlow id="c2" sourceRef="b2" targetRef="e2"/>
"""


def caught(task: str) -> str:
    """The process of a task, with events that catch an error by its code, and any."""
    errors = '<error id="E1" name="Not there" errorCode="NOT_THERE"/>'
    text = one_task(task + CATCHING)
    return text.replace("</process></definitions>", f"</process>{errors}</definitions>")


@pytest.mark.parametrize(
    ("status", "end"),
    [(200, "Done"), (404, "Not there"), (409, "Failed"), (500, "HTTP 500 Internal Server Error")],
)
def test_errors_that_an_answer_means_are_caught(
    engine: LocalEngine, servers: tuple[HttpServer, Any], tmp_path: Path, status: int, end: str
) -> None:
    """By their codes, and by the event that catches all of them; a failure that is none of them
    stops the run, as it is an incident in Camunda 8."""
    http = servers[0]
    http.answer("/caught", (status, JSON, "{}"))
    task = zeebe(
        {"url": f"http://{http.place}/caught", "method": "GET"},
        {"errorExpression": '=if error.code = "404" then bpmnError("NOT_THERE", "x") else if '
         'error.code = "409" then bpmnError("BUSY", "y") else null'},
    )  # fmt: skip
    process, _ = compiled(caught(task), tmp_path)
    (run,) = engine.run_many([RunRequest(process.root.workflow, "Start", data=True)])
    if status == 500:
        assert (run.status, run.error) == ("error", end)
        return
    assert run.status == "success", run.error
    last = run.order[-1]
    assert last.node == end
    assert last.items is not None
    assert ("lastError" in last.items[0][0]) == (end != "Done")


def test_tries_that_are_used_up_are_no_error_of_the_process(
    engine: LocalEngine, servers: tuple[HttpServer, Any], tmp_path: Path
) -> None:
    http = servers[0]
    http.answer("/down", (503, TEXT, ""))
    task = zeebe({"url": f"http://{http.place}/down", "method": "GET"},
                 {"retryBackoff": "PT0.1S"}, "3")  # fmt: skip
    process, _ = compiled(caught(task), tmp_path)
    (run,) = engine.run_many([RunRequest(process.root.workflow, "Start", data=True)])
    assert run.status == "error"
    assert "503" in (run.error or "")
    assert len([got for got in http.received if got.path == "/down"]) == 3


def test_retries_send_one_key(
    engine: LocalEngine, servers: tuple[HttpServer, Any], tmp_path: Path
) -> None:
    http = servers[0]
    http.answer("/flaky", (503, TEXT, ""), (503, TEXT, ""), (200, JSON, "{}"))
    task = zeebe(
        {"url": f"http://{http.place}/flaky", "method": "POST", "body": "={a: 1}"},
        {"retryBackoff": "PT1M", "resultExpression": "={answer: status}"},
        "4",
    )
    run, said, node = played(engine, tmp_path, task, {})
    assert variables(run) == {"answer": 200}
    assert (node["retryOnFail"], node["maxTries"], node["waitBetweenTries"]) == (True, 4, 5000)
    assert said == [
        "n8n does not do the retries `4 PT1M` (n8n tries 5 times, 5 seconds apart) of `Work` as "
        "defined in the model"
    ]
    keys = [got.headers["idempotency-key"] for got in http.received if got.path == "/flaky"]
    assert len(keys) == 3
    assert len(set(keys)) == 1


def test_a_request_that_does_something_has_a_key(
    engine: LocalEngine, servers: tuple[HttpServer, Any], tmp_path: Path
) -> None:
    """The key is computed in front of the request, so that n8n keeps it when a failed run is tried
    again; a model that has one of its own keeps that, and what may be repeated needs none."""
    http = servers[0]
    url = f"http://{http.place}/key"
    for given, wanted in (
        ({"url": url, "method": "POST", "payload": "same"}, "-t-0"),
        ({"url": url, "method": "PATCH", "headers": {"idempotency-key": "own"}}, "own"),
        ({"url": url, "method": "PUT", "payload": "same"}, None),
        ({"url": url, "method": "DELETE"}, None),
    ):
        run, _, node = played(engine, tmp_path, camunda(given, {}), {})
        assert run.status == "success", run.error
        key = http.received[-1].headers.get("idempotency-key")
        assert (key or "").endswith(wanted or "")
        assert (key is None) is (wanted is None)
        assert "$execution" not in str(node["parameters"])


def test_what_looks_like_feel_is_a_text_with_other_vendors(
    engine: LocalEngine, servers: tuple[HttpServer, MailServer], tmp_path: Path
) -> None:
    http, mail = servers
    url = f"http://{http.place}/text"
    run, _, _ = played(
        engine, tmp_path, camunda({"url": url, "method": "POST", "payload": "=a${b}"}, {}), {"b": 1}
    )
    assert run.status == "success", run.error
    assert http.received[-1].body == "=a1"
    task = flowable(
        "mail", **{"from": "a@a.example"}, to="b@a.example", subject="=5 apples", text="= ${b}"
    )
    run, _, _ = played(engine, tmp_path, task, {"b": 1})
    assert run.status == "success", run.error
    message = mail.mails[-1][1]
    assert (message["subject"], message.get_content().strip()) == ("=5 apples", "= 1")


def test_flowable(engine: LocalEngine, servers: tuple[HttpServer, Any], tmp_path: Path) -> None:
    http = servers[0]
    http.answer("/f", (200, JSON, '{"a": 1}'), (409, TEXT, "no"), (500, TEXT, "no"))
    task = flowable(
        "http", requestMethod="PUT", requestUrl=f"http://{http.place}/f?id=${{id}}",
        requestHeaders="Content-Type: application/json\nX-B: ${id}", requestBody='{"id": ${id}}',
        responseVariableName="back", saveResponseVariableAsJson="true",
        handleStatusCodes="4XX", failStatusCodes="500-599",
    )  # fmt: skip
    runs = [variables(played(engine, tmp_path, task, {"id": 3})[0]) for _ in range(3)]
    assert runs == [{"id": 3, "back": {"a": 1}}, "HTTP409", "HTTP500"]
    got = http.received[-1]
    assert (got.method, got.path, got.body) == ("PUT", "/f?id=3", '{"id": 3}')
    assert got.headers["x-b"] == "3"


def test_jbpm(engine: LocalEngine, servers: tuple[HttpServer, Any], tmp_path: Path) -> None:
    http = servers[0]
    http.answer("/j", (200, TEXT, "fine"))
    task = jbpm(
        "Rest", {"Result": "answer", "Status": "code"}, Url=f"http://{http.place}/j",
        Method="POST", ContentData="x=#{x}", ContentType="text/csv", AuthType="BASIC",
        Username="kim", Password="hidden",
    )  # fmt: skip
    run, said, node = played(engine, tmp_path, task, {"x": 1})
    assert variables(run) == {"x": 1, "answer": "fine", "code": 200}
    assert said == ["`Work` needs a user name and password (user kim)"]
    assert "hidden" not in str(node)
    got = http.received[-1]
    assert (got.body, got.headers["content-type"]) == ("x=1", "text/csv")
    assert got.headers["authorization"].startswith("Basic ")


def test_mail(engine: LocalEngine, servers: tuple[Any, MailServer], tmp_path: Path) -> None:
    mail = servers[1]
    task = flowable(
        "mail", **{"from": "shop@a.example"}, to="${to}", cc="c@a.example", subject="Order ${id}",
        text="Hello ${name},\n=now", html="<b>${name}</b>",
    )  # fmt: skip
    given = {"to": "kim@a.example, lee@a.example", "id": 4, "name": "Kim {{ 1 }}"}
    run, said, _ = played(engine, tmp_path, task, given)
    assert run.status == "success", run.error
    assert said == ["`Work` needs a mail server (SMTP)"]
    to, message = mail.mails[-1]
    assert to == ["kim@a.example", "lee@a.example", "c@a.example"]
    assert (message["subject"], message["from"]) == ("Order 4", "shop@a.example")
    parts = {part.get_content_type(): part.get_content().strip() for part in message.walk()
             if not part.is_multipart()}  # fmt: skip
    assert parts["text/plain"].replace("\r\n", "\n") == "Hello Kim {{ 1 }},\n=now"
    assert parts["text/html"] == "<b>Kim {{ 1 }}</b>"


def test_a_mail_without_a_sender_is_open_until_somebody_says_it(tmp_path: Path) -> None:
    task = flowable("mail", to="kim@a.example", subject="Hi")
    process, ctx = compiled(one_task(task), tmp_path)
    (node,) = [n for n in process.root.workflow["nodes"] if n["name"] == "Work"]
    assert node["parameters"]["fromEmail"] == ""
    (found,) = [d for d in ctx.diagnostics if d.code == "OF426"]
    assert found.message == "the model does not define the sender for `Work`"
    path, out = tmp_path / "model.bpmn", tmp_path / "out.json"
    target = "n8n{sender=shop@a.example}"
    assert cli.run(["compile", str(path), "--target", target, "-o", str(out)]) == 0
    (node,) = [n for n in json.loads(out.read_text("utf-8"))["nodes"] if n["name"] == "Work"]
    assert node["parameters"]["fromEmail"] == "shop@a.example"
    report = tmp_path / "r.md"
    assert cli.run(["compile", str(path), "--target", "n8n", "--report", str(report)]) == 0
    assert "### Settings\n\n- [ ] the model does not define the sender for `Work`: set" in (
        report.read_text("utf-8")
    )


def test_mail_of_camunda_7(
    engine: LocalEngine, servers: tuple[Any, MailServer], tmp_path: Path
) -> None:
    given = {"from": "a@a.example", "to": "${to}", "subject": "Order ${id}", "text": "Dear ${to}"}
    run, said, _ = played(
        engine, tmp_path, camunda(given, {}, connector="mail-send"), {"to": "k@a.example", "id": 4}
    )
    assert run.status == "success", run.error
    assert said == ["`Work` needs a mail server (SMTP)"]
    to, message = servers[1].mails[-1]
    assert (to, message["subject"]) == (["k@a.example"], "Order 4")
    assert message.get_content().strip() == "Dear k@a.example"


def test_what_a_request_reads_and_nobody_set_stops_the_run(
    engine: LocalEngine, servers: tuple[HttpServer, Any], tmp_path: Path
) -> None:
    http = servers[0]
    task = camunda({"url": f"http://{http.place}/${{missing}}"}, {})
    count = len(http.received)
    run, _, _ = played(engine, tmp_path, task, {})
    assert variables(run) == (
        "“missing” was never set, and “Work” reads it. Set it in the input of the run."
    )
    assert len(http.received) == count


LEFT = (
    (camunda({"url": "${bean.url()}"}, {}), "URL: calls of `url` are not supported"),
    (zeebe({"url": "https://a.example?k={{secrets.K}}"}, {}), "the URL contains a secret"),
    (zeebe({"url": "https://a.example"}, {"errorExpression": "=f(error)"}),
     "only `if`, `bpmnError` and null are supported in error expressions"),
    (zeebe({"method": "GET"}, {}), "the model does not define the URL"),
    (flowable("http", requestUrl="https://a.example", failStatusCodes="oops"),
     "`oops` is not an HTTP status"),
    (flowable("mail", subject="Hi"), "the model does not define the recipient"),
    (camunda({"to": "a@b.example", "subject": '<camunda:script scriptFormat="groovy">x'
              "</camunda:script>"}, {}, connector="mail-send"),
     "subject is a script, which is not supported here"),
    (flowable("mail", to="a@b.example", attachments="${file}"), "`attachments` is not supported"),
    (camunda({"url": "https://a.example", "headers": {"X\nY": "1"}}, {}), "is no header"),
    (camunda({"url": "https://a.example", "method": "POST", "payload": {"a": "1"}}, {}),
     "body: a list or map is not a text"),
)  # fmt: skip


@pytest.mark.parametrize(("task", "reason"), LEFT)
def test_what_is_not_understood_is_left_with_the_reason(
    task: str, reason: str, tmp_path: Path
) -> None:
    process, ctx = compiled(one_task(task), tmp_path)
    (node,) = [n for n in process.root.workflow["nodes"] if n["name"] == "Work"]
    assert node["type"] == "n8n-nodes-base.noOp"
    (found,) = [d for d in ctx.diagnostics if d.code == "OF404"]
    assert reason in found.message


def test_runs_of_the_model_send_nothing(
    engine: LocalEngine, servers: tuple[HttpServer, Any], tmp_path: Path
) -> None:
    """A replay has stubs in the place of what sends."""
    http = servers[0]
    count = len(http.received)
    model = tmp_path / "model.bpmn"
    model.write_text(one_task(camunda({"url": f"http://{http.place}/x"}, {})), "utf-8")
    assert cli.run(["run", str(model)]) == 0
    out = f"{tmp_path}/checked.json"
    assert cli.run(["compile", str(model), "--target", "n8n", "-o", out]) == 0
    assert cli.run(["check", "--strict", out]) == 0
    assert (
        cli.run(["compile", str(model), "--target", "n8n", "--verify", "-o", f"{tmp_path}/o.json"])
        == 0
    )
    assert len(http.received) == count


def test_order_to_cash_sends_a_request_and_a_mail(
    engine: LocalEngine, servers: tuple[HttpServer, MailServer], tmp_path: Path
) -> None:
    """The example, whose invoice is made by a REST connector and whose receipt is a mail."""
    http, mail = servers
    http.answer("/invoices", (201, JSON, '{"number": "R-7"}'))
    text = (EXAMPLES / "order-to-cash/model.bpmn").read_text("utf-8")
    invoice = camunda(
        {"url": f"http://{http.place}/invoices", "method": "POST", "payload": '{"of": "${order}"}'},
        {"invoice": '${JSON(response).prop("number").stringValue()}'},
    )
    receipt = flowable(
        "mail", **{"from": "shop@a.example"}, to="${customer}", subject="Receipt ${invoice}",
        text="Thank you",
    )  # fmt: skip
    for task, made in (("create_invoice", invoice), ("send_receipt", receipt)):
        _, _, rest = made.partition('name="Work"')
        attributes, _, content = rest.partition(">")
        inner = content.rpartition("</serviceTask>")[0]
        opened = re.search(rf'<bpmn:\w+Task id="{task}"[^>]*>', text)
        assert opened is not None
        element = f"{opened[0][:-1]} {attributes}>{inner.replace('extension', 'bpmn:extension')}"
        text = text.replace(opened[0], element)
    text = text.replace(
        "<bpmn:definitions ",
        '<bpmn:definitions xmlns:camunda="http://camunda.org/schema/1.0/bpmn" '
        'xmlns:flowable="http://flowable.org/bpmn" ',
        1,
    )
    process, ctx = compiled(text, tmp_path, waits="execution")
    assert [d.message for d in ctx.diagnostics if d.code == "OF404"] == []
    workflow = process.root.workflow
    (sends,) = [n for n in workflow["nodes"] if n["name"] == "Send receipt"]
    sends["credentials"] = {"smtp": {"id": "c1", "name": "mine"}}
    given = {"body": {"order": "A-1", "customer": "kim@a.example"}}
    checked = {"all_items_in_stock": "Yes", "what_is_in_the_order": ["Goods"]}
    run = engine.run(
        workflow,
        "Order received",
        items=[{"json": given}],
        stubs={
            "Check stock": {"visits": [checked]},
            "Receive payment": {"visits": [{"body": {"paid_in_full": "Yes"}}]},
        },
        data=True,
    )
    assert run.status == "success", run.error
    assert http.received[-1][:2] == ("POST", "/invoices")
    assert http.received[-1].body == '{"of": "A-1"}'
    to, message = mail.mails[-1]
    assert (to, message["subject"]) == (["kim@a.example"], "Receipt R-7")


def test_headers_of_a_context_are_sent_one_by_one(
    engine: LocalEngine, servers: tuple[HttpServer, Any], tmp_path: Path
) -> None:
    """The type of the body is one of them; a secret among them becomes a credential."""
    http = servers[0]
    task = zeebe(
        {
            "url": f"http://{http.place}/soap8", "method": "POST",
            "headers": '={"Content-Type": "text/xml", "X-Who": who, Authorization: '
            '"Key {{secrets.K}}"}',
            "body": '="<a>" + who + "</a>"',
        },
        {},
    )  # fmt: skip
    run, said, _ = played(engine, tmp_path, task, {"who": "Kim"})
    assert run.status == "success", run.error
    assert said == ["`Work` needs a header (header Authorization (secret K))"]
    got = http.received[-1]
    assert (got.body, got.headers["content-type"]) == ("<a>Kim</a>", "text/xml")
    assert (got.headers["x-who"], got.headers["authorization"]) == ("Kim", "Key 1")


BOXED = {"a": "Zoé", "n": 1.5, "yes": True, "none": None, "list": [1, {"b": "c"}]}


@pytest.mark.parametrize(
    ("headers", "body", "kind", "sent"),
    [
        ({"X-A": "1"}, BOXED, JSON, json.dumps(BOXED, ensure_ascii=False, separators=(",", ":"))),
        ({"content-type": "application/vnd.a+json", "X-A": "1"}, "[1]", "application/vnd.a+json",
         "[1]"),
        ({"Content-Type": "text/plain; charset=utf-8", "X-A": "1"}, "hi",
         "text/plain; charset=utf-8", "hi"),
        ({"CONTENT-TYPE": "application/x-www-form-urlencoded", "X-A": "1"}, {"q": "a b", "z": None},
         "application/x-www-form-urlencoded", "q=a+b&z"),
        ({"Content-Type": "multipart/form-data", "X-A": "1"}, {"q": "a"}, "",
         "A body of the type multipart/form-data is not supported."),
        ({"X-A": "1"}, "hi", "", "The body of the request is not JSON: hi"),
    ],
)  # fmt: skip
def test_headers_in_one_variable_with_a_body(
    engine: LocalEngine, servers: tuple[HttpServer, Any], tmp_path: Path,
    headers: Json, body: Any, kind: str, sent: str,
) -> None:  # fmt: skip
    """The type of the body is only known in the run."""
    http = servers[0]
    url = f"http://{http.place}/whole"
    task = zeebe({"url": url, "method": "POST", "headers": "=given", "body": "=content"}, {})
    run, said, _ = played(engine, tmp_path, task, {"given": headers, "content": body})
    assert said == []
    if not kind:
        assert variables(run) == sent
        return
    assert run.status == "success", run.error
    got = http.received[-1]
    assert (got.body, got.headers["content-type"], got.headers["x-a"]) == (sent, kind, "1")


@pytest.mark.parametrize(
    "task",
    [
        jbpm("Email", {}, To="a@a.example", From="c@a.example", Body="x",
             **{"Reply-To": "#{boss}"}),
        flowable("mail", to="a@a.example", **{"from": "c@a.example"}, text="x",
                 headers="Reply-To: ${boss}"),
        zeebe({"protocol": "smtp", "data.smtpAction.from": "c@a.example",
               "data.smtpAction.to": "a@a.example", "data.smtpAction.body": "x",
               "data.smtpAction.headers": '={"reply-to": boss}'}, {}).replace("http-json", "email"),
    ],
)  # fmt: skip
def test_replies_go_to_another_address(
    engine: LocalEngine, servers: tuple[Any, MailServer], tmp_path: Path, task: str
) -> None:
    run, said, _ = played(engine, tmp_path, task, {"boss": "boss@a.example"})
    assert run.status == "success", run.error
    assert [one for one in said if "SMTP" not in one] == []
    _, message = servers[1].mails[-1]
    assert message["reply-to"] == "boss@a.example"


def test_other_headers_of_a_mail_are_refused(tmp_path: Path) -> None:
    task = flowable("mail", to="a@a.example", headers="Reply-To: b@a.example\nX-A: 1")
    _, ctx = compiled(one_task(task), tmp_path)
    (said,) = [d.message for d in ctx.diagnostics if d.code == "OF404"]
    assert "of the headers of a mail, only `Reply-To` is supported" in said


OF_JBPM = {"Result": "r", "Status": "st", "StatusMsg": "m"}
OCTETS = "application/octet-stream"


@pytest.mark.parametrize(
    ("make", "answer", "left"),
    [
        (lambda u: camunda({"url": u, "method": "GET"}, {"r": "${response}"}),
         (200, JSON, '{"a":  1.0}'), {"r": '{"a":  1.0}'}),
        (lambda u: camunda({"url": u, "method": "GET"}, {"r": "${response}"}),
         (200, JSON, "no JSON"), {"r": "no JSON"}),
        (lambda u: camunda({"url": u, "method": "GET"}, {"r": "${response}"}),
         (200, JSON, ""), {"r": ""}),
        (lambda u: camunda({"url": u, "method": "GET"}, {"r": "${response}"}),
         (200, OCTETS, "a,b\nü"), {"r": "a,b\nü"}),
        (lambda u: zeebe({"url": u, "method": "GET", "followRedirects": "=false"},
                         {"resultExpression": "={r: status}"}), (302, TEXT, ""), {"r": 302}),
        (lambda u: zeebe({"url": u, "method": "GET"}, {"resultExpression": "={r: body}"}),
         (200, OCTETS, '{"a": "ü"}'), {"r": {"a": "ü"}}),
        (lambda u: zeebe({"url": u, "method": "GET"}, {"resultExpression": "={r: body}"}),
         (200, JSON, "7"), {"r": "7"}),
        (lambda u: zeebe({"url": u, "method": "GET"}, {"resultExpression": "={r: body}"}),
         (200, JSON, " "), {"r": None}),
        (lambda u: flowable("http", requestMethod="GET", requestUrl=u, responseVariableName="r",
                            saveResponseVariableAsJson="true"), (200, JSON, ""), {"r": None}),
        (lambda u: jbpm("Rest", OF_JBPM, Url=u), (200, TEXT, "fine"),
         {"r": "fine", "st": 200, "m": "request to endpoint URL successfully completed OK"}),
        (lambda u: jbpm("Rest", OF_JBPM, Url=u), (404, TEXT, "none"),
         {"r": None, "st": 404, "m": "endpoint URL could not be reached: none"}),
        (lambda u: jbpm("Rest", {"Result": "r"}, Url=u, ResultClass="org.acme.Order"),
         (200, JSON, '{"n": 1}'), {"r": {"n": 1}}),
    ],
)  # fmt: skip
def test_an_answer_is_what_the_server_has_sent(
    engine: LocalEngine, servers: tuple[HttpServer, Any], tmp_path: Path,
    make: Callable[[str], str], answer: tuple[int, str, str], left: Json,
) -> None:  # fmt: skip
    """n8n reads JSON into an object, makes an empty one of a text that is none, and gives no text
    of types that it takes for files."""
    http = servers[0]
    http.answer("/is", answer)
    url = f"http://{http.place}/is"
    look = (
        '<scriptTask id="k" name="Look" scriptFormat="groovy"><script>'
        "execution.setVariable('looked', ["
        + ", ".join(f"{name}: {name}" for name in left)
        + "])</script></scriptTask>"
        '<sequenceFlow id="f2" sourceRef="k" targetRef="e"/>'
    )
    text = one_task(make(url)).replace(
        'sourceRef="t" targetRef="e"/>', f'sourceRef="t" targetRef="k"/>{look}'
    )
    process, _ = compiled(text, tmp_path)
    run = engine.run(process.root.workflow, "Start", items=[{"json": {}}], data=True)
    found = variables(run)
    assert isinstance(found, dict), found
    assert found["looked"] == {
        name: value.replace("URL", url) if isinstance(value, str) else value
        for name, value in left.items()
    }


@pytest.mark.parametrize(
    ("make", "sent"),
    [
        (lambda u: camunda({"url": u, "method": "DELETE", "payload": "x"}, {}), ("", "/is")),
        (lambda u: zeebe({"url": u, "method": "DELETE", "body": "={a: 1}"}, {}), ("", "/is")),
        (lambda u: flowable("http", requestMethod="DELETE", requestUrl=u, requestBody="x"),
         ("", "/is")),
        (lambda u: flowable("http", requestMethod="GET", requestUrl=f"{u}?t=${{phone}}&a=1+1"),
         ("", "/is?t=%2B49%201&a=1%2B1")),
        (lambda u: jbpm("Rest", {}, Url=u, Method="PUT", Content="#{phone}",
                        ContentType="text/plain", ContentTypeCharset="utf-8"), ("+49 1", "/is")),
    ],
)  # fmt: skip
def test_what_engines_send(
    engine: LocalEngine, servers: tuple[HttpServer, Any], tmp_path: Path,
    make: Callable[[str], str], sent: tuple[str, str],
) -> None:  # fmt: skip
    """No engine sends the body of a DELETE; Flowable encodes each plus in an address."""
    http = servers[0]
    run, _, _ = played(engine, tmp_path, make(f"http://{http.place}/is"), {"phone": "+49 1"})
    assert run.status == "success", run.error
    assert (http.received[-1].body, http.received[-1].path) == sent


@pytest.mark.parametrize(
    ("make", "limit"),
    [
        (lambda **more: zeebe({"url": "http://a.example", "method": "GET", **more}, {}),
         {"connectionTimeoutInSeconds": "5", "readTimeoutInSeconds": "=20"}),
        (lambda **more: zeebe({"url": "http://a.example", "method": "GET", **more}, {}),
         {"connectionTimeoutInSeconds": "= 5", "readTimeoutInSeconds": "= 20"}),
        (lambda **more: jbpm("Rest", {}, Url="http://a.example", **more),
         {"ConnectTimeout": "5000", "ReadTimeout": "20000"}),
        (lambda **more: camunda({"url": "http://a.example", "method": "GET", "request-config":
                                 "\n".join(map(": ".join, more.items()))}, {}),
         {"connection-timeout": "5000", "socket-timeout": "${20000}"}),
    ],
)  # fmt: skip
def test_the_limit_is_that_of_connection_and_answer(
    tmp_path: Path, make: Callable[..., str], limit: dict[str, str]
) -> None:
    """n8n has one limit for both, so that of the connection alone is none."""
    found = []
    for given in (limit, dict(list(limit.items())[:1]), dict.fromkeys(limit, "0")):
        process, _ = compiled(one_task(make(**given)), tmp_path)
        (node,) = [n for n in process.root.workflow["nodes"] if n["name"] == "Work"]
        found.append(node["parameters"]["options"].get("timeout"))
    assert found == [25000, None, None]


def test_a_list_in_a_query_is_sent_value_by_value(
    engine: LocalEngine, servers: tuple[HttpServer, Any], tmp_path: Path
) -> None:
    http = servers[0]
    url = f"http://{http.place}/is"
    task = zeebe({"url": url, "method": "GET", "queryParameters": "={tag: tags, n: 1}"}, {})
    run, _, _ = played(engine, tmp_path, task, {"tags": ["a b", "c&d"]})
    assert run.status == "success", run.error
    assert http.received[-1].path == "/is?tag=a%20b&tag=c%26d&n=1"


def test_headers_of_jbpm_have_one_sign(tmp_path: Path) -> None:
    """Its handler ignores others."""
    task = jbpm(
        "Rest", {}, Url="http://a.example", Headers="A=b=c;B=http://x", AcceptCharset="utf-8"
    )
    process, _ = compiled(one_task(task), tmp_path)
    (node,) = [n for n in process.root.workflow["nodes"] if n["name"] == "Work"]
    rows = node["parameters"]["headerParameters"]["parameters"]
    assert [(row["name"], row["value"]) for row in rows] == [
        ("B", "http://x"), ("Accept-Charset", "utf-8"),
    ]  # fmt: skip


def test_a_form_is_sent_as_a_form(
    engine: LocalEngine, servers: tuple[HttpServer, Any], tmp_path: Path
) -> None:
    http = servers[0]
    kind = "application/x-www-form-urlencoded"
    task = zeebe(
        {"url": f"http://{http.place}/form", "method": "POST", "body": "={a: who, n: 1, z: null}",
         "headers": f'={{"Content-Type": "{kind}"}}'},
        {},
    )  # fmt: skip
    run, _, _ = played(engine, tmp_path, task, {"who": "Kim & Zoé"})
    assert run.status == "success", run.error
    got = http.received[-1]
    assert (got.body, got.headers["content-type"]) == ("a=Kim+%26+Zo%C3%A9&n=1&z", kind)


@pytest.mark.parametrize(
    ("language", "code", "body"),
    [
        ("JavaScript", "JSON.stringify({ who: who, n: [n, 1.0, null], of: of })",
         '{"who":"Zoé \\"Q\\"","n":[1.5,1,null],"of":{}}'),
        ("javascript", "var p = { n: n }; var all = [p, who]; JSON.stringify(all)",
         '[{"n":1.5},"Zoé \\"Q\\""]'),
        ("groovy", "import groovy.json.JsonOutput\nJsonOutput.toJson([who: who, n: [n, null]])",
         '{"who":"Zo\\u00e9 \\"Q\\"","n":[1.5,null]}'),
    ],
)  # fmt: skip
def test_scripts_write_json(
    engine: LocalEngine, servers: tuple[HttpServer, Any], tmp_path: Path,
    language: str, code: str, body: str,
) -> None:  # fmt: skip
    http = servers[0]
    given = {
        "url": f"http://{http.place}/json", "method": "POST", "headers": {"Content-Type": JSON},
        "payload": f'<camunda:script scriptFormat="{language}">{code}</camunda:script>',
    }  # fmt: skip
    values = {"who": 'Zoé "Q"', "n": 1.5, "of": {}}
    run, said, _ = played(engine, tmp_path, camunda(given, {}), values)
    assert run.status == "success", run.error
    assert said == []
    assert http.received[-1].body == body


def test_a_text_that_is_no_json_is_not_sent_as_json(
    engine: LocalEngine, servers: tuple[HttpServer, Any], tmp_path: Path
) -> None:
    """n8n would send the text in quotes."""
    http = servers[0]
    given = {
        "url": f"http://{http.place}/json", "method": "POST",
        "headers": {"Content-Type": JSON}, "payload": '{"who": "${who}"}',
    }  # fmt: skip
    before = len(http.received)
    run, _, _ = played(engine, tmp_path, camunda(given, {}), {"who": 'a "b"'})
    assert run.error == 'The body of the request is not JSON: {"who": "a "b""}'
    assert len(http.received) == before
    run, _, _ = played(engine, tmp_path, camunda(given, {}), {"who": "Kim"})
    assert http.received[-1].body == '{"who": "Kim"}'
    given["payload"] = "{who: 1}"
    _, ctx = compiled(one_task(camunda(given, {})), tmp_path)
    (said,) = [d.message for d in ctx.diagnostics if d.code == "OF404"]
    assert said.endswith("(its body is not JSON, but its type is)")


def test_inputs_and_options_of_a_connector(
    engine: LocalEngine, servers: tuple[HttpServer, Any], tmp_path: Path
) -> None:
    """An input is known in the others; the option makes a status of 400 or more a failure."""
    http = servers[0]
    http.answer("/own", (404, TEXT, "no"))
    given: Json = {
        "who": "${name}", "url": f"http://{http.place}/own", "method": "PUT",
        "payload": "Hello ${who}",
    }  # fmt: skip
    run, _, _ = played(engine, tmp_path, camunda(given, {"code": "${statusCode}"}), {"name": "Kim"})
    assert (http.received[-1].body, variables(run)) == ("Hello Kim", {"name": "Kim", "code": 404})
    given["request-config"] = {"throw-http-error": "TRUE"}
    run, _, _ = played(engine, tmp_path, camunda(given, {}), {"name": "Kim"})
    assert run.status == "error"
    given["request-config"] = {"max-redirects": "1"}
    _, ctx = compiled(one_task(camunda(given, {})), tmp_path)
    (said,) = [d.message for d in ctx.diagnostics if d.code == "OF404"]
    assert "(the option `max-redirects` of its requests is not supported)" in said


def test_headers_of_a_response_are_found_as_servers_write_them(
    engine: LocalEngine, servers: tuple[HttpServer, Any], tmp_path: Path
) -> None:
    http = servers[0]
    http.answer("/kind", (200, "text/csv", "a"))
    url = {"url": f"http://{http.place}/kind", "method": "GET"}
    outputs = {"one": '${headers.get("Content-Type")}', "two": '${headers.get("content-type")}'}
    run, _, _ = played(engine, tmp_path, camunda(url, outputs), {})
    assert variables(run) == {"one": "text/csv", "two": "text/csv"}
    result = '={one: response.headers.Server, two: response.headers["Content-Type"]}'
    run, _, _ = played(engine, tmp_path, zeebe(url, {"resultExpression": result}), {})
    found = variables(run)
    assert isinstance(found, dict)
    assert found["one"].startswith("BaseHTTP")


def test_a_body_in_json_is_read_whatever_its_type_is(
    engine: LocalEngine, servers: tuple[HttpServer, Any], tmp_path: Path
) -> None:
    """By the connector of Camunda 8, which has the response of an error as well."""
    http = servers[0]
    http.answer("/problem", (400, "application/problem+json", '{"title": "too late"}'))
    error = "error.variables.response.body.title"
    task = zeebe(
        {"url": f"http://{http.place}/problem", "method": "GET"},
        {"errorExpression": f'=if {error} != null then bpmnError("NO", {error}) else null'},
    )
    run, _, _ = played(engine, tmp_path, task, {})
    assert variables(run) == "NO: too late"


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ('bpmnError("NO", "x", {a: 1})', "variables of `bpmnError` are not supported"),
        ('jobError("x", {}, 2)', "retries of `jobError` are not supported"),
        ('bpmnError("NO", "x", {})', None),
        ('jobError("x", {}, 0)', None),
    ],
)
def test_parts_of_errors_that_would_be_lost(
    tmp_path: Path, expression: str, reason: str | None
) -> None:
    task = zeebe(
        {"url": "http://a.example", "method": "GET"},
        {"errorExpression": f'=if error.code = "404" then {expression} else null'},
    )
    _, ctx = compiled(one_task(task), tmp_path)
    said = [d.message for d in ctx.diagnostics if d.code == "OF404"]
    assert [reason] * bool(reason) == [one.rpartition("(")[2].rstrip(")") for one in said]


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("ignoreNullValues", zeebe({"url": "u", "ignoreNullValues": "=true"}, {})),
        ("storeResponse", zeebe({"url": "u", "storeResponse": "=true"}, {})),
        ("ignoreException", flowable("http", requestUrl="u", ignoreException="true")),
        (
            "requestBodyEncoding",
            flowable(
                "http",
                requestUrl="u",
                requestMethod="POST",
                requestBody="é",
                requestBodyEncoding="ISO-8859-1",
            ),
        ),
        ("ignoreException", flowable("mail", to="a@a.example", ignoreException="true")),
        ("skipEncoding", zeebe({"url": "u", "skipEncoding": "true"}, {})),
        (
            "errorExpression",
            zeebe({"to.email": "a@a.example"}, {"errorExpression": '=bpmnError("A")'}).replace(
                "http-json", "sendgrid"
            ),
        ),
        ("Template", jbpm("Email", {}, To="a@a.example", Template="welcome")),
        (
            "fileNames",
            camunda({"to": "a@a.example", "fileNames": "/tmp/a.pdf"}, {}, connector="mail-send"),
        ),
    ],
)
def test_settings_without_an_equivalent_are_refused(tmp_path: Path, name: str, task: str) -> None:
    _, ctx = compiled(one_task(task), tmp_path)
    (said,) = [d.message for d in ctx.diagnostics if d.code == "OF404"]
    assert f"`{name}`" in said


def test_a_failed_response_is_not_requested_again(tmp_path: Path) -> None:
    """n8n tries a node again, but what fails is the node after it; this is reported."""
    inputs = {"url": "http://a.example", "method": "GET"}
    error = {"errorExpression": '=if error.code = "404" then bpmnError("N", "x") else null'}
    for task, lost in (
        (zeebe(inputs, error, "3"), True),
        (zeebe(inputs, error, "1"), False),
        (zeebe(inputs, {}, "3"), False),
    ):
        _, ctx = compiled(one_task(task), tmp_path)
        said = [d.message for d in ctx.diagnostics if d.code == "OF404"]
        wanted = (
            "n8n does not do the retries after a response with an error of `Work` as defined in "
            "the model"
        )
        assert said == [wanted] * lost


def test_flowable_sets_what_its_manual_says(
    engine: LocalEngine, servers: tuple[HttpServer, Any], tmp_path: Path
) -> None:
    """The body has a variable even if the model names none, statuses count from 400."""
    http = servers[0]
    http.answer("/f", (302, TEXT, "moved"))
    url = f"http://{http.place}/f"
    task = flowable("http", requestUrl=url, disallowRedirects="true", saveResponseParameters="true")
    run, said, _ = played(engine, tmp_path, task, {})
    assert said == []
    assert variables(run) == {
        "tResponseBody": "moved", "tResponseStatusCode": 302, "tResponseReason": "Found",
    }  # fmt: skip
    http.answer("/f", (200, TEXT, "fine"))
    task = flowable("http", requestUrl=url, handleStatusCodes="200", resultVariablePrefix="got")
    run, _, _ = played(engine, tmp_path, task, {})
    assert variables(run) == {"gotResponseBody": "fine"}


def test_names_of_who_sends_and_receives_a_mail(
    engine: LocalEngine, servers: tuple[Any, MailServer], tmp_path: Path
) -> None:
    mail = servers[1]
    task = zeebe(
        {"from.name": "=shop", "from.email": "shop@a.example", "to.name": "Kim",
         "to.email": "kim@a.example", "content.subject": "S", "content.type": "text/html",
         "content.value": "<b>hi</b>"},
        {},
    ).replace("http-json", "sendgrid")  # fmt: skip
    run, _, _ = played(engine, tmp_path, task, {"shop": 'The "A", Shop'})
    assert run.status == "success", run.error
    to, message = mail.mails[-1]
    assert to == ["kim@a.example"]
    assert message["to"].addresses[0].display_name == "Kim"
    assert message["from"].addresses[0].display_name == 'The "A", Shop'
    assert message.get_content_type() == "text/html"


def test_mail_by_smtp_of_camunda_8(
    engine: LocalEngine, servers: tuple[Any, MailServer], tmp_path: Path
) -> None:
    mail = servers[1]
    for kind, parts in (
        ("PLAIN", ["text/plain"]), ("HTML", ["text/html"]),
        ("MULTIPART", ["text/plain", "text/html"]),
    ):  # fmt: skip
        given = {
            "from": "shop@a.example", "to": '=[to, "b@a.example"]', "subject": "S",
            "contentType": kind, "body": "hi", "htmlBody": "<i>hi</i>",
        }  # fmt: skip
        inputs = {f"data.smtpAction.{name}": text for name, text in given.items()}
        task = zeebe({"protocol": "smtp", **inputs}, {}).replace("http-json", "email")
        run, _, _ = played(engine, tmp_path, task, {"to": "kim@a.example"})
        assert run.status == "success", run.error
        to, message = mail.mails[-1]
        assert to == ["kim@a.example", "b@a.example"]
        found = [part.get_content_type() for part in message.walk() if not part.is_multipart()]
        assert found == parts


def test_the_body_of_a_mail_of_jbpm_is_html(
    engine: LocalEngine, servers: tuple[Any, MailServer], tmp_path: Path
) -> None:
    mail = servers[1]
    task = jbpm("Email", {}, To="a@a.example;b@a.example", From="c@a.example", Body="<b>x</b>")
    run, _, _ = played(engine, tmp_path, task, {})
    assert run.status == "success", run.error
    to, message = mail.mails[-1]
    assert (to, message.get_content_type()) == (["a@a.example", "b@a.example"], "text/html")


def test_a_credential_is_listed_once(tmp_path: Path) -> None:
    """With all steps that need it; a setting that the request acts on is no note."""
    inputs = {
        "url": "http://a.example", "method": "GET", "authentication.type": "bearer",
        "authentication.token": "{{secrets.T}}", "headers": '={"X-A": who}',
    }  # fmt: skip
    first = zeebe(inputs, {"retryBackoff": "PT1S", "resultVariable": "r"}, "2")
    second = first.replace('id="t" name="Work"', 'id="u" name="Again"')
    flow = '<sequenceFlow id="fu" sourceRef="u" targetRef="t"/>'
    text = one_task(f"{second}{flow}{first}").replace(
        'sourceRef="s" targetRef="t"', 'sourceRef="s" targetRef="u"'
    )
    model, report = tmp_path / "model.bpmn", tmp_path / "report.md"
    model.write_text(text, "utf-8")
    assert cli.run(["compile", str(model), "--target", "n8n", "--report", str(report)]) == 0
    said = report.read_text("utf-8")
    (needed,) = [line for line in said.splitlines() if "a bearer token" in line]
    assert needed == (
        "- [ ] `Again` and `Work` need a bearer token (secret T): create the credential in n8n and "
        "select it in these nodes"
    )
    assert "OF408" not in said
