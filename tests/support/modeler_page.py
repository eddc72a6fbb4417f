"""Camunda Modeler's plugin as a person meets it: bpmn-js in a browser, the menu in Node, and the
language server of this checkout behind it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from editor_browser import browser
from node_tools import tool
from orgflow.backends.n8n.engine.node import find_node
from orgflow.compilation.input_sources import read_source
from orgflow.compilation.reading import load_model
from orgflow.compilation.target_choice import choose_backend
from orgflow.compiler import emit_despite_errors

from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

PLUGIN = Path(__file__).resolve().parents[2] / "integrations" / "camunda-modeler"
PACKAGES = {"bpmn-js": "18.6.2"}

_MENU = """
const { EventEmitter } = require('events');
const app = new EventEmitter();
app.on('menu:action', (action, options) => console.log(JSON.stringify({ action, options })));
const [ check ] = require(process.argv[1])(app, { bpmn: true });
check.action();
process.stdin.resume().on('end', () => { app.emit('will-quit'); });
"""
"""Stands in for Modeler's main process: chooses the menu's first entry, and quits at the end."""

_PAGE = """<!DOCTYPE html><meta charset="utf-8">
<link rel="stylesheet" href="{dist}/assets/diagram-js.css">
<link rel="stylesheet" href="{dist}/assets/bpmn-js.css">
<link rel="stylesheet" href="{dist}/assets/bpmn-font/css/bpmn-embedded.css">
<link rel="stylesheet" href="{plugin}/style.css">
<style>html, body, #canvas {{ height: 100%; margin: 0; }}</style>
<div id="canvas"></div>
<script src="{dist}/bpmn-modeler.development.js"></script>
<script src="{plugin}/client.js"></script>
<script>
window.modeler = new BpmnJS({{
  container: '#canvas', additionalModules: window.plugins.map(p => p.plugin)
}});
</script>
"""


def drawn(path: Path) -> str:
    """A model as BPMN with a diagram."""
    registry, ctx = Registry(outside=False), PassContext(registry=Registry(outside=False))
    model = load_model(read_source(str(path)), registry, ctx, from_="bpmn")
    assert model is not None
    emitted = emit_despite_errors(model, choose_backend("bpmn", registry), ctx)
    assert emitted is not None
    return emitted.artifacts[0].text


@contextmanager
def menu(folder: Path, **settings: Any) -> Iterator[dict[str, Any]]:
    """What the menu sends to the page after a click on its first entry."""
    plugin = folder / "plugin"
    shutil.copytree(PLUGIN, plugin)
    command = [sys.executable, "-m", "orgflow.cli", "lsp"]
    config = {"command": command, "project": str(folder), **settings}
    (plugin / "config.json").write_text(json.dumps(config), "utf-8")
    process = subprocess.Popen(
        [str(find_node().path), "-e", _MENU, str(plugin / "menu.js")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())
        process.stdin.close()
        assert process.wait(120) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


class Canvas:
    """The page of one diagram."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def show(self, xml: str) -> None:
        self.page.evaluate("xml => modeler.importXML(xml)", xml)

    def act(self, action: str, options: dict[str, Any]) -> None:
        """What Modeler does in its page with an action of the menu."""
        self.page.evaluate(
            "([action, options]) => modeler.get('editorActions').trigger(action, options)",
            [action, options],
        )

    def header(self, text: str) -> None:
        """Wait until the panel has this heading."""
        self.page.get_by_text(text, exact=True).wait_for()

    def badges(self) -> dict[str, str]:
        """The number on each element that has a badge."""
        script = """els => els.map(e => [
          e.closest('[data-container-id]').dataset.containerId, e.textContent])"""
        return dict(self.page.locator(".orgflow-badge").evaluate_all(script))

    def xml(self) -> str:
        return str(self.page.evaluate("modeler.saveXML().then(({ xml }) => xml)"))


@contextmanager
def canvas(folder: Path) -> Iterator[Canvas]:
    """A page with bpmn-js and the plugin."""
    dist = tool("bpmn-js", PACKAGES) / "node_modules" / "bpmn-js" / "dist"
    file = folder / "modeler.html"
    file.write_text(_PAGE.format(dist=dist.as_uri(), plugin=PLUGIN.as_uri()), "utf-8")
    with browser() as context:
        page = context.new_page()
        page.goto(file.as_uri())
        yield Canvas(page)
