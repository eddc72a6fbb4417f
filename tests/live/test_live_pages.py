"""Pages that save answers, in a real browser."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from editor_browser import browser

TEXT = """\
The clerk checks the order. While the cook prepares the <b>meal</b>, the clerk prints the bill.
If the meal is <script>document.title = "executed"</script> ready, the waiter serves the meal.
"""
LINES = """\
T1 check order <script>document.title = "executed"</script> | clerk | s1
O1 | | s3
T2 prepare meal | cook | s2
T3 print bill | clerk | s2
O2 | | s2
T1 -> O1
O1 -> T2
O1 -> T3
T2 -> O2
T3 -> O2
"""


IN_VIEW = """e => { const box = e.getBoundingClientRect();
    return box.top >= 0 && box.bottom <= innerHeight }"""


def test_questions_are_answered_in_a_browser(tmp_path: Path) -> None:
    from model_server import model_server

    text, asked = tmp_path / "meal.txt", tmp_path / "asked.json"
    text.write_text(TEXT)
    command = [sys.executable, "-m", "orgflow", "model", str(text), "--model", "toy", "--page",
               "--questions", str(asked), "--target", "ir"]  # fmt: skip
    with model_server([LINES] * 3) as server, browser() as context:
        running = subprocess.Popen(
            [*command, "--model-url", server.url],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip
        try:
            assert running.stderr is not None
            line = next(line for line in running.stderr if "1 question at" in line)
            page = context.new_page()
            problems: list[str] = []
            page.on("console", lambda message: problems.append(message.text))
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.goto(line.split()[-1])
            assert page.get_by_label("one or more of them happen").is_checked()
            before = page.get_by_alt_text("The process as a diagram").get_attribute("src")
            page.get_by_label("all of them happen").check()
            page.get_by_role("button", name="Save and draw").click()
            page.get_by_role("status").wait_for()
            assert page.get_by_alt_text("The process as a diagram").get_attribute("src") != before
            (kept,) = json.loads(asked.read_text())["questions"]
            assert kept["answer"] == "parallel"
            assert page.title() != "executed"
            page.get_by_role("button", name="Save and finish").click()
            page.get_by_text("You can close this page").wait_for()
            assert problems == []  # nothing was blocked, nothing failed
            out, err = running.communicate(timeout=120)
        finally:
            running.kill()
    assert running.returncode == 0, err
    assert set(re.findall(r'"gateway_kind": "(\w+)"', out)) == {"parallel"}


def test_processes_are_decided_about_in_a_browser(tmp_path: Path) -> None:
    from orgflow.store.messages import MessageStore
    from small_corpus import corpus

    store = tmp_path / "store"
    with MessageStore.create(str(store)) as opened:
        opened.add(corpus()[0])
        opened.link()
    command = [sys.executable, "-m", "orgflow", "discover", str(store), "--no-model", "--json"]
    with browser() as context:
        running = subprocess.Popen(
            [*command, "--page"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip
        try:
            assert running.stderr is not None
            line = next(line for line in running.stderr if "processes at" in line)
            page = context.new_page()
            problems: list[str] = []
            asked: list[str] = []
            page.on("console", lambda message: problems.append(message.text))
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.on("request", lambda request: asked.append(request.url))
            page.goto(line.split()[-1])
            sections = page.locator("section:has(h2 bdi)")
            assert sections.count() == 2
            assert sections.first.locator(".picture img").evaluate("i => i.naturalWidth") > 100
            sections.first.locator("details").nth(1).click()
            assert sections.first.locator("details").nth(1).locator("blockquote").first.is_visible()

            name = "Sell <b>lamps</b>"
            page.get_by_label("New name").first.fill(name)
            page.get_by_label("New name").first.press("Enter")
            page.get_by_role("status").wait_for()
            assert page.get_by_role("heading", name=name, exact=True).count() == 1
            sections.first.get_by_role("checkbox").first.check()
            sections.first.get_by_role("button", name="Split off chosen cases").click()
            page.get_by_text("is now a separate process").wait_for()
            assert sections.count() == 3
            page.get_by_label("Process to merge into").nth(1).select_option(label=name)
            page.get_by_role("button", name="Merge into").nth(1).click()
            page.get_by_text("is now part of").wait_for()
            assert sections.count() == 2
            case = sections.nth(1).locator(".case").first
            case.locator("summary").click()
            assert case.locator("li").first.is_visible()
            page.set_viewport_size({"width": 390, "height": 500})
            page.get_by_role("button", name="Reject").nth(1).click()
            page.get_by_text("is rejected").wait_for()
            assert not sections.nth(1).locator(".picture").is_visible()
            assert sections.nth(1).get_by_role("heading").evaluate(IN_VIEW), "the page stays there"
            assert page.get_by_role("status").evaluate(IN_VIEW)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            page.get_by_role("button", name="Finish").click()
            page.get_by_text("You can close this page").wait_for()
            assert problems == []  # nothing was blocked, nothing failed
            assert {url.split("/")[2] for url in asked if not url.startswith("data:")} == {
                line.split("/")[2]
            }
            out, err = running.communicate(timeout=120)
        finally:
            running.kill()
    assert running.returncode == 0, err
    (found,) = json.loads(out)["processes"]
    assert (found["name"], len(found["cases"])) == (name, 3)
    later = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
    (again,) = json.loads(later.stdout)["processes"]
    assert (again["name"], again["cases"]) == (name, found["cases"])


@pytest.mark.parametrize("width", [320, 420, 900, 1600])
def test_text_and_process_fit_the_window(width: int, tmp_path: Path) -> None:
    """Only the picture scrolls sideways, in its frame."""
    text, explained = tmp_path / "order.txt", tmp_path / "order.html"
    long = "W" * 80
    text.write_text(
        f"The clerk checks the order {long}. Unsuitable orders are rejected by the sales manager. "
        "Suitable orders are forwarded to the warehouse. The clerk writes the invoice. "
        "The clerk sends the invoice to the customer."
    )
    command = ("model", str(text), "--no-model", "--target", "ir", "--explain", str(explained))
    subprocess.run(
        [sys.executable, "-m", "orgflow", *command, "-o", str(tmp_path / "order.json")], check=True
    )
    with browser() as context:
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(explained.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.title() == "Process of order.txt"
        picture = page.get_by_alt_text("The process as a diagram").bounding_box()
        frame = page.locator(".picture").bounding_box()
        assert picture["width"] > 300
        assert frame["x"] + frame["width"] <= width
