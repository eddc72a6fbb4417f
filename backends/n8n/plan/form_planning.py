"""Which fields the forms of a workflow have: those of tasks, and of the page by which it starts."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow.backends.n8n.format.versions import N8nVersion
from orgflow.backends.n8n.plan.lazy_modules import load_function
from orgflow.backends.n8n.plan.names import field_name, is_refused, plain
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.task_form import NO, YES, FormField, TaskForm

from orgflow_ir.model import Event, Node, Task
from orgflow_ir.model.bindings import Form
from orgflow_ir.model.element_names import slug
from orgflow_ir.pipeline import PassContext
from orgflow_ir.work.asked_fields import AskedField, Option
from orgflow_ir.work.form_fields import (
    asked_at_start,
    asked_fields,
    known_before,
    read_at_start,
    shown_fields,
)

OTHER = "Something else"
_MAX_LABEL = 200
_OWN = frozenset(
    {"submittedAt", "formMode", "headers", "user", "formQueryParameters", "orgflowPage"}
)


def plan_forms(
    plan: ScopePlan, people: Iterable[str], by: str, version: N8nVersion, ctx: PassContext
) -> dict[str, TaskForm]:
    """The forms of these tasks of a scope, by task; `by` is the channel through which people are
    asked."""
    alone = list(people)
    if not alone:
        return {}
    asked = asked_fields(plan.read_fields, alone)
    variables = {field.variable for fields in asked.values() for field in fields}
    variables |= {path[0] for decision in plan.decisions.values() for path in decision.coded}
    known = ctx.analysis(known_before, plan.graph)
    forms = {
        task: _show_known_values(
            _apply_mappings(make_form(fields, variables), plan.graph.nodes[task]),
            plan.graph.nodes[task],
            known.get(task, frozenset()),
        )._replace(by=by, dated=version.major > 1)
        for task, fields in asked.items()
    }
    again = {task for task in forms if task in plan.graph.cyclic}
    marked = bool(by) and version.major < 2
    if len(forms) < 2 and not again and not marked:
        return forms
    pages: set[str] = set()
    return {  # forms that people are asked for by messages have addresses of their own
        task: form._replace(page=_name_page(plan.graph.nodes[task], pages), again=task in again)
        if not by or task in again or (marked and form.fields)
        else form
        for task, form in forms.items()
    }


def plan_start_form(plan: ScopePlan, start: str, ctx: PassContext) -> TaskForm | None:
    """The page by which a person starts a scope at one of its start events, with fields for what
    gateways read, and for what work reads if the model defines none; `None` if gateways read a
    variable without a field."""
    graph, decisions = plan.graph, plan.decisions
    read = {path[0] for decision in decisions.values() for path in decision.coded}
    if start not in graph.nodes:  # no start event: all that nothing leads to starts
        known = {name for form in plan.forms.values() for name in form.variables}
        return TaskForm(()) if read <= known else None
    tasks = [t for t, node in graph.nodes.items() if t in plan.forms and node.kind == "task"]
    fields = plan.read_fields
    asked = asked_at_start(fields, tasks, start)
    names = {field.variable for field in asked}
    if not read_at_start(fields, tasks, start) <= names:
        return None
    more = _list_read_by_work(plan, start, ctx)
    asked = (*(field for field in more if field.variable not in names), *asked)
    return make_form(asked, read | {field.variable for field in asked})


def _list_read_by_work(plan: ScopePlan, start: str, ctx: PassContext) -> tuple[AskedField, ...]:
    """Fields of a start for what work reads, if the model defines none; otherwise one for who
    starts a process, which engines set and a person has to state on a page."""
    event, nodes = plan.graph.nodes[start], plan.graph.nodes.values()
    defined = isinstance(event, Event) and isinstance(event.binding, Form) and event.binding.fields
    works = any(
        not (node.binding is None or isinstance(node.binding, Form))
        for node in nodes
        if isinstance(node, Task)
    )
    starter = {text for key, text in event.extra if key.endswith("}initiator")} if defined else ()
    if not works or (defined and not starter):
        return ()
    read_by_work = load_function("start_data.read_by_work")
    fields: Iterable[AskedField] = read_by_work(plan, start, ctx)
    return tuple(f for f in fields if not defined or f.variable in starter)


def _show_known_values(form: TaskForm, task: Node, known: frozenset[str]) -> TaskForm:
    """The form with the values that its page shows: those of the fields that only show one, and
    those of `known` variables that a person may enter again, which a blank answer keeps. An input
    mapping gives fields another value."""
    if isinstance(task, Task) and task.binding is not None:
        known -= {parameter.name for parameter in task.binding.inputs}
    again = [
        field
        for field in form.fields
        if field.asked.source == "model" and field.asked.variable in known
    ]
    written = (
        field.asked._replace(label=f"{field.asked.label} so far")
        for field in again
        if not field.is_filled and field.asked.type != "choices"
    )
    only = shown_fields(task) if isinstance(task, Task) else ()
    return form._replace(
        shown=make_form((*only, *written)).fields,
        begins=frozenset(field.asked.variable for field in again if field.is_filled),
    )


def _apply_mappings(form: TaskForm, task: Node) -> TaskForm:
    """The form, with what the mappings of its task keep inside of it and what they set."""
    binding = task.binding if isinstance(task, Task) else None
    if not isinstance(binding, Form) or not (
        binding.inputs or binding.outputs or binding.listeners
    ):
        return form
    mapped: TaskForm = load_function("form_mappings.add_mappings")(form, binding)
    return mapped


def _name_page(task: Node, taken: set[str]) -> str:
    """A word for the page of a task that no other has."""
    return _make_unique_text(slug(task.name, words=5).replace("_", "-") or "page", taken)


def make_form(fields: Iterable[AskedField], variables: Iterable[str] = ()) -> TaskForm:
    """The fields in n8n's form, with unique labels and choices. No label is the name of one of
    `variables`, so an unconverted answer is never read as one."""
    names = frozenset(variables)
    taken = {*_OWN, *names}
    result = []
    for asked in fields:
        label = plain(asked.label) or plain(asked.variable) or "Answer"
        label = label[:1].upper() + label[1:]
        if label in names and label[-1].isalnum():
            label += ":"
        label = _make_unique_text(label, taken)
        if is_refused(asked.variable) and not asked.part:
            asked = asked._replace(variable=field_name(asked.variable, "field"))
        result.append(FormField(asked, label, _list_options(asked)))
    return TaskForm(tuple(result))


def _list_options(asked: AskedField) -> tuple[Option, ...]:
    if asked.type == "boolean":
        return (Option(YES, YES), Option(NO, NO))
    taken: set[str] = set()
    options = [
        Option(o.value, _make_unique_text(plain(o.label) or plain(o.value) or "(blank)", taken))
        for o in asked.options
    ]
    if asked.open and asked.source != "decision":  # the options of labels are all the flows
        options.append(Option(OTHER, _make_unique_text(OTHER, taken)))
    return tuple(options)


def _make_unique_text(text: str, taken: set[str]) -> str:
    """The text, with a number behind it where it is taken, and added to what is."""
    base = text if len(text) <= _MAX_LABEL else text[: _MAX_LABEL - 1].rstrip() + "…"
    if base == "__proto__":
        base = f"Field {base}"  # as a key of an object it is none
    name, number = base, 2
    while name in taken:
        name, number = f"{base} ({number})", number + 1
    taken.add(name)
    return name
