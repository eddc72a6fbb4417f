"""Node programs that tests use as referees: npm packages in a cache folder, and a talking child.

Nothing here is part of the product. The packages come from npm, once, with exact versions; the
folder is ORGFLOW_TEST_TOOLS, else `orgflow/test-tools` in the user's cache.
"""

from __future__ import annotations

import collections
import json
import os
import queue
import shutil
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NoReturn, Self

import pytest
from orgflow.backends.n8n.engine.node import NodeError, NodeRuntime, find_node, npm_command
from orgflow.backends.n8n.engine.npm import hold_lock

BPMNLINT_PACKAGES = {"bpmnlint": "11.15.0", "bpmn-moddle": "10.3.1"}
"""The one bpmnlint, with its reader, that tests and benchmarks compare with."""

_MARKER = "orgflow-test-tool.json"
_NPM_FLAGS = (
    "install", "--ignore-scripts", "--save-exact", "--no-audit", "--no-fund", "--no-package-lock",
    "--no-progress", "--loglevel=error",
)  # fmt: skip
_NPM_SECONDS = 240
_SAID_LINES = 4


class ToolMissingError(RuntimeError):
    """The packages are not there and cannot be installed; the text says why."""


def tools_dir() -> Path:
    """Where tools are kept."""
    named = os.environ.get("ORGFLOW_TEST_TOOLS")
    if named:
        return Path(named).expanduser().absolute()
    cache = os.environ.get("XDG_CACHE_HOME")
    base = Path(cache) if cache else Path.home() / ".cache"
    return base / "orgflow" / "test-tools"


def install(name: str, packages: Mapping[str, str]) -> Path:
    """A folder with `node_modules` that holds `packages` (name → exact version), `name` first of
    all; installs them unless they are there.

    npm works beside the final folder, which appears only when all is in it; of several processes
    that want the same one, one installs and the others wait.

    Raises:
        ToolMissingError: no Node, no npm, no registry, or a version that does not exist.
    """
    target = tools_dir() / f"{name.replace('/', '-')}-{packages[name]}"
    if _installed(target) == dict(packages):
        return target
    try:
        node = find_node()
        npm = npm_command(node)
        target.parent.mkdir(parents=True, exist_ok=True)
        with hold_lock(target.with_name(f"{target.name}.lock"), lambda _: None):
            if _installed(target) != dict(packages):
                _install(target, packages, node, npm)
    except (NodeError, OSError) as error:
        raise ToolMissingError(f"cannot install {name}: {error}") from error
    return target


def tool(name: str, packages: Mapping[str, str]) -> Path:
    """Like `install`, but skips the test where that fails, or fails it under CI=true."""
    try:
        return install(name, packages)
    except ToolMissingError as error:
        missing(f"needs {name} {packages[name]} from npm: {error}")


def missing(reason: str) -> NoReturn:
    """Skip the test, or fail it under CI=true, where everything has to be there."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason} (and CI=true: nothing may be skipped)")
    pytest.skip(reason)


def _installed(folder: Path) -> dict[str, str] | None:
    """What was installed there; `None` if nothing was, or not to the end."""
    try:
        found = json.loads((folder / _MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _install(
    target: Path, packages: Mapping[str, str], node: NodeRuntime, npm: tuple[str, ...]
) -> None:
    work = target.with_name(f"{target.name}.tmp")  # the lock is held: nobody else's
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    try:
        manifest = {"private": True, "dependencies": dict(packages), "overrides": dict(packages)}
        (work / "package.json").write_text(json.dumps(manifest), encoding="utf-8")
        _npm(work, node, npm)
        for package, version in packages.items():
            described = work / "node_modules" / package / "package.json"
            found = json.loads(described.read_text(encoding="utf-8"))["version"]
            if found != version:
                raise ToolMissingError(f"npm installed {package} {found} for {version}")
        (work / _MARKER).write_text(json.dumps(dict(packages)), encoding="utf-8")
        shutil.rmtree(target, ignore_errors=True)
        work.rename(target)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _npm(folder: Path, node: NodeRuntime, npm: tuple[str, ...]) -> None:
    path = os.pathsep.join((str(node.path.parent), os.environ.get("PATH", os.defpath)))
    try:
        done = subprocess.run(
            [*npm, *_NPM_FLAGS],
            cwd=folder,
            env=os.environ | {"PATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=_NPM_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ToolMissingError(f"npm install took over {_NPM_SECONDS} s") from error
    if done.returncode != 0:
        said = "\n".join((done.stderr or done.stdout).strip().splitlines()[:_SAID_LINES])
        raise ToolMissingError(f"npm install failed:\n{said}")


class NodeChild:
    """A Node script that answers each line of JSON with one; a context manager.

    A script that dies or is silent for `seconds` ends the test with what it said on stderr.
    """

    def __init__(self, script: Path, *arguments: str, seconds: float = 120.0) -> None:
        self._seconds = seconds
        self._said: collections.deque[str] = collections.deque(maxlen=40)
        self._answers: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._child = subprocess.Popen(
            [str(find_node().path), str(script), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        self._threads = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._listen, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._child.kill()
        self._child.wait()
        for thread in self._threads:
            thread.join(timeout=2)
        for pipe in (self._child.stdin, self._child.stdout, self._child.stderr):
            _close(pipe)

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to one request. Raises `RuntimeError` when there is none."""
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(json.dumps(request) + "\n")
            self._child.stdin.flush()
            line = self._answers.get(timeout=self._seconds)
        except (OSError, queue.Empty) as error:
            raise RuntimeError(f"no answer from Node: {error!r}\n{''.join(self._said)}") from error
        if line is None:
            self._threads[1].join(timeout=2)
            raise RuntimeError(f"Node ended\n{''.join(self._said)}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _read(self) -> None:
        assert self._child.stdout is not None
        for line in self._child.stdout:
            self._answers.put(line)
        self._answers.put(None)

    def _listen(self) -> None:
        assert self._child.stderr is not None
        for line in self._child.stderr:
            self._said.append(line)


def _close(pipe: IO[str] | None) -> None:
    try:
        if pipe is not None:
            pipe.close()
    except OSError:  # what a dead child did not read
        return
