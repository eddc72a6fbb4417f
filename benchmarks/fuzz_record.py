"""What a run of `fuzz_readers.py` did, as text."""

from __future__ import annotations

import json
import re
from pathlib import Path


def summary(work: Path, log: str, minutes: float, code: int, seed: int) -> str:
    """The record, as text."""
    found = json.loads((work / "found.json").read_text(encoding="utf-8"))
    progress = re.findall(r"cov: (\d+) ft: (\d+) corp: (\d+)", log)
    edges, features, corpus = progress[-1] if progress else ("?", "?", "?")
    begun = re.search(r"INITED cov: (\d+)", log)
    lines = [
        f"fuzzing, seed {seed}, {minutes:.0f} minutes, exit code {code}",
        f"executions: {found['executions']}",
        f"edges covered: {edges} (at first {begun.group(1) if begun else '?'}), "
        f"features: {features}, inputs kept: {corpus}",
        f"slowest input: {found['slowest_s']} s of CPU time (instrumented); most memory: "
        f"{found['peak_mb']} MB",
        "what became of the inputs:",
        *(f"  {n:8}  {name}" for name, n in found["ended"].items()),
        f"faults: {len(found['faults'])}",
        *(f"  {n:8}  {name}" for name, n in found["faults"].items()),
    ]
    return "\n".join(lines) + "\n"
