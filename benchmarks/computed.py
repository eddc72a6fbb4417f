"""How many conditions, mappings, scripts and decisions of real files are executed, and why not.

    python benchmarks/computed.py [FOLDER] [--reasons N]

Reads every BPMN file below FOLDER (`../shared/data`). For conditions by language: those with code,
those that are read, and those that are not. For tasks by what they are: those whose work n8n is
given as code, those that stay placeholders, and the commonest reasons.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from orgflow.compilation.reading import load_model

from orgflow_ir.languages.recognise import read_condition, recognise
from orgflow_ir.model import Model, Task
from orgflow_ir.model.bindings import Decision, Script, Worker
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.program.syntax import ConditionError, is_plain
from orgflow_ir.work.tasks import library_of, work_of

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"


def conditions(model: Model, counts: Counter[tuple[str, str]], reasons: Counter[str]) -> None:
    """Count the conditions of flows."""
    for scope in model.scopes():
        for flow in scope.flows:
            if flow.condition is None or not flow.condition.text.strip():
                continue
            try:
                language = recognise(flow.condition).language
                tree = read_condition(flow.condition)
            except ConditionError as error:
                counts["condition", "left"] += 1
                reasons[f"condition: {error}"] += 1
                continue
            if tree is None:
                counts["condition", "label"] += 1
            else:
                level = "level 1" if is_plain(tree) else "beyond"
                counts[f"condition, {language}", f"executed, {level}"] += 1


def work(
    model: Model, ctx: PassContext, counts: Counter[tuple[str, str]], reasons: Counter[str]
) -> None:
    """Count what tasks do."""
    library = library_of(ctx)
    for scope in model.scopes():
        for node in scope.nodes:
            if not isinstance(node, Task) or node.binding is None:
                continue
            found = work_of(node, library)
            match node.binding:
                case Script(language=language):
                    kind = f"script, {(language or 'none').lower()}"
                case Decision():
                    kind = "decision"
                case Worker(by="expression"):
                    kind = "expression"
                case _:
                    kind = ""
            if kind:
                counts[kind, "executed" if found.steps is not None else "left"] += 1
            mapped = len(node.binding.inputs) + len(node.binding.outputs)
            if mapped:
                state = "left" if found.unread else "executed"
                counts["mapping", state] += mapped
            for one in found.unread:
                reasons[f"{one.what.partition(' `')[0]}: {one.reason}"] += 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=DATA)
    parser.add_argument("--reasons", type=int, default=12, metavar="N")
    options = parser.parse_args()
    registry = Registry(outside=False)
    counts: Counter[tuple[str, str]] = Counter()
    reasons: Counter[str] = Counter()
    files = 0
    paths = [*options.folder.rglob("*.bpmn"), *options.folder.rglob("*.bpmn20.xml")]
    for path in sorted(paths):
        ctx = PassContext(registry=registry)
        model = load_model(str(path), registry, ctx)
        if model is None:
            continue
        files += 1
        ctx.source = model
        conditions(model, counts, reasons)
        work(model, ctx, counts, reasons)
    print(f"{files} files")
    for (kind, state), count in sorted(counts.items()):
        print(f"{count:6}  {kind}: {state}")
    for reason, count in reasons.most_common(options.reasons):
        print(f"{count:6}  not understood: {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
