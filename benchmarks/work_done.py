"""What service, send, script and business rule tasks of real files become on n8n, by vendor.

    python benchmarks/work_done.py [FOLDER] [--reasons N]

Reads every BPMN file below FOLDER (`../shared/data`). A task is *executed* where n8n does what the
model says (code, a decision, a request, a mail), a *contract* where it names what does it, so that
it is a call of a workflow with a contract (`stubs=workflow`), and *empty* where it names nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from orgflow.backends.n8n.plan.task_work import work_in
from orgflow.backends.n8n.plan.work_names import named_work
from orgflow.compilation.reading import load_model

from orgflow_ir.model import Task
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"
KINDS = ("service", "send", "script", "business-rule")
STATES = ("executed", "contract", "empty")
VENDORS = (
    ("camunda.org/schema/zeebe", "Camunda 8"), ("flowable.org", "Flowable"),
    ("activiti.org", "Activiti"), ("jboss.org/drools", "jBPM"),
    ("camunda.org/schema/1.0/bpmn", "Camunda 7"), ("operaton.org", "Camunda 7"),
)  # fmt: skip


def vendor_of(text: str) -> str:
    """The engine whose extensions a file has."""
    return next((name for part, name in VENDORS if part in text), "none")


def state_of(task: Task, ctx: PassContext, reasons: Counter[str]) -> str:
    work = work_in(task, ctx)
    if work.steps is not None or work.act is not None:
        return "executed"
    reasons.update({f"{one.what.partition(' `')[0]}: {one.reason}"[:100] for one in work.unread})
    return "empty" if named_work(task) is None else "contract"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=DATA)
    parser.add_argument("--reasons", type=int, default=0, metavar="N")
    options = parser.parse_args()
    registry = Registry(outside=False)
    counts: Counter[tuple[str, str]] = Counter()
    kinds: Counter[tuple[str, str]] = Counter()
    reasons: Counter[str] = Counter()
    files = 0
    for path in sorted([*options.folder.rglob("*.bpmn"), *options.folder.rglob("*.bpmn20.xml")]):
        ctx = PassContext(registry=registry)
        model = load_model(str(path), registry, ctx)
        if model is None:
            continue
        files += 1
        ctx.source = model
        vendor = vendor_of(path.read_text("utf-8", "replace"))
        for scope in model.scopes():
            for node in scope.nodes:
                if isinstance(node, Task) and node.task_type in KINDS:
                    state = state_of(node, ctx, reasons)
                    counts[vendor, state] += 1
                    kinds[node.task_type, state] += 1
    print(f"{files} files")
    for title, table in (("vendor", counts), ("task", kinds)):
        print(f"{title:14}" + "".join(f"{state:>18}" for state in STATES))
        for name in sorted({name for name, _ in table}):
            whole = sum(table[name, state] for state in STATES)
            shares = (f"{table[name, s]:8} ({table[name, s] / whole:6.1%})" for s in STATES)
            print(f"{name:14}" + "".join(f"{share:>18}" for share in shares))
    for reason, count in reasons.most_common(options.reasons):
        print(f"{count:6}  not executed: {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
