"""Runs a command and says how much memory it took: `python peak_memory.py REPORT COMMAND…`.

A process of its own starts the command, since the peak of a child counts the memory of the process
it was started from. REPORT gets the exit code and the peak in bytes, a line each.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, NamedTuple


class Ran(NamedTuple):
    """How a command ended, what it wrote, and the most memory it had, in bytes."""

    code: int
    out: str
    err: str
    peak: int


def run(command: Sequence[str], report: Path, stdin: IO[bytes] | None = None) -> Ran:
    """Run a command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-S", __file__, str(report), *command],
        stdin=stdin if stdin is not None else subprocess.DEVNULL,
        capture_output=True,
        check=True,
        timeout=120,
    )
    code, peak = (int(line) for line in report.read_text().splitlines())
    return Ran(code, done.stdout.decode(), done.stderr.decode(), peak)


def main(report: str, command: Sequence[str]) -> None:
    """Run `command`, and write what it took into `report`."""
    child = subprocess.Popen(command)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else 1024
    Path(report).write_text(f"{child.returncode}\n{usage.ru_maxrss * unit}\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
