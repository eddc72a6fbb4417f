"""`python benchmarks/bpmn_roundtrip.py DATA`: BPMN read, written and read again, and how drawings
that are laid out measure up.

First table: every BPMN file below DATA (`../shared/data`) that reads without errors, by folder:
how many come back equal (places in the file aside, ids and the drawing included), how many were
valid by the OMG schema before and are after, whether all of the source's drawing came back, and for
how many bpmn-moddle warns of something or a rule of bpmnlint finds more than in the source (both
need npm, or the packages that the tests installed; `-` without). Second table: the same files
without their drawings, PME JSON and n8n workflows, laid out. Exit code 1 where something does not
come back or is not valid any more, says more to the referees, or a layout has overlaps.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from drawing_metrics import Metrics, measure
from orgflow.backends.bpmn.document import write_document
from orgflow.compilation.reading import load_model

from orgflow_ir.layout.keep import draw_model
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

REGISTRY = Registry(outside=False)
SUFFIXES = (".bpmn", ".xml")
TESTS = Path(__file__).resolve().parents[1] / "tests" / "support"
NAMESPACE = b"http://www.omg.org/spec/BPMN/20100524/MODEL"
Ask = Callable[[bytes], dict[str, Any]]


@dataclass
class Trip:
    """What became of the files of one folder."""

    files: int = 0
    unreadable: int = 0
    equal: int = 0
    valid_before: int = 0
    valid_after: int = 0
    drawings: int = 0
    kept: int = 0
    warned: int = 0
    found: int = 0
    wrong: list[str] = field(default_factory=list)


def main(arguments: list[str]) -> int:
    """Print both tables."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print("usage: bpmn_roundtrip.py DATA (the folder ../shared/data)", file=sys.stderr)
        return 2
    data = Path(arguments[0])
    errors = schema_errors()
    with ExitStack() as stack:
        ask = referee(stack)
        trips = {name: round_trip(paths, errors, ask) for name, paths in bpmn_files(data)}
    print("| BPMN files | read | equal | valid before | valid after | drawings | kept "
          "| moddle warns more | bpmnlint finds more |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|")
    for name, t in trips.items():
        read = t.files - t.unreadable
        print(f"| {name} | {read} of {t.files} | {t.equal} | {t.valid_before} | {t.valid_after} "
              f"| {t.drawings} | {t.kept} | {t.warned if ask else '-'} "
              f"| {t.found if ask else '-'} |")  # fmt: skip
    wrong = [w for t in trips.values() for w in t.wrong]
    print()
    print("| laid out | models | " + " | ".join(n.replace("_", " ") for n in Metrics._fields),
          "| s |")  # fmt: skip
    print("|" + "---|" * (len(Metrics._fields) + 3))
    for name, paths in drawable_files(data):
        wrong += laid_out(name, paths)
    print("\n".join(wrong))
    return 1 if wrong else 0


def bpmn_files(data: Path) -> Iterator[tuple[str, list[Path]]]:
    """BPMN files by folder."""
    for folder in sorted({p.parent for p in data.rglob("*") if p.suffix in SUFFIXES}):
        paths = sorted(p for p in folder.iterdir() if p.suffix in SUFFIXES)
        yield str(folder.relative_to(data)), paths


def drawable_files(data: Path) -> Iterator[tuple[str, list[Path]]]:
    """All models, by folder."""
    yield from bpmn_files(data)
    for name in ("pmo/pme", "n8n-workflows"):
        yield name, sorted((data / name).glob("*.json"))


def read(path: Path, text: bytes | None = None, *, diagram: bool) -> Model | None:
    """The model of a file, or of other bytes in its place; `None` after an error."""
    ctx = PassContext(registry=REGISTRY)
    source = SourceFile(str(path), path.read_bytes() if text is None else text)
    model = load_model(source, REGISTRY, ctx, diagram=diagram)
    return None if ctx.has_errors else model


def schema_errors() -> Callable[[bytes], list[str]] | None:
    """A validator for the OMG schema, which SpiffWorkflow brings along; `None` without it."""
    try:
        import SpiffWorkflow.bpmn.parser as spiff
        from lxml import etree
    except ImportError:
        return None
    path = Path(spiff.__file__).parent / "schema" / "BPMN20.xsd"
    schema = etree.XMLSchema(etree.parse(str(path)))

    def errors(data: bytes) -> list[str]:
        schema.validate(etree.fromstring(data))
        return [str(e.message) for e in schema.error_log]

    return errors


def referee(stack: ExitStack) -> Ask | None:
    """bpmn-moddle and bpmnlint; `None` where they cannot be had."""
    sys.path.insert(0, str(TESTS))
    try:
        from node_tools import BPMNLINT_PACKAGES, NodeChild, ToolMissingError, install
    except ImportError:
        return None
    try:
        folder = install("bpmnlint", BPMNLINT_PACKAGES)
    except ToolMissingError:
        return None
    script = TESTS.parent / "backends" / "bpmn" / "bpmn_referee.cjs"
    child = stack.enter_context(NodeChild(script, str(folder)))

    def ask(source: bytes) -> dict[str, Any]:
        answer: dict[str, Any] = child.ask({"source": source.decode("utf-8", "replace")})
        return answer

    return ask


def judge(trip: Trip, path: Path, text: bytes, ask: Ask) -> None:
    """Compare what the referees say with what they said of the source, by rule: flows without ids
    have names of ours afterwards. bpmn-moddle reads no file without a namespace."""
    source = path.read_bytes()
    if NAMESPACE not in source:
        return
    before, after = ask(source), ask(text)
    rules = [Counter(f.split()[0] for f in a["findings"]) for a in (before, after)]
    warned = after["error"] is not None or bool(set(after["warnings"]) - set(before["warnings"]))
    found = rules[1] - rules[0]
    trip.warned += warned
    trip.found += bool(found)
    if warned or found:
        trip.wrong.append(f"says more: {path.name} {sorted(found)}")


def round_trip(
    paths: list[Path], errors: Callable[[bytes], list[str]] | None, ask: Ask | None
) -> Trip:
    """BPMN → IR → BPMN → IR for each file, with its drawing."""
    trip = Trip()
    for path in paths:
        trip.files += 1
        model = read(path, diagram=True)
        if model is None:
            trip.unreadable += 1
            continue
        text = write_document(model, model.diagram).encode()
        again = read(path, text, diagram=True)
        if (
            again == model
            and again is not None
            and write_document(again, again.diagram).encode() == text
        ):
            trip.equal += 1
        else:
            trip.wrong.append(f"not equal: {path.name}")
        if errors is not None:
            before, after = not errors(path.read_bytes()), not errors(text)
            trip.valid_before += before
            trip.valid_after += after
            if before and not after:
                trip.wrong.append(f"not valid any more: {path.name}")
        if model.diagram is not None and model.diagram.shapes:
            trip.drawings += 1
            complete = draw_model(model)
            lost = set(model.diagram.shapes) - set(complete.shapes)
            lost_lines = set(model.diagram.edges) - set(complete.edges)
            trip.kept += not lost and not lost_lines
        if ask is not None:
            judge(trip, path, write_document(model, draw_model(model)).encode(), ask)
    return trip


def laid_out(name: str, paths: list[Path]) -> list[str]:
    """Print a row of sums; what should be 0 and is not, a line a model."""
    total: dict[str, int] = dict.fromkeys(Metrics._fields, 0)
    wrong = []
    models = 0
    seconds = 0.0
    for path in paths:
        model = read(path, diagram=False)
        if model is None:
            continue
        models += 1
        start = time.perf_counter()
        drawing = draw_model(model)
        seconds += time.perf_counter() - start
        found: dict[str, Any] = measure(model, drawing)._asdict()
        for key, value in found.items():
            total[key] += value
        for key in ("node_overlaps", "label_overlaps", "missing"):
            if found[key]:
                wrong.append(f"{key} {found[key]}: {path.name}")
    print(f"| {name} | {models} | " + " | ".join(str(v) for v in total.values())
          + f" | {seconds:.1f} |")  # fmt: skip
    return wrong


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
