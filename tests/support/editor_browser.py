"""A headless Chromium, also one in which the owner of an n8n server has logged in."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from engine_fixture import missing
from orgflow.backends.n8n.server.process import N8nServer, Owner

WAIT_MS = 60_000
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
        missing("playwright is not installed: pip install 'orgflow[live]'")
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
