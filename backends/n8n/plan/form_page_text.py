"""Statements of the page of a task beside its fields: assignees, a due date, inputs."""

from __future__ import annotations

from orgflow.backends.n8n.plan import notes
from orgflow.backends.n8n.plan.actions import PrepareWork
from orgflow.backends.n8n.plan.asking import add_reach_check
from orgflow.backends.n8n.plan.prepared_work import add_preparation
from orgflow.backends.n8n.plan.scope_plan import ScopePlan

from orgflow_ir.facts.notes import own_text
from orgflow_ir.model import Task
from orgflow_ir.work.people import TEXT, About, about_task


def plan_page_facts(task: Task, plan: ScopePlan) -> tuple[About, str]:
    """The statements of the page of a task, and the name of the node before it that computes what
    depends on the run; empty without one."""
    about = about_task(task, own_text(task.doc))
    if plan.forms[task.id].by == "mail":
        about = add_reach_check(about, task, plan.ctx)
    if about.work.before or about.work.after:
        plan.work[task.id] = about.work
    return about, _prepare_page(task, about, plan) if about.work.before else ""


def _prepare_page(task: Task, about: About, plan: ScopePlan) -> str:
    """In front of a form a node that computes what its page shows; its name."""
    lines = notes.note_computed_facts(mapped=bool(about.inputs) or TEXT in about.computed)
    key = add_preparation(
        plan, task.id, f"{task.name or task.id} inputs", PrepareWork(about.work), lines
    )
    return plan.workflow_graph.nodes[key].name
