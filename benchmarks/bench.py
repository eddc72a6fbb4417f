"""`make bench`: speed and memory beside their targets; ends with exit code 1 where one is missed.

The whole command is measured on a copy of the project that is byte-compiled, as an installed one
is, next to a command that only imports the libraries it stands on, in turn, so that a busy machine
slows both.

`python benchmarks/bench.py --against FOLDER` (`make bench AGAINST=FOLDER`) compares with another
checkout instead (`against.py`): processor time and instructions of commands and of compiling in a
warm process; exit code 1 where a ratio is above its limit. `--quick` measures less often.
"""

from __future__ import annotations

import argparse
import compileall
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import against
import pass_times
from models import bpmn

from orgflow_ir.plugins import Registry

ROOT = Path(__file__).resolve().parent.parent
SMALL = ROOT / "examples" / "leave-request" / "model.bpmn"
SIZES = (100, 1_000, 10_000)
RUNS = 15
FOLDERS = (
    "frontends", "backends", "passes", "agents", "compilation", "evaluation", "commands",
)  # fmt: skip
COMMANDS = {
    "compile": ("-m", "orgflow.cli", "compile", str(SMALL), "--target", "n8n"),
    "check": ("-m", "orgflow.cli", "check", str(SMALL)),
}
IMPORTS = "import lxml.etree, pydantic, click, pluggy"


@dataclass(frozen=True)
class Figure:
    """A measured value beside what it should not exceed (`None`: for information)."""

    name: str
    value: float
    unit: str
    target: float | None = None


def main() -> int:
    """Measure everything, print the table, say whether every target was met."""
    parser = argparse.ArgumentParser(description="Measure speed and memory.")
    parser.add_argument(
        "--against", type=Path, metavar="FOLDER", help="compare with the checkout in FOLDER"
    )
    parser.add_argument("--quick", action="store_true", help="compare with fewer repetitions")
    parser.add_argument(
        "--models", type=Path, metavar="FOLDER",
        help="more models to compile in process, beside the examples (default: ../shared/data/pmo)",
    )  # fmt: skip
    args = parser.parse_args()
    if args.against is not None:
        ratios = measure_against(args.against.resolve(), args.models, quick=args.quick)
        print(against.table(ratios))
        return int(any(ratio.is_over for ratio in ratios))
    figures = measure_all()
    print(table(figures))
    return int(any(f.target is not None and f.value > f.target for f in figures))


def measure_all() -> list[Figure]:
    """Every figure, in the order of the table."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        command = installed_copy(ROOT, Path(folder))
        figures += whole_command(command)
        figures += in_process(command)
        for size in SIZES:
            figures += growing(command, Path(folder), size)
    return figures + passes()


def measure_against(
    other: Path, folder: Path | None = None, *, quick: bool = False
) -> list[against.Ratio]:
    """Ratios of this checkout to another: `folder` holds more models than the examples."""
    folder = folder or ROOT.parent / "shared" / "data" / "pmo"
    models = [p for p in sorted((ROOT / "examples").glob("*/model.*")) if p.suffix != ".md"]
    models += [] if quick else sorted(folder.rglob("*.bpmn"))
    with tempfile.TemporaryDirectory() as place:
        there = installed_copy(other, Path(place) / "there")
        here = installed_copy(ROOT, Path(place) / "here")
        plan = against.QUICK if quick else against.FULL
        return against.compare(there, here, SMALL, models, plan)


def installed_copy(root: Path, folder: Path) -> dict[str, str]:
    """An environment in which `orgflow` is a byte-compiled copy, as in site-packages."""
    site = folder / "site"
    keep = shutil.ignore_patterns("__pycache__", ".*", "node_modules")
    for name in (name for name in FOLDERS if (root / name).is_dir()):  # an older one has fewer
        shutil.copytree(root / name, site / "orgflow" / name, ignore=keep)
    for module in root.glob("*.py"):
        shutil.copy(module, site / "orgflow" / module.name)
    shutil.copytree(root / "orgflow_ir", site / "orgflow_ir", ignore=keep)
    compileall.compile_dir(site, quiet=2)
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**env, "PYTHONPATH": str(site)}


def run(env: dict[str, str], *args: str) -> tuple[float, str]:
    """Wall-clock seconds and standard output of one Python process."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *args], env=env, cwd="/", capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - started
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(args)} failed with {done.returncode}\n{done.stderr}")
    return seconds, done.stdout


def run_in_processor_time(env: dict[str, str], *args: str) -> tuple[float, float]:
    """Wall-clock seconds of one Python process, and its processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds, _ = run(env, *args)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return seconds, spent


def whole_command(env: dict[str, str]) -> list[Figure]:
    """`orgflowc compile` and `check` on a small model, and beside them the imports of libraries
    that the project stands on: a measure of how fast the machine is at the moment. The ratios are
    of processor time, which other programs on the machine change less."""
    commands = (*COMMANDS.values(), ("-c", IMPORTS))
    rounds = [
        [run_in_processor_time(env, *command) for command in commands] for _ in range(RUNS + 1)
    ]
    walls, spent = (
        [
            statistics.median(times[part] for times in column)
            for column in zip(*rounds[1:], strict=True)
        ]
        for part in (0, 1)
    )
    ours, check, imports = walls
    return [
        Figure("whole command, compile, small model (median; goal 120)", ours * 1000, "ms", 200),
        Figure("whole command, check, small model (median)", check * 1000, "ms", 200),
        Figure("  imports of libraries alone (median)", imports * 1000, "ms"),
        Figure("  compile / imports, processor time", spent[0] / spent[2], "×", 1.5),
        Figure("  check / imports, processor time", spent[1] / spent[2], "×", 1.2),
    ]


_IN_PROCESS = """
import resource, sys, time, statistics
from orgflow.compiler import compile_model, load, read_source
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
registry = Registry(outside=False)
backend = registry.backends["n8n"]
source = read_source(sys.argv[1])
times = []
for _ in range(int(sys.argv[2])):
    ctx = PassContext(registry=registry)
    a = time.perf_counter()
    model = load(source, registry, ctx, diagram=True)
    b = time.perf_counter()
    assert compile_model(model, backend, ctx) is not None, ctx.diagnostics
    times.append((b - a, time.perf_counter() - b))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(*map(statistics.median, zip(*times)), peak)
"""


def measure(env: dict[str, str], path: Path, times: int) -> tuple[float, float, float]:
    """Median seconds to read and to compile in one process, and its peak memory in MB."""
    read, compile_, peak = run(env, "-c", _IN_PROCESS, str(path), str(times))[1].split()
    scale = 1024 if sys.platform != "darwin" else 1024 * 1024
    return float(read), float(compile_), int(peak) / scale


def in_process(env: dict[str, str]) -> list[Figure]:
    """Reading and compiling the small model in a process that is already warm."""
    read, compile_, _ = measure(env, SMALL, 50)
    return [Figure("in process, small model", (read + compile_) * 1000, "ms", 5)]


def growing(env: dict[str, str], folder: Path, size: int) -> list[Figure]:
    """A made model of `size` nodes: reading, compiling, memory, and time a node."""
    path = folder / f"{size}.bpmn"
    path.write_text(bpmn(size), encoding="utf-8")
    read, compile_, peak = measure(env, path, 3 if size < 10_000 else 1)
    big = size == SIZES[-1]
    return [
        Figure(f"{size} nodes: read", read, "s", 0.5 if big else None),
        Figure(f"{size} nodes: compile", compile_, "s", 3 if big else None),
        Figure(f"{size} nodes: read and compile, a node", (read + compile_) / size * 1e6, "µs"),
        Figure(f"{size} nodes: peak memory", peak, "MB", 300 if big else None),
    ]


def passes() -> list[Figure]:
    """All passes together on the shared files that people made."""
    found = pass_times.pass_times(pass_times.real_files(), Registry(outside=False))
    name = f"passes on {len(found.took)} real files"
    return [
        Figure(f"{name}: median", found.at(0.5), "ms", pass_times.MEDIAN),
        Figure(f"{name}: 99th percentile", found.at(0.99), "ms", pass_times.LATE),
        Figure(f"{name}: most", found.at(1), "ms", pass_times.MOST),
    ]


def table(figures: Sequence[Figure]) -> str:
    """The figures as aligned text."""
    width = max(len(f.name) for f in figures)
    lines = [f"{'':{width}}  {'measured':>10}     {'target':>10}"]
    for f in figures:
        line = f"{f.name:{width}}  {f.value:>10.3g} {f.unit:<3}"
        if f.value >= 100:
            line = f"{f.name:{width}}  {f.value:>10.0f} {f.unit:<3}"
        if f.target is not None:
            line += f" {f.target:>10g}  {'ok' if f.value <= f.target else 'over'}"
        lines.append(line.rstrip())
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
