"""Complete installations from npm (the engine, the server, test tools), which leave nothing
otherwise."""

from __future__ import annotations

import collections
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from orgflow.backends.n8n.engine.node import NodeRuntime
from orgflow.backends.n8n.engine.processes import process_begin, signal_group

from orgflow_ir.plugins.engines import InstallError as InstallError

QUIET_FLAGS = (
    "--no-audit",
    "--no-fund",
    "--no-package-lock",
    "--no-progress",
    "--loglevel=error",  # n8n runs on Nodes that many packages warn about
)
"""Flags of every npm call: only packages are requested from the registry, and the output is
short."""

_LAST_LINES = 25
_RUNNING = "orgflow-npm.json"
"""The file in npm's folder with its process and start time."""
_LOCK_POLL_SECONDS = 0.5
_END_SECONDS = 10.0
_NETWORK = (
    "ECONNRESET",
    "ECONNREFUSED",
    "ENOTFOUND",
    "ETIMEDOUT",
    "EAI_AGAIN",
    "npm error network",
)
_AGAIN = (
    "check the network, or the proxy in npm's configuration, and run the same command again; "
    "npm keeps the packages downloaded so far"
)

OnLine = Callable[[str], None]


def run_npm(
    npm: Sequence[str],
    arguments: Sequence[str],
    folder: Path,
    node: NodeRuntime,
    say: OnLine,
    *,
    environment: Mapping[str, str] | None = None,
    seconds: float = 1800.0,
) -> None:
    """Run npm in `folder` with `node` first on PATH.

    Args:
        npm: the command (`node.npm_command`).
        arguments: the arguments of the command.
        folder: the working folder.
        node: the Node for npm and its child processes.
        say: called with each line npm prints.
        environment: additional variables.
        seconds: time limit after which npm is ended.

    Raises:
        InstallError: npm failed or took too long; the text ends with the last lines it printed.
    """
    path = os.pathsep.join((str(node.path.parent), os.environ.get("PATH", os.defpath)))
    last: collections.deque[str] = collections.deque(maxlen=_LAST_LINES)
    what = f"npm {arguments[0]}"
    late = threading.Event()
    with subprocess.Popen(
        [*npm, *arguments],
        cwd=folder,
        env=os.environ | {"PATH": path} | dict(environment or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,  # npm starts compilers, which have to end with it
    ) as child:

        def end_late() -> None:
            late.set()
            end_group(child)

        timer = threading.Timer(seconds, end_late)
        timer.daemon = True
        timer.start()
        note = folder / _RUNNING
        try:
            note.write_text(json.dumps([child.pid, process_begin(child.pid)]), encoding="utf-8")
            assert child.stdout is not None
            for line in child.stdout:
                last.append(line.rstrip())
                say(line.rstrip())
            code = child.wait()
        except BaseException:  # Ctrl-C above all: npm must not go on in a folder that is removed
            end_group(child)
            raise
        finally:
            timer.cancel()
            note.unlink(missing_ok=True)
    if late.is_set():
        raise InstallError(f"{what} took over {seconds:.0f} s:\n" + "\n".join(last))
    if code != 0:
        output = "\n".join(last)
        cut = any(sign in output for sign in _NETWORK)
        remedy = f" ({_AGAIN})" if cut else ""
        raise InstallError(f"{what} failed with exit code {code}{remedy}:\n{output}")


def end_group(child: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    """Kill a child that was started with `start_new_session`, and all its descendants."""
    if sys.platform != "win32":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
    child.kill()


def package_version(folder: Path, package: str) -> str | None:
    """The version of `package` in the `node_modules` of `folder`; None if it is missing."""
    try:
        text = (folder / "node_modules" / package / "package.json").read_text(encoding="utf-8")
        version = json.loads(text)["version"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return str(version)


def move_into_place(work: Path, target: Path) -> None:
    """Move `work` to `target`, which is unchanged after a failure."""
    if not target.exists():
        work.rename(target)
        return
    old = target.with_name(f"{target.name}.old-{os.getpid()}")
    target.rename(old)
    try:
        work.rename(target)
    except OSError:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def work_folder(target: Path) -> Path:
    """The work folder of this process next to `target`."""
    return target.with_name(f"{target.name}.tmp-{os.getpid()}")


def remove_unfinished(work: Path, say: OnLine) -> None:
    """Remove a work folder that was not moved into place, which takes seconds for a server."""
    if work.exists():
        say("removing the incomplete installation")
        shutil.rmtree(work, ignore_errors=True)


def remove_leftovers(target: Path) -> None:
    """Remove leftovers of killed installations, and end an npm that outlived its installer; the
    lock is held, so no other installation uses them."""
    for pattern in (f"{target.name}.tmp-*", f"{target.name}.old-*"):
        for path in target.parent.glob(pattern):
            for note in (path / _RUNNING, *path.glob(f"*/{_RUNNING}")):
                _end_noted(note)
            shutil.rmtree(path, ignore_errors=True)


def _end_noted(note: Path) -> None:
    """End the npm of a note, if it is still that process."""
    try:
        pid, begun = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        return
    if begun is None or sys.platform == "win32":
        return
    deadline = time.monotonic() + _END_SECONDS
    while process_begin(pid) == begun and time.monotonic() < deadline:
        signal_group(pid, signal.SIGKILL)
        time.sleep(_LOCK_POLL_SECONDS / 10)


@contextlib.contextmanager
def hold_lock(path: Path, say: OnLine, what: str = "another install") -> Iterator[None]:
    """Hold an operating system lock, which is released at any end of the process; reports once that
    it waits for `what` to finish."""
    with path.open("a+b") as file:
        reported = False
        while not _try_lock(file):
            if not reported:
                say(f"waiting for {what} to finish")
                reported = True
            time.sleep(_LOCK_POLL_SECONDS)
        yield  # closing the file unlocks it


if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
