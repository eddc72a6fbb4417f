"""Tasks with an implementation in the model, and tasks that wait for a call."""

from __future__ import annotations

from orgflow.backends.n8n.plan import notes
from orgflow.backends.n8n.plan.actions import (
    Action,
    ConcludeWork,
    Placeholder,
    PrepareWork,
    Program,
    Send,
    WaitForCall,
)
from orgflow.backends.n8n.plan.address_names import take_address
from orgflow.backends.n8n.plan.effects import has_effect
from orgflow.backends.n8n.plan.graph import HelperKey, Port
from orgflow.backends.n8n.plan.named_calls import call_named_work
from orgflow.backends.n8n.plan.outside import describe_needs
from orgflow.backends.n8n.plan.prepared_work import add_conclusion, add_preparation
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.target_options import SENDER
from orgflow.backends.n8n.plan.task_work import work_in

from orgflow_ir.model import Task
from orgflow_ir.work.gateway_decisions import Decision
from orgflow_ir.work.tasks import Unread, Work


def plan_implemented_task(task: Task, plan: ScopePlan) -> bool:
    """Add the node of a task and those that compute for it; always true."""
    graph = plan.workflow_graph
    decisions = plan.decided_by.get(task.id, [])
    work = _read_work(task, decisions, plan) if task.binding is not None else None
    if work is not None and work.steps is not None and not decisions:
        node = graph.add(task.id, task.name, Program(work), element=task.id)
        node.notes += notes.note_computed_task(task, work)
        return True
    if work is not None and work.before:
        name = f"{task.name or task.id} inputs"
        add_preparation(plan, task.id, name, PrepareWork(work), notes.note_mapping(before=True))
    action = _choose_action(task, work, decisions, plan)
    node = graph.add(task.id, task.name, action, element=task.id)
    node.notes += _describe_action(action, task, work, decisions, plan)
    if work is not None and work.before:
        graph.connect(Port(HelperKey(task.id, "inputs")), Port(task.id))
    if work is not None and work.after:
        add_conclusion(plan, task.id, ConcludeWork(work), notes.note_mapping(before=False))
    return True


def _choose_action(
    task: Task, work: Work | None, decisions: list[Decision], plan: ScopePlan
) -> Action:
    if work is not None and work.act is not None and task.binding is not None:
        plan.has_effects |= has_effect(work.act)
        sender = str(plan.ctx.options.get(SENDER, ""))
        return Send(work.act, task.binding, sender, concluded=bool(work.after))
    if task.id in plan.received:
        return WaitForCall(take_address(plan, task.name))
    return call_named_work(task, plan) or Placeholder(tuple(decisions))


def _describe_action(
    action: Action, task: Task, work: Work | None, decisions: list[Decision], plan: ScopePlan
) -> list[str]:
    """The note of a task; reports what its node needs, and what it does not do."""
    ctx, defaults = plan.ctx, plan.defaults
    if isinstance(action, Send):
        return notes.note_outside_task(task, describe_needs(action), ctx)
    if isinstance(action, WaitForCall):
        return notes.note_receive_task(task, action.address, decisions, defaults, ctx, work)
    named = plan.named_work.get(task.id)
    if named is not None:
        return notes.named_work(task, decisions, f"{named.kind} {named.name}", ctx, work)
    return notes.note_placeholder_task(task, decisions, defaults, ctx, work)


def _read_work(task: Task, decisions: list[Decision], plan: ScopePlan) -> Work | None:
    """What a task computes; `None` where that is nothing."""
    work = work_in(task, plan.ctx)
    if work.act is not None and decisions:
        names = ", ".join(f"`{decision.variable}`" for decision in decisions)
        work = Work(unread=(Unread("request", "", f"none of its answers sets {names}"),))
    if not work.statements and work.steps is None and not work.unread and work.act is None:
        return None
    plan.work[task.id] = work
    return work
