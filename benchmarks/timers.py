"""What becomes of the times of events on n8n: `python benchmarks/timers.py FOLDER…`.

Counts the timer events of BPMN files by where they are and how their time is written: kept (by a
node, or by what a lowering makes of it), a gap (no time at all, or computed from what no step is
said to set), or refused, with the reason. `--each` prints every text.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from orgflow.backends.n8n.plan.target import unsupported_times
from orgflow.backends.n8n.plan.timed_starts import starts_once
from orgflow.compilation.reading import load_model

from orgflow_ir.gaps import find_gaps
from orgflow_ir.gaps.gap_rules import OpenTime
from orgflow_ir.model import Event, Process
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

KEPT, OPEN, REFUSED = "kept", "gap", "refused"
ON_BORDER = "events on the border of what waits are refused, whatever their time"


class Timer(NamedTuple):
    """A timer event: its position, how its time is written, the text, and what becomes of it."""

    position: str
    shape: str
    text: str
    outcome: str
    reason: str = ""


def timers(path: Path, registry: Registry) -> Iterator[Timer]:
    """The timer events of a file; none where it cannot be read."""
    ctx = PassContext(registry=registry)
    model = load_model(str(path), registry, ctx, diagram=False)
    if model is None:
        return
    reasons = {
        use.element.id: use.reason
        for use in unsupported_times(model, ctx)
        if not (
            isinstance(use.scope, Process)
            and isinstance(use.element, Event)
            and starts_once(use.element)
        )
    }
    gaps = {g.element.id for g in find_gaps(model, ctx) if g.rule is OpenTime and g.element}
    for scope in model.scopes():
        for node in scope.nodes:
            if not isinstance(node, Event) or node.trigger != "timer":
                continue
            (definition,) = node.definitions
            shape = type(definition.time).__name__.lower() if definition.time else "none"
            text = definition.expression.text.strip() if definition.expression else ""
            if node.id in reasons:
                outcome, reason = REFUSED, reasons[node.id]
            elif node.position in ("boundary", "throw", "end"):
                outcome, reason = REFUSED, ON_BORDER
            else:
                outcome, reason = (OPEN if node.id in gaps else KEPT), ""
            yield Timer(node.position, shape, text, outcome, reason)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--each", action="store_true", help="print every text")
    args = parser.parse_args()
    registry = Registry(outside=False)
    paths = sorted(p for folder in args.folders for p in folder.rglob("*.bpmn*"))
    found = [timer for path in paths for timer in timers(path, registry)]
    print(f"{len(found)} timer events in {len(paths)} files")
    print(f"{'position':9} {'written as':10} {KEPT:>7} {OPEN:>7} {REFUSED:>7}")
    table = Counter((t.position, t.shape, t.outcome) for t in found)
    for position, shape in sorted({key[:2] for key in table}):
        counts = " ".join(f"{table[position, shape, one]:7}" for one in (KEPT, OPEN, REFUSED))
        print(f"{position:9} {shape:10} {counts}")
    for reason, count in Counter(t.reason for t in found if t.reason).most_common():
        print(f"{count:5}  {reason}")
    if args.each:
        for timer, count in sorted(Counter(found).items()):
            print(f"{count:5}  {timer.position:9} {timer.outcome:8} {timer.text!r} {timer.reason}")


if __name__ == "__main__":
    main()
