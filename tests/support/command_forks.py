"""The command line in forks of one process that has it imported: a test that runs it forty times
pays for one start of Python.

The parent imports what `check` and `compile` import, and no more is decided before the fork:
arguments, folder, environment and streams are the child's own, and so is the way it ends. What a
start of Python itself reads (`PYTHON…`, the locale) needs a start of Python: `can_fork` says so.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

AT_START = ("PYTHON", "LC_", "LANG", "MALLOC", "LD_", "COVERAGE")
"""What begins so is read when Python starts."""
PROBE = (
    "import json, os, sys\n"
    "from orgflow import cli\n"
    "for model in sys.argv[1:]:\n"
    "    cli.run(['check', model])\n"
    "    cli.run(['check', model, '--format', 'json'])\n"
    "    cli.run(['compile', model, '--target', 'n8n', '-o', os.devnull])\n"
    "print(json.dumps(sorted(sys.modules)))"
)


def at_start(env: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in env.items() if key.startswith(AT_START)}


STARTED_WITH = at_start(os.environ)


def can_fork(env: Mapping[str, str]) -> bool:
    return hasattr(os, "fork") and at_start(env) == STARTED_WITH


class _Parent:
    """The process that forks, and the way to it: one datagram a command, answered by its status."""

    def __init__(self, models: Sequence[str]) -> None:
        self.lock = threading.Lock()
        self.folder = tempfile.TemporaryDirectory()
        files = [Path(self.folder.name, f"{number}.bpmn") for number in range(len(models))]
        for file, text in zip(files, models, strict=True):
            file.write_text(text, encoding="utf-8")
        self.ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno()), *map(str, files)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
        atexit.register(self.close)

    def close(self) -> None:
        self.ours.close()  # which ends it
        self.process.wait(120)
        self.folder.cleanup()


_parents: dict[int, _Parent] = {}
"""By the process that asks: a fork of ours has to have its own."""


def run(
    args: Sequence[str],
    stdin: bytes,
    cwd: str,
    env: Mapping[str, str],
    timeout: float,
    models: Sequence[str],
) -> tuple[int, bytes, bytes]:
    """Exit code and streams of one command; `models` are BPMN texts that are compiled
    once, to see what a command imports.

    Raises `subprocess.TimeoutExpired` where it takes longer than `timeout` seconds.
    """
    if os.getpid() not in _parents:
        _parents[os.getpid()] = _Parent(models)
    parent = _parents[os.getpid()]
    answer, answered = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    child_in, our_in = os.pipe()
    our_out, child_out = os.pipe()
    our_err, child_err = os.pipe()
    # What a datagram cannot hold goes through a file without a name.
    with open(os.memfd_create("command"), "wb+", buffering=0) as order:
        order.write(json.dumps([list(args), cwd, dict(env)]).encode())
        handed = [answered.fileno(), order.fileno(), child_in, child_out, child_err]
        with parent.lock:
            socket.send_fds(parent.ours, [b"run"], handed)
    answered.close()
    for fd in (child_in, child_out, child_err):
        os.close(fd)
    said: dict[int, bytes] = {}

    def write() -> None:
        with contextlib.suppress(BrokenPipeError), open(our_in, "wb") as stream:
            stream.write(stdin)

    def read(fd: int) -> None:
        with open(fd, "rb") as stream:
            said[fd] = stream.read()

    workers = [threading.Thread(target=write, daemon=True)]
    workers += [threading.Thread(target=read, args=(fd,), daemon=True) for fd in (our_out, our_err)]
    for worker in workers:
        worker.start()
    with answer:
        answer.settimeout(timeout)
        child = int(answer.recv(64))
        try:
            code = int(answer.recv(64))
        except TimeoutError:
            os.kill(child, signal.SIGKILL)
            raise subprocess.TimeoutExpired(list(args), timeout) from None
    for worker in workers:
        worker.join()
    return code, said[our_out], said[our_err]


def _serve(way: socket.socket, models: Sequence[str]) -> None:
    """In the parent: import, then fork a command a datagram until nobody asks any more."""
    import importlib

    del sys.path[0]  # this folder, which the command line does not see
    probe = subprocess.run(
        [sys.executable, "-c", PROBE, *models], capture_output=True, check=True, text=True
    )
    for name in json.loads(probe.stdout.splitlines()[-1]):
        if name not in ("__main__", "site"):
            importlib.import_module(name)
    while True:
        what, fds, _, _ = socket.recv_fds(way, 16, 5)
        if not what:
            return
        # Each command has a keeper of its own, which waits for it and tells.
        if os.fork() == 0:
            way.close()
            _keep(fds)
        for fd in fds:
            os.close(fd)
        while os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG) is not None:
            pass


def _keep(fds: Sequence[int]) -> None:
    answer, order, *streams = fds
    child = os.fork()
    if child == 0:
        os.close(answer)
        _command(order, streams)
    for fd in (order, *streams):
        os.close(fd)
    with socket.socket(fileno=answer) as way:
        way.send(str(child).encode())
        _, status = os.waitpid(child, 0)
        with contextlib.suppress(BrokenPipeError):  # whoever asked has given up
            way.send(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _command(order: int, streams: Sequence[int]) -> None:
    """In the child: become the command line."""
    with open(order, "rb") as file:
        file.seek(0)
        args, cwd, env = json.load(file)
    for number, fd in enumerate(streams):
        os.dup2(fd, number)
        os.close(fd)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = ["orgflowc", *args]
    sys.path.insert(0, cwd)  # as `python -m` does
    from orgflow import cli

    code = 0
    try:
        cli.main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    finally:
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            code = 120
    os._exit(code)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:])
