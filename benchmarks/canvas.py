"""`python benchmarks/canvas.py [DATA] [--each FOLDER]`: how compiled workflows look in n8n.

Compiles the examples and every BPMN model below DATA (`../shared/data`) for n8n and prints, by
folder, the figures of `tests/support/canvas_metrics.py`; with `--each`, those of every workflow of
one folder. What is not supported for n8n is left out.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from canvas_metrics import NOTHING, Metrics, measure
from orgflow.compiler import compile_model, load

from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

ROOT = Path(__file__).resolve().parent.parent
REGISTRY = Registry(outside=False)
FOLDERS = ("pmo/bpmn", "miwg-reference", "camunda7-executable", "outside-look")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path, nargs="?", default=ROOT.parent / "shared" / "data")
    parser.add_argument("--each", metavar="FOLDER", help="figures of each workflow of a folder")
    options = parser.parse_args()
    folders = {"examples": sorted((ROOT / "examples").glob("*/model.*"))}
    folders |= {name: sorted((options.data / name).rglob("*.bpmn")) for name in FOLDERS}
    _line("", Metrics._fields)
    for name, paths in folders.items():
        total = NOTHING
        for path in paths:
            for workflow in compiled(path):
                found = measure(workflow)
                total = total.plus(found)
                if options.each == name:
                    _line(path.parent.name if path.stem == "model" else path.stem, found)
        _line(name, total)


def compiled(path: Path) -> Iterator[dict[str, Any]]:
    """The workflows of a model; none where it is not supported."""
    ctx = PassContext(registry=REGISTRY)
    model = load(str(path), REGISTRY, ctx, diagram=True)
    if model is None:
        return
    emitted = compile_model(model, REGISTRY.backends["n8n"], ctx)
    for artifact in emitted.artifacts if emitted is not None else ():
        yield json.loads(artifact.text)


def _line(name: str, figures: tuple[object, ...]) -> None:
    print(f"{name[:28]:28}" + "".join(f"{str(figure)[:9]:>10}" for figure in figures))


if __name__ == "__main__":
    main()
