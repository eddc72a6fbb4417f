"""Calls of workflows for work that tasks only name."""

from __future__ import annotations

from orgflow.backends.n8n.plan.actions import Call
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.work_names import STUBS, WORKFLOW, named_work

from orgflow_ir.model import Task
from orgflow_ir.targets import executable_processes


def call_named_work(task: Task, plan: ScopePlan) -> Call | None:
    """The call of a workflow for the work that a task names, where the option asks for it; `None`
    where it names none."""
    work = named_work(task) if plan.ctx.options.get(STUBS) == WORKFLOW else None
    if work is None:
        return None
    plan.named_work[task.id] = work
    model = plan.scope.model
    called = work.scope(model, executable_processes(model)[0])
    return Call(called.workflow_id, work)
