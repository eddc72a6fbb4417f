"""The form fields of a task or of the start of a process: those that the model defines, otherwise
those that later conditions read and the answers that the next decision needs."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from orgflow_ir.flow.control_flow.graph import ControlFlow, list_reachable
from orgflow_ir.model import CallActivity, Event, Node, SubProcess, Task
from orgflow_ir.model.bindings import PART, Field, Form
from orgflow_ir.model.element_names import one_line
from orgflow_ir.program.syntax import Variable, variables
from orgflow_ir.work.asked_fields import EXPRESSION, AskedField, AskedType, Option
from orgflow_ir.work.gateway_decisions import Decision, preceding_words
from orgflow_ir.work.process_variables import declared_by

if TYPE_CHECKING:
    from orgflow_ir.work.process_variables import Variables

_TYPES: Mapping[str, AskedType] = {
    "string": "text", "text": "text", "textfield": "text", "email": "text",
    "textarea": "lines", "multiline": "lines", "multi-line-text": "lines", "json": "lines",
    "number": "number", "double": "number", "float": "number", "decimal": "number",
    "currency": "number", "amount": "number", "bigdecimal": "number",
    "long": "whole", "integer": "whole", "int": "whole", "short": "whole",
    "boolean": "boolean", "bool": "boolean", "checkbox": "boolean",
    "date": "date", "datetime": "date",
    "enum": "choice", "select": "choice", "radio": "choice", "dropdown": "choice",
    "radio-buttons": "choice", "checklist": "choices", "taglist": "choices",
}  # fmt: skip
"""Vendors' names for field types, in lower case; any other type is a text."""

_READ_ONLY = ("readonly", "writable")


def is_done_by_a_person(node: Node) -> bool:
    """Whether a person performs a step: a user or manual task."""
    return isinstance(node, Task) and node.task_type in ("user", "manual")


def describes(task: Task, doc: str) -> bool:
    """Whether the model contains more than fixed text for the page of a task with this
    documentation: performers, a due date, mappings, listeners or expressions."""
    form = task.binding
    if form is not None and not isinstance(form, Form):
        return False
    if EXPRESSION.search(doc) is not None:
        return True
    return form is not None and bool(
        form.assignee
        or form.candidate_users
        or form.candidate_groups
        or form.priority
        or form.due
        or form.inputs
        or form.outputs
        or form.listeners
    )


def shown_fields(task: Task) -> tuple[AskedField, ...]:
    """The fields of the form of a task that only show a value."""
    form = task.binding
    fields = form.fields if isinstance(form, Form) else ()
    return tuple(_of_model(field) for field in fields if field.is_read_only)


def known_before(graph: ControlFlow) -> dict[str, frozenset[str]]:
    """The variables with a field in the form of a task that an element before it sets, by the task.
    Engines show their values in the form (in Camunda 7 `FormFieldHandler`, in Camunda 8 the data
    that the form is bound to)."""
    forms = {
        node.id: frozenset(field.path[0] for field in node.binding.fields)
        for node in graph.scope.nodes
        if isinstance(node, Task) and isinstance(node.binding, Form) and node.binding.fields
    }
    if not forms:
        return {}
    known: dict[str, set[str]] = {}
    for setter in graph.scope.nodes:
        names = frozenset(declared_by(setter))
        tasks = [task for task, fields in forms.items() if fields & names]
        after = (
            list_reachable(graph.successors[setter.id], graph.successors) if tasks else frozenset()
        )
        for task in tasks:
            if task in after:
                known.setdefault(task, set()).update(forms[task] & names)
    return {task: frozenset(names) for task, names in known.items()}


class ReadFields:
    """The variables that the gateways of a scope read, as fields of forms: each part is computed
    once, when it is used."""

    def __init__(self, variables: Variables) -> None:
        self._variables = variables
        self.graph = variables.graph
        self.decisions = variables.decisions

    @cached_property
    def setters(self) -> Mapping[str, frozenset[str]]:
        """Variables of which the model says who sets them, each with these elements."""
        declared = self._variables.declared
        return {name: frozenset(s.element for s in setters) for name, setters in declared.items()}

    @cached_property
    def by_gateway(self) -> Mapping[str, list[AskedField]]:
        """Variables that the conditions of each gateway read and nothing in the model sets."""
        by_gateway: dict[str, list[AskedField]] = {}
        for gateway, decision in self.decisions.items():
            if not decision.coded:
                continue
            trees = (b.tree for b in decision.branches if b.tree is not None)
            from orgflow_ir.work.condition_types import typed_variables  # of conditions only

            fields = [f for f in typed_variables(trees) if f.variable not in self.setters]
            if fields:
                by_gateway[gateway] = fields
        return by_gateway

    @cached_property
    def by_variable(self) -> Mapping[str, AskedField]:
        """All variables that conditions read, each with the type that they read."""
        decisions = self.decisions.values()
        trees = [b.tree for d in decisions for b in d.branches if b.tree is not None]
        from orgflow_ir.work.condition_types import typed_variables  # of conditions only

        return {field.variable: field for field in typed_variables(trees)}


def asked_at_start(reads: ReadFields, people: Iterable[str], start: str) -> tuple[AskedField, ...]:
    """The fields of the form that starts a process: those that the start event defines, and the
    variables that conditions read, that no earlier task of `people` asks for, and that nothing in
    the model sets. A field may be left blank if other work before the gateway may set it."""
    by_path: dict[tuple[str, ...], AskedField] = {}
    graph = reads.graph
    form = graph.nodes[start]
    if isinstance(form, Event) and isinstance(form.binding, Form):
        for field in form.binding.fields:
            if not field.is_read_only:
                own = _of_model(field)
                by_path.setdefault(own.path, own)
    tasks = _without_fields(graph, people)
    for gateway, fields in reads.by_gateway.items():
        if _nearest_people(gateway, graph, tasks) or not _search_back(
            gateway, graph, {start}, through=True
        ):
            continue
        at_once = bool(_search_back(gateway, graph, {start}, through=False))
        for asked in fields:
            asked = asked._replace(required=asked.required and at_once)
            by_path[asked.path] = _merge_fields(by_path.get(asked.path), asked)
    return tuple(by_path.values())


def read_at_start(reads: ReadFields, people: Iterable[str], start: str) -> frozenset[str]:
    """Variables that gateways read before any work of the process is done and that nothing in the
    model sets."""
    graph = reads.graph
    tasks = _without_fields(graph, people)
    return frozenset(
        path[0]
        for gateway, decision in reads.decisions.items()
        if decision.coded
        and not _nearest_people(gateway, graph, tasks)
        and _search_back(gateway, graph, {start}, through=False)
        for path in decision.coded
        if path[0] not in reads.setters
    )


def asked_fields(reads: ReadFields, people: Iterable[str]) -> dict[str, tuple[AskedField, ...]]:
    """The fields of each of these tasks, by its id.

    A form that the model defines keeps its fields. If the model defines no form, the task asks for
    the values that its output mappings read and that nothing else provides. The nearest user tasks
    before a gateway ask for the variables that its conditions read and that nothing in the model
    sets, unless a gateway before all work reads them: they are given at the start. The task that
    has to set a decision variable asks for the decision, whatever its fields are.
    """
    graph = reads.graph
    asking = dict.fromkeys(people)
    by_task: dict[str, dict[tuple[str, ...], AskedField]] = {task: {} for task in asking}
    for task in asking:
        node = graph.nodes[task]
        assert isinstance(node, Task)
        if isinstance(node.binding, Form):
            for field in node.binding.fields:
                if not field.is_read_only:
                    by_task[task].setdefault((asked := _of_model(field)).path, asked)
            if node.binding.outputs and not node.binding.fields:
                for asked in _mapped_fields(task, node.binding, reads):
                    by_task[task].setdefault(asked.path, asked)
    tasks = _without_fields(graph, asking)
    starts = [n.id for n in graph.nodes.values() if isinstance(n, Event) and n.position == "start"]
    given = read_at_start(reads, asking, starts[0]) if len(starts) == 1 else ()
    for gateway, decision in reads.decisions.items():
        if gateway in reads.by_gateway:
            for task in _nearest_people(gateway, graph, tasks):
                for asked in (f for f in reads.by_gateway[gateway] if f.variable not in given):
                    by_task[task][asked.path] = _merge_fields(by_task[task].get(asked.path), asked)
        if decision.values and decision.setter in by_task:
            by_task[decision.setter][(decision.variable,)] = _of_decision(decision, graph)
    return {task: tuple(fields.values()) for task, fields in by_task.items()}


def _mapped_fields(task: str, form: Form, reads: ReadFields) -> Iterator[AskedField]:
    """What the output mappings of a task take from its answers: all that stands there by its name
    alone where the engine says so, else what no input mapping and no other step gives."""
    from orgflow_ir.work.condition_types import typed_variables  # of mapped forms only
    from orgflow_ir.work.people import about
    from orgflow_ir.work.statements import Assign

    description = about(form)
    direct = {p.name for p in form.outputs if p.language == "variable"}
    for statement in description.work.after:
        if not isinstance(statement, Assign):
            continue
        typed = {field.variable: field for field in typed_variables([statement.value])}
        alone = isinstance(statement.value, Variable) and len(statement.value.path) == 1
        for name in dict.fromkeys(path[0] for path in variables(statement.value)):
            known = name in description.inputs or bool(
                reads.setters.get(name, frozenset()) - {task}
            )
            if known and statement.name not in direct:
                continue
            like = reads.by_variable.get(statement.name) if alone else typed.get(name)
            label = name.replace("_", " ").strip() or name
            asked = like or AskedField(name, label, "text")
            yield asked._replace(variable=name, label=label, source="mapping")


def _without_fields(graph: ControlFlow, people: Iterable[str]) -> set[str]:
    """Those of the tasks of which the model defines no fields."""
    asking = set()
    for task in people:
        node = graph.nodes[task]
        if not (isinstance(node, Task) and isinstance(node.binding, Form) and node.binding.fields):
            asking.add(task)
    return asking


def _of_model(field: Field) -> AskedField:
    """A field that the model defines."""
    word = field.type.strip().lower()
    type = _TYPES.get(word, "text")
    if field.values and type not in ("choice", "choices"):
        type = "choice"
    if type in ("choice", "choices") and not field.values:
        type = "text"
    default = field.default
    if default is not None and default.lstrip().startswith(("${", "#{", "=")):
        default = None  # an expression of the engine
    rules = tuple((name.lower(), text) for name, text in field.constraints)
    variable, *part = field.path
    return AskedField(
        variable,
        one_line(field.label) or (part[-1] if part else field.name),
        type,
        tuple(Option(value, one_line(label) or value) for value, label in field.values),
        required=field.required,
        default=default,
        constraints=tuple(c for c in rules if c[0] not in (*_READ_ONLY, PART)),
        part=tuple(part),
    )


def _of_decision(decision: Decision, graph: ControlFlow) -> AskedField:
    """The question that a gateway without conditions asks."""
    options = [Option(value, value) for value in decision.values]
    default = decision.default
    if default is not None and not decision.several:
        label = one_line(default.flow.name) or "otherwise"
        taken = set(decision.values)
        while label in taken:
            label += " (otherwise)"
        options.append(Option(label, label))
    return AskedField(
        decision.variable,
        one_line(decision.gateway.name) or _question_text(decision.gateway, graph),
        "choices" if decision.several else "choice",
        tuple(options),
        open=default is not None and not decision.several,
        required=not (decision.several and default is not None),
        source="decision",
    )


def _question_text(gateway: Node, graph: ControlFlow) -> str:
    """What is asked where a gateway has no name."""
    before = preceding_words(gateway.id, graph)
    return f"Which way after “{before}”?" if before else "Which way?"


def _merge_fields(known: AskedField | None, asked: AskedField) -> AskedField:
    """One field for what two gateways read."""
    if known is None or known.source != "condition":
        return asked if known is None else known
    if known.type != asked.type:
        return known._replace(type="text", options=(), open=False)
    if known.type != "choice":
        return known
    options = tuple(dict.fromkeys((*known.options, *asked.options)))
    return known._replace(options=options, open=True)


def _nearest_people(gateway: str, graph: ControlFlow, people: set[str]) -> list[str]:
    """The tasks of people that are the last activity before a gateway on some way to it; where
    there is none, the last of people behind which other work is done."""
    return _search_back(gateway, graph, people, through=False) or _search_back(
        gateway, graph, people, through=True
    )


def _search_back(gateway: str, graph: ControlFlow, people: set[str], *, through: bool) -> list[str]:
    reached: dict[str, None] = {}
    seen = {gateway}
    todo = deque([gateway])
    while todo:
        node = todo.popleft()
        for arc in graph.into[node]:
            if arc.source in seen:
                continue
            seen.add(arc.source)
            if arc.source in people:
                reached[arc.source] = None
            elif through or not brings_values(graph.nodes[arc.source]):
                todo.append(arc.source)
    return list(reached)


def brings_values(node: Node) -> bool:
    """Whether a step of the model may itself bring a value: work, or something that comes in."""
    if isinstance(node, Event):
        return node.position == "catch" and node.trigger in ("message", "signal", "conditional")
    return isinstance(node, Task | CallActivity | SubProcess)
