"""Reading BPMN: orgflow beside lxml, bpmn-moddle and SpiffWorkflow, in one run on the same files.

`python benchmarks/parsing.py [FOLDER…]` (default: the models of `../shared/data`, else the
examples). Each reader has a process of its own that reads every file once to warm up and then
times each file, best of three, in memory: lxml builds a tree and knows nothing of BPMN, bpmn-moddle
(JavaScript) builds typed elements with diagrams, SpiffWorkflow builds what it can run, orgflow
builds the checked IR (without the diagram, as `compile` does, and with it).
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"
FOLDERS = ("camunda7-executable", "miwg-reference", "pmo")

_PYTHON = """
import json, sys, time
paths = json.load(sys.stdin)
{setup}
result = []
for path in paths:
    data = open(path, "rb").read()
    best, fault = None, None
    for _ in range(4):
        begun = time.perf_counter()
        try:
            read(path, data)
        except Exception as error:
            fault = f"{{type(error).__name__}}: {{error}}"
            break
        spent = time.perf_counter() - begun
        best = spent if best is None else min(best, spent)
    result.append(None if fault else best)
print(json.dumps(result))
"""

_OURS = """
from orgflow.compiler import load
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.model.source import SourceFile
registry = Registry(outside=False)
def read(path, data):
    ctx = PassContext(registry=registry)
    if load(SourceFile(path, data), registry, ctx, from_="bpmn", diagram={diagram}) is None:
        raise ValueError("refused")
"""

_LXML = """
import io
from lxml import etree
def read(path, data):
    etree.parse(io.BytesIO(data))
"""

_SPIFF = """
import io, logging
from lxml import etree
from SpiffWorkflow.bpmn.parser import BpmnParser
logging.disable(logging.CRITICAL)
def read(path, data):
    parser = BpmnParser()
    parser.add_bpmn_xml(etree.parse(io.BytesIO(data)), filename=path)
    names = parser.get_process_ids()
    if not names:
        raise ValueError("no process")
    for name in names:
        parser.get_spec(name)
"""

_MODDLE = """
const fs = require("fs");
const { performance } = require("perf_hooks");
const { createRequire } = require("module");
const from = createRequire(process.argv[1] + "/package.json");
(async () => {
  const found = await import(from.resolve("bpmn-moddle"));
  const of = found.BpmnModdle || found.default;
  const moddle = new (of.BpmnModdle || of)();
  const result = [];
  for (const path of JSON.parse(fs.readFileSync(0, "utf8"))) {
    const text = fs.readFileSync(path, "utf8");
    let best = null;
    for (let i = 0; i < 4; i++) {
      const begun = performance.now();
      try { await moddle.fromXML(text); } catch (error) { best = null; break; }
      const spent = (performance.now() - begun) / 1000;
      best = best === null ? spent : Math.min(best, spent);
    }
    result.push(best);
  }
  console.log(JSON.stringify(result));
})();
"""


class Reader(NamedTuple):
    """What one reader needed: seconds a file, `None` where it refuses the file."""

    name: str
    seconds: Sequence[float | None]


def measure(paths: Sequence[Path]) -> list[Reader]:
    """All readers on all files. Raises `SystemExit` where one is not installed."""
    python = {
        "orgflow": _OURS.replace("{diagram}", "False"),
        "orgflow, with the diagram": _OURS.replace("{diagram}", "True"),
        "lxml (XML only)": _LXML,
        "SpiffWorkflow": _SPIFF,
    }
    readers = [
        Reader(name, _child([sys.executable, "-c", _PYTHON.format(setup=setup)], paths))
        for name, setup in python.items()
    ]
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    from node_tools import BPMNLINT_PACKAGES, install
    from orgflow.backends.n8n.engine.node import find_node

    folder = install("bpmnlint", BPMNLINT_PACKAGES)
    seconds = _child([str(find_node().path), "-e", _MODDLE, "--", str(folder)], paths)
    readers.insert(3, Reader("bpmn-moddle (JavaScript)", seconds))
    return readers


def _child(command: Sequence[str], paths: Sequence[Path]) -> list[float | None]:
    done = subprocess.run(
        command, input=json.dumps([str(p) for p in paths]), capture_output=True, text=True,
        check=False, timeout=600,
    )  # fmt: skip
    if done.returncode != 0:
        raise SystemExit(f"a reader failed:\n{done.stderr}")
    found: list[float | None] = json.loads(done.stdout)
    return found


def rows(readers: Sequence[Reader], sizes: Sequence[int]) -> list[tuple[str, ...]]:
    """A row a reader: files read, median and worst milliseconds, MB a second."""
    result = []
    for reader in readers:
        read = [(s, size) for s, size in zip(reader.seconds, sizes, strict=True) if s is not None]
        times = [s for s, _ in read]
        speed = sum(size for _, size in read) / sum(times) / 1e6
        result.append(
            (
                reader.name, f"{len(read)} of {len(sizes)}",
                f"{statistics.median(times) * 1000:.2f}", f"{max(times) * 1000:.1f}",
                f"{speed:.1f}",
            )
        )  # fmt: skip
    return result


HEAD = ("reader", "files read", "median ms", "worst ms", "MB/s")


def files(folders: Sequence[str]) -> list[Path]:
    """The BPMN files to read, sorted."""
    wanted = [Path(f) for f in folders] or [DATA / f for f in FOLDERS if (DATA / f).is_dir()]
    return sorted(p for f in wanted or [ROOT / "examples"] for p in f.rglob("*.bpmn"))


def main() -> int:
    """Print the table."""
    paths = files(sys.argv[1:])
    if not paths:
        raise SystemExit("no BPMN files there")
    table = [HEAD, *rows(measure(paths), [p.stat().st_size for p in paths])]
    widths = [max(len(row[i]) for row in table) for i in range(len(HEAD))]
    for row in table:
        first, *others = (c.rjust(w) for c, w in zip(row, widths, strict=True))
        print("  ".join([first.strip().ljust(widths[0]), *others]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
