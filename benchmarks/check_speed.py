"""`check` on 500 files compared with bpmnlint: `python benchmarks/check_speed.py`, or `make bench`.

Both command lines run in turn on the same BPMN files that people drew, copied from `../shared/data`
(some twice, until there are 500). Printed is the least processor time of each: bpmnlint with its
recommended rules; `check` as it is, which also looks for deadlocks and for fixes, without kept
results (cold: one process, one per core) and with them (warm). The exit code is 1 where the cold or
the warm time is above its target.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from node_tools import BPMNLINT_PACKAGES, ToolMissingError, install  # noqa: E402
from orgflow.backends.n8n.engine.node import find_node  # noqa: E402
from pass_times import SHARED, real_files  # noqa: E402

FILES = 500
TURNS = 3
LEAST_LINES = 20
TARGET, COLD_TARGET = 0.2, 0.5
"""The most that a warm `check` and a cold one in one process may take, as a share of bpmnlint's
time."""


class Times(NamedTuple):
    """Seconds of a processor: the least of the turns."""

    bpmnlint: float
    one: float
    cold: float
    warm: float

    @property
    def share(self) -> float:
        """Of bpmnlint's time, warm."""
        return self.warm / self.bpmnlint

    @property
    def is_met(self) -> bool:
        """Whether both are within their targets."""
        return self.share <= TARGET and self.one <= COLD_TARGET * self.bpmnlint


def copied(folder: Path, number: int = FILES) -> int:
    """Copy files until there are so many; how many of them differ."""
    files = real_files(SHARED)
    for at in range(number):
        shutil.copy(files[at % len(files)], folder / f"m{at:03}.bpmn")
    return min(len(files), number)


def seconds(command: Sequence[str], folder: Path, env: Mapping[str, str]) -> float:
    """The processor time of a command in a folder, with its processes. Raises `RuntimeError` where
    it does not check."""
    begun = _spent_by_children()
    done = subprocess.run(command, cwd=folder, env={**env}, capture_output=True, check=False)
    # In both there are findings, and every file is read; one that ends early prints few lines.
    if done.returncode != 1 or done.stdout.count(b"\n") < LEAST_LINES:
        raise RuntimeError(done.stderr.decode(errors="replace"))
    return _spent_by_children() - begun


def _spent_by_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measured(folder: Path, env: Mapping[str, str], turns: int = TURNS) -> Times:
    """Both on the files of a folder, in turn."""
    tool = install("bpmnlint", BPMNLINT_PACKAGES)
    names = sorted(path.name for path in folder.glob("*.bpmn"))
    (folder / ".bpmnlintrc").write_text('{"extends": "bpmnlint:recommended"}', "utf-8")
    theirs = [
        str(find_node().path),
        str(tool / "node_modules" / "bpmnlint" / "bin" / "bpmnlint.js"),
        *names,
    ]
    ours = [sys.executable, "-m", "orgflow.cli", "check", *names]
    env = {**env, "NODE_PATH": str(tool / "node_modules")}
    if not (folder / "node_modules").exists():
        (folder / "node_modules").symlink_to(tool / "node_modules")
    found: list[tuple[float, ...]] = []
    for turn in range(turns):
        kept = {**env, "ORGFLOW_CACHE": str(folder / f".cache-{turn}")}
        found.append(
            (
                seconds(theirs, folder, env),
                seconds([*ours, "--no-cache", "--jobs", "1"], folder, env),
                seconds(ours, folder, kept),
                seconds(ours, folder, kept),
            )
        )
    return Times(*(min(each) for each in zip(*found, strict=True)))


def table(times: Times, differ: int, number: int = FILES) -> str:
    """The times, and their shares of bpmnlint's."""
    rows = [
        (f"bpmnlint {BPMNLINT_PACKAGES['bpmnlint']}", times.bpmnlint),
        ("check, cold, one process", times.one),
    ]
    rows += [(f"check, cold, {cores()} cores", times.cold), ("check, warm", times.warm)]
    head = f"{number} files ({differ} different), processor time, least of {TURNS} turns"
    lines = [f"{name:28}{took:8.2f} s{took / times.bpmnlint:8.2f} ×" for name, took in rows]
    over = "" if times.is_met else "  MISSED"
    goals = f"targets: warm at most {TARGET} ×, cold in one process at most {COLD_TARGET} ×{over}"
    return "\n".join([head, *lines, goals])


def cores() -> int:
    """How many processes can work at a time."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def compared(env: Mapping[str, str]) -> tuple[str, bool]:
    """The table, and whether the target is met; where bpmnlint cannot be installed or there are no
    files, why there is no table."""
    if not SHARED.is_dir():
        return f"check beside bpmnlint: skipped, {SHARED} is missing", True
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        differ = copied(folder)
        try:
            times = measured(folder, env)
        except ToolMissingError as error:
            return f"check beside bpmnlint: skipped, {error}", True
    return table(times, differ), times.is_met


def main() -> int:
    """Measure and print."""
    text, met = compared(os.environ)
    print(text)
    return int(not met)


if __name__ == "__main__":
    sys.exit(main())
