"""Questions that the flow analysis cannot decide, which are reported."""

from __future__ import annotations

from typing import ClassVar

from orgflow.passes.flow_findings import FlowPass, is_malformed, list_analyses

from orgflow_ir.diagnostics import Category, Rule, Severity
from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext


class UndecidedFlow(Rule):
    """
    What it finds
        A part of the process that could not be checked for deadlocked joins and duplicate
        execution: it contains an element that cannot be analysed, or has too many states.
    Why it is wrong
        This is not a fault, but the part may contain faults that are not reported.
    Example
        A complex gateway, which continues depending on data that is unknown at compile time.
    Instead
        Review that part yourself. If it has too many states, give each split its own join, or raise
        the limit: `opt --passes 'undecided-flow{max-states=100000}'`.
    """

    code = "OF205"
    name = "undecided-flow"
    severity = Severity.INFO
    category = Category.FLOW


class Undecided(FlowPass):
    """Reports the questions that merge-deadlock and its companions could not decide."""

    name: ClassVar[str] = "undecided-flow"
    rules: ClassVar[tuple[type[Rule], ...]] = (UndecidedFlow,)

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        for analysis in list_analyses(model, ctx, self.max_states):
            for scope, doubt in analysis.doubts:
                if ctx.analysis(is_malformed, scope):
                    continue
                node = next((n for n in scope.nodes if n.id == doubt.element), scope)
                ctx.emit(
                    UndecidedFlow,
                    f"the flow around {ctx.name(node)} is not fully checked: {doubt.reason}",
                    element=node,
                    help="no fault is known; review this part yourself",
                )
        return model
