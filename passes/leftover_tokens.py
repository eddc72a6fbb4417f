"""Leftover tokens: tokens that stay at a join."""

from __future__ import annotations

from typing import ClassVar

from orgflow.passes.flow_findings import MASKED, FlowPass, list_findings
from orgflow.passes.wording import Namer

from orgflow_ir.diagnostics import Category, Rule, Severity
from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext


class TokensLeftOver(Rule):
    """
    What it finds
        A join that has already continued when one of its branches arrives again; no other branch is
        left to join with, so this token waits there indefinitely.
    Why it is wrong
        The process never completes, and the result of the duplicate work is lost. It is a
        consequence of duplicate execution (OF203).
    Example
        `Pack` and `Bill` run in parallel into an exclusive gateway; the flow from there and `Label`
        lead to a parallel gateway, which continues with the first token and keeps the second
        indefinitely.
    Instead
        Fix the duplicate execution: join `Pack` and `Bill` with a parallel gateway.
    """

    code = "OF204"
    name = "tokens-left-over"
    severity = Severity.ERROR
    category = Category.FLOW


class LeftoverTokens(FlowPass):
    """Reports joins at which a token stays after the join has fired."""

    name: ClassVar[str] = "leftover-tokens"
    rules: ClassVar[tuple[type[Rule], ...]] = (TokensLeftOver,)

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        doubled = list(list_findings(model, ctx, self.max_states, "unsync"))
        for fault in list_findings(model, ctx, self.max_states, "leftover"):
            namer = ctx.analysis(Namer, fault.scope)
            assert fault.net is not None
            comes = (namer.comes_from(fault.net, a).text for a in fault.taken_arcs)
            late = " and ".join(dict.fromkeys(comes)) or "a branch that runs again"
            cause = next((f.element for f in doubled if f.scope is fault.scope), "")
            again = f"{namer.name(cause)} lets it happen several times" if cause else ""
            decide = f"make sure that {late} happens only once in a run" + (again and f": {again}")
            repaired = self.repaired(fault, model, ctx, decide, fix=False)
            ctx.emit(
                TokensLeftOver,
                f"{namer.name(fault.element)} has already continued when {late} leads to it "
                "again: this token waits there indefinitely, and the run never finishes"
                + (MASKED if fault.masked else ""),
                element=namer.nodes[fault.element],
                help=decide,
                advice=repaired,
                trace=fault.trace,
                severity=Severity.WARNING if fault.masked else None,
            )
        return model
