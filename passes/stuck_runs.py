"""Pass `stuck-runs`: deadlocks that work done twice hides from the reduction, found by playing."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from orgflow.passes.merge_deadlock import DeadlockedJoin
from orgflow.passes.wording import Namer

from orgflow_ir.diagnostics import Rule
from orgflow_ir.graph import ControlFlow
from orgflow_ir.model import Gateway, Model, Process
from orgflow_ir.pass_manager import Pass, PassContext, Stage

if TYPE_CHECKING:
    from orgflow_ir.runs import Run

_HIDING = frozenset({"OF203", "OF204"})
TRIALS = 120
"""Runs tried for one process; only processes with a fault that can hide another are played."""


class StuckRuns(Pass):
    """Where work is done twice, plays the process and reports joins that a run waits at for ever.

    The reduction repairs a fault and goes on, so one that shows only together with it can escape;
    a run of the token game that is stuck is proof, whatever else is wrong.
    """

    name: ClassVar[str] = "stuck-runs"
    stage: ClassVar[Stage] = Stage.ANALYSE
    rules: ClassVar[tuple[type[Rule], ...]] = (DeadlockedJoin,)

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report; the model is given back as it is."""
        codes: dict[str, set[str]] = {}
        for diagnostic in ctx.diagnostics:
            if diagnostic.element is not None:
                codes.setdefault(diagnostic.element, set()).add(diagnostic.code)
        for process in model.processes:
            inside = {n.id for scope in process.scopes() for n in scope.nodes}
            found = {code for e in inside for code in codes.get(e, ())}
            if found & _HIDING and not found & {"OF201", "OF206"}:
                known = {e for e in inside if "OF204" in codes.get(e, ())}
                _play(model, process, known, ctx)
        return model


def _play(model: Model, process: Process, told: set[str], ctx: PassContext) -> None:
    """Report the joins at which runs are stuck, but for those told already."""
    from orgflow_ir.runs import enumerate_runs  # with the token game: only for faulty models

    graph = ctx.analysis(ControlFlow, process)
    for run in enumerate_runs(model, process.id, max_trials=TRIALS, variants=False).stuck:
        held = {left.element for left in run.left if left.kind == "flow"}
        for node in process.nodes:
            ways = graph.flows_in(node.id)
            waits = isinstance(node, Gateway) and len(ways) > 1 and node.id not in told
            if run.outcome == "stuck" and waits and any(f.id in held for f in ways):
                told.add(node.id)
                missing = [f.source for f in ways if f.id not in held]
                _report(node.id, missing, run, process, ctx)


def _report(join: str, missing: list[str], run: Run, process: Process, ctx: PassContext) -> None:
    namer = Namer(process)
    choice = ""
    for element, taken in run.choices[-1:]:
        flows = {f.id: f for f in process.flows}
        ways = " and ".join(
            f"`{flows[t].name.strip()}`" if flows[t].name.strip() else namer.name(flows[t].target)
            for t in taken
            if t in flows
        )
        choice = f" that takes {ways} at {namer.name(element)}" if ways else ""
    ctx.emit(
        DeadlockedJoin,
        f"{namer.name(join)} waits for {namer.named(missing)}, which a run{choice} never brings",
        element=namer.nodes[join],
        help="join branches with the kind of gateway that split them",
        trace=run.steps,
    )
