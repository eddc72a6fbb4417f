"""One local n8n server: booted with its own data folder, and stopped reliably."""

from __future__ import annotations

import atexit
import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import weakref
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from orgflow.backends.n8n.engine.npm import end_group
from orgflow.backends.n8n.server.install import ServerFiles, server_status

from orgflow_ir.model.records import dataclass

BOOT_SECONDS = 180.0
"""Maximum time until n8n answers; idle machines need 5-8 s, the first boot slightly more."""

_STOP_SECONDS = 12.0
_POLL_SECONDS = 0.2
_LOG_LINES = 25
_PORT_TRIES = 3
_HOST = "127.0.0.1"
_GUARD = Path(__file__).resolve().parents[1] / "js" / "server_guard.cjs"
_KEPT_ENVIRONMENT = ("LANG", "LC_ALL", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")
# Parts of n8n that no workflow here uses; without them it starts sooner and calls nobody.
_DISABLED_MODULES = (
    "insights,external-secrets,community-packages,source-control,dynamic-credentials,chat-hub,"
    "sso-oidc,sso-saml,log-streaming,ldap,workflow-builder,mcp,mcp-registry,instance-ai,agents,"
    "breaking-changes,provisioning,quick-connect,favorites,redaction,token-exchange"
)


# n8n 1 does not start where one is named that it does not have.
_DISABLED_MODULES_1 = "insights,external-secrets"


def _disabled_modules(files: ServerFiles) -> str:
    return _DISABLED_MODULES_1 if files.version.startswith("1.") else _DISABLED_MODULES


class ServerStartError(RuntimeError):
    """n8n's server is not installed, ended during its start, or was not ready in time."""


@dataclass(frozen=True)
class Owner:
    """The account of a new server; its password lasts as long as its data folder."""

    email: str = "owner@example.com"
    password: str = field(default_factory=lambda: f"Aa1-{secrets.token_hex(16)}", repr=False)


class N8nServer:
    """An n8n server on a port of 127.0.0.1.

    Use it as a context manager, or call `start()` and `stop()`. It runs in its own process group
    and ends with this process, even if that is killed, unless it is released; its environment
    contains nothing of the caller's. Nothing is sent to n8n's makers.

    Args:
        data: its data folder; the default is a temporary folder that is removed with it.
        files: an installed server; the default is `install.status().files`.
        settings: additional environment variables of n8n.
        port: its port; 0 selects a free one.
        outlives: whether it can be released once it runs, and continue after the end of this
            process.
        on_process: called with the process id as soon as the process exists, before it answers.
    """

    def __init__(
        self,
        data: Path | None = None,
        files: ServerFiles | None = None,
        settings: dict[str, str] | None = None,
        *,
        port: int = 0,
        outlives: bool = False,
        on_process: Callable[[int], None] | None = None,
    ) -> None:
        self._files = files
        self._settings = dict(settings or {})
        self._given = data
        self._data: Path | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None
        self._wanted = port
        self._outlives = outlives
        self._on_process = on_process
        self.port = port

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """Its address, without a trailing slash."""
        return f"http://{_HOST}:{self.port}"

    @property
    def pid(self) -> int | None:
        """The process id of the server, None without one."""
        return self._child.pid if self._child is not None else None

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._child is not None and self._child.poll() is None

    def log_text(self) -> str:
        """The last lines of its output."""
        if self._data is None:
            return ""
        try:
            text = (self._data / "n8n.log").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
        return "\n".join(text.splitlines()[-_LOG_LINES:])

    def start(self, seconds: float = BOOT_SECONDS) -> None:
        """Boot it and wait until it answers; does nothing if it runs.

        Raises:
            ServerStartError: see there.
        """
        if self.alive:
            return
        self.stop()
        files = self._files or server_status().files
        if files is None:
            raise ServerStartError(f"n8n's server is not installed: {server_status().problem}")
        deadline = time.monotonic() + seconds
        for attempt in range(_PORT_TRIES):
            try:
                self._boot_server(files)
                self._wait_ready(deadline)
            except BaseException as error:
                log = self.log_text()
                self.stop()
                # The port was free a moment ago; somebody else may have taken it since.
                taken = isinstance(error, ServerStartError) and "EADDRINUSE" in log
                if not taken or self._wanted or attempt + 1 == _PORT_TRIES:
                    raise
                continue
            return

    def release(self) -> None:
        """Release a server that `outlives` this process."""
        if not self._outlives:
            raise ValueError("only a server that outlives this process can be released")
        _ALIVE.discard(self)
        child, self._child = self._child, None
        if child is not None and child.stdin is not None:
            with contextlib.suppress(OSError):
                child.stdin.write(b"released\n")
                child.stdin.close()
        self.stop()

    def stop(self) -> None:
        """End it and all its descendants, and remove a temporary data folder; may be called
        repeatedly."""
        _ALIVE.discard(self)
        child, self._child = self._child, None
        try:
            if child is not None:
                _end_process(child)
        finally:
            if child is not None and child.stdin is not None:
                with contextlib.suppress(OSError):
                    child.stdin.close()
            if self._log is not None:
                self._log.close()
                self._log = None
            if self._given is None and self._data is not None:
                shutil.rmtree(self._data, ignore_errors=True)
            self._data = None

    def _boot_server(self, files: ServerFiles) -> None:
        if self._given is None:
            self._data = Path(tempfile.mkdtemp(prefix="orgflow-n8n-")).resolve()
        else:
            self._data = self._given.absolute()
            self._data.mkdir(parents=True, exist_ok=True)
        free, broker = _free_ports()
        self.port = self._wanted or free
        self._log = (self._data / "n8n.log").open("wb")
        try:
            self._child = subprocess.Popen(
                [
                    str(files.node),
                    "-r",
                    str(_GUARD),
                    str(files.script),
                    "start",
                ],
                cwd=self._data,
                env=self._build_environment(files, broker),
                stdin=subprocess.PIPE,
                stdout=self._log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise ServerStartError(f"n8n's server does not start: {error}") from error
        _ALIVE.add(self)
        if self._on_process is not None:
            self._on_process(self._child.pid)

    def _wait_ready(self, deadline: float) -> None:
        assert self._child is not None
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        while True:
            if self._child.poll() is not None:
                raise ServerStartError(
                    f"n8n's server ended with exit code {self._child.returncode} while it started:"
                    f"\n{self.log_text()}"
                )
            # /healthz answers before the routes are there.
            try:
                with opener.open(f"{self.url}/rest/settings", timeout=5) as response:
                    if b'"data"' in response.read():
                        return
            except (urllib.error.URLError, OSError):
                pass
            if time.monotonic() > deadline:
                raise ServerStartError(f"n8n's server did not get ready:\n{self.log_text()}")
            time.sleep(_POLL_SECONDS)

    def _build_environment(self, files: ServerFiles, broker: int) -> dict[str, str]:
        assert self._data is not None
        home = str(self._data)
        kept = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
        own = {
            "PATH": os.pathsep.join((str(files.node.parent), os.defpath)),
            "HOME": home,
            "USERPROFILE": home,
            "TMPDIR": home,
            "N8N_USER_FOLDER": home,
            "N8N_HOST": _HOST,
            "N8N_PORT": str(self.port),
            "N8N_LISTEN_ADDRESS": _HOST,
            "N8N_PROTOCOL": "http",
            "N8N_SECURE_COOKIE": "false",
            "N8N_RUNNERS_BROKER_PORT": str(broker),
            "N8N_RUNNERS_BROKER_LISTEN_ADDRESS": _HOST,
            "N8N_DIAGNOSTICS_ENABLED": "false",
            "N8N_VERSION_NOTIFICATIONS_ENABLED": "false",
            "N8N_VERSION_NOTIFICATIONS_WHATS_NEW_ENABLED": "false",
            "N8N_TEMPLATES_ENABLED": "false",
            "N8N_DYNAMIC_BANNERS_ENABLED": "false",
            "N8N_HIRING_BANNER_ENABLED": "false",
            "N8N_PERSONALIZATION_ENABLED": "false",
            "N8N_LICENSE_AUTO_RENEW_ENABLED": "false",
            "N8N_COMMUNITY_PACKAGES_ENABLED": "false",
            "N8N_AI_ENABLED": "false",
            "N8N_DISABLED_MODULES": _disabled_modules(files),
            "N8N_PUBLIC_API_SWAGGERUI_DISABLED": "true",
            "N8N_ENFORCE_SETTINGS_FILE_PERMISSIONS": "false",
            "DB_TYPE": "sqlite",
            "EXECUTIONS_DATA_SAVE_ON_SUCCESS": "all",
            "EXECUTIONS_DATA_SAVE_ON_ERROR": "all",
            "EXECUTIONS_DATA_SAVE_MANUAL_EXECUTIONS": "true",
            "GENERIC_TIMEZONE": "UTC",
            "TZ": "UTC",
            "NO_COLOR": "1",
            "N8N_LOG_LEVEL": "info",
        }
        if self._given is None:
            own["ORGFLOW_TEMPORARY"] = home  # read and removed by the guard
        return kept | own | self._settings


_ALIVE: weakref.WeakSet[N8nServer] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    for server in tuple(_ALIVE):
        server.stop()


def _end_process(child: subprocess.Popen[bytes]) -> None:
    """Ask the server to end, then kill its process group: n8n's task runner is in it."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(timeout=_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        except BaseException:  # a second Ctrl-C: no more asking
            end_group(child)
            raise
    if sys.platform == "win32":
        child.kill()
    else:
        # Whatever is left of the group, also after n8n itself has ended well.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _free_ports() -> tuple[int, int]:
    """Two ports that nobody listens on now."""
    with socket.socket() as first, socket.socket() as second:
        first.bind((_HOST, 0))
        second.bind((_HOST, 0))
        return int(first.getsockname()[1]), int(second.getsockname()[1])
