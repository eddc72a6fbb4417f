"""User tasks: a form, with the nodes around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgflow.backends.n8n.plan import notes
from orgflow.backends.n8n.plan.actions import (
    AskByMessage,
    AskByPage,
    ConcludeWork,
    CountRounds,
    KeepAnswers,
)
from orgflow.backends.n8n.plan.graph import HelperKey, NodeKey, Port
from orgflow.backends.n8n.plan.lazy_modules import load_function
from orgflow.backends.n8n.plan.prepared_work import add_conclusion
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.task_form import Page

from orgflow_ir.facts.notes import own_text
from orgflow_ir.model import Task
from orgflow_ir.work.form_fields import describes

if TYPE_CHECKING:
    from orgflow_ir.work.people import About


def plan_form(task: Task, plan: ScopePlan) -> bool:
    """A form, and behind it what makes variables of the answers; always true."""
    graph, form = plan.workflow_graph, plan.forms[task.id]
    counter = _count_rounds(task, plan) if form.again else ""
    about, computed = None, ""
    if describes(task, own_text(task.doc)):
        about, computed = load_function("form_page_text.plan_page_facts")(task, plan)
    page = Page(plan.scope.lanes, counter, about, computed)
    if form.by:
        asks = AskByMessage(task, form, page)
        node = graph.add(task.id, task.name, asks, element=task.id)
        needs = load_function("asking.describe_message_needs")(asks, plan.ctx)
        node.notes += notes.note_asked_person(task, needs, plan.ctx)
    else:
        node = graph.add(task.id, task.name, AskByPage(task, form, page), element=task.id)
    node.notes += notes.note_form(task, form.variables, about, plan.defaults, plan.ctx)
    first: NodeKey = task.id
    if form.again:
        first = HelperKey(task.id, "round")
        graph.connect(Port(first), Port(task.id))
    if computed:
        graph.connect(Port(HelperKey(task.id, "inputs")), Port(first))
    _plan_answers(task, about, plan)
    return True


def _plan_answers(task: Task, about: About | None, plan: ScopePlan) -> None:
    """The nodes behind a form: what its mappings make of the answers, and the variables."""
    graph, form = plan.workflow_graph, plan.forms[task.id]
    last: NodeKey = task.id
    if about is not None and about.work.after:
        last = add_conclusion(
            plan, task.id, ConcludeWork(about.work), notes.note_mapping(before=False)
        )
    if form.fields:
        key = HelperKey(task.id, "data")
        keep = KeepAnswers(task.id, (), form, None, counted=False)
        name = f"{graph.nodes[task.id].name} data"
        graph.add(key, name, keep, element=task.id, role="data")
        graph.connect(Port(last), Port(key))
        for flow in plan.graph.flows_out(task.id):
            plan.exits.pop(flow.id, None)


def _count_rounds(task: Task, plan: ScopePlan) -> str:
    """In front of a form that a run may come to again a node that counts, so that the page of an
    earlier round answers nothing; its name."""
    key = HelperKey(task.id, "round")
    name = f"{task.name or task.id} round"
    node = plan.workflow_graph.add(key, name, CountRounds(), element=task.id, role="round")
    node.notes.append(
        "Counts the iterations, so that the page of an earlier iteration has no effect."
    )
    plan.enter_by(task.id, key)
    return node.name
