"""Starts at a single time: a workflow that starts when it is published, and waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgflow_ir.model import Event, EventDefinition, Expression, Flow, Process
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.lowering import RewritePattern

if TYPE_CHECKING:
    from orgflow_ir.model.rewriter import Rewriter

AT_ONCE = EventDefinition(kind="timer", timer="duration", expression=Expression(text="PT0S"))
"""The timer of an immediate start."""


def starts_once(event: Event) -> bool:
    """Whether an event starts a process once, at a date or a time after its deployment, for which
    n8n can wait."""
    if event.position != "start" or event.trigger != "timer":
        return False
    from orgflow.backends.n8n.node_types import wait

    from orgflow_ir.model.timer_values import Duration, Moment

    (definition,) = event.definitions
    time = definition.time
    return isinstance(time, Duration | Moment) and wait.for_timer(definition) is not None


class StartOnceToWait(RewritePattern):
    """A process that starts at a date, or some time after its deployment, starts when its workflow
    is published, and first waits for that time."""

    name = "start-once-to-wait"
    consumes = ("timer.unsupported",)
    produces = ("event.start.timer", "event.catch.timer", "flow.sequence")

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        event, scope = use.element, use.scope
        if not isinstance(event, Event) or not isinstance(scope, Process):
            return None
        if not starts_once(event):
            return None
        waits = Event(
            id=rewriter.fresh_id(event.id, "wait"), position="catch", definitions=event.definitions
        )
        rewriter.insert(scope.id, waits)
        for flow in scope.flows:
            if flow.source == event.id:
                rewriter.redirect(scope.id, flow.id, source=waits.id)
        into = rewriter.fresh_id(event.id, "to-wait")
        rewriter.insert(scope.id, Flow(id=into, source=event.id, target=waits.id))
        rewriter.replace(scope.id, event.id, event.replace(definitions=(AT_ONCE,)))
        return (
            f"{ctx.name(event)} starts when the workflow is published, and then waits for its time"
        )


TIMED_STARTS: tuple[RewritePattern, ...] = (StartOnceToWait(),)
