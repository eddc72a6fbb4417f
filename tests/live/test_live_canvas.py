"""What the real editor makes of compiled workflows: where it draws nodes and wires, and that no
label of a model is Markdown or HTML there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from canvas_metrics import boxes, wires
from editor_browser import browser_context
from markdown_labels import LABELS
from n8n_compiled import workflows
from orgflow.backends.n8n.plan.names import plain
from orgflow.backends.n8n.server.client.client import Client
from orgflow.backends.n8n.server.process import N8nServer, Owner
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model

from orgflow_ir.model import Event, Flow, Gateway, Lane, Model, Process, Task
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

Json = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
DRAWN = """() => {
  const pane = document.querySelector('.vue-flow__transformationpane');
  const scale = new DOMMatrix(getComputedStyle(pane).transform).a;
  const origin = pane.getBoundingClientRect();
  const nodes = {}, wires = [];
  for (const node of document.querySelectorAll('[data-test-id="canvas-node"]')) {
    const box = node.getBoundingClientRect();
    const place = [box.x - origin.x, box.y - origin.y, box.width, box.height];
    nodes[node.getAttribute('data-node-name')] = place.map((length) => length / scale);
  }
  for (const edge of document.querySelectorAll('[data-test-id="edge"]')) {
    const paths = [...edge.querySelectorAll('path')].map((path) => path.getAttribute('d'));
    const names = ['source', 'target'].map((end) => edge.getAttribute(`data-${end}-node-name`));
    wires.push([...names, paths[0], paths.at(-1)]);
  }
  return { nodes, wires };
}"""
NOTES = """() => [...document.querySelectorAll('[data-test-id="sticky"]')].map((note) => ({
  text: note.innerText,
  tags: [...note.querySelectorAll('*')].map((element) => element.tagName.toLowerCase()),
}))"""
FOREIGN = {"img", "a", "iframe", "script", "object", "video", "input", "table", "hr", "h1", "h4",
           "blockquote", "s", "del", "em", "ol", "svg", "style", "form", "math"}  # fmt: skip


@pytest.fixture
def context(server: N8nServer, owner: Owner, client: Client) -> Iterator[Any]:
    """A browser in which the owner has logged in."""
    with browser_context(server, owner) as opened:
        yield opened


def opened(context: Any, server: N8nServer, workflow: Json) -> tuple[Any, str, list[str]]:
    """The page of a new workflow, its id, and the addresses besides the server's it asks for."""
    body = {key: workflow[key] for key in ("name", "nodes", "connections", "settings")}
    answer = context.request.post(f"{server.url}/rest/workflows", data=body)
    assert answer.ok, answer.text()
    identity = answer.json()["data"]["id"]
    page, asked = context.new_page(), []
    page.on(
        "request",
        lambda r: None if r.url.startswith((server.url, "data:", "blob:")) else asked.append(r.url),
    )
    page.goto(f"{server.url}/workflow/{identity}", wait_until="domcontentloaded")
    page.locator('[data-test-id="canvas-node"]').first.wait_for()
    page.keyboard.press("1")  # all of it
    page.wait_for_timeout(1500)
    return page, identity, asked


def remove(context: Any, server: N8nServer, identity: str) -> None:
    """Delete a workflow; n8n deletes archived ones only."""
    where = f"{server.url}/rest/workflows/{identity}"
    for answer in (context.request.post(f"{where}/archive"), context.request.delete(where)):
        assert answer.ok, answer.text()


@pytest.mark.parametrize("name", ["leave-request", "order-to-cash", "insurance-claim"])
def test_nodes_and_wires_are_where_the_figures_say(
    context: Any, server: N8nServer, registry: Registry, name: str
) -> None:
    ctx = PassContext(registry=registry)
    model = load_model(str(ROOT / "examples" / name / "model.bpmn"), registry, ctx, diagram=True)
    assert model is not None
    made = compile_model(model, registry.backends["n8n"], ctx)
    assert made is not None
    workflow = json.loads(made.artifacts[0].text)
    page, identity, _ = opened(context, server, workflow)
    try:
        drawn = page.evaluate(DRAWN)
    finally:
        remove(context, server, identity)
    for node, (left, top, right, bottom) in boxes(workflow).items():
        assert drawn["nodes"][node] == pytest.approx([left, top, right - left, bottom - top], abs=1)
    wanted = sorted(
        (w.source, w.target, *(round(v) for point in (w.line[0], w.line[-1]) for v in point))
        for w in wires(workflow)
    )
    found = sorted((source, target, *ends(first, last))
                   for source, target, first, last in drawn["wires"])  # fmt: skip
    assert found == wanted


def ends(first: str, last: str) -> list[int]:
    """Where a path begins and ends."""
    numbers = [[float(n) for n in "".join(c if c in "-.0123456789" else " " for c in path).split()]
               for path in (first, last)]  # fmt: skip
    return [round(n) for n in (*numbers[0][:2], *numbers[1][-2:])]


def model_of(labels: list[str]) -> Model:
    """A process that has labels wherever a note shows one."""
    tasks = tuple(Task(id=f"t{n}", name=label, doc=label) for n, label in enumerate(labels))
    gateway = Gateway(id="g", name=labels[0], gateway_kind="exclusive")
    nodes = (Event(id="s", position="start"), gateway, *tasks)
    flows = (
        Flow(id="f", source="s", target="g"),
        *(Flow(id=f"b{n}", name=t.name, source="g", target=t.id) for n, t in enumerate(tasks)),
    )
    lanes = tuple(
        Lane(id=f"l{n}", name=task.name, members=(task.id, *(("s", "g") if n == 0 else ())))
        for n, task in enumerate(tasks)
    )
    process = Process(id="p", name=labels[0], nodes=nodes, flows=flows, lanes=lanes)
    return Model(id="m", processes=(process,))


@pytest.mark.parametrize("first", range(0, len(LABELS), 10))
def test_no_label_is_markdown_in_the_editor(context: Any, server: N8nServer, first: int) -> None:
    """No request leaves, and every label is shown as it is."""
    labels = LABELS[first : first + 10]
    (workflow,) = workflows(model_of(labels))
    page, identity, asked = opened(context, server, workflow)
    try:
        notes = page.evaluate(NOTES)
    finally:
        remove(context, server, identity)
    assert not asked
    shown = [" ".join(note["text"].split()) for note in notes]
    for label in labels:
        assert " ".join(plain(label).lstrip("#").split()) in shown, (label, shown)
    for note in notes:
        assert not FOREIGN & set(note["tags"]), note
