"""Repeated activities as loops of flows, the one executable meaning of repetition markers.

A marker has the meaning of BPMN 2.0.2 (10.3.7, 13.3.6), with the instances one after the
other: a step counts the list, an exclusive gateway tests whether there is another item, a step
takes the next one, and a gateway after the activity tests its completion condition. Instances that
BPMN starts together and that wait for nothing may run one after the other, since the specification
allows this order.

`loops_as_flows` returns the same flows for a whole model, under the same ids, so runs of a target
that rewrites loops are runs of that model's token game.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import CallActivity, Model, SubProcess, Task
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.lowering import RewritePattern, rewrite_all

if TYPE_CHECKING:
    from orgflow_ir.lowering import unrolling
    from orgflow_ir.model.rewriter import Rewriter
else:  # models with loops only
    unrolling = LazyModule("orgflow_ir.lowering.unrolling")

_PRODUCES = (
    "gateway.exclusive", "gateway.parallel", "flow.sequence", "flow.conditional", "flow.default",
    "task.script", "event.end.none", "listener", "mapping",
)  # fmt: skip


class LoopToFlows(RewritePattern):
    """A standard loop becomes a loop of flows (BPMN 2.0.2, 10.3.7), and so does a multi-instance
    activity, unless its instances are parallel and wait for anything other than people."""

    name = "loop-to-flows"
    consumes = ("loop",)
    produces = _PRODUCES

    def meaning(self, model: Model) -> Model:
        """See `RewritePattern`; each iteration of a loop is a separate step."""
        return loops_as_flows(model)

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        node, scope = use.element, use.scope
        assert isinstance(node, Task | CallActivity | SubProcess)
        assert scope is not None

        if unrolling.find_obstacle(node, scope, rewriter.model, ctx) or unrolling.waiting_at_once(
            node, rewriter.model
        ):
            return None
        return unrolling.Unrolling(node, scope, rewriter, ctx).run()


class WaitingInstancesInTurn(RewritePattern):
    """Parallel instances that wait also become a loop, in which the next instance begins when the
    previous one is done."""

    name = "waiting-instances-in-turn"
    consumes = ("loop.multi-instance.parallel",)
    produces = _PRODUCES
    loses = "the simultaneous waiting of its instances"

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        node, scope = use.element, use.scope
        assert isinstance(node, Task | CallActivity | SubProcess)
        assert scope is not None

        if unrolling.find_obstacle(node, scope, rewriter.model, ctx):
            return None
        return unrolling.Unrolling(node, scope, rewriter, ctx).run()


LOOPS: tuple[RewritePattern, ...] = (LoopToFlows(), WaitingInstancesInTurn())


def loops_as_flows(model: Model) -> Model:
    """The model with its loops as flows where possible; the model itself if it has no loops."""
    ctx = PassContext(source=model)
    while True:
        before = model
        for pattern in LOOPS:
            uses = [
                ConstructUse(node.loop.construct, node, scope)
                for scope in model.scopes()
                for node in scope.nodes
                if isinstance(node, Task | CallActivity | SubProcess) and node.loop is not None
            ]
            if uses:
                model, _ = rewrite_all(pattern, uses, model, ctx)
        if model is before:
            return model


def why_not_repeated(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """The reason why a repetition marker cannot become flows; empty if it can."""
    node, scope = use.element, use.scope
    assert isinstance(node, Task | CallActivity | SubProcess)
    assert scope is not None

    return unrolling.find_obstacle(node, scope, model, ctx)
