"""Deployed examples are begun from a browser, or by one call, and clicked through to their ends."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from clicked_forms import PLAIN, click_through, compiled, filled, played
from editor_browser import browser_context, wait_for_form
from orgflow.backends.n8n.format.document import short_type
from orgflow.backends.n8n.server.client.client import Client
from orgflow.backends.n8n.server.process import N8nServer, Owner


@pytest.fixture(scope="module")
def browser(server: N8nServer, owner: Owner) -> Iterator[Any]:
    """A browser for the module, in which nobody is asked to log in."""
    with browser_context(server, owner) as context:
        yield context


@pytest.mark.parametrize("example", PLAIN)
def test_a_plain_start_is_clicked_through(
    client: Client, browser: Any, tmp_path: Path, example: str
) -> None:
    click_through(client, browser, example, tmp_path)


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
        data = client.wait_for(execution, 120)
        assert data["status"] == "success"
        runs = data["data"]["resultData"]["runData"]
        assert len(runs["Fill in leave request"]) == 2
        assert len(runs["Check leave request"]) == 4
        assert "Leave booked" in runs
    finally:
        page.close()
        client.unpublish(id)
        client.delete(id)
