"""Measures everything once and writes `benchmarks/README.md`: `make bench-report`."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

import parsing
from bench import Figure, measure_all
from orgflow.backends.n8n.engine.node import find_node

FILE = Path(__file__).resolve().parent / "README.md"

HEADING = """# Benchmarks

Written by `make bench-report`; every figure below comes from one run of it.

Measured with {python} and Node {node} on {system} with {cores} cores. Compare ratios rather than
milliseconds: another machine, or one that is busy, moves all rows of a table together.

## Compiling

`make bench` measures these; it fails where one is over its target. The whole command is
`orgflowc compile` of `examples/leave-request/model.bpmn` for n8n, from the start of Python to its
end, on a byte-compiled copy; the imports are those of lxml, pydantic, click and pluggy, in turn
with it.

{figures}

## Reading BPMN

`python benchmarks/parsing.py`: {count} files of {folders}, {megabytes} MB, each read from memory,
best of three after a warm-up, every reader in a process of its own. lxml only builds a tree of XML.
SpiffWorkflow builds what it can execute and refuses what it cannot, among it the models whose
gateways have labels instead of conditions; orgflow keeps all that a file says.

{readers}

## Others

{others}
"""

DATA = "../shared/data"
OTHERS = (
    ("replay of all PMo models on n8n's engine", f"orgflowc eval pmo {DATA}/pmo"),
    ("PMo models as state machines on moto", f"python benchmarks/asl_pmo.py {DATA}/pmo"),
    (
        "BPMN read, written and read again; what other tools say; layout",
        f"python benchmarks/bpmn_roundtrip.py {DATA}",
    ),
    (
        "soundness on real processes and large ones, beside other tools",
        "python benchmarks/soundness_speed.py",
    ),
    ("soundness of random graphs against an independent oracle", "make bench-soundness"),
    ("workflows deployed to a server, published, run", "python benchmarks/deploy_speed.py"),
    ("mutated workflows before `verify` and on n8n's engine", "make bench-verify"),
    (
        "findings of `check` on real n8n workflows",
        f"python benchmarks/lint_workflows.py {DATA}/n8n-workflows",
    ),
    ("random workflows on the engine model and on n8n's", "python benchmarks/engine_model_fuzz.py"),
    ("coverage-guided fuzzing (runs: `fuzz-record.md`)", "python benchmarks/fuzz_readers.py"),
)
"""What else is measured, and how."""


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; all columns but the first stand to the right."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows))


def compiling(figures: Sequence[Figure]) -> str:
    """The figures of `make bench`."""
    rows = []
    for f in figures:
        value = f"{f.value:.0f}" if f.value >= 100 else f"{f.value:.3g}"
        target = "" if f.target is None else f"≤ {f.target:g} {f.unit}"
        rows.append((f.name.strip(), f"{value} {f.unit}", target))
    return markdown(("", "measured", "target"), rows)


def main() -> int:
    """Measure and write. Ends with exit code 1 where a target was missed."""
    paths = parsing.files(sys.argv[1:])
    if not paths:
        raise SystemExit("no BPMN files there")
    sizes = [p.stat().st_size for p in paths]
    readers = parsing.rows(parsing.measure(paths), sizes)
    figures = measure_all()
    node = ".".join(map(str, find_node().version))
    text = HEADING.format(
        python=f"{platform.python_implementation()} {platform.python_version()}",
        node=node,
        system=platform.system(),
        cores=os.cpu_count(),
        figures=compiling(figures),
        count=len(paths),
        folders=", ".join(f"`{f}`" for f in parsing.FOLDERS) if not sys.argv[1:] else "given",
        megabytes=f"{sum(sizes) / 1e6:.1f}",
        readers=markdown(parsing.HEAD, readers),
        others=markdown(("what", "command"), [(w, f"`{c}`") for w, c in OTHERS]).replace(
            "---:", "---"
        ),
    )
    FILE.write_text(text, encoding="utf-8")
    print(text)
    return int(any(f.target is not None and f.value > f.target for f in figures))


if __name__ == "__main__":
    raise SystemExit(main())
