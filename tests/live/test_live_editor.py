"""A person imports an emitted workflow into n8n's real editor, edits it there, and has it verified.

Headless Chromium drives the editor of the server: paste, rename, move, insert a node, save.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_cases import orgflowc
from editor_browser import WAIT_MS, browser_context, insert_after, move, on_canvas, rename
from orgflow.backends.n8n.server.client.client import Client
from orgflow.backends.n8n.server.process import N8nServer, Owner

Json = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples/leave-request/model.bpmn"
PASTE = """(text) => {
  const data = new DataTransfer();
  data.setData('text/plain', text);
  document.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }));
}"""


@pytest.fixture
def page(server: N8nServer, owner: Owner, client: Client) -> Iterator[Any]:
    """An empty workflow in the editor, by the owner, who has logged in."""
    with browser_context(server, owner) as context:
        opened = context.new_page()
        opened.goto(f"{server.url}/workflow/new", wait_until="domcontentloaded")
        opened.wait_for_selector('[data-test-id="canvas"]')
        opened.get_by_text("Add first step").wait_for()
        yield opened


def paste(page: Any, workflow: Json) -> None:
    page.evaluate(PASTE, json.dumps(workflow))
    on_canvas(page, workflow["nodes"][-1]["name"]).wait_for()
    page.mouse.click(300, 300)  # on nothing: what was pasted is selected


def saved(client: Client, page: Any, wanted: set[str]) -> Json:
    """The workflow as the server has it, once the editor has saved all edits."""
    page.keyboard.press("Control+s")
    workflow: Json = {"nodes": []}
    deadline = time.monotonic() + WAIT_MS / 1000
    while {row["name"] for row in workflow["nodes"]} != wanted:
        assert time.monotonic() < deadline, [row["name"] for row in workflow["nodes"]]
        time.sleep(0.3)
        identity = page.url.split("/workflow/")[1].partition("?")[0]
        if identity in client.workflows():
            workflow = client.workflow(identity)
    return workflow


def shifts(before: Json, after: Json) -> dict[str, tuple[float, float]]:
    """By how much each node that kept its name was moved."""
    old = {row["name"]: row["position"] for row in before["nodes"]}
    return {
        row["name"]: (row["position"][0] - old[row["name"]][0],
                      row["position"][1] - old[row["name"]][1])
        for row in after["nodes"] if row["name"] in old
    }  # fmt: skip


def test_edited_in_the_real_editor(client: Client, page: Any, tmp_path: Path) -> None:
    compiled = orgflowc("compile", str(MODEL), "--target", "n8n")
    emitted = json.loads(compiled.out)
    step, renamed = "No Operation, do nothing", "Confirm the leave"
    paste(page, emitted)
    rename(page, "Confirm leave", renamed)
    move(page, "Send rejection")
    insert_after(page, "Leave needed", step)
    names = {row["name"] for row in emitted["nodes"]} - {"Confirm leave"} | {renamed, step}
    edited = saved(client, page, names)
    try:
        before = {row["name"]: row for row in emitted["nodes"]}
        after = {row["name"]: row for row in edited["nodes"]}
        # The editor makes new ids, moves everything, and leaves out what is a default.
        assert not {row["id"] for row in emitted["nodes"]} & {row["id"] for row in edited["nodes"]}
        moved = shifts(emitted, edited)
        assert moved["Send rejection"] != moved["Leave needed"]
        assert len(set(moved.values())) == 2
        # Names, notes and the map of the sticky note are what elements are found by.
        for name, row in before.items():
            kept = after[renamed if name == "Confirm leave" else name]
            assert kept.get("notes") == row.get("notes"), name
        about = "About this workflow"
        assert after[about]["parameters"] == before[about]["parameters"]
        wires = edited["connections"]
        assert wires["Leave needed"]["main"][0][0]["node"] == step
        assert wires[step]["main"][0][0]["node"] == "Fill in leave request round"
        assert verified(tmp_path, edited) == 0
        wires[step]["main"][0][0]["node"] = "Check leave request round"
        assert verified(tmp_path, edited) == 1
    finally:
        client.delete(edited["id"])


def verified(folder: Path, workflow: Json) -> int:
    """The exit code of `orgflowc verify`."""
    path = folder / "edited.json"
    path.write_text(json.dumps(workflow), encoding="utf-8")
    done = orgflowc("verify", str(MODEL), str(path))
    print(done.out, done.err)
    return done.code
