"""Inputs of two gigabytes and the frontend that reads them, for commands that tests start."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

SIZE = 2 << 30
MOST_PEAK = 300 << 20
"""So many bytes of memory a command may take for such an input."""

WRITER = f"""
import sys
line = b'{{"activity": "Step %d", "note": "' + b"x" * 1000 + b'"}}\\n'
block = b"".join(line % (number % 8) for number in range(1024))
for _ in range({SIZE} // len(block) + 1):
    sys.stdout.buffer.write(block)
sys.stdout.buffer.write(b'{{"activity": "Last"}}\\n')
"""
"""A program that writes such an input to standard output."""


def plugin_path(folder: Path) -> str:
    """A PYTHONPATH with which commands find the plugin `line_events`, its data put in `folder`."""
    info = folder / "site" / "line_events-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: line_events\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[orgflow.plugins]\nlines = line_events\n")
    support = str(Path(__file__).resolve().parent)
    return os.pathsep.join([str(info.parent), support, os.environ.get("PYTHONPATH", "")])


def event(name: str) -> bytes:
    """A line that `line_events` reads."""
    return json.dumps({"activity": name}).encode() + b"\n"


def sparse(folder: Path) -> Path:
    """Two gigabytes: events, a hole that takes no room on the disk, and an event."""
    path = folder / "log.lines"
    with path.open("wb") as file:
        file.write(event("First") + event("Second"))
        file.truncate(SIZE)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + event("Last"))
    return path


def compiling(path: str, frontend: str = "lines") -> list[str]:
    """The command that compiles it."""
    command = [sys.executable, "-m", "orgflow.cli", "compile", path]
    return [*command, "--from", frontend, "--target", "n8n"]
