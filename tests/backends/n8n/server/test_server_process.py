"""Booting and stopping a server, with a small script in the place of n8n."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_cases import interruptible
from engine_fixture import missing
from orgflow.backends.n8n.engine.node import NodeError, find_node
from orgflow.backends.n8n.server import process
from orgflow.backends.n8n.server.install import ServerFiles
from orgflow.backends.n8n.server.process import N8nServer, Owner, ServerStartError

ANSWERS = """
const http = require('node:http');
const { spawn } = require('node:child_process');
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
require('node:fs').writeFileSync(process.env.HOME + '/seen.json',
  JSON.stringify({ env: process.env, pid: process.pid, child: child.pid, argv: process.argv }));
new (require('node:worker_threads').Worker)('setInterval(() => {}, 1000)', { eval: true });
const server = http.createServer((_, answer) => answer.end('{"data":{}}'));
server.listen(process.env.N8N_PORT, '127.0.0.1');
"""
DEAF = "process.on('SIGTERM', () => {});\n" + ANSWERS
DIES = "console.error('no such table'); process.exit(3);"
HANGS = "setInterval(() => {}, 1000);"
TAKEN_ONCE = """
const fs = require('node:fs');
if (!fs.existsSync(__dirname + '/once')) {
  fs.writeFileSync(__dirname + '/once', '');
  console.error('listen EADDRINUSE'); process.exit(1);
}
""" + ANSWERS  # fmt: skip


@pytest.fixture
def made(tmp_path: Path) -> object:
    """Makes an installed server of a script."""
    try:
        node = find_node()
    except NodeError as error:
        missing(f"needs Node: {error}")

    def make(text: str) -> ServerFiles:
        script = tmp_path / "n8n.cjs"
        script.write_text(text, encoding="utf-8")
        return ServerFiles(node.path, script, "2.41.1")

    return make


def gone(pid: int) -> bool:
    for _ in range(150):
        # A container without an init leaves an orphan's entry behind.
        shown = subprocess.run(
            ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True
        )
        if not shown.stdout.strip() or shown.stdout.startswith("Z"):
            return True
        time.sleep(0.1)
    return False


def test_it_boots_with_its_own_folder_and_leaves_nothing(
    made: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("N8N_API_KEY", "hidden")
    monkeypatch.setenv("NODE_OPTIONS", "--no-such-option")
    with N8nServer(files=made(ANSWERS)) as server:
        folder = server._data
        assert folder is not None
        seen = json.loads((folder / "seen.json").read_text("utf-8"))
        assert server.pid == seen["pid"]
        assert seen["argv"][2:] == ["start"]
        assert "hidden" not in json.dumps(seen["env"])
        assert "NODE_OPTIONS" not in seen["env"]
        assert "ORGFLOW_TEMPORARY" not in seen["env"]
        assert seen["env"]["N8N_DIAGNOSTICS_ENABLED"] == "false"
        assert seen["env"]["N8N_LISTEN_ADDRESS"] == "127.0.0.1"
        server.start()  # it runs already
        assert server.pid == seen["pid"]
    assert gone(seen["pid"])
    assert gone(seen["child"])
    assert not folder.exists()
    server.stop()


def test_a_given_folder_stays(made: object, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with N8nServer(data, made(ANSWERS)):
        pass
    assert (data / "n8n.log").is_file()


def test_one_that_does_not_listen_to_signals_is_killed(
    made: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_STOP_SECONDS", 0.5)
    server = N8nServer(files=made(DEAF))
    server.start()
    pid = server.pid
    server.stop()
    assert pid is not None
    assert gone(pid)


@pytest.mark.parametrize(
    ("text", "said"), [(DIES, "exit code 3 (.|\n)*no such table"), (HANGS, "did not get ready")]
)
def test_one_that_does_not_come_up_is_an_error(made: object, text: str, said: str) -> None:
    server = N8nServer(files=made(text))
    with pytest.raises(ServerStartError, match=said):
        server.start(seconds=1.5)
    assert not server.alive
    assert server._data is None


def test_a_port_that_was_taken_meanwhile_is_no_error(made: object) -> None:
    with N8nServer(files=made(TAKEN_ONCE)) as server:
        assert server.alive


def test_none_installed_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ORGFLOW_N8N_SERVER", str(tmp_path / "none"))
    with pytest.raises(ServerStartError, match=r"not installed: .*engine install --server`"):
        N8nServer().start()


def test_a_password_is_not_shown() -> None:
    owner = Owner()
    assert owner.password not in repr(owner)
    assert owner.password != Owner().password


ORPHAN = """
import os, signal, sys
from pathlib import Path
from orgflow.backends.n8n.server.install import ServerFiles
from orgflow.backends.n8n.server.process import N8nServer
server = N8nServer(files=ServerFiles(Path(sys.argv[1]), Path(sys.argv[2]), "x"))
server.start()
print(server.pid, (server._data / "seen.json").read_text(), flush=True)
os.kill(os.getpid(), getattr(signal, sys.argv[3]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kills itself with a POSIX signal")
@pytest.mark.parametrize("kill", ["SIGKILL", "SIGTERM", "SIGINT"])
def test_it_ends_when_its_parent_is_killed(made: object, kill: str) -> None:
    files = made(ANSWERS)
    command = [sys.executable, "-c", ORPHAN, str(files.node), str(files.script), kill]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        preexec_fn=interruptible,
    )
    assert done.returncode == -getattr(signal, kill), done.stderr
    pid, text = done.stdout.split(maxsplit=1)
    seen = json.loads(text)
    assert gone(int(pid))
    assert gone(seen["child"])
    assert not Path(seen["env"]["HOME"]).exists()
