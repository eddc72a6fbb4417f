"""Installing the engine, interrupted on purpose, and again: with a script in the place of npm."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from engine_fixture import missing
from orgflow.backends.n8n.engine import install as installer
from orgflow.backends.n8n.engine.node import NodeError, NodeRuntime, find_node, npm_command
from orgflow.backends.n8n.engine.npm import InstallError, run_npm
from orgflow.backends.n8n.engine.processes import process_begin

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")

# Writes until it is ended, as npm does, also into a folder that was removed meanwhile.
SLOW = """
import os, pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path(sys.argv[1]).write_text(f"{os.getpid()} {child.pid}")
while True:
    pathlib.Path("node_modules/half").mkdir(parents=True, exist_ok=True)
    time.sleep(0.01)
"""
INSTALL = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background jobs of a shell
from pathlib import Path
from orgflow.backends.n8n.engine import install
from orgflow.backends.n8n.engine.node import NodeRuntime
install.find_node = lambda: NodeRuntime(Path(sys.executable), (24, 0, 0), "test")
install.npm_command = lambda node: (sys.executable, sys.argv[1], sys.argv[2])
install.install_engine(print)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    target = tmp_path / "engine"
    monkeypatch.setenv("ORGFLOW_ENGINE_DIR", str(target))
    return target


def interrupted(tmp_path: Path, number: signal.Signals) -> list[int]:
    """Run an install until npm works, then send the installer a signal; the processes of npm."""
    script, pids = tmp_path / "npm.py", tmp_path / "pids"
    script.write_text(SLOW, encoding="utf-8")
    with (tmp_path / "said").open("w", encoding="utf-8") as said:
        child = subprocess.Popen(
            [sys.executable, "-u", "-c", INSTALL, str(script), str(pids)],
            stdout=said,
            stderr=subprocess.DEVNULL,
        )
    deadline = time.monotonic() + 120
    while not (pids.is_file() and len(pids.read_text().split()) == 2):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(0.2)
    child.send_signal(number)
    child.wait(120)
    return [int(pid) for pid in pids.read_text().split()]


def gone(*pids: int) -> bool:
    return within(lambda: all(process_begin(pid) is None for pid in pids))


def within(test: Callable[[], bool]) -> bool:
    for _ in range(100):
        if test():
            return True
        time.sleep(0.05)
    return False


def finish(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the next install fill its folder at once."""

    def fill(npm: object, arguments: object, work: Path, *_: object, **__: object) -> None:
        for name, version in installer.PACKAGES.items():
            package = work / "node_modules" / name
            package.mkdir(parents=True)
            (package / "package.json").write_text(json.dumps({"version": version}), "utf-8")

    monkeypatch.setattr(installer, "run_npm", fill)
    monkeypatch.setattr(installer, "_verify_engine", lambda *_: None)
    monkeypatch.setattr(installer, "npm_command", lambda node: ("npm",))
    monkeypatch.setattr(
        installer, "find_node", lambda: NodeRuntime(Path(sys.executable), (24, 0, 0), "test")
    )


def test_ctrl_c_ends_npm_and_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    assert gone(*interrupted(tmp_path, signal.SIGINT))
    assert list(tmp_path.glob("engine.tmp-*")) == []
    assert "removing the incomplete installation" in (tmp_path / "said").read_text("utf-8")
    assert not folder.exists()


def test_an_installer_that_was_killed_leaves_nothing_to_the_next(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = interrupted(tmp_path, signal.SIGKILL)
    try:
        assert process_begin(left[0]) is not None  # npm goes on by itself
        assert not installer.engine_status().installed
        finish(monkeypatch)
        assert installer.install_engine().installed
        assert gone(*left)
        assert [p.name for p in tmp_path.glob("engine*")] in (
            ["engine", "engine.lock"], ["engine.lock", "engine"],
        )  # fmt: skip
        assert list(folder.rglob("orgflow-npm.json")) == []
    finally:
        for pid in left:
            if process_begin(pid) is not None:
                os.kill(pid, signal.SIGKILL)


def test_a_number_that_another_program_has_now_is_left_alone(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "engine.tmp-1"
    work.mkdir()
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE,
                             start_new_session=True)  # fmt: skip
    try:
        (work / "orgflow-npm.json").write_text(json.dumps([other.pid, "another boot 7"]), "utf-8")
        finish(monkeypatch)
        assert installer.install_engine().installed
        assert other.poll() is None
        assert not work.exists()
    finally:
        other.kill()
        other.communicate()


@pytest.fixture
def closing() -> Iterator[str]:
    """The address of a proxy that closes each connection."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                listening.accept()[0].close()
            except OSError:
                return

    threading.Thread(target=serve, daemon=True).start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()


def test_a_network_that_is_cut_is_reported_with_what_to_do(closing: str, tmp_path: Path) -> None:
    try:
        node = find_node()
        npm = npm_command(node)
    except NodeError as error:
        missing(f"needs Node and npm: {error}")
    (tmp_path / "package.json").write_text('{"dependencies": {"n8n-core": "2.41.1"}}', "utf-8")
    cut = {"npm_config_proxy": closing, "npm_config_https_proxy": closing, "npm_config_noproxy": "",
           "npm_config_registry": "http://registry.example/", "npm_config_fetch_retries": "0",
           "npm_config_cache": str(tmp_path / "cache")}  # fmt: skip
    with pytest.raises(InstallError, match="run the same command again") as caught:
        run_npm(npm, ("install", "--loglevel=error"), tmp_path, node, print, environment=cut)
    assert "network" in str(caught.value)
