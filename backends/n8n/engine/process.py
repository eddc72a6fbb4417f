"""One Node process that runs engine.cjs, and the threads on its pipes."""

from __future__ import annotations

import atexit
import collections
import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from orgflow.backends.n8n.engine.node import NodeRuntime

_SCRIPT = Path(__file__).resolve().parents[1] / "js" / "engine.cjs"
_STDERR_LINES = 60
_KEPT_ENVIRONMENT = (
    "PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "WINDIR",
)  # fmt: skip
# What n8n looks at to learn whether it runs in a container; refusing would end every run.
_CONTAINER_FILES = (
    "/.dockerenv",
    "/run/.containerenv",
    "/proc/self/cgroup",
    "/proc/self/mountinfo",
)


class NodeDied(Exception):
    """The Node process ended before it answered."""


class NodeSilent(Exception):
    """The Node process gave no answer within a run's limit."""


class NodeProcess:
    """One child and the threads on its pipes (select does not work on pipes on Windows)."""

    def __init__(
        self, node: NodeRuntime, directory: Path, more: Mapping[str, str] | None = None
    ) -> None:
        directory = directory.resolve()
        self._folder = _user_folder(directory)
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._stderr: collections.deque[str] = collections.deque(maxlen=_STDERR_LINES)
        readable = (str(directory), str(_SCRIPT.parent), str(self._folder), *_CONTAINER_FILES)
        self._child = subprocess.Popen(
            [
                str(node.path),
                node.permission_flag,
                *(f"--allow-fs-read={path}" for path in readable),
                f"--allow-fs-write={self._folder}",
                str(_SCRIPT),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**_small_environment(directory, self._folder), **(more or {})},
            cwd=self._folder,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        _ALIVE.add(self)
        self._outgoing: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._threads = (
            _start_thread(self._read_answers),
            _start_thread(self._read_stderr),
            _start_thread(self._write_requests),
        )

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def alive(self) -> bool:
        return self._child.poll() is None

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a request without waiting: if Node hangs, it reads nothing and the pipe is full."""
        self._outgoing.put(json.dumps(message) + "\n")

    def receive(self, seconds: float) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty as error:
            raise NodeSilent(f"no answer in {seconds:.0f} s") from error
        if line is None:
            self._child.wait()
            self._threads[1].join(timeout=2)
            raise NodeDied(self.stderr_text() or f"exit code {self._child.returncode}")
        response: dict[str, Any] = json.loads(line)
        return response

    def stderr_text(self) -> str:
        """The last lines Node wrote to stderr."""
        return "".join(tuple(self._stderr)).strip()

    def end(self) -> None:
        _ALIVE.discard(self)
        self._outgoing.put(None)
        self._child.kill()
        self._child.wait()
        for thread in self._threads:
            thread.join(timeout=2)
        for pipe in (self._child.stdin, self._child.stdout, self._child.stderr):
            if pipe is not None:
                _close_pipe(pipe)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _read_answers(self) -> None:
        assert self._child.stdout is not None
        for line in self._child.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _read_stderr(self) -> None:
        assert self._child.stderr is not None
        for line in self._child.stderr:
            self._stderr.append(line)

    def _write_requests(self) -> None:
        assert self._child.stdin is not None
        try:
            while (line := self._outgoing.get()) is not None:
                self._child.stdin.write(line)
                self._child.stdin.flush()
        except OSError:  # the child is dead, which `receive` reports
            return


def _start_thread(target: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    return thread


_ALIVE: weakref.WeakSet[NodeProcess] = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    for process in tuple(_ALIVE):
        process.end()


def _close_pipe(pipe: IO[str]) -> None:
    try:
        pipe.close()
    except OSError:  # flushing what a dead child did not read
        return


def _user_folder(directory: Path) -> Path:
    users = directory / "users"
    try:
        users.mkdir(exist_ok=True)
        return Path(tempfile.mkdtemp(prefix="run-", dir=users))
    except OSError:  # an engine shared by several users, installed by another, or read-only
        return Path(tempfile.mkdtemp(prefix="orgflow-engine-")).resolve()


def _small_environment(directory: Path, folder: Path) -> dict[str, str]:
    """A small environment: nothing of the caller's, its keys least of all, reaches a workflow."""
    kept = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    return kept | {
        "ORGFLOW_N8N_MODULES": str(directory / "node_modules"),
        "N8N_USER_FOLDER": str(folder),
        "HOME": str(folder),
        "USERPROFILE": str(folder),
        "TMPDIR": str(folder),
        "TEMP": str(folder),
        "TMP": str(folder),
        "TZ": "UTC",
        "NO_COLOR": "1",
    }
