"""Compensation as steps of the flow, if the work to undo is known at compile time.

A compensation throw event, or the cancel end event of a transaction, starts the handlers of the
completed activities of its scope (BPMN 2.0.2, 10.7 and 13.5.5). If every run that reaches such an
event has completed the same activities, each of them once, the handlers become steps after the
event, and the last work is undone first. A cancellation is then an error that the transaction's
boundary event catches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import CallActivity, Event, Model, SubProcess, Task
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.lowering import RewritePattern, rewrite_all

if TYPE_CHECKING:
    from orgflow_ir.lowering import undoing
    from orgflow_ir.model.rewriter import Rewriter
else:  # models with compensation only
    undoing = LazyModule("orgflow_ir.lowering.undoing")

_CONSUMED = (
    "event.throw.compensation", "event.end.compensation", "event.end.cancel",
    "event.boundary.cancel", "event.boundary.compensation", "activity.compensation",
)  # fmt: skip


class CompensationToFlows(RewritePattern):
    """Handlers of completed activities become steps of the flow that undoes them; a handler that
    nothing starts is removed with the boundary event that names it."""

    name = "compensation-to-flows"
    consumes = _CONSUMED
    produces = (
        "event.throw.none", "event.end.none", "event.end.error", "event.boundary.error",
        "flow.sequence", "loop.multi-instance.sequential",
    )  # fmt: skip

    def meaning(self, model: Model) -> Model:
        """See `RewritePattern`; each repetition of compensated work is a step."""
        return repeated_compensation_as_flows(model)

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        assert use.scope is not None
        plan = ctx.analysis(undoing.Plans, rewriter.model).of(use.scope, ctx)
        if plan.obstacle:
            return None
        return undoing.Undoing(plan, use, rewriter, ctx).run()


COMPENSATION: tuple[RewritePattern, ...] = (CompensationToFlows(),)


def why_not_undone(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """The reason why the handlers of a process cannot become steps of flows; empty if they can."""
    if use.scope is None:
        return ""
    return ctx.analysis(undoing.Plans, model).of(use.scope, ctx).obstacle


def repeated_compensation_as_flows(model: Model) -> Model:
    """The model with handlers as steps of flows if any compensated work is repeated; otherwise the
    model itself."""
    repeated = (
        (isinstance(node, SubProcess) and undoing.undone_in(node, model))
        or any(node is activity for activity, _ in undoing.handlers_in(scope, model))
        for scope in model.scopes()
        for node in scope.nodes
        if isinstance(node, Task | CallActivity | SubProcess) and node.loop is not None
    )
    if not any(repeated):
        return model
    uses = [
        ConstructUse(node.construct, node, scope)
        for scope in model.scopes()
        for node in scope.nodes
        if isinstance(node, Event)
        if any(d.kind in ("compensation", "cancel") for d in node.definitions)
    ]
    ctx = PassContext(source=model)
    return rewrite_all(CompensationToFlows(), uses, model, ctx)[0]
