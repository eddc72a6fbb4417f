"""The computations of tasks: the work that n8n can do, and the variables that it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from orgflow.backends.n8n.plan.operations import split_kind
from orgflow.backends.n8n.plan.scope_plan import ScopePlan

from orgflow_ir.facts.notes import own_text
from orgflow_ir.flow.control_flow.calls import hands_computed
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.model import CallActivity, Event, Node, Scope, Task
from orgflow_ir.model.bindings import Decision, Form, Script, Worker
from orgflow_ir.pipeline import PassContext
from orgflow_ir.program.feel.values import Unsupported
from orgflow_ir.program.syntax import variables
from orgflow_ir.work.form_fields import (
    describes,
    is_done_by_a_person,
    known_before,
    shown_fields,
)
from orgflow_ir.work.operations import CatalogueOperation
from orgflow_ir.work.scripts import decimals_in
from orgflow_ir.work.statements import Decide as DecideStatement
from orgflow_ir.work.statements import Each, Statement, When
from orgflow_ir.work.tasks import (
    Unread,
    Work,
    call_mappings,
    library_for,
    only_mapped,
    work_by,
    work_of,
)

if TYPE_CHECKING:
    from orgflow_ir.decisions.found import FoundDecision


def work_in(task: Task, ctx: PassContext) -> Work:
    """The computation of a task on n8n; empty if a part cannot be translated."""
    if task.binding is None:
        return Work()
    # Files are read for a model that refers to a decision, once.
    decides = isinstance(task.binding, Decision)
    library = library_for(task, ctx) if decides else None
    work = work_of(task, library, _find_decimals(task, ctx))
    try:
        _check_decisions(work.statements)
        if isinstance(work.act, CatalogueOperation):
            split_kind(work.act)
    except Unsupported as error:
        if isinstance(work.act, CatalogueOperation):
            return Work(unread=(Unread("operation", "", f"{error} is not an n8n operation"),))
        return Work(unread=(Unread("decision", "", f"{error} is not supported on n8n"),))
    return work


def _check_decisions(statements: Iterable[Statement]) -> None:
    """Raises `Unsupported` for a decision that has no form in JavaScript."""
    for statement in statements:
        match statement:
            case When():
                _check_decisions((*statement.then, *statement.otherwise))
            case Each():
                _check_decisions(statement.body)
            case DecideStatement(decision):
                print_decision(decision, "decision")
            case _:
                pass  # prints without a decision


def print_decision(decision: FoundDecision, name: str) -> str:
    """JavaScript for a function that decides. Raises `Unsupported`."""
    from orgflow.backends.javascript.decision_runtime_code import decision_code
    from orgflow.backends.javascript.table_code import plain_decision  # few models decide

    plain = plain_decision(decision.model, decision.name, name)
    if plain is not None:
        return plain
    inner = decision_code(decision.model, decision.name)
    return f"const {name} = (() => {{\n{inner}\nreturn decision;\n}})();"


def _find_decimals(task: Task, ctx: PassContext) -> frozenset[str]:
    """Variables that may hold a decimal of Groovy when a task reads them."""
    binding = task.binding
    languages = [listener.language for listener in binding.listeners] if binding is not None else []
    languages += [binding.language] if isinstance(binding, Script) else []
    if ctx.source is None or not any(
        "groovy" in (language or "").lower() for language in languages
    ):
        return frozenset()
    names: frozenset[str] = ctx.analysis(decimals_in, ctx.source)
    return names


def computed_in(scope: Scope, ctx: PassContext) -> Iterator[str]:
    """Process variables that the work of tasks in a scope reads, and pending Code nodes."""
    known = ctx.analysis(known_before, ctx.analysis(ControlFlow, scope))
    for node in scope.nodes:
        match node:
            case Task():
                if isinstance(node.binding, Form):
                    yield from (shown.variable for shown in shown_fields(node))
                    yield from sorted(known.get(node.id, ()))
                yield from _read_paths(_find_task_work(node, ctx))
            case Event():
                for work in _list_event_work(node):
                    yield from _read_paths(work)
            case CallActivity() if hands_computed(node):
                mappings = call_mappings(node)
                yield from (path[0] for _, value in mappings.inputs for path in variables(value))


def _read_paths(work: Work | None) -> Iterator[str]:
    return (needed.path[0] for needed in work.reads()) if work is not None else iter(())


def _find_task_work(task: Task, ctx: PassContext) -> Work | None:
    """The computations of a task: those of its page if a person does it, otherwise its work."""
    if isinstance(task.binding, Form) or is_done_by_a_person(task):
        if not describes(task, doc := own_text(task.doc)):
            return None
        from orgflow_ir.work.people import about_task

        return about_task(task, doc).work
    return work_in(task, ctx) if task.binding is not None else None


def _list_event_work(event: Event) -> Iterator[Work | None]:
    """The computations of an event: of its mappings, its time, and its condition."""
    from orgflow_ir.work.waiting import holding, waiting_until  # few events compute

    caught = event.position == "catch"
    if caught and event.binding is not None:
        yield work_by(event.binding, None)
    if caught and event.trigger == "timer":
        yield waiting_until(event.definitions[0])
    if event.construct == "event.catch.conditional":
        yield holding(event.definitions[0], "")


def is_brought(element: str, plan: ScopePlan) -> bool:
    """Whether a call brings the data that an element passes on."""
    return element in plan.received or isinstance(plan.graph.nodes[element], Event)


def _is_job(node: Node) -> bool:
    """Whether a job of Camunda 8 does the work of an element."""
    if not isinstance(node, Task | Event) or not isinstance(node.binding, Worker):
        return False
    return node.binding.by == "job"


def is_narrow(element: str, plan: ScopePlan) -> bool:
    """Whether only mapped results of a call, of a Camunda 8 job or of a person's task without a
    form are known after the element."""
    node = plan.graph.nodes[element]
    if not isinstance(node, Task | Event):
        return False
    placeholder = isinstance(node.binding, Form) and element not in plan.forms
    if not (placeholder or _is_job(node) or is_brought(element, plan)):
        return False
    decided = any(d.setter == element for d in plan.decisions.values() if d.values)
    return node.binding is not None and only_mapped(node.binding) and not decided
