"""The Node process around n8n's engine: limits, death, isolation; and its install."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from engine_fixture import LOOP, LOOP_STUBS, START, flow, node, output, reads
from orgflow.backends.n8n.engine import install as installer
from orgflow.backends.n8n.engine.engine_folder import engine_dir
from orgflow.backends.n8n.engine.install import InstallError, engine_status, install_engine
from orgflow.backends.n8n.engine.local import EngineError, LocalEngine, RunRequest
from orgflow.backends.n8n.engine.node import NodeNotFoundError, NodeTooOldError, find_node


def test_a_node_that_hangs_is_killed_and_the_next_run_is_right(
    engine: LocalEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orgflow.backends.n8n.engine.local._GRACE_SECONDS", 2.0)
    hang = flow([START, reads("A", x="(() => { while (true) {} })()")], "T>A")
    good = RunRequest(LOOP, "T", stubs=LOOP_STUBS)
    requests = [good, RunRequest(hang, "T", limits={"ms": 200}), good]
    assert [run.status for run in engine.run_many(requests)] == ["success", "limit", "success"]


def test_a_dead_node_is_started_again(engine: LocalEngine) -> None:
    before = engine.run(LOOP, "T", stubs=LOOP_STUBS)
    restarts = engine.restarts
    runs = engine.run_many(RunRequest(LOOP, "T", stubs=LOOP_STUBS) for _ in range(40))
    assert next(runs).order == before.order
    assert engine.pid is not None
    os.kill(engine.pid, signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
    assert [run.order for run in runs] == [before.order] * 39
    assert engine.restarts == restarts + 1


ORPHAN = """
import os, signal
from orgflow.backends.n8n.engine.local import LocalEngine
engine = LocalEngine()
engine.start()
print(engine.pid, engine._process._folder, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kills itself with a POSIX signal")
def test_node_ends_when_its_parent_is_killed(engine: LocalEngine) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", ORPHAN], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    pid, folder = done.stdout.split(maxsplit=1)
    for _ in range(100):
        if not is_running(int(pid)):
            break
        time.sleep(0.1)
    assert not is_running(int(pid))
    assert not Path(folder.strip()).exists()


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A container without an init leaves an orphan's entry behind.
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return bool(state.stdout.strip()) and not state.stdout.startswith("Z")


def test_runs_are_isolated_and_memory_stays_bounded(engine: LocalEngine) -> None:
    code = "const s = $getWorkflowStaticData('global'); s.n = (s.n || 0) + 1; return {n: s.n};"
    counting = flow([START, node("A", "code", 2, {"jsCode": code})], "T>A")
    nodes, connections = LOOP["nodes"] + counting["nodes"][1:], dict(LOOP["connections"])
    connections["E"] = {"main": [[{"node": "A", "type": "main", "index": 0}]]}
    request = RunRequest(LOOP | {"nodes": nodes, "connections": connections}, "T", stubs=LOOP_STUBS)
    for run in engine.run_many([request] * 300):
        assert output(run) == {"n": 1}
    warm = engine.rss()
    for run in engine.run_many([request] * 700):
        assert run.status == "success"
    assert engine.rss() < warm + 100e6


def test_a_missing_engine_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORGFLOW_ENGINE_DIR", str(tmp_path / "none"))
    assert engine_dir() == tmp_path / "none"
    assert not engine_status().installed
    with pytest.raises(EngineError, match=r"not installed .* `orgflowc engine install`"):
        LocalEngine().start()


def fake_node(folder: Path, monkeypatch: pytest.MonkeyPatch, version: str, npm: str) -> None:
    """A shell script that says it is Node and runs `npm` in place of npm."""
    program = folder / "bin" / "node"
    script = folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    for path in (program, script):
        path.parent.mkdir(parents=True)
        path.touch()
    program.write_text(
        f'#!/bin/sh\nif [ "$1" = --version ]; then echo {version}; exit 0; fi\n{npm}\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("ORGFLOW_NODE", str(program))


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for Node is a shell script")
def test_node_is_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_node(tmp_path / "old", monkeypatch, "v18.1.0", "")
    with pytest.raises(NodeTooOldError, match=r"18\.1\.0"):
        find_node()
    fake_node(tmp_path / "odd", monkeypatch, "hello", "")
    with pytest.raises(NodeNotFoundError, match="hello"):
        find_node()
    monkeypatch.setenv("ORGFLOW_NODE", str(tmp_path / "absent"))
    with pytest.raises(NodeNotFoundError):
        find_node()


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for Node is a shell script")
def test_a_failed_install_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "engines" / "e"
    target.mkdir(parents=True)
    (target / "kept").touch()
    (target.parent / "e.tmp-1").mkdir()
    monkeypatch.setenv("ORGFLOW_ENGINE_DIR", str(target))
    fake_node(tmp_path / "a", monkeypatch, "v24.0.0", "echo npm error no luck; exit 7")
    lines: list[str] = []
    with pytest.raises(InstallError, match="exit code 7:\nnpm error no luck"):
        install_engine(lines.append)
    assert "npm error no luck" in lines
    fake_node(tmp_path / "b", monkeypatch, "v24.0.0", "exit 0")
    with pytest.raises(InstallError, match="installed a missing or different"):
        install_engine()
    make = ";".join(
        f"mkdir -p node_modules/{name};"
        f'echo \'{{"version":"{version}"}}\' > node_modules/{name}/package.json'
        for name, version in installer.PACKAGES.items()
    )
    fake_node(tmp_path / "c", monkeypatch, "v24.0.0", make)
    with pytest.raises(InstallError, match="does not run"):
        install_engine()
    assert sorted(path.name for path in target.parent.iterdir()) == ["e", "e.lock"]
    assert (target / "kept").exists()


def test_no_network_no_files_no_environment(
    engine: LocalEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "written"
    http = node("A", "httpRequest", 4.5, {"url": "http://127.0.0.1:9/", "options": {}})
    run = engine.run(flow([START, http], "T>A"), "T")
    assert (run.status, "network is off" in (run.error or "")) == ("error", True)
    parameters = {"operation": "write", "fileName": str(target), "dataPropertyName": "d"}
    items = [{"json": {}, "binary": {"d": {"data": "aGk=", "mimeType": "text/plain"}}}]
    write = node("A", "readWriteFile", 1, parameters)
    assert engine.run(flow([START, write], "T>A"), "T", items=items).status == "error"
    assert not target.exists()
    monkeypatch.setenv("SECRET_OF_TEST", "x")
    with LocalEngine() as fresh:
        run = fresh.run(flow([START, reads("A", e="$env.SECRET_OF_TEST ?? null")], "T>A"), "T")
    assert "x" not in str(run.output)


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for Node is a shell script")
def test_a_second_install_waits_for_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORGFLOW_ENGINE_DIR", str(tmp_path / "e"))
    fake_node(tmp_path / "a", monkeypatch, "v24.0.0", "sleep 1; exit 7")
    said: list[list[str]] = [[], []]

    def attempt(lines: list[str]) -> None:
        with pytest.raises(InstallError):
            install_engine(lines.append)

    threads = [threading.Thread(target=attempt, args=(lines,)) for lines in said]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(lines[0][:7] for lines in said) == ["npm ins", "waiting"]
    assert [path.name for path in tmp_path.iterdir()].count("e") == 0
