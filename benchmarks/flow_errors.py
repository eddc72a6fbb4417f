"""Is any error of the flow false? `python benchmarks/flow_errors.py FOLDER…`

Compares each OF2xx error that `check` reports on the BPMN files of folders with an oracle that
shares no code with the analysis (tests/support/soundness_oracle.py: every state of the process,
from the text of BPMN alone), and each process in which `check` reports none with what the oracle
sees. Prints every disagreement, and ends with exit code 1 where there is one. Where the oracle does
not read a process or gives up, the token game replays the run that the error comes with.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from orgflow.compilation.reading import load_model
from orgflow.compiler import check_model

from orgflow_ir.diagnostics import Diagnostic, Severity
from orgflow_ir.model import Event, Gateway, Model, Opaque, Process, SubProcess, Task
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from soundness_fuzzing import Game, Policy, plays
from soundness_oracle import Oracle, Verdict

JUDGED = ("OF201", "OF202", "OF203", "OF204", "OF206")
"""Errors that are compared with the oracle."""

REPORTING = (*JUDGED, "OF131")
"""Rules by which `check` reports what the oracle calls unsound, some as warnings: an arrow drawn
twice (OF131) does its target twice."""


def readable(process: Process) -> bool:
    """Whether the oracle knows everything in a process that matters for where tokens go. It begins
    at start events only."""
    if not any(isinstance(n, Event) and n.position == "start" for n in process.nodes):
        return False
    for scope in process.scopes():
        nodes = {node.id for node in scope.nodes}
        if any(f.source not in nodes or f.target not in nodes for f in scope.flows):
            return False
        for node in scope.nodes:
            match node:
                case Opaque():
                    return False
                case Gateway() if node.gateway_kind == "complex" or node.instantiate:
                    return False
                case SubProcess() if node.flavour != "plain" or node.loop is not None:
                    return False
                case Task() if node.for_compensation or node.instantiate:
                    return False
                case Event() if node.trigger in ("compensation", "cancel", "escalation"):
                    return False
                case _:
                    pass
    return True


def confirmed(finding: Diagnostic, oracle: Verdict) -> bool:
    """Whether the oracle sees what an error says."""
    if finding.code == "OF201":
        return bool(oracle.stuck) and (finding.element in oracle.stuck or finding.element is None)
    return {
        "OF202": oracle.livelock or oracle.piled,
        "OF203": bool(oracle.double) or oracle.piled,
        "OF204": bool(oracle.stuck) or oracle.improper or oracle.piled,
        "OF206": oracle.piled or oracle.livelock,
    }[finding.code]


def replayed(finding: Diagnostic, model: Model, process: Process) -> str:
    """What the token game makes of the run that an error comes with."""
    if not finding.trace:
        return "not judged: no run"
    game = Game(model, Policy(once=True))
    return "replayed" if plays(game, process, finding.trace) else "FALSE: no run of the model"


def judged(model: Model, path: Path, limit: int) -> tuple[list[str], Counter[str]]:
    """The disagreements about a model, and how many of its errors were judged how."""
    ctx = PassContext(registry=Registry(outside=False))
    check_model(model, ctx)
    if any(
        d.severity is Severity.ERROR and d.category and d.category.stops for d in ctx.diagnostics
    ):
        return [], Counter()  # what is malformed has no flow to be judged
    wrong: list[str] = []
    counted: Counter[str] = Counter()
    for process in model.processes:
        inside = {n.id for s in process.scopes() for n in (s, *s.nodes, *s.flows)}
        found = [d for d in ctx.diagnostics if d.code in REPORTING and d.element in inside]
        errors = [d for d in found if d.code in JUDGED and d.severity is Severity.ERROR]
        oracle = Oracle(process).verdict(limit) if process.nodes and readable(process) else None
        for error in errors:
            if oracle is not None and confirmed(error, oracle):
                how = "confirmed"
            elif oracle is not None and (oracle.complete or oracle.piled):
                how = "FALSE: the oracle sees nothing of it"
            else:
                how = replayed(error, model, process)
            counted[f"{error.code} {how}"] += 1
            if how.startswith("FALSE"):
                wrong.append(f"{path.name}: {error.code}: {error.message}: {how}")
        if oracle is None:
            continue
        counted["processes read by the oracle"] += 1
        unsound = oracle.stuck or oracle.livelock or oracle.double
        if oracle.complete and unsound and not found:
            counted["MISSED"] += 1
            wrong.append(f"{path.name}: `{process.label}`: the oracle sees stuck {oracle.stuck}, "
                         f"double {oracle.double}, livelock {oracle.livelock}")  # fmt: skip
    return wrong, counted


def main() -> int:
    """Print disagreements and how many errors were judged how."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--limit", type=int, default=2_000, help="most states of the oracle")
    arguments = parser.parse_args()
    counted: Counter[str] = Counter()
    registry = Registry(outside=False)
    disagreements = 0
    for path in sorted(p for folder in arguments.folders for p in folder.rglob("*.bpmn*")):
        model = load_model(str(path), registry, PassContext(registry=registry))
        if model is None:
            continue
        wrong, more = judged(model, path, arguments.limit)
        counted += more
        disagreements += len(wrong)
        for line in wrong:
            print(line)
    for what in sorted(counted):
        print(f"{counted[what]:6} {what}")
    print(f"disagreements: {disagreements}")
    return int(disagreements > 0)


if __name__ == "__main__":
    raise SystemExit(main())
