"""Steps that have incoming flows but that no run reaches."""

from __future__ import annotations

from typing import ClassVar

from orgflow.passes.flow_findings import FlowPass, is_malformed, list_analyses
from orgflow.passes.wording import Namer

from orgflow_ir.diagnostics import Category, Rule, Severity
from orgflow_ir.flow.nets.wiring import Wiring
from orgflow_ir.flow.soundness import Property
from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext


class DeadStep(Rule):
    """
    What it finds
        Steps on a path that no run ever reaches: after a sub-process that always ends in
        an error, or at an event that waits for an error that nothing throws.
    Why it is wrong
        They look like part of the process but never happen. (Steps after a join that waits
        indefinitely never happen either; OF201 reports that join.)
    Example
        The sub-process `Pay` has only error end events, and `Ship` follows it on the normal flow.
    Instead
        Add a normal end event to `Pay`, or connect `Ship` to the error event.
    """

    code = "OF207"
    name = "dead-step"
    severity = Severity.WARNING
    category = Category.FLOW


class DeadSteps(FlowPass):
    """Reports steps in the flow that are never executed."""

    name: ClassVar[str] = "dead-steps"
    rules: ClassVar[tuple[type[Rule], ...]] = (DeadStep,)

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        for analysis in list_analyses(model, ctx, self.max_states):
            if any(f.kind != "unsync" or f.unbounded for f in analysis.faults):
                continue  # a consequence of what is told already
            by_scope: dict[int, list[str]] = {}
            for fault in analysis[Property.DEAD].faults:
                led_to = ctx.analysis(Wiring, fault.scope).led_to
                if fault.element in led_to and not ctx.analysis(is_malformed, fault.scope):
                    by_scope.setdefault(id(fault.scope), []).append(fault.element)
            for scope in ctx.scopes(analysis.process) if by_scope else ():
                steps = by_scope.get(id(scope))
                if steps:
                    namer = ctx.analysis(Namer, scope)
                    ctx.emit(
                        DeadStep,
                        f"{namer.names(steps)} never "
                        f"{'happens' if len(steps) == 1 else 'happen'}: a flow leads there, but "
                        "no run reaches it",
                        element=namer.nodes[steps[0]],
                        help=_help_text(steps[0], namer),
                    )
        return model


def _help_text(step: str, namer: Namer) -> str:
    before = [n for n in namer.before.get(step, ()) if n != step]
    if not before:
        return "make it reachable, or remove it"
    return (
        f"make sure that a run continues from {namer.name(before[0])}, or remove the steps "
        "that never happen"
    )
