"""The nodes of tasks: the first kind of node in `_KINDS` that fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from orgflow.backends.n8n.plan import notes
from orgflow.backends.n8n.plan.actions import Placeholder
from orgflow.backends.n8n.plan.lazy_modules import load_function
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.target_options import MESSAGES, PLACEHOLDER

from orgflow_ir.model import Task
from orgflow_ir.model.bindings import SubProcessCall


def _waits_as_row(task: Task, plan: ScopePlan) -> bool:
    return plan.segments is not None and (task.id in plan.forms or task.id in plan.received)


def _is_cut(task: Task, plan: ScopePlan) -> bool:
    return plan.segments is not None


def _begins_process(task: Task, plan: ScopePlan) -> bool:
    return task.task_type == "send" and task.id in plan.deliveries


def _asks_person(task: Task, plan: ScopePlan) -> bool:
    return task.id in plan.forms


def _may_send(task: Task, plan: ScopePlan) -> bool:
    sends = plan.ctx.options.get(MESSAGES, PLACEHOLDER) != PLACEHOLDER
    return sends and task.task_type == "send"


def _replaces_call(task: Task, plan: ScopePlan) -> bool:
    return isinstance(task.binding, SubProcessCall)


def _is_implemented(task: Task, plan: ScopePlan) -> bool:
    return task.binding is not None


def _is_received(task: Task, plan: ScopePlan) -> bool:
    return task.id in plan.received


_KINDS: Final[tuple[tuple[Callable[[Task, ScopePlan], bool], str], ...]] = (
    (_waits_as_row, "segment_elements.plan_waiting_task"),
    (_is_cut, "segment_elements.plan_sent_message"),
    (_asks_person, "people.plan_form"),
    (_begins_process, "calls.plan_delivery"),
    (_may_send, "messages.plan_message"),
    (_replaces_call, "calls.plan_stub_call"),
    (_is_implemented, "implemented_tasks.plan_implemented_task"),
    (_is_received, "awaited_tasks.plan_awaited_task"),
)
"""Whether a task may get a kind of node, and the function that adds the node unless it finds that
it cannot, which its result states. Few models have tasks of some kinds, so that modules are
imported with the first."""


def plan_task(task: Task, plan: ScopePlan) -> None:
    """Add the node of a task, with those that compute for it."""
    for fits, function in _KINDS:
        if fits(task, plan) and load_function(function)(task, plan):
            return
    decisions = plan.decided_by.get(task.id, [])
    node = plan.workflow_graph.add(
        task.id, task.name, Placeholder(tuple(decisions)), element=task.id
    )
    node.notes += notes.note_placeholder_task(task, decisions, plan.defaults, plan.ctx)
