"""Fixes of random faulty processes, judged by the oracle: it shares nothing with the analysis that
proved them."""

from __future__ import annotations

from collections import Counter

from orgflow.passes.pipelines import CHECK
from seeds import at_least, seeds
from soundness_oracle import Oracle
from soundness_random import process

from orgflow_ir.diagnostics import Diagnostic, apply
from orgflow_ir.model import Event, Gateway, Model, Process, SubProcess
from orgflow_ir.pipeline import PassContext, PassManager

LIMIT = 4_000
FLOW = ("OF201", "OF202", "OF203", "OF204", "OF206")


def faults(model: Model) -> list[Diagnostic]:
    ctx = PassContext()
    PassManager(CHECK).run(model, ctx)
    return [d for d in ctx.diagnostics if d.code in FLOW]


def _worked(process: Process, doubled: set[str]) -> set[str]:
    """Of what happens twice, what does something: an arrow drawn twice to a plain end does not."""
    nodes = [process, *(n for n in process.nodes if isinstance(n, SubProcess))]
    idle = {
        node.id
        for scope in nodes
        for node in scope.nodes
        if isinstance(node, Gateway)
        or (isinstance(node, Event) and node.position == "end" and not node.definitions)
    }
    return doubled - idle


def repaired(seeds: range) -> Counter[str]:
    """What was offered for processes of one fault; each must leave a sound process."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        model = Model(id="m", processes=(process(seed, 6, 18),))
        found = faults(model)
        seen["faulty"] += bool(found)
        for diagnostic in found:
            assert diagnostic.help, (seed, diagnostic.message)
            seen["decide" if "decide" in diagnostic.help else "advice"] += 1
        if len(found) != 1 or found[0].fix is None:
            continue
        (fixed,) = apply(model, found[0].fix).processes
        before, after = (Oracle(p).verdict(LIMIT) for p in (model.processes[0], fixed))
        if after.complete:
            wrong = after.stuck or _worked(fixed, after.double) or after.livelock
            wrong = wrong or after.improper or after.piled
            assert not wrong, (seed, found[0].fix.title)
            unknown = before.piled or not before.complete
            assert unknown or after.dead <= before.dead, (seed, found[0].fix.title)
            seen[found[0].fix.applicability] += 1
    return seen


def test_a_process_of_one_fault_is_sound_after_its_fix() -> None:
    seen = repaired(seeds(600))
    assert seen["safe"] >= at_least(20)
    assert seen["unsafe"] >= at_least(5)
