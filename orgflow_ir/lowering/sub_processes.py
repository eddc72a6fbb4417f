"""Embedded sub-processes become part of the scope around them, for targets without scopes.

A sub-process can be dissolved if nothing depends on its border: it has one start, it is left when
everything in it is done, and nothing else in it is active when an event ends it early (an error end
event, an interrupting escalation, a terminate end event). Its tokens then behave in the surrounding
scope as they did inside. All lossless.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Event, Model, SubProcess, Task
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.lowering import RewritePattern

if TYPE_CHECKING:
    from orgflow_ir.flow.nets import escalations
    from orgflow_ir.lowering import inlining
    from orgflow_ir.model.rewriter import Rewriter
else:  # models with sub-processes only
    escalations = LazyModule("orgflow_ir.flow.nets.escalations")
    inlining = LazyModule("orgflow_ir.lowering.inlining")


class InlineSubProcess(RewritePattern):
    """A plain sub-process is dissolved into the scope around it.

    Its start events and plain end events are removed; those with a name become intermediate events,
    which keep the name. Its ends lead to the target of the sub-process, through an exclusive join
    if one token ends it, otherwise through an inclusive one, because a sub-process is done when no
    token is left in it (BPMN 2.0.2, 13.3.4). An error or escalation that is caught on its border
    becomes a flow to the target of the boundary event (10.5.7). Inner ones come first.
    """

    name = "inline-sub-process"
    consumes = ("sub-process.plain",)
    produces = (
        "gateway.exclusive", "gateway.parallel", "gateway.inclusive", "flow.sequence",
        "event.throw.none", "event.throw.message", "event.throw.signal", "event.throw.escalation",
        "event.throw.compensation", "event.end.none", "task.abstract", "event.boundary.error",
        "event.boundary.escalation",
    )  # fmt: skip

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        sub, scope = use.element, use.scope
        assert isinstance(sub, SubProcess)
        assert scope is not None
        if why_not_inline(use, rewriter.model, ctx):
            return None
        if not sub.nodes:
            task = Task(id=sub.id, name=sub.name, doc=sub.doc)
            rewriter.replace(scope.id, sub.id, task)
            return f"{ctx.name(sub)}, which is empty, became a task"

        inlining.Inlining(sub, scope, rewriter, ctx).run()
        return f"the steps of {ctx.name(sub)} were moved into the parent process"


class TransactionToSubProcess(RewritePattern):
    """A transaction that is never cancelled and contains no compensation behaves like a plain
    sub-process (BPMN 2.0.2, 10.3.5)."""

    name = "transaction-to-sub-process"
    consumes = ("sub-process.transaction",)
    produces = ("sub-process.plain",)

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        sub, scope = use.element, use.scope
        assert isinstance(sub, SubProcess)
        assert scope is not None
        events = [n for s in sub.scopes() for n in s.nodes if isinstance(n, Event)]
        events += (n for n in scope.nodes if isinstance(n, Event) and n.attached_to == sub.id)
        undone = any(d.kind in ("cancel", "compensation") for e in events for d in e.definitions)
        if undone:
            return None
        rewriter.replace(scope.id, sub.id, sub.replace(flavour="plain"))
        return f"{ctx.name(sub)} is a plain sub-process, since nothing cancels it"


class HandlerToFlow(RewritePattern):
    """An event sub-process for an error or escalation that an event in the same scope throws
    becomes a path from that event to its steps (BPMN 2.0.2, 10.5.7). If it is interrupting, nothing
    else may be active at that point. If no event throws its error, a path leads to its steps from
    each step that may fail.
    """

    name = "event-sub-process-to-flow"
    consumes = ("sub-process.event", "event.start.error")
    produces = (
        "gateway.exclusive", "gateway.parallel", "event.throw.none", "event.end.none",
        "flow.sequence", "event.boundary.error",
    )  # fmt: skip

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        handler, scope = use.element, use.scope
        if not isinstance(handler, SubProcess):
            return None  # its start event goes with it
        assert scope is not None
        obstacles = inlining.handler_obstacles(handler, scope, rewriter.model, ctx)
        if next(obstacles, None) is not None:
            return None
        inlining.dissolve_handler(handler, scope, rewriter, ctx)
        return f"the elements that throw the event of {ctx.name(handler)} lead to its steps"


def why_no_path(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """The reason why an event sub-process cannot become a path; empty if it can, or if the general
    reason applies."""
    handler, scope = use.element, use.scope
    assert isinstance(handler, SubProcess)
    assert scope is not None
    return next(inlining.handler_obstacles(handler, scope, model, ctx), "")


class UncaughtEscalation(RewritePattern):
    """An escalation that nothing catches has no effect (BPMN 2.0.2, 10.5.7), so the event becomes a
    plain one."""

    name = "uncaught-escalation"
    consumes = ("event.throw.escalation", "event.end.escalation")
    produces = ("event.throw.none", "event.end.none")

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        event, scope = use.element, use.scope
        assert isinstance(event, Event)
        assert scope is not None

        nesting = inlining.nesting_of(scope, rewriter.model)
        if len(event.definitions) != 1 or nesting.caught(scope, event.definitions[0]).by:
            return None

        if event.id in escalations.heard_escalations(rewriter.model):
            return None  # whoever calls the process catches it
        rewriter.replace(scope.id, event.id, event.replace(definitions=()))
        return f"the escalation of {ctx.name(event)}, which nothing catches, has no effect"


def why_not_inline(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """The reason why a plain sub-process cannot be dissolved; empty if it can."""
    sub, scope = use.element, use.scope
    assert isinstance(sub, SubProcess)
    assert scope is not None

    return next(inlining.list_obstacles(sub, scope, model, ctx), "")


SUB_PROCESSES: tuple[RewritePattern, ...] = (
    TransactionToSubProcess(),
    HandlerToFlow(),
    InlineSubProcess(),
    UncaughtEscalation(),
)
