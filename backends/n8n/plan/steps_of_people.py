"""Steps without a type that wait, since an event at them is waited for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from orgflow.backends.n8n.plan.target_options import EXECUTION, WAITS, version_of

from orgflow_ir.model import Event, Model, Task
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.lowering import RewritePattern

if TYPE_CHECKING:
    from orgflow_ir.model.rewriter import Rewriter

AWAITED_STEP = "task.awaited"
"""A task without a type and without an implementation, at which a timer or a message is waited for.
Its placeholder would pass on at once, so that nothing could occur at it."""


def awaited_steps(model: Model, ctx: PassContext) -> Iterator[ConstructUse]:
    """`task.awaited`, if the target waits for events at steps."""
    if ctx.options.get(WAITS) == EXECUTION or version_of(ctx).major < 2:
        return
    for scope in model.scopes():
        hosts = {
            node.attached_to
            for node in scope.nodes
            if isinstance(node, Event)
            and node.position == "boundary"
            and node.trigger in ("timer", "message")
        }
        for node in scope.nodes if hosts else ():
            if isinstance(node, Task) and node.id in hosts and _is_open(node):
                yield ConstructUse(AWAITED_STEP, node, scope)


def _is_open(task: Task) -> bool:
    """Whether nothing states who or what does a task."""
    return task.task_type == "abstract" and task.binding is None


class StepToUserTask(RewritePattern):
    """A task without a type becomes a user task if a timer or a message at it is waited for:
    whoever draws a reminder or a deadline at a step means that the step takes time."""

    name = "step-to-user-task"
    consumes = (AWAITED_STEP,)
    produces = ("task.user", "wait.parallel", "wait.race", "wait.interrupted")

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        task, scope = use.element, use.scope
        assert isinstance(task, Task)
        assert scope is not None
        rewriter.replace(scope.id, task.id, task.replace(task_type="user"))
        return f"{ctx.name(task)} is completed by a person, since an event at it is waited for"


STEPS_OF_PEOPLE: tuple[RewritePattern, ...] = (StepToUserTask(),)
