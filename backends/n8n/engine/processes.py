"""Processes started by an earlier command: whether a number is still that process."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path


def process_begin(pid: int) -> str | None:
    """The start time of a process, as text that distinguishes it from others with this number;
    `None` if it does not exist, has ended, or the system does not provide it."""
    if sys.platform == "linux":
        try:
            boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
            stat = Path(f"/proc/{pid}/stat").read_text("utf-8", errors="replace")
        except OSError:
            return None
        fields = stat.rpartition(")")[2].split()  # its name, in brackets, may hold anything
        # The first thread may have ended before the others, which still hold the ports.
        ended = fields[0] == "X" or (fields[0] == "Z" and int(fields[17]) <= 1)
        return None if ended else f"{boot} {fields[19]}"
    if sys.platform == "win32":
        return None
    ran = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    state, _, began = ran.stdout.strip().partition(" ")
    return None if not began or state.startswith("Z") else began.strip()


def signal_group(pid: int, number: signal.Signals) -> None:
    """Send a signal to the leader of a process group and all its descendants."""
    if sys.platform != "win32":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, number)
