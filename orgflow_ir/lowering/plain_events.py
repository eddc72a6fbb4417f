"""Events without their triggers, for notations that have only steps, starts and ends; all lossy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgflow_ir.model import Event, Gateway, Task
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.lowering import RewritePattern

if TYPE_CHECKING:
    from orgflow_ir.model.rewriter import Rewriter


class EventToStep(RewritePattern):
    """An intermediate event becomes a step with its name, which keeps the order of steps."""

    name = "event-to-step"
    consumes = (
        "event.catch.message", "event.catch.timer", "event.catch.signal", "event.catch.conditional",
        "event.throw.message", "event.throw.signal", "event.throw.escalation",
    )  # fmt: skip
    produces = ("task.abstract",)
    loses = "the trigger or result of the event"

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        event, scope = use.element, use.scope
        assert isinstance(event, Event)
        assert scope is not None
        task = Task(id=event.id, name=event.name or event.caption, doc=event.doc)
        rewriter.replace(scope.id, event.id, task)
        return f"{ctx.name(event)} became a step"


class PlainStartOrEnd(RewritePattern):
    """A start or end event with a trigger becomes one without. Error and terminate events stay,
    because they end everything else that is active."""

    name = "plain-start-or-end"
    consumes = (
        "event.start.message", "event.start.timer", "event.start.signal", "event.start.conditional",
        "event.end.message", "event.end.signal", "event.end.escalation",
    )  # fmt: skip
    produces = ("event.start.none", "event.end.none")
    loses = "the trigger of the process, or the result of its end"

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        event, scope = use.element, use.scope
        assert isinstance(event, Event)
        assert scope is not None
        rewriter.replace(
            scope.id, event.id, Event(id=event.id, name=event.name, position=event.position)
        )
        return f"{ctx.name(event)} became a plain {event.position}"


class EventsToBranches(RewritePattern):
    """An event-based gateway becomes an exclusive one, since one of the events happens."""

    name = "events-to-branches"
    consumes = ("gateway.event",)
    produces = ("gateway.exclusive",)
    loses = "the choice by the event that occurs first"

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        gateway, scope = use.element, use.scope
        assert isinstance(gateway, Gateway)
        assert scope is not None
        if gateway.instantiate:
            return None
        plain = Gateway(id=gateway.id, name=gateway.name, gateway_kind="exclusive")
        rewriter.replace(scope.id, gateway.id, plain)
        return f"{ctx.name(gateway)} became an exclusive gateway"
