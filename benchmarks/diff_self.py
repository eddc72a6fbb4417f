"""Every file compared with itself by `orgflowc diff`, models with their JSON copy, too.

`python benchmarks/diff_self.py [FOLDER …]` prints how many workflows and models there are in the
folders (by default the data beside the checkout, and the examples), how many were compared, and
each that is said to differ from itself, is not compared to the end, or fails. Exit code 1 if there
is one.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from orgflow.backends.n8n.format.workflow_document import workflows_of
from orgflow.commands.diff import diff_sources
from orgflow.commands.session import Session
from orgflow.compilation.input_sources import read_source
from orgflow.compilation.usage_errors import InputError

from orgflow_ir.comparison.model_changes import compare_models
from orgflow_ir.model import Model
from orgflow_ir.model.json_source_map import JsonFault, parse_json
from orgflow_ir.targets.comparison import Comparison

ROOT = Path(__file__).resolve().parent.parent
SUFFIXES = (".bpmn", ".json", ".xml")
FOLDERS = (ROOT.parent / "shared" / "data", ROOT / "examples")


class Found(NamedTuple):
    """What came of a file: `kind` is "workflow", "model" or "neither", `fault` empty where a
    comparison with itself found nothing."""

    kind: str
    fault: str = ""


def compared(path: Path) -> Found:
    """A file compared with itself."""
    try:
        source = read_source(str(path))
        kind = "workflow" if path.suffix == ".json" and _flows(source.data) else "model"
    except InputError:
        return Found("neither")
    session = Session()
    ctx = session.context()
    found = diff_sources(source, source, session, ctx, None)
    if found is None:
        return Found("neither")
    faults = [_fault(found)]
    for model in session.models[:1]:
        copy = Model.from_json(model.to_json())
        faults.append(_fault(compare_models(model, copy, names=("file", "copy"))))
    return Found(kind, next((f for f in faults if f), ""))


def _flows(data: bytes) -> bool:
    try:
        return bool(workflows_of(parse_json("", data).root.value))
    except JsonFault:
        return False


def _fault(found: Comparison) -> str:
    for part in found.parts:
        if part.changes:
            return f"changes: {part.changes[0]}"
        verdict = part.behaviour.verdict if part.behaviour is not None else "not compared"
        if verdict != "same":
            return f"behaviour: {verdict}"
    return "differs" if found.differs else ""


def files(folders: list[Path]) -> Iterator[Path]:
    """The files that may be workflows or models."""
    for folder in folders:
        yield from sorted(p for p in folder.rglob("*") if p.suffix in SUFFIXES and p.is_file())


def main() -> int:
    """Print the figures; 1 where a file differs from itself."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="*", default=list(FOLDERS))
    counts: Counter[str] = Counter()
    wrong = 0
    for path in files(parser.parse_args().folders):
        found = compared(path)
        counts[found.kind] += 1
        if found.fault:
            wrong += 1
            print(f"{path}: {found.fault}")
    print(f"{counts['workflow']} files of workflows, {counts['model']} of models, "
          f"{counts['neither']} neither; {wrong} differ from themselves")  # fmt: skip
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
