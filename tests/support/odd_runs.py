"""Odd files through the command line, each in a process of its own with little memory and time.

`python tests/support/odd_runs.py [WORD…]` prints the table (of the files whose names have a WORD):
exit code, seconds, most memory and the first line that was said. Ends with 1 where one is not as it
should be.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cli_cases import LINEAR
from odd_files import FILES, OddFile

MEMORY = 2 << 30
SECONDS = 120
_PR_CAPBSET_DROP = 24
_PAST_MODES = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
COMMANDS = ("check", "compile", "trace", "verify", "diff")
ANY = 9
"""Exit code of files for which 0 and 1 are both right: the commands differ."""


@dataclass(frozen=True)
class Outcome:
    """What a command line did; `megabytes` is the most it held, `left` files that are new."""

    code: int
    out: bytes
    err: str
    seconds: float
    megabytes: int
    left: tuple[str, ...]

    @property
    def printed(self) -> str:
        """Both streams as text."""
        return self.out.decode("utf-8", "replace") + self.err

    @property
    def first(self) -> str:
        """What was said first."""
        lines = self.err.strip().splitlines() or self.printed.splitlines()
        return lines[0] if lines else ""


def locked_out() -> None:
    """In a child before it starts: modes of files count for root, too (Linux)."""
    if os.geteuid() == 0:
        import ctypes

        for capability in _PAST_MODES:
            ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)


def run(args: Sequence[str | Path], folder: Path, *, memory: int = MEMORY) -> Outcome:
    """Run `orgflowc` in `folder` within `memory` bytes; modes of files count for root, too."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        locked_out()

    before = {p.name for p in folder.iterdir()}
    begun = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "orgflow.cli", *map(str, args)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder,
        preexec_fn=limit, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    said: list[bytes] = [b"", b""]

    def read(index: int) -> None:
        stream = (process.stdout, process.stderr)[index]
        assert stream is not None
        said[index] = stream.read()

    readers = [threading.Thread(target=read, args=(i,)) for i in (0, 1)]
    for reader in readers:
        reader.start()
    killer = threading.Timer(SECONDS, process.kill)
    killer.start()
    _, status, usage = os.wait4(process.pid, 0)
    killer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    for reader in readers:
        reader.join()
    left = tuple(sorted({p.name for p in folder.iterdir()} - before))
    return Outcome(process.returncode, said[0], said[1].decode("utf-8", "replace"),
                   time.monotonic() - begun, usage.ru_maxrss // 1024, left)  # fmt: skip


def arguments(command: str, path: Path, other: Path, workflow: Path) -> list[str | Path]:
    """The command line that reads `path`, beside a good model and its workflow."""
    match command:
        case "compile":
            return ["compile", path, "--target", "n8n", "-o", path.with_name("out.json")]
        case "verify" if path.name.endswith(".n8n.json"):
            return ["verify", other, path]
        case "verify":
            return ["verify", path, workflow]
        case "diff":
            return ["diff", workflow if path.name.endswith(".n8n.json") else other, path]
    return [command, path]


@cache
def _workflow() -> bytes:
    with tempfile.TemporaryDirectory() as name:
        model = Path(name) / "m.bpmn"
        model.write_text(LINEAR)
        return run(["compile", model, "--target", "n8n"], Path(name)).out


def folder_with(file: OddFile, folder: Path) -> tuple[Path, Path, Path]:
    """The odd file, a good model and its workflow, in `folder`."""
    path, other, workflow = folder / f"odd{file.suffix}", folder / "m.bpmn", folder / "w.n8n.json"
    file.make(path)
    other.write_text(LINEAR)
    workflow.write_bytes(_workflow())
    return path, other, workflow


def faults(file: OddFile, command: str, done: Outcome) -> list[str]:
    """What is not as it should be."""
    found = []
    right = {0, 1} if file.code in (0, ANY) or command == "verify" else {file.code}
    if command == "compile" and file.code == 0:
        right = {0}
    if command == "check" and file.code != ANY:
        right = {file.code}
    if command in ("diff", "verify") and file.code:
        right = {1, 2} if file.code != ANY else {0, 1, 2}
    if done.code not in right:
        found.append(f"exit code {done.code}, not {' or '.join(map(str, sorted(right)))}")
    if command == "check" and file.said not in done.printed:
        found.append(f"`{file.said}` is not said")
    if "Traceback" in done.printed or "internal error" in done.printed:
        found.append("a fault of ours")
    if done.code and not done.err.strip() and not done.out:
        found.append("nothing was said")
    # a base that is too long for a note is kept in the folder `.orgflow`
    allowed = {"out.json", ".orgflow"} if command == "compile" and done.code == 0 else set()
    if set(done.left) - allowed:
        found.append(f"left behind: {done.left}")
    return found


def main() -> int:
    """Print the table."""
    words = sys.argv[1:]
    wrong = 0
    print(f"{'file':38}{'command':9}{'exit':>5}{'s':>7}{'MB':>6}  first line")
    for file in FILES:
        if words and not any(w in file.name for w in words):
            continue
        for command in COMMANDS:
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                done = run(arguments(command, *folder_with(file, folder)), folder)
            bad = faults(file, command, done)
            wrong += bool(bad)
            line = done.first.replace(name, "…")[:70]
            print(f"{file.name[:37]:38}{command:9}{done.code:5}{done.seconds:7.1f}"
                  f"{done.megabytes:6}  {line}", flush=True)  # fmt: skip
            for fault in bad:
                print(f"{'':38}^ {fault}", flush=True)
    print(f"{wrong} not as they should be")
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
