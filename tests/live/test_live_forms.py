"""A deployed example is begun from a browser and clicked through to its end, page after page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cli_cases import orgflowc
from editor_browser import browser_context
from orgflow.backends.n8n.server.client.client import Client
from orgflow.backends.n8n.server.process import N8nServer, Owner

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples/leave-request/model.bpmn"


def test_an_example_is_clicked_through(
    server: N8nServer, owner: Owner, client: Client, key: str, tmp_path: Path
) -> None:
    """Nobody opens the editor; a page that is sent again answers nothing."""
    made = tmp_path / "leave.json"
    ran = orgflowc("compile", MODEL, "--target", "n8n{trigger=form}", "-o", made)
    assert ran.code == 0, ran.err
    workflow = json.loads(made.read_text("utf-8"))
    id = client.create(workflow)
    try:
        client.publish(id)
        with browser_context(server, owner) as context:
            page = context.new_page()
            page.goto(f"{server.url}/form/leave-request")
            page.get_by_text("Leave request").first.wait_for()
            page.click("#submit-btn")
            _wait_for_form(page, "Fill in leave request")
            signature = page.evaluate("typeof formSignature === 'string' ? formSignature : ''")
            before = page.url.partition("?")[0] + (f"?signature={signature}" if signature else "")
            page.click("#submit-btn")
            _wait_for_form(page, "Check leave request")
            # somebody has the first page open still, and sends it again
            old = {"field-0": "fill-in-leave-request"}
            assert context.request.post(before, multipart=old).ok
            page.select_option("select", "Needs changes")
            page.click("#submit-btn")
            _wait_for_form(page, "Fill in leave request")
            page.click("#submit-btn")
            _wait_for_form(page, "Check leave request")
            page.select_option("select", "Yes")
            page.click("#submit-btn")
            (execution,) = client.executions(id)
            data = client.wait_for(execution, 60)
            assert data["status"] == "success"
            runs = data["data"]["resultData"]["runData"]
            assert len(runs["Fill in leave request"]) == 2
            assert len(runs["Check leave request"]) == 3
            assert "Leave booked" in runs
    finally:
        client.unpublish(id)
        client.delete(id)


def _wait_for_form(page: Any, title: str) -> None:
    """The page of the next form; n8n leaves it loading at times, and then it is loaded again."""
    from playwright.sync_api import TimeoutError

    heading = page.get_by_role("heading", name=title)
    try:
        heading.wait_for(timeout=15_000)
    except TimeoutError:
        page.goto(page.url)
        heading.wait_for()
