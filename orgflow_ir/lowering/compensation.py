"""Undoing finished work as steps on the way, where it is known beforehand what has to be undone.

A compensation throw event, or the cancel end event of a transaction, starts the handlers of the
activities of its scope that are completed (BPMN 2.0.2, 10.7 and 13.5.5). Where the same activities
are completed in every run that comes to such an event, each of them once, the handlers are steps
before what follows the event, the last work undone first. Cancelling is then an error that the
transaction's boundary event catches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgflow_ir.model import CallActivity, Event, Model, SubProcess, Task
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.lowering import RewritePattern, rewrite_all

if TYPE_CHECKING:
    from orgflow_ir.model.rewriter import Rewriter

_CONSUMED = (
    "event.throw.compensation", "event.end.compensation", "event.end.cancel",
    "event.boundary.cancel", "event.boundary.compensation", "activity.compensation",
)  # fmt: skip


class CompensationToFlows(RewritePattern):
    """Handlers of completed activities become steps of the flow that undoes them; a handler that
    nothing starts goes, with the boundary event that names it."""

    name = "compensation-to-flows"
    consumes = _CONSUMED
    produces = (
        "event.throw.none", "event.end.none", "event.end.error", "event.boundary.error",
        "flow.sequence", "loop.multi-instance.sequential",
    )  # fmt: skip

    def meaning(self, model: Model) -> Model:
        """See `RewritePattern`: each repetition of undone work is a step."""
        return repeated_compensation_as_flows(model)

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        from orgflow_ir.lowering.undoing import Plans, Undoing

        assert use.scope is not None
        plan = ctx.analysis(Plans, rewriter.model).of(use.scope, ctx)
        if plan.obstacle:
            return None
        return Undoing(plan, use, rewriter, ctx).run()


COMPENSATION: tuple[RewritePattern, ...] = (CompensationToFlows(),)


def why_not_undone(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """What keeps the handlers of a process from becoming steps of flows; nothing where they can."""
    from orgflow_ir.lowering.undoing import Plans  # only for models in which work is undone

    if use.scope is None:
        return ""
    return ctx.analysis(Plans, model).of(use.scope, ctx).obstacle


def repeated_compensation_as_flows(model: Model) -> Model:
    """The model with handlers as steps of flows, where something that is undone is repeated; itself
    where nothing is."""
    from orgflow_ir.lowering.undoing import handlers_in, undone_in

    repeated = (
        (isinstance(node, SubProcess) and undone_in(node, model))
        or any(node is activity for activity, _ in handlers_in(scope, model))
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
