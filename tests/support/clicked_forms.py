"""Deployed examples that are clicked through in a browser, page by page."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from cli_cases import orgflowc
from editor_browser import wait_for_form
from orgflow.backends.n8n.format.document import short_type
from orgflow.backends.n8n.node_types import code
from orgflow.backends.n8n.server.client.client import Client
from user_runs import executions_of

ROOT = Path(__file__).resolve().parents[2]
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


def compiled(example: str, folder: Path, target: str = "n8n{waits=execution}") -> Json:
    """An example in one execution, with the options that it has otherwise by itself."""
    made = folder / "made.json"
    ran = orgflowc(
        "compile", ROOT / f"examples/{example}/model.bpmn", "--target", target, "-o", made
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
            parameters = code.visible_code(
                code.code_parameters(text)
            )  # needed by n8n 1 without task runners
            row |= {"type": "n8n-nodes-base.code", "typeVersion": 2, "parameters": parameters}
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


def begun(client: Client, workflow: str) -> str:
    """The only execution of a workflow, once there is one."""
    while True:
        found = [str(one["id"]) for one in executions_of(client) if one["workflowId"] == workflow]
        if found:
            (execution,) = found
            return execution
        time.sleep(0.1)


def click_through(
    client: Client, browser: Any, example: str, folder: Path, target: str = "n8n{waits=execution}"
) -> None:
    """Each page leads to the next form; calls from outside come in between."""
    id = client.create(filled(compiled(example, folder, target)))
    page = browser.new_page()
    try:
        client.publish(id)
        page.goto(f"{client.url}/form/{example}")
        page.click("#submit-btn")
        assert played(client, page, begun(client, id)) == PLAIN[example]
    finally:
        page.close()
        client.unpublish(id)
        client.delete(id)
