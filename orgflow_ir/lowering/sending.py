"""Events whose message is sent by an implementation that the model names become tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgflow_ir.gaps.implementation import has_implementation
from orgflow_ir.lowering.common import as_task
from orgflow_ir.model import Event, Flow, Model
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.lowering import RewritePattern

if TYPE_CHECKING:
    from orgflow_ir.model.rewriter import Rewriter


def is_sent_by_itself(use: ConstructUse, model: Model, ctx: PassContext) -> bool:
    """Whether the model does not define how the message of an event is sent."""
    del model, ctx
    return not (isinstance(use.element, Event) and has_implementation(use.element))


class SendingEventToTask(RewritePattern):
    """An event that throws a message by a class, topic, job type or connector becomes a send task;
    for an end event, a plain end event follows it. In the token game, a thrown message and a task
    are one step each."""

    name = "sending-event-to-task"
    consumes = ("event.throw.message", "event.end.message")
    produces = ("task.send", "event.end.none", "listener")

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        event, scope = use.element, use.scope
        assert isinstance(event, Event)
        assert scope is not None
        if not has_implementation(event):
            return None
        task = as_task(
            event,
            "send",
            binding=event.binding,
            message=event.definitions[0].ref,
        )
        rewriter.replace(scope.id, event.id, task)
        if event.position == "end":
            end = Event(id=rewriter.fresh_id(event.id, "end"), position="end")
            rewriter.insert(scope.id, end)
            flow = rewriter.fresh_id(event.id, "ends")
            rewriter.insert(scope.id, Flow(id=flow, source=event.id, target=end.id))
        return f"{ctx.name(event)} became the task that sends its message"


SENDING: tuple[RewritePattern, ...] = (SendingEventToTask(),)
