"""How long the soundness analysis takes: on real files by name, on generated ones by size, and
beside rust_bpmn_analyzer and bpmnlint.

`python benchmarks/soundness_speed.py [--others]` prints the tables and ends with exit code 1 where
a figure is over its target. Times are processor time of one analysis of a model that has been read
(the others read the file each time), the best of some. `--others` runs rust_bpmn_analyzer with the
Python of ORGFLOW_RUST_ANALYZER (by default this one; `pip install rust-bpmn-analyzer-bindings`) in
a child process with a memory limit, and bpmnlint in Node. Generated files come from
../shared/tools/soundness_families.py, real ones from ../shared/data.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from orgflow_ir.flow.soundness import analyse
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
FOLDERS = ("camunda7-executable", "miwg-reference", "pmo")
MEMORY = 2_000_000_000
SECONDS = 10
KINDS = {
    "XOR, loops": ["xor", "loop"], "AND, XOR": ["xor", "and"],
    "AND, XOR, loops": ["xor", "and", "loop"], "AND, XOR, OR": ["xor", "and", "or"],
}  # fmt: skip

_RUST = """
import json, resource, sys, time
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]), int(sys.argv[2])))
import rust_bpmn_analyzer_bindings as rust
text = open(sys.argv[1], encoding="utf-8").read()
started = time.perf_counter()
found = [
    f(text).fulfilled
    for f in (rust.analyze_safeness, rust.analyze_option_to_complete, rust.analyze_dead_activities)
]
print(json.dumps([time.perf_counter() - started, found]))
"""


class Case(NamedTuple):
    """A file to analyse, what it is and how many milliseconds it may take."""

    name: str
    path: Path
    target: float | None = None


def read(path: Path) -> Model | None:
    """The model in a BPMN file."""
    frontend = Registry(outside=False).frontends["bpmn"]
    return frontend.parse(SourceFile(path.name, path.read_bytes()), PassContext())


def seconds(model: Model, times: int = 5) -> float:
    """Processor seconds to analyse every process of a model, at best."""
    best = 1e9
    gc.disable()
    try:
        for _ in range(times):
            started = time.process_time()
            for process in model.processes:
                analyse(process, model)
            best = min(best, time.process_time() - started)
    finally:
        gc.enable()
    return best


def real() -> Iterator[tuple[str, float, str, str]]:
    """(folder, seconds, file and process, verdict) of every process of the real files."""
    for folder in FOLDERS:
        for path in sorted((SHARED / "data" / folder).rglob("*")):
            if path.suffix not in (".bpmn", ".xml"):
                continue
            model = read(path)
            for process in model.processes if model is not None else ():
                if not process.nodes:
                    continue
                assert model is not None
                alone = model.replace(processes=(process,), pools=(), message_flows=())
                name = f"{path.name.rpartition('__')[2]} {process.id}"
                yield folder, seconds(alone, 3), name, analyse(process, model).sound


def generated(folder: Path) -> Iterator[Case]:
    """Files of every family, written into a folder."""
    families = _families()
    made: list[tuple[str, Any, float | None]] = []
    for name, kinds in KINDS.items():
        for size, target in ((100, None), (1_000, 10.0), (10_000, 150.0)):
            seed = list(KINDS).index(name) + 1
            made.append((f"{name}, {size} nodes", families.nested(size, kinds, seed), target))
    for count in (16, 20, 64):
        made.append((f"{count} parallel branches", families.par(count, 1), 1.0))
    made.append(("8 branches of 10 tasks", families.par(8, 10), 1.0))
    for size in (100, 1_000):
        for fault in ("deadlock", "lacksync"):
            graph = families.nested(size, ["xor", "and"], 5, fault)
            made.append((f"with a {fault}, {size} nodes", graph, None))
    for number, (name, graph, target) in enumerate(made):
        path = folder / f"{number}.bpmn"
        graph.write(str(path))
        yield Case(name, path, target)


def _families() -> Any:
    path = SHARED / "tools" / "soundness_families.py"
    spec = importlib.util.spec_from_file_location("soundness_families", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise SystemExit(f"needs {path.relative_to(ROOT.parent)} beside the checkout")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.setrecursionlimit(100_000)  # its blocks nest by recursion
    return module


def rust(path: Path) -> str:
    """What rust_bpmn_analyzer needs for safeness, option to complete and dead activities."""
    python = os.environ.get("ORGFLOW_RUST_ANALYZER", sys.executable)
    try:
        done = subprocess.run(
            [python, "-c", _RUST, str(path), str(MEMORY)],
            capture_output=True, text=True, check=False, timeout=SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"> {SECONDS} s"
    if done.returncode != 0:
        missing = "ModuleNotFoundError" in done.stderr
        return "not installed" if missing else "no verdict"
    return f"{json.loads(done.stdout)[0] * 1000:.2f}"


def bpmnlint() -> Callable[[Path], str]:
    """A function that says how long bpmnlint takes for a file."""
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    from node_tools import BPMNLINT_PACKAGES, NodeChild, ToolMissingError, install

    try:
        folder = install("bpmnlint", BPMNLINT_PACKAGES)
    except ToolMissingError:
        return lambda path: "not installed"
    child = NodeChild(ROOT / "tests" / "backends" / "bpmn" / "bpmn_referee.cjs", str(folder))
    child.__enter__()

    def lint(path: Path) -> str:
        started = time.perf_counter()
        child.ask({"source": path.read_text("utf-8")})
        return f"{(time.perf_counter() - started) * 1000:.2f}"

    return lint


def main() -> int:
    """Print the tables, say whether every target was met."""
    others = "--others" in sys.argv[1:]
    over = 0
    print(f"{'real processes':22} {'number':>7} {'median ms':>10} {'95 % ms':>9}   worst")
    found = list(real())
    for folder in FOLDERS:
        rows = sorted(r for r in found if r[0] == folder)
        times = sorted(r[1] * 1000 for r in rows)
        if not times:
            continue
        worst = max(rows, key=lambda r: r[1])
        over += statistics.median(times) > 1
        print(
            f"{folder:22} {len(times):7} {statistics.median(times):10.2f} "
            f"{times[len(times) * 95 // 100]:9.2f}   {worst[1] * 1000:.1f} ms: {worst[2]} "
            f"({worst[3]})"
        )
        slow = [r for r in rows if r[1] > 0.001]
        print(f"{'':22} over 1 ms: {len(slow)}, of these without a fault: "
              f"{sum(r[3] == 'proved' for r in slow)}")  # fmt: skip
    lint = bpmnlint() if others else None
    head = f"\n{'generated':28} {'ms':>8} {'target':>7}"
    print(head + (f" {'rust ms':>14} {'bpmnlint ms':>12}" if lint else ""))
    with tempfile.TemporaryDirectory() as folder_name:
        for case in generated(Path(folder_name)):
            model = read(case.path)
            assert model is not None
            taken = seconds(model) * 1000
            line = f"{case.name:28} {taken:8.2f} {case.target or '':>7}"
            if case.target is not None and taken > case.target:
                over += 1
                line += " over"
            if lint:
                line += f" {rust(case.path):>14} {lint(case.path):>12}"
            print(line)
    return int(over > 0)


if __name__ == "__main__":
    raise SystemExit(main())
