"""Deployed examples are begun from a browser, or by one call, and clicked through to their ends."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from cli_cases import orgflowc
from editor_browser import browser_context, wait_for_form
from orgflow.backends.n8n.format.document import short_type
from orgflow.backends.n8n.server.client.client import Client
from orgflow.backends.n8n.server.process import N8nServer, Owner

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples/leave-request/model.bpmn"
Json = dict[str, Any]

FILLED: Mapping[str, Mapping[str, object]] = {
    "Ask what is needed": {"what_is_needed": ["Laptop"]},
    "Work out who has to approve": {"two_approvals_needed": "Yes"},
    "Combine the approvals": {"approved": "Yes"},
    "Check budget": {"budget_available": "Yes"},
    "Check policy": {"covered": "Yes"},
    "Check stock": {"all_items_in_stock": "Yes", "what_is_in_the_order": ["Goods"]},
}
"""What the nodes hand on that somebody has put in the place of placeholders."""

ENTERED = {
    "Total": "20000",
    "Approved?": "Yes",
    "Satisfied?": "Yes",
    "Known fix?": "Yes",
    "Solved?": "Yes",
    "Claim accepted?": "Yes",
}
"""What people enter or choose, by label; else the last choice, which leads on in the examples."""

CALLED = {"Receive payment": {"paid_in_full": "Yes"}, "Goods arrive": {}}
"""What is posted to waits for calls."""


@pytest.fixture(scope="module")
def browser(server: N8nServer, owner: Owner) -> Iterator[Any]:
    """A browser for the module, in which nobody is asked to log in."""
    with browser_context(server, owner) as context:
        yield context


def compiled(example: str, tmp_path: Path) -> Json:
    """An example with the options that it has by itself."""
    made = tmp_path / "made.json"
    ran = orgflowc(
        "compile", ROOT / f"examples/{example}/model.bpmn", "--target", "n8n", "-o", made
    )
    assert ran.code == 0, ran.err
    found: Json = json.loads(made.read_text("utf-8"))
    return found


def filled(workflow: Json) -> Json:
    """With placeholders that decide something filled, and times over at once."""
    for row in workflow["nodes"]:
        if row["name"] in FILLED:
            fields = json.dumps(FILLED[row["name"]])
            text = f"return [{{ json: {{ ...$input.first().json, ...{fields} }} }}];"
            row |= {"type": "n8n-nodes-base.code", "typeVersion": 2, "parameters": {"jsCode": text}}
        elif short_type(row) == "wait" and "unit" in row["parameters"]:
            row["parameters"] = {"resume": "timeInterval", "amount": 0.1, "unit": "seconds"}
    return workflow


def played(client: Client, page: Any, execution: str, *, led: bool = True) -> list[str]:
    """Fill in each form that a run waits for until it is over; the names of the forms. `led`: the
    page that was sent leads to the next form, else each is opened from n8n's list of what waits."""
    met: list[str] = []
    done: set[tuple[str, int]] = set()
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and len(met) < 12:
        answer = client.execution(execution)
        if answer["status"] not in ("waiting", "running", "new"):
            assert answer["status"] == "success", answer["data"]["resultData"].get("error")
            return met
        name = answer["data"]["resultData"].get("lastNodeExecuted")
        rows = answer["data"]["resultData"]["runData"].get(name) or ()
        if answer["status"] != "waiting" or not rows or (name, len(rows)) in done:
            time.sleep(0.2)
            continue
        row = next(r for r in answer["workflowData"]["nodes"] if r["name"] == name)
        if row["parameters"]["resume"] == "form":
            if not led:
                page.goto(rows[-1]["metadata"]["resumeFormUrl"])
            wait_for_form(page, row["parameters"]["formTitle"])
            fill_in(page, row["parameters"].get("formFields", {}).get("values", ()))
            with page.expect_request(lambda request: request.method == "POST"):
                page.click("#submit-btn")
            met.append(name)
        elif row["parameters"]["resume"] == "webhook":
            suffix = row["parameters"]["options"]["webhookSuffix"]
            said = client.resume(answer, CALLED[name], suffix=suffix, method="POST")
            assert said["status"] == 200, said
        done.add((name, len(rows)))
    pytest.fail(f"execution {execution} does not come to its end; it met {met}")


def fill_in(page: Any, fields: Any) -> None:
    for number, field in enumerate(fields):
        if field.get("fieldType") == "hiddenField":
            continue
        options = [o["option"] for o in field.get("fieldOptions", {}).get("values", ())]
        entered = ENTERED.get(field["fieldLabel"], options[-1] if options else "")
        place = page.locator(f"#field-{number}")
        if field["fieldType"] == "dropdown":
            place.select_option(entered)
        elif field["fieldType"] == "checkbox":
            page.get_by_label(options[0]).check()
        else:
            place.fill(entered)


PLAIN = {
    "employee-onboarding": ["Welcome new colleague", "Introduce to the team"],
    "invoice-approval": ["Check invoice against the order"],
    "purchase-requisition": [
        "Write requisition", "Compare quotes", "Approve purchase", "Check goods", "Judge delivery",
    ],
}  # fmt: skip


@pytest.mark.parametrize("example", PLAIN)
def test_a_plain_start_is_clicked_through(
    client: Client, server: N8nServer, browser: Any, tmp_path: Path, example: str
) -> None:
    """Each page leads to the next form; calls from outside come in between."""
    workflow = filled(compiled(example, tmp_path))
    id = client.create(workflow)
    page = browser.new_page()
    try:
        client.publish(id)
        page.goto(f"{server.url}/form/{example}")
        page.click("#submit-btn")
        while not (found := client.executions(id)):
            time.sleep(0.1)
        assert played(client, page, found[0]) == PLAIN[example]
    finally:
        page.close()
        client.unpublish(id)
        client.delete(id)


CALLS = {
    "customer-complaint": ["Look into complaint", "Choose remedies", "Ask the customer"],
    "incident": [
        "Classify incident", "Look for a known fix", "Apply fix", "Ask the reporter",
    ],
    "insurance-claim": ["Check documents", "Decide on the claim"],
    "order-to-cash": ["Hand over the order"],
}  # fmt: skip


@pytest.mark.parametrize("example", CALLS)
def test_a_message_start_is_one_call(
    client: Client, server: N8nServer, browser: Any, tmp_path: Path, example: str
) -> None:
    """The forms are opened from n8n's list of what waits: n8n leads on from pages that start runs
    only."""
    workflow = filled(compiled(example, tmp_path))
    (path,) = (r["parameters"]["path"] for r in workflow["nodes"] if short_type(r) == "webhook")
    id = client.create(workflow)
    page = browser.new_page()
    try:
        client.publish(id)
        assert client.call(f"{server.url}/webhook/{path}", {"amount": 900})["status"] == 200
        while not (found := client.executions(id)):
            time.sleep(0.1)
        assert played(client, page, found[0], led=False) == CALLS[example]
    finally:
        page.close()
        client.unpublish(id)
        client.delete(id)


def test_a_page_that_is_sent_again_answers_nothing(
    client: Client, server: N8nServer, browser: Any, tmp_path: Path
) -> None:
    """Nobody opens the editor; somebody has an older page open still."""
    id = client.create(compiled("leave-request", tmp_path))
    page = browser.new_page()
    try:
        client.publish(id)
        page.goto(f"{server.url}/form/leave-request")
        page.get_by_text("Leave request").first.wait_for()
        page.click("#submit-btn")
        wait_for_form(page, "Fill in leave request")
        signature = page.evaluate("typeof formSignature === 'string' ? formSignature : ''")
        before = page.url.partition("?")[0] + (f"?signature={signature}" if signature else "")
        page.click("#submit-btn")
        wait_for_form(page, "Check leave request")
        # somebody has the first page open still, and sends it again
        old = {"field-0": "fill-in-leave-request 0"}
        assert browser.request.post(before, multipart=old).ok
        page.select_option("select", "Needs changes")
        assert page.locator("[name=field-1]").input_value() == "check-leave-request 0"
        page.click("#submit-btn")
        wait_for_form(page, "Fill in leave request")
        page.click("#submit-btn")
        wait_for_form(page, "Check leave request")
        # and somebody the page of the round before
        old = {"field-0": "No", "field-1": "check-leave-request 0"}
        assert browser.request.post(before, multipart=old).ok
        page.select_option("select", "Yes")
        page.click("#submit-btn")
        (execution,) = client.executions(id)
        data = client.wait_for(execution, 60)
        assert data["status"] == "success"
        runs = data["data"]["resultData"]["runData"]
        assert len(runs["Fill in leave request"]) == 2
        assert len(runs["Check leave request"]) == 4
        assert "Leave booked" in runs
    finally:
        page.close()
        client.unpublish(id)
        client.delete(id)
