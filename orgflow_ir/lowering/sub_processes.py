"""Embedded sub-processes become part of what is around them, for targets without scopes.

A sub-process can be dissolved where nothing depends on its border: it begins in one way, is left
when all that is in it is done, and what ends it early (an error end event, an escalation that
interrupts, terminating) finds nothing else under way in it. Then its tokens do in the scope around
it what they did inside. All lossless.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgflow_ir.model import Event, Model, SubProcess, Task
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.lowering import RewritePattern

if TYPE_CHECKING:
    from orgflow_ir.model.rewriter import Rewriter


class InlineSubProcess(RewritePattern):
    """A plain sub-process is dissolved into the scope around it.

    Its start events and its plain end events go; those that have a name stay as events on the way,
    so that the name stays. What ends in it leads to where the sub-process leads, through an
    exclusive join where one token ends it, else through an inclusive one: a sub-process is done
    when no token is left in it (BPMN 2.0.2, 13.3.4). An error or escalation that is caught on its
    border becomes a flow to what the boundary event leads to (10.5.7). Inner ones come first.
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
            return f"{ctx.name(sub)}, in which nothing is drawn, became a task"
        from orgflow_ir.lowering.inlining import Inlining

        Inlining(sub, scope, rewriter, ctx).run()
        return f"the steps of {ctx.name(sub)} were moved into the parent process"


class TransactionToSubProcess(RewritePattern):
    """A transaction that is never cancelled, and in which nothing undoes anything, does what a
    plain sub-process does (BPMN 2.0.2, 10.3.5)."""

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
        return f"the transaction {ctx.name(sub)}, which nothing cancels, is a plain sub-process"


class HandlerToFlow(RewritePattern):
    """An event sub-process for an error or escalation that an event beside it throws becomes a path
    from there to its steps (BPMN 2.0.2, 10.5.7): where it interrupts, nothing else is active then.
    Where no event throws its error, a path leads there from each step that may.
    """

    name = "event-sub-process-to-flow"
    consumes = ("sub-process.event", "event.start.error")
    produces = (
        "gateway.exclusive", "gateway.parallel", "event.throw.none", "event.end.none",
        "flow.sequence", "event.boundary.error",
    )  # fmt: skip

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        from orgflow_ir.lowering.inlining import dissolve_handler, handler_obstacles

        handler, scope = use.element, use.scope
        if not isinstance(handler, SubProcess):
            return None  # its start event goes with it
        assert scope is not None
        obstacles = handler_obstacles(handler, scope, rewriter.model, ctx)
        if next(obstacles, None) is not None:
            return None
        dissolve_handler(handler, scope, rewriter)
        return f"what throws the event of {ctx.name(handler)} leads to its steps"


def why_no_path(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """What keeps an event sub-process from becoming a path; nothing where it can be one, or where
    the reason for all of them says it."""
    from orgflow_ir.lowering.inlining import handler_obstacles

    handler, scope = use.element, use.scope
    assert isinstance(handler, SubProcess)
    assert scope is not None
    return next(handler_obstacles(handler, scope, model, ctx), "")


class UncaughtEscalation(RewritePattern):
    """An escalation that nothing catches has no effect (BPMN 2.0.2, 10.5.7): the event is a plain
    one."""

    name = "uncaught-escalation"
    consumes = ("event.throw.escalation", "event.end.escalation")
    produces = ("event.throw.none", "event.end.none")

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        event, scope = use.element, use.scope
        assert isinstance(event, Event)
        assert scope is not None
        from orgflow_ir.lowering.inlining import nesting_of

        nesting = nesting_of(scope, rewriter.model)
        if len(event.definitions) != 1 or nesting.caught(scope, event.definitions[0]).by:
            return None
        from orgflow_ir.analysis.escalations import heard_escalations

        if event.id in heard_escalations(rewriter.model):
            return None  # whoever calls the process catches it
        rewriter.replace(scope.id, event.id, event.replace(definitions=()))
        return f"the escalation of {ctx.name(event)}, which nothing catches, has no effect"


def why_not_inline(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """What keeps a plain sub-process from being dissolved; nothing where it can be."""
    from orgflow_ir.lowering.inlining import obstacles  # only for models with sub-processes

    sub, scope = use.element, use.scope
    assert isinstance(sub, SubProcess)
    assert scope is not None

    return next(obstacles(sub, scope, model, ctx), "")


SUB_PROCESSES: tuple[RewritePattern, ...] = (
    TransactionToSubProcess(),
    HandlerToFlow(),
    InlineSubProcess(),
    UncaughtEscalation(),
)
