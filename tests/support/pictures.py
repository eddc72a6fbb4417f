"""The pictures of the documentation: `python tests/support/pictures.py` draws those that need
nothing but orgflow; with `--editor` it also takes those of n8n, on a server that it boots
(`orgflowc engine install --server`) and in Chromium.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orgflow
from orgflow.backends.svg.findings import findings_of
from orgflow.backends.svg.render import render_model
from orgflow.compilation.reading import load_model
from orgflow.compiler import check_model

from orgflow_ir.diagnostics import Category, Diagnostic
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "pictures"
EXAMPLE = ROOT / "examples" / "expense-claim" / "model.bpmn"
MOST_BYTES = 150_000
"""Of a picture of the editor."""


def draft() -> bytes:
    """The example as somebody drew it first: its merge is a parallel gateway."""
    drawn = EXAMPLE.read_text("utf-8")
    right, wrong = ('<bpmn:exclusiveGateway id="accepted"', '<bpmn:parallelGateway id="accepted"')
    assert right in drawn
    return drawn.replace(right, wrong).encode()


def checked(source: SourceFile, registry: Registry) -> tuple[Model, tuple[Diagnostic, ...]] | None:
    """The model in a file with its drawing, and everything that `check` finds in it; None where
    the file holds no model."""
    ctx = PassContext(registry=registry)
    read = load_model(source, registry, ctx, diagram=True)
    if read is None:
        return None
    check_model(read, ctx)
    return read, tuple(ctx.diagnostics)


def model(registry: Registry) -> str:
    """The example."""
    found = checked(SourceFile(str(EXAMPLE), EXAMPLE.read_bytes()), registry)
    assert found is not None
    return render_model(found[0])


def finding(registry: Registry) -> str:
    """The draft with what `check` finds in its flow, and the run that shows it."""
    found = checked(SourceFile("draft.bpmn", draft()), registry)
    assert found is not None
    flow = [d for d in found[1] if d.category is Category.FLOW]
    assert len(flow) == 1, flow
    return render_model(found[0], findings=findings_of(flow))


DRAWN: dict[str, Callable[[Registry], str]] = {"model.svg": model, "finding.svg": finding}
MEASURED = ("store.svg",)
"""Drawn from a measurement, by `benchmarks/messages.py store … --curve`."""

ROWS = ROOT / "examples" / "parallel-approval" / "model.bpmn"

TAKEN = ("workflow.png", "form.png", "rows.png")
"""Pictures of n8n, which only `--editor` makes."""


def draw() -> None:
    """Write the pictures that need nothing but orgflow."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    registry = Registry(outside=False)
    for name, make in DRAWN.items():
        (FOLDER / name).write_text(make(registry), encoding="utf-8")


PIECES = '[data-test-id="canvas-node"]'
HIDDEN = """[class*="suggestedActions"], [class*="SuggestedActions"], .n8n-suggested-actions,
[data-reka-popper-content-wrapper], [data-test-id="canvas-controls"] { display: none !important }"""
"""What lies over the canvas."""


def around(page: Any, selector: str, edge: float = 24) -> dict[str, float]:
    """The rectangle around all elements of a page, in pixels."""
    boxes = [box for one in page.locator(selector).all() if (box := one.bounding_box())]
    left, top = min(b["x"] for b in boxes) - edge, min(b["y"] for b in boxes) - edge
    right = max(b["x"] + b["width"] for b in boxes) + edge
    return {"x": left, "y": top, "width": right - left,
            "height": max(b["y"] + b["height"] for b in boxes) + edge - top}  # fmt: skip


def take() -> None:
    """Write the pictures of n8n: the compiled example in the editor, its first form, and a process
    that waits in several places."""
    from editor_browser import browser_context
    from orgflow.backends.n8n.server.client.client import Client
    from orgflow.backends.n8n.server.process import N8nServer, Owner

    (text,) = orgflow.compile(orgflow.read(EXAMPLE), "n8n").files.values()
    owner = Owner()
    with N8nServer() as server, Client(server.url) as client:
        client.set_up_owner(owner.email, owner.password)
        identity = client.create(json.loads(text))
        client.publish(identity)
        with browser_context(server, owner) as context:
            page = context.new_page()
            page.set_viewport_size({"width": 2100, "height": 900})
            page.goto(f"{server.url}/workflow/{identity}", wait_until="domcontentloaded")
            page.locator('[data-test-id="canvas-node"]').first.wait_for()
            page.keyboard.press("1")  # all of it
            page.get_by_text("Production Checklist").wait_for()
            page.wait_for_timeout(1000)
            page.add_style_tag(content=HIDDEN)
            page.screenshot(path=FOLDER / "workflow.png", clip=around(page, PIECES))
            page.set_viewport_size({"width": 760, "height": 500})
            page.goto(f"{server.url}/form/expense-claim")
            page.get_by_role("button").first.click()
            page.get_by_text("Amount in euros").wait_for()
            page.screenshot(path=FOLDER / "form.png")
            (text,) = orgflow.compile(orgflow.read(ROWS), "n8n").files.values()
            identity = client.create(json.loads(text))
            page.set_viewport_size({"width": 2100, "height": 1300})
            page.goto(f"{server.url}/workflow/{identity}", wait_until="domcontentloaded")
            page.locator('[data-test-id="canvas-node"]').first.wait_for()
            page.wait_for_timeout(2000)
            page.keyboard.press("1")
            page.wait_for_timeout(1000)
            page.add_style_tag(content=HIDDEN)
            page.screenshot(path=FOLDER / "rows.png", clip=around(page, PIECES))


def main(arguments: list[str]) -> None:
    """Draw, and with `--editor` take the pictures of n8n too."""
    draw()
    if arguments == ["--editor"]:
        take()
        large = [n for n in TAKEN if (FOLDER / n).stat().st_size > MOST_BYTES]
        if large:
            sys.exit(f"larger than {MOST_BYTES} bytes: {', '.join(large)}")
    elif arguments:
        sys.exit(f"usage: {Path(__file__).name} [--editor]")


if __name__ == "__main__":
    main(sys.argv[1:])
