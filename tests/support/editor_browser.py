"""A headless Chromium, also one in which the owner of an n8n server has logged in; what a person
does with nodes in the editor."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from engine_fixture import missing
from orgflow.backends.n8n.server.process import N8nServer, Owner

Json = dict[str, Any]

WAIT_MS = 120_000
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--disable-gpu", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--no-first-run")  # fmt: skip


@contextmanager
def browser_context(server: N8nServer, owner: Owner) -> Iterator[Any]:
    """A context of the browser in which the owner is logged in."""
    with browser() as context:
        who = {"emailOrLdapLoginId": owner.email, "password": owner.password}
        assert context.request.post(f"{server.url}/rest/login", data=who).ok
        yield context


@contextmanager
def browser() -> Iterator[Any]:
    """A context of the browser; the test fails (or is skipped, outside CI) where there is none."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        missing(f"no browser: none of {', '.join(BROWSERS)} is on PATH")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed: pip install 'playwright>=1.45'")
    # Chromium has no sandbox for root, as whom CI often runs.
    flags = [*FLAGS, *(["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else [])]
    with sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=found, args=flags)
        try:
            context = launched.new_context(viewport={"width": 1600, "height": 900})
            context.set_default_timeout(WAIT_MS)
            yield context
        finally:
            launched.close()


def wait_for_form(page: Any, title: str) -> None:
    """The page of the next form; n8n leaves it loading at times, and then it is loaded again."""
    from playwright.sync_api import TimeoutError

    heading = page.get_by_role("heading", name=title)
    try:
        heading.wait_for(timeout=15_000)
    except TimeoutError:
        page.goto(page.url)
        heading.wait_for()


def on_canvas(page: Any, name: str) -> Any:
    return page.locator(f'[data-test-id="canvas-node"][data-node-name="{name}"]')


def middle(box: Json) -> tuple[float, float]:
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def rename(page: Any, old: str, new: str) -> None:
    on_canvas(page, old).click()
    page.keyboard.press("F2")
    page.locator('[role="dialog"] input').wait_for()
    page.keyboard.press("Control+a")
    page.keyboard.type(new)
    page.keyboard.press("Enter")
    on_canvas(page, new).wait_for()
    page.get_by_role("dialog", name="Rename Node").wait_for(state="hidden")


def move(page: Any, name: str) -> None:
    """Drag a node; tried again, since what fades out above it may still catch the mouse."""
    begun = middle(on_canvas(page, name).bounding_box())
    for _ in range(5):
        x, y = begun
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 30, y - 40, steps=8)
        page.mouse.move(x + 60, y - 60, steps=8)
        page.mouse.up()
        if middle(on_canvas(page, name).bounding_box()) != begun:
            return
        time.sleep(1)
    pytest.fail(f"{name} cannot be dragged")


def insert_after(page: Any, name: str, kind: str) -> None:
    edge = page.locator(f'[data-test-id="edge"][data-source-node-name="{name}"]').first
    x, y = middle(edge.bounding_box())
    page.mouse.move(x - 10, y)
    page.mouse.move(x, y, steps=4)
    page.locator('[data-test-id="add-connection-button"]').first.click()
    page.locator('[data-test-id="node-creator-search-bar"]').wait_for()
    page.keyboard.type(kind)
    page.locator(f'[data-test-id="node-creator-item-name"]:has-text("{kind}")').first.wait_for()
    page.keyboard.press("Enter")
    on_canvas(page, kind).wait_for()
    page.keyboard.press("Escape")
