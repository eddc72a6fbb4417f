"""Pages that save answers, in a real browser."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

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
