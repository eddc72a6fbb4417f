"""Peak memory of a command that compiles an input of two gigabytes: `stream_memory.py`.

A frontend of the tests reads a log, an event a line, once from a file and once from a pipe. Exit
code 1 where the command took more than 300 MB.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

import large_inputs
import peak_memory


def main() -> int:
    """Measure both, print the table."""
    peaks: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        os.environ["PYTHONPATH"] = large_inputs.plugin_path(folder)
        log = large_inputs.sparse(folder)
        peaks["file"] = peak(large_inputs.compiling(str(log)), folder)
        writer = subprocess.Popen(
            [sys.executable, "-c", large_inputs.WRITER], stdout=subprocess.PIPE
        )
        with writer:
            peaks["pipe"] = peak(large_inputs.compiling("-"), folder, writer)
    for name, value in peaks.items():
        size = f"{name} of {large_inputs.SIZE / 2**30:.0f} GB"
        over = "over" if value > large_inputs.MOST_PEAK else "ok"
        print(f"{size}: {value / 2**20:.0f} MB at most {large_inputs.MOST_PEAK >> 20}  {over}")
    return int(any(value > large_inputs.MOST_PEAK for value in peaks.values()))


def peak(command: list[str], folder: Path, writer: subprocess.Popen[bytes] | None = None) -> int:
    """The most memory of a command that has to succeed."""
    stdin = writer.stdout if writer is not None else None
    ran = peak_memory.run(command, folder / "peak", stdin)
    if ran.code != 0:
        raise SystemExit(ran.err)
    return ran.peak


if __name__ == "__main__":
    raise SystemExit(main())
