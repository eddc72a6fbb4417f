"""Loops that a run cannot leave."""

from __future__ import annotations

from typing import ClassVar

from orgflow.passes.flow_findings import MASKED, FlowPass, list_findings
from orgflow.passes.forking_loops import endless_forks
from orgflow.passes.wording import Namer

from orgflow_ir.diagnostics import Category, Rule, Severity
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext


class EndlessLoop(Rule):
    """
    What it finds
        A loop that a run can enter but never leave.
    Why it is wrong
        Its steps repeat indefinitely, and the process never ends. On n8n, the execution runs until
        somebody stops it or the server runs out of memory.
    Example
        `Check` leads to `Correct`, and `Correct` leads back to `Check`; no flow leaves the two.
    Instead
        Add an exclusive gateway with a branch to the end to the loop.
    """

    code = "OF202"
    name = "endless-loop"
    severity = Severity.ERROR
    category = Category.FLOW


class LoopTermination(FlowPass):
    """Reports loops without an exit. Choices are fair: a loop with an exit is left."""

    name: ClassVar[str] = "loop-termination"
    rules: ClassVar[tuple[type[Rule], ...]] = (EndlessLoop,)

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        forks = {
            element
            for scope in ctx.scopes(model)
            for _, cycle in ctx.analysis(endless_forks, ctx.analysis(ControlFlow, scope))
            for element in cycle
        }
        for fault in list_findings(model, ctx, self.max_states, "livelock"):
            if fault.element in forks:
                continue  # told as unbounded work
            if fault.ended_by is not None:
                continue  # "repeat until this event comes": left through the event
            namer = ctx.analysis(Namer, fault.scope)
            decide = "decide where a run should leave the loop, and add a flow from there to an end"
            repaired = self.repaired(fault, model, ctx, decide, fix=False)
            known = [i for i in fault.cycle if i in namer.nodes]
            ctx.emit(
                EndlessLoop,
                f"a run that reaches {namer.name(fault.element)} repeats {namer.names(known)} "
                "indefinitely: no path leads to an end" + (MASKED if fault.masked else ""),
                element=namer.nodes[fault.element],
                help=decide,
                advice=repaired,
                trace=fault.trace,
                severity=Severity.WARNING if fault.masked else None,
            )
        return model
