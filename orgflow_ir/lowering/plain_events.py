"""Events without what triggers them, for notations that know steps, starts and ends: all lossy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgflow_ir.model import Event, Gateway, Task
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.lowering import RewritePattern

if TYPE_CHECKING:
    from orgflow_ir.model.rewriter import Rewriter


class EventToStep(RewritePattern):
    """An event on the way becomes a step with its name: the order of steps stays."""

    name = "event-to-step"
    consumes = (
        "event.catch.message", "event.catch.timer", "event.catch.signal", "event.catch.conditional",
        "event.throw.message", "event.throw.signal", "event.throw.escalation",
    )  # fmt: skip
    produces = ("task.abstract",)
    loses = "what the event waits for or sends"

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        event, scope = use.element, use.scope
        assert isinstance(event, Event)
        assert scope is not None
        task = Task(id=event.id, name=event.name or event.caption, doc=event.doc)
        rewriter.replace(scope.id, event.id, task)
        return f"{ctx.name(event)} became a step"


class PlainStartOrEnd(RewritePattern):
    """A start or an end with a trigger becomes one without. Errors and terminations stay: they end
    what else is active."""

    name = "plain-start-or-end"
    consumes = (
        "event.start.message", "event.start.timer", "event.start.signal", "event.start.conditional",
        "event.end.message", "event.end.signal", "event.end.escalation",
    )  # fmt: skip
    produces = ("event.start.none", "event.end.none")
    loses = "what starts the process, or what its end sends"

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        event, scope = use.element, use.scope
        assert isinstance(event, Event)
        assert scope is not None
        rewriter.replace(
            scope.id, event.id, Event(id=event.id, name=event.name, position=event.position)
        )
        return f"{ctx.name(event)} became a plain {event.position}"


class EventsToBranches(RewritePattern):
    """An event-based gateway becomes an exclusive one: one of the events happens."""

    name = "events-to-branches"
    consumes = ("gateway.event",)
    produces = ("gateway.exclusive",)
    loses = "that the event which comes first decides"

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        gateway, scope = use.element, use.scope
        assert isinstance(gateway, Gateway)
        assert scope is not None
        if gateway.instantiate:
            return None
        plain = Gateway(id=gateway.id, name=gateway.name, gateway_kind="exclusive")
        rewriter.replace(scope.id, gateway.id, plain)
        return f"{ctx.name(gateway)} became an exclusive gateway"
