"""What the analysis of the flow cannot decide, said rather than kept quiet."""

from __future__ import annotations

from typing import ClassVar

from orgflow.passes.flow_findings import FlowPass, analyses

from orgflow_ir.diagnostics import Category, Rule, Severity
from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext


class UndecidedFlow(Rule):
    """
    What it finds
        A part of the process that could not be checked for joins that wait indefinitely and for
        duplicate execution: an element that cannot be judged, or a part with too many cases to go
        through them all.
    Why it is wrong
        Nothing need be wrong; that no fault is reported there is no proof that there is none.
    Example
        A complex gateway: when it goes on depends on data, which is not known beforehand.
    Instead
        Look at that part yourself. Where it has too many cases, draw it so that each split has
        its own join, or have more cases looked at: `opt --passes
        'undecided-flow{max-states=100000}'`.
    """

    code = "OF205"
    name = "undecided-flow"
    severity = Severity.INFO
    category = Category.FLOW


class Undecided(FlowPass):
    """Reports what merge-deadlock and its companions could not decide."""

    name: ClassVar[str] = "undecided-flow"
    rules: ClassVar[tuple[type[Rule], ...]] = (UndecidedFlow,)

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report; the model is given back as it is."""
        for found in analyses(model, ctx, self.max_states):
            for scope, doubt in found.doubts:
                node = next((n for n in scope.nodes if n.id == doubt.element), scope)
                ctx.emit(
                    UndecidedFlow,
                    f"the flow around {ctx.name(node)} is not fully checked: {doubt.reason}",
                    element=node,
                    help="nothing need be wrong: look at this part yourself",
                )
        return model
