"""`orgflowc serve` on a real n8n: the printed form is clicked through in a browser."""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_cases import interruptible, orgflowc
from editor_browser import browser, wait_for_form
from engine_fixture import missing
from orgflow.backends.n8n.server.install import server_status
from orgflow.backends.n8n.server.local_server import process_begin
from shown_output import shown, shown_commands

ROOT = Path(__file__).resolve().parents[2]
MODEL = (ROOT / "examples/demo/order.bpmn").read_text("utf-8")
FIXED = MODEL.replace('parallelGateway id="ready"', 'exclusiveGateway id="ready"')


class Served:
    """The command in the background, and the lines that it prints."""

    def __init__(self, *arguments: str | Path) -> None:
        self.child = subprocess.Popen(
            [sys.executable, "-u", "-m", "orgflow", "serve", *map(str, arguments)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8",
            preexec_fn=interruptible,
        )  # fmt: skip
        self.lines: list[str] = []
        self._new: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.child.stdout is not None
        for line in self.child.stdout:
            self._new.put(line.rstrip("\n"))
        self._new.put(None)

    def until(self, pattern: str, seconds: float = 120) -> re.Match[str]:
        """The next line that has a pattern."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self._new.get(timeout=max(0.1, deadline - time.monotonic()))
            except queue.Empty:
                line = None
            if line is None:
                pytest.fail(f"no line with {pattern} in:\n" + "\n".join(self.lines))
            self.lines.append(line)
            if found := re.search(pattern, line):
                return found

    def interrupt(self) -> int:
        self.child.send_signal(signal.SIGINT)
        return self.child.wait(timeout=120)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    if server_status().files is None:
        missing(f"n8n's server is not installed: {server_status().problem}")
    folder = tmp_path / "home"
    monkeypatch.setenv("ORGFLOW_N8N_HOME", str(folder))
    yield folder
    orgflowc("engine", "stop", env=dict(os.environ))


def click_through(page: Any, address: str, titles: tuple[str, ...]) -> None:
    """Start a run by its form, then fill in those with the titles."""
    page.goto(address)
    page.click("#submit-btn")
    for title in titles:
        wait_for_form(page, title)
        for choice in page.locator("select").all():
            choice.select_option("Yes")
        with page.expect_request(lambda request: request.method == "POST"):
            page.click("#submit-btn")


def test_the_printed_form_is_clicked_through(home: Path, tmp_path: Path) -> None:
    model = tmp_path / "order.bpmn"
    model.write_text(FIXED, "utf-8")
    served = Served(model)
    try:
        editor = served.until(r"^editor: (http://127\.0\.0\.1:\d+)$")[1]
        email, password = served.until(r"^login: (\S+)  (\S+)$").groups()
        address = served.until(r"^created: Order  (http://\S+/form/order)$")[1]
        with browser() as context:
            page = context.new_page()
            who = {"emailOrLdapLoginId": email, "password": password}
            assert context.request.post(f"{editor}/rest/login", data=who).ok
            click_through(page, address, ("Check stock", "Pack goods", "Ship goods"))
            served.until(r"^run \d+ of Order: success$")

            model.write_text(MODEL, "utf-8")  # with the deadlock again
            served.until("^saved: deploying again$")
            served.until("error OF201")
            model.write_text(FIXED.replace("Ship goods", "Send goods"), "utf-8")
            served.until(r"^updated: Order  ")
            click_through(page, address, ("Check stock", "Pack goods", "Send goods"))
            served.until(r"^run \d+ of Order: success$")
        pid = served_pid(home)
        assert served.interrupt() == 0
        assert process_begin(pid) is None
    finally:
        served.child.kill()
    again = Served(model, "--no-watch")  # the workflow, the port and the login stay
    try:
        assert again.until(r"^editor: (\S+)$")[1] == editor
        assert again.until(r"^login: \S+  (\S+)$")[1] == password
        again.until(r"^unchanged: Order  ")
        again.child.kill()  # and the server ends with a command that is killed
        pid = served_pid(home)
        deadline = time.monotonic() + 120
        while process_begin(pid) is not None and time.monotonic() < deadline:
            time.sleep(0.2)
        assert process_begin(pid) is None
    finally:
        again.child.kill()


def served_pid(home: Path) -> int:
    return int(json.loads((home / "server.json").read_text("utf-8"))["pid"])


def test_the_page_shows_what_happens(home: Path, tmp_path: Path) -> None:
    """`engine` and `deploy` as docs/local.md shows them; what `serve` prints is above."""
    page = {one.arguments[:2]: one for one in shown_commands(ROOT / "docs/local.md")}
    model = tmp_path / "order.bpmn"
    model.write_text(FIXED, "utf-8")

    def as_shown(*command: str) -> None:
        ran = orgflowc(*command, env=dict(os.environ))
        assert ran.code == 0, ran.err
        output = page[command[:2]].output.replace("engine: …", "engine: …\n…", 1)
        assert shown(output.replace(":5690", ":…"), ran.out), ran.out

    as_shown("engine", "start")
    served = Served(model)
    try:
        served.until(r"^created: Order  ")
        pattern = page["serve", "order.bpmn"].output.splitlines()
        told = [re.sub(r":\d{4,5}", ":…", line) for line in served.lines]
        for line in pattern[1:4]:
            assert any(shown(line.replace(":5690", ":…"), one) for one in told), (line, told)
        assert served.interrupt() == 0
    finally:
        served.child.kill()
    as_shown("engine", "status")
    command = next(one for one in page.values() if one.arguments[0] == "deploy").arguments
    address = orgflowc("engine", "status", env=dict(os.environ)).out
    found = re.search(r"running: (http://\S+),", address)
    assert found is not None
    given = [found[1] if a.startswith("http") else a for a in command]
    given = [str(home / "api-key") if a == "KEY" else a for a in given]
    ran = orgflowc(*given, env=dict(os.environ), cwd=ROOT)
    assert ran.code == 0, ran.err
    assert "/form/leave-request" in ran.out
    as_shown("engine", "stop")
