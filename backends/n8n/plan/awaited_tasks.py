"""Receive tasks that wait for a call, and have no implementation in the model."""

from __future__ import annotations

from orgflow.backends.n8n.plan import notes
from orgflow.backends.n8n.plan.actions import WaitForCall
from orgflow.backends.n8n.plan.address_names import take_address
from orgflow.backends.n8n.plan.scope_plan import ScopePlan

from orgflow_ir.model import Task


def plan_awaited_task(task: Task, plan: ScopePlan) -> bool:
    """Add the node of a task; always true."""
    address = take_address(plan, task.name)
    node = plan.workflow_graph.add(task.id, task.name, WaitForCall(address), element=task.id)
    decisions = plan.decided_by.get(task.id, [])
    node.notes += notes.note_receive_task(task, address, decisions, plan.defaults, plan.ctx)
    return True
