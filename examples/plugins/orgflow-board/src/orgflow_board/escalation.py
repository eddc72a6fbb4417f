"""A lowering for Step Functions: an escalation becomes a task in which somebody is told."""

from __future__ import annotations

from orgflow_ir.model import Task
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.model.rewriter import Rewriter
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets import RewritePattern


class EscalationToTask(RewritePattern):
    """Where nothing in the model catches the escalation, it says only that somebody has to know
    (BPMN 2.0.2, 10.5.1: an escalation that is not caught is lost, and the run goes on)."""

    name = "escalation-to-task"
    consumes = ("event.throw.escalation",)
    produces = ("task.send",)
    loses = "who reacts to the escalation: somebody has to be told by the task"

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str:
        """The task has the event's id: flows, lanes and messages stay with it."""
        event, scope = use.element, use.scope
        assert scope is not None
        task = Task(id=event.id, name=f"Tell about {event.label}", task_type="send")
        rewriter.replace(scope.id, event.id, task)
        return f"the escalation `{event.label}` became a task"
