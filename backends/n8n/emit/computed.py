"""Code nodes of tasks whose work the model defines, filled after all nodes have their names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from orgflow.backends.n8n.emit.decisions import unset_text
from orgflow.backends.n8n.emit.failures import hands_variables
from orgflow.backends.n8n.emit.filled import split_kind
from orgflow.backends.n8n.emit.graph import HelperKey
from orgflow.backends.n8n.emit.outside import request_key
from orgflow.backends.n8n.emit.references import quote_node
from orgflow.backends.n8n.emit.work import Answers, mapping_code, work_code
from orgflow.backends.n8n.node_types import code

from orgflow_ir.facts.notes import own_text
from orgflow_ir.flow.control_flow.calls import (
    hands_computed,
    hands_everything,
    takes_everything,
)
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
from orgflow_ir.work.requests import Part, Request
from orgflow_ir.work.scripts import decimals_in
from orgflow_ir.work.statements import assigned, read
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
    from orgflow.backends.n8n.emit.emitter import CompiledScope
    from orgflow.backends.n8n.emit.forms import TaskForm


def work_in(task: Task, ctx: PassContext) -> Work:
    """The computation of a task on n8n; empty if a part cannot be translated."""
    if task.binding is None:
        return Work()
    # Files are read for a model that refers to a decision, once.
    decides = isinstance(task.binding, Decision)
    library = library_for(task, ctx) if decides else None
    work = work_of(task, library, _decimals(task, ctx))
    try:
        work_code(work.statements, lambda name: "", answer=_answer(work))
        if isinstance(work.act, CatalogueOperation):
            split_kind(work.act)
    except Unsupported as error:
        if isinstance(work.act, CatalogueOperation):
            return Work(unread=(Unread("operation", "", f"{error} is not an n8n operation"),))
        return Work(unread=(Unread("decision", "", f"{error} is not supported on n8n"),))
    return work


def _decimals(task: Task, ctx: PassContext) -> frozenset[str]:
    """Variables that may hold a decimal of Groovy when a task reads them."""
    binding = task.binding
    languages = [one.language for one in binding.listeners] if binding is not None else []
    languages += [binding.language] if isinstance(binding, Script) else []
    if ctx.source is None or not any("groovy" in (one or "").lower() for one in languages):
        return frozenset()
    found: frozenset[str] = ctx.analysis(decimals_in, ctx.source)
    return found


def computed_in(scope: Scope, ctx: PassContext) -> Iterator[str]:
    """Process variables that the work of tasks in a scope reads, and pending Code nodes."""
    known = ctx.analysis(known_before, ctx.analysis(ControlFlow, scope))
    for node in scope.nodes:
        if isinstance(node, Task) and isinstance(node.binding, Form):
            yield from (shown.variable for shown in shown_fields(node))
            yield from sorted(known.get(node.id, ()))
        if isinstance(node, Task) and (isinstance(node.binding, Form) or is_done_by_a_person(node)):
            if describes(node, doc := own_text(node.doc)):
                from orgflow_ir.work.people import about_task

                yield from (n.path[0] for n in about_task(node, doc).work.reads())
        elif isinstance(node, Task) and node.binding is not None:
            yield from (needed.path[0] for needed in work_in(node, ctx).reads())
        if isinstance(node, Event) and node.position == "catch" and node.binding is not None:
            yield from (n.path[0] for n in work_by(node.binding, None).reads())
        if isinstance(node, CallActivity) and hands_computed(node):
            mappings = call_mappings(node)
            yield from (path[0] for _, value in mappings.inputs for path in variables(value))
        if isinstance(node, Event) and node.position == "catch" and node.trigger == "timer":
            from orgflow_ir.work.waiting import waiting_until  # of computed times only

            yield from (n.path[0] for n in waiting_until(node.definitions[0]).reads())
        if isinstance(node, Event) and node.construct == "event.catch.conditional":
            from orgflow_ir.work.waiting import holding

            work = holding(node.definitions[0], "")
            yield from (n.path[0] for n in work.reads()) if work is not None else ()


def _answer(work: Work) -> tuple[tuple[str, Part], ...] | None:
    """The names under which parts of what comes back are known."""
    if work.act is None or isinstance(work.act, CatalogueOperation):
        return None  # what it hands on has the names that its outputs read
    return work.act.answer if isinstance(work.act, Request) else ()


def _is_brought(element: str, compiled: CompiledScope) -> bool:
    """Whether a call brings what an element hands on."""
    return element in compiled.received or isinstance(compiled.graph.nodes[element], Event)


def _is_job(node: Node) -> bool:
    """Whether a job of Camunda 8 does the work of an element."""
    if not isinstance(node, Task | Event) or not isinstance(node.binding, Worker):
        return False
    return node.binding.by == "job"


def is_narrow(element: str, compiled: CompiledScope) -> bool:
    """Whether only mapped results of a call or of a Camunda 8 job are known after the element."""
    node = compiled.graph.nodes[element]
    if not isinstance(node, Task | Event):
        return False
    if not (_is_job(node) or _is_brought(element, compiled)):
        return False
    decided = any(d.setter == element for d in compiled.decisions.values() if d.values)
    return node.binding is not None and only_mapped(node.binding) and not decided


def _answers(form: TaskForm, work: Work) -> Answers:
    """What somebody has answered, for the mappings of the task."""
    from orgflow.backends.n8n.emit.variables import form_answers

    given = frozenset(assigned(work.before, local=True))
    blank = tuple(name for name in form.asks if name not in given)
    cleared = tuple(name for name in form.asks if name in given)
    return Answers(form_answers(form, "form", "v", inside=True), blank, cleared, form.unsent)


def write_work(compiled: CompiledScope) -> None:
    """Set the code of the Code nodes of a scope."""
    graph = compiled.workflow_graph
    for element in compiled.mapped:
        _write_mappings(element, compiled)
    for element, work in compiled.work.items():
        if element in compiled.mapped:
            continue

        def unset(name: str, element: str = element) -> str:
            return unset_text(name, element, graph.nodes[element].name, compiled)

        inputs, outputs = HelperKey(element, "inputs"), HelperKey(element, "outputs")
        if work.steps is not None and graph.nodes[element].type == "code":
            graph.nodes[element].parameters = code.code_parameters(
                work_code(work.statements, unset, caught=hands_variables(element, compiled))
            )
        if inputs in graph.nodes:
            key = request_key(work.act, element)
            caught = hands_variables(element, compiled)
            written = work_code(work.before, unset, keep_locals=True, key=key, caught=caught)
            graph.nodes[inputs].parameters = code.code_parameters(written)
        if outputs in graph.nodes:
            given = graph.nodes[inputs].name if inputs in graph.nodes else None
            before = compiled.carried.before.get(element) if compiled.carried is not None else None

            def missing(name: str, element: str = element) -> str:
                return unset_text(name, element, graph.nodes[element].name, compiled, itself=True)

            form = compiled.forms.get(element)
            local = frozenset(assigned(work.before, local=True))
            if given is not None and any(n.path[0] in local for n in read(work.after)):
                # Whoever does the task may hand on an item without what the task was given.
                before = f"$({quote_node(given)}).first().json"
            written = work_code(
                work.after,
                missing,
                before=before,
                answer=_answer(work),
                called=_is_brought(element, compiled),
                narrow=is_narrow(element, compiled),
                caught=hands_variables(element, compiled),
                given=None if given is None else f"$({quote_node(given)}).first().json",
                answers=None if form is None else _answers(form, work),
            )
            graph.nodes[outputs].parameters = code.code_parameters(written)


def _write_mappings(element: str, compiled: CompiledScope) -> None:
    """The Code nodes before and behind a call: what it hands over, and what it takes back."""
    graph, mappings = compiled.workflow_graph, compiled.mapped[element]
    call = compiled.graph.nodes[element]
    assert isinstance(call, CallActivity | Task)
    for role, values, every, itself in (
        ("inputs", mappings.inputs, hands_everything(call), False),
        ("outputs", mappings.outputs, takes_everything(call), True),
    ):
        key = HelperKey(element, role)  # type: ignore[arg-type]  # both are roles
        if key in graph.nodes:

            def unset(name: str, itself: bool = itself) -> str:
                node = graph.nodes[element].name
                return unset_text(name, element, node, compiled, itself=itself)

            code_of = mapping_code(values, unset, every=every)
            graph.nodes[key].parameters = code.code_parameters(code_of)
