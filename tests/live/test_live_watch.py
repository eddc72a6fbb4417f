"""`orgflowc watch` in a real browser: what the page shows when the file is saved."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_cases import interruptible
from editor_browser import browser

ROOT = Path(__file__).resolve().parents[2]
FAULTY = (ROOT / "examples/demo/order.bpmn").read_text("utf-8")
FIXED = FAULTY.replace('parallelGateway id="ready"', 'exclusiveGateway id="ready"')
HOSTILE = "&lt;img src=x onerror=&quot;document.title=1&quot;>"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "order.bpmn"
    path.write_text(FIXED, "utf-8")
    return path


@pytest.fixture
def watching(model: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command in the background, and the address that it prints."""
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "orgflow", "watch", str(model)],
        stdout=subprocess.PIPE, text=True, encoding="utf-8", preexec_fn=interruptible,
    ) as child:  # fmt: skip
        try:
            assert child.stdout is not None
            yield child, child.stdout.readline().split()[-1]
        finally:
            child.kill()


def test_the_page_changes_when_the_file_is_saved(
    model: Path, watching: tuple[subprocess.Popen[str], str]
) -> None:
    child, address = watching
    with browser() as context:
        page = context.new_page()
        problems: list[str] = []
        asked: set[str] = set()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: asked.add(request.url))
        page.goto(address)
        page.get_by_text("Order: proved").wait_for()
        assert page.get_by_text("to n8n: ").count() == 1
        assert page.get_by_text("No errors, no warnings.").is_visible()
        page.get_by_text("user task Check stock has no implementation").wait_for()
        picture = page.get_by_alt_text("The process as a diagram")
        sound = picture.get_attribute("src")
        assert picture.evaluate("i => i.naturalWidth") > 400

        model.write_text(FAULTY, "utf-8")
        page.get_by_text("error OF201 [deadlocked-join] line 9").wait_for()
        page.get_by_text("not to n8n: one error").wait_for()
        marked = picture.get_attribute("src")
        assert marked != sound

        model.write_text("<definitions", "utf-8")
        page.get_by_text("This is the last readable version.").wait_for()
        page.get_by_text("OF010").wait_for()
        assert picture.get_attribute("src") == marked

        os.replace(written(model, FIXED.replace("Ship goods", HOSTILE)), model)
        page.get_by_text("This is the last readable version.").wait_for(state="hidden")
        page.get_by_text("Order: proved").wait_for()
        page.get_by_text('user task <img src=x onerror="document.title=1"> has').wait_for()
        assert page.title() == "Order"
        assert picture.get_attribute("src") not in (sound, marked)
        for width in (1600, 380):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

        assert problems == []
        host = address.split("/")[2]
        assert {u.split("/")[2] for u in asked if not u.startswith("data:")} == {host}
        ended(child)
        page.get_by_text("orgflowc watch has ended").wait_for()


def written(model: Path, text: str) -> Path:
    """The text in a new file beside it, as many editors save."""
    path = model.with_name("new")
    path.write_text(text, "utf-8")
    return path


def ended(child: subprocess.Popen[Any]) -> None:
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=120) == 0
