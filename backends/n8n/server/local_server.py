"""The n8n server of `engine start` and `serve`: one per user, with its data, port and login."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from orgflow.backends.n8n.engine.npm import hold_lock
from orgflow.backends.n8n.engine.processes import process_begin, signal_group
from orgflow.backends.n8n.server.client.client import Client
from orgflow.backends.n8n.server.client.errors import ServerError
from orgflow.backends.n8n.server.install import ServerFiles, server_status
from orgflow.backends.n8n.server.process import N8nServer, Owner, ServerStartError

from orgflow_ir.plugins.engines import LocalServer, RunningServer, ServerExecution
from orgflow_ir.plugins.runners import RunnerError

PORTS = range(5690, 5790)
"""The first port to try: near n8n's own, 5678, which stays free."""

_HOST = "127.0.0.1"
_STOP_SECONDS = 15.0
_PORT_TRIES = 3
_POLL_SECONDS = 0.1
_EMAIL = "owner@example.com"
_LATEST = 50
_NOTHING: Mapping[str, None] = {"pid": None, "begun": None, "holder": None, "booting": None}

OnLine = Callable[[str], None]


class LocalServerError(RunnerError):
    """The local server is not installed, does not start or end, or its port is in use."""


def server_home() -> Path:
    """The folder of the server's data, port and login: ORGFLOW_N8N_HOME, otherwise one in the
    user's cache."""
    named = os.environ.get("ORGFLOW_N8N_HOME")
    if named:
        return Path(named).expanduser().absolute()
    cache = os.environ.get("XDG_CACHE_HOME")
    base = Path(cache) if cache else Path.home() / ".cache"
    return base / "orgflow" / "local-n8n"


class LocalN8n(LocalServer):
    """n8n in the folder `server_home()`: `server.json` contains its port and process, `login.json`
    the account of the editor, `api-key` the key, `data` n8n's own data.

    A process counts as the server, and is ended, only if its start time matches, since process ids
    are reused. The process is recorded before n8n answers, with the waiting command: if that is
    killed, n8n ends by itself (`server_guard.cjs`), or the next command ends it.

    Args:
        files: an installed server; the default is `install.server_status().files`.
    """

    def __init__(self, files: ServerFiles | None = None) -> None:
        self._given = files
        self.home = server_home()

    @property
    def installed(self) -> bool:
        """See `LocalServer`."""
        return self._given is not None or server_status().files is not None

    @property
    def facts(self) -> Mapping[str, str]:
        """See `LocalServer`."""
        status = server_status()
        if status.files is None:
            return {"server": f"not installed ({status.problem})"}
        facts = {"server": f"n8n {status.files.version}, {status.path}"}
        running = self.running()
        unsettled = self._living_process()
        if running is None and unsettled is not None:
            facts["running"] = (
                f"process {unsettled} is starting, or its start was killed "
                "(`orgflowc engine stop` ends it)"
            )
        elif running is None:
            facts["running"] = "no (`orgflowc engine start` or `orgflowc serve MODEL` starts it)"
        else:
            facts["running"] = f"{running.address}, process {running.pid}"
            facts["log"] = running.log
        return facts | {"data": str(self.home)}

    def running(self) -> RunningServer | None:
        """See `LocalServer`."""
        state = self._read_state()
        pid, port, login = self._living_process(), state.get("port"), self._read_login()
        if pid is None or not isinstance(port, int) or login is None or state.get("booting"):
            return None
        holder = state.get("holder")
        if isinstance(holder, list) and process_begin(holder[0]) != holder[1]:
            return None  # it ends with the command that was killed
        return self._describe_server(port, pid, login)

    def _living_process(self) -> int | None:
        """The process that was started last, if it runs, whether or not it has got ready."""
        state = self._read_state()
        pid, begun = state.get("pid"), state.get("begun")
        if not isinstance(pid, int) or begun is None or process_begin(pid) != begun:
            return None
        return pid

    def start(self, on_line: OnLine, *, port: int | None = None) -> RunningServer:
        """See `LocalServer`."""
        if process_begin(os.getpid()) is None:
            raise LocalServerError(
                "a server in the background is not supported on this system: use `orgflowc serve`"
            )
        with self._hold_lock(on_line):
            running = self._running_server(port)
            if running is not None:
                return running
            server = self._boot_server(on_line, port, outlives=True)
            try:
                described = self._note_server(server)
            except BaseException:
                self._note_end(server)
                raise
            self._keep_state(holder=None)
            server.release()
            return described

    def stop(self) -> bool:
        """See `LocalServer`."""
        with self._hold_lock(lambda _: None):
            process = self._living_process()
            self._stop_unknown()
            self._keep_state(**_NOTHING)
            return process is not None

    @contextlib.contextmanager
    def held(self, on_line: OnLine, *, port: int | None = None) -> Iterator[RunningServer]:
        """See `LocalServer`."""
        with self._hold_lock(on_line):
            running = self._running_server(port)
            server = (
                None if running is not None else self._boot_server(on_line, port, outlives=False)
            )
            try:
                described = running if server is None else self._note_server(server)
            except BaseException:
                if server is not None:
                    self._note_end(server)
                raise
        assert described is not None
        try:
            yield described
        finally:
            if server is not None:
                self._note_end(server)

    def executions(self, server: RunningServer) -> tuple[ServerExecution, ...]:
        """See `LocalServer`."""
        executions: dict[int, ServerExecution] = {}
        try:
            with Client(server.address, Path(server.key_file).read_text("utf-8").strip()) as client:
                for row in client.latest_executions(_LATEST):
                    execution = ServerExecution(
                        str(row["id"]), str(row["workflowId"]), row["status"]
                    )
                    executions[int(execution.id)] = execution
        except (ServerError, OSError) as error:
            raise LocalServerError(str(error)) from None
        return tuple(executions[id] for id in sorted(executions))

    # -- starting -----------------------------------------------------------------------------

    def _running_server(self, port: int | None) -> RunningServer | None:
        """The server that runs. Raises where it listens on another port than is wanted."""
        process = self.running()
        if process is not None and port is not None and process.address != f"http://{_HOST}:{port}":
            raise LocalServerError(
                f"n8n runs at {process.address} already: `orgflowc engine stop` ends it"
            )
        return process

    def _boot_server(self, on_line: OnLine, port: int | None, *, outlives: bool) -> N8nServer:
        files = self._given or server_status().files
        if files is None:
            raise LocalServerError(f"n8n's server is not installed: {server_status().problem}")
        if process_begin(os.getpid()) is not None:
            self._stop_unknown()
        me = os.getpid()

        def note_process(pid: int) -> None:
            begun = process_begin(pid)
            self._keep_state(pid=pid, begun=begun, holder=[me, process_begin(me)], booting=True)

        for _ in range(_PORT_TRIES):
            server = N8nServer(
                self.home / "data",
                files,
                port=self._choose_port(on_line, port),
                outlives=outlives,
                on_process=note_process,
            )
            on_line(f"starting n8n {files.version}; its log is {self._log_path}")
            try:
                server.start()
            except ServerStartError as error:
                self._keep_state(**_NOTHING)
                failed = error
                # The port was free a moment ago; another program may have taken it since.
                taken = "EADDRINUSE" in str(error) or not is_free(server.port)
                if port is None and taken:
                    continue
                break
            return server
        raise LocalServerError(f"{failed}\nthe log is {self._log_path}") from None

    def _note_server(self, server: N8nServer) -> RunningServer:
        """Note a server that has just been booted, with an account if it is new."""
        assert server.pid is not None
        login = self._read_login()
        if login is None:
            owner = Owner(_EMAIL, f"Aa1-{secrets.token_hex(8)}")
            try:
                with Client(server.url) as client:
                    key = client.set_up_owner(owner.email, owner.password)
            except ServerError as error:
                raise LocalServerError(
                    f"{error}\nthe data of n8n in {self.home / 'data'} have an account of which "
                    f"{self.home} has no password: move that folder away to begin again"
                ) from None
            login = (owner.email, owner.password)
            _write_private(self.home / "api-key", f"{key}\n")
            _write_private(
                self.home / "login.json",
                json.dumps({"email": owner.email, "password": owner.password}) + "\n",
            )
        self._keep_state(
            port=server.port, pid=server.pid, begun=process_begin(server.pid), booting=None
        )
        return self._describe_server(server.port, server.pid, login)._replace(begun=True)

    def _choose_port(self, on_line: OnLine, wanted: int | None) -> int:
        """The port that is wanted, otherwise that of the last time, otherwise a free one."""
        if wanted is not None:
            if not is_free(wanted):
                raise LocalServerError(
                    f"port {wanted} of {_HOST} is taken by another program; without --port, "
                    "a free one is used"
                )
            return wanted
        last = self._read_state().get("port")
        if isinstance(last, int) and is_free(last):
            return last
        for port in PORTS:
            if is_free(port):
                if isinstance(last, int):
                    on_line(f"port {last} is taken by another program: n8n listens on {port} now")
                return port
        raise LocalServerError(f"no port from {PORTS[0]} to {PORTS[-1]} of {_HOST} is free")

    # -- ending -------------------------------------------------------------------------------

    def _note_end(self, server: N8nServer) -> None:
        server.stop()
        self._keep_state(**_NOTHING)

    def _stop_unknown(self) -> None:
        """End the process that was started last: two servers on the same data would damage them."""
        pid = self._living_process()
        if pid is not None:
            self._end_process(pid, str(self._read_state()["begun"]))

    def _end_process(self, pid: int, begun: str) -> None:
        for sent in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
            deadline = time.monotonic() + _STOP_SECONDS
            if process_begin(pid) == begun:
                signal_group(pid, sent)
            while process_begin(pid) == begun:
                if time.monotonic() > deadline:
                    break
                time.sleep(_POLL_SECONDS)
            else:
                return
        raise LocalServerError(f"n8n (process {pid}) does not end")

    # -- what is kept -------------------------------------------------------------------------

    @property
    def _log_path(self) -> Path:
        return self.home / "data" / "n8n.log"

    @contextlib.contextmanager
    def _hold_lock(self, on_line: OnLine) -> Iterator[None]:
        try:
            self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
            locking = hold_lock(self.home / "lock", on_line, "another start or stop")
            with locking:
                yield
        except OSError as error:
            raise LocalServerError(f"{self.home} cannot be used: {error}") from error

    def _read_state(self) -> dict[str, Any]:
        return _read_state(self.home / "server.json")

    def _read_login(self) -> tuple[str, str] | None:
        login = _read_state(self.home / "login.json")
        email, password = login.get("email"), login.get("password")
        if isinstance(email, str) and isinstance(password, str) and self._key_path.is_file():
            return email, password
        return None

    @property
    def _key_path(self) -> Path:
        return self.home / "api-key"

    def _keep_state(self, **changes: Any) -> None:
        state = {k: v for k, v in {**self._read_state(), **changes}.items() if v is not None}
        _write_private(self.home / "server.json", json.dumps(state) + "\n")

    def _describe_server(self, port: int, pid: int, login: tuple[str, str]) -> RunningServer:
        return RunningServer(
            f"http://{_HOST}:{port}", str(self._key_path), login, str(self._log_path), pid
        )


def is_free(port: int) -> bool:
    """Whether no program listens on a port of this machine."""
    with socket.socket() as tried:
        if sys.platform != "win32":  # connections that are ending do not count
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((_HOST, port))
        except (OSError, OverflowError):
            return False
        return True


def _read_state(path: Path) -> dict[str, Any]:
    try:
        state = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


def _write_private(path: Path, text: str) -> None:
    """Replace a file that only its owner reads."""
    beside = path.with_name(f"{path.name}.new-{os.getpid()}")
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    os.replace(beside, path)
