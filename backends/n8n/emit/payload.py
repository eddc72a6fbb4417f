"""The required start data of a process, checked at the call: an incomplete call is answered with
400 and the missing fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

from orgflow.backends.javascript.literals import js_string, property_of
from orgflow.backends.n8n.emit.graph import HelperKey, NodeKey, Port, Wires
from orgflow.backends.n8n.emit.names import plain
from orgflow.backends.n8n.node_types import if_, respond_to_webhook
from orgflow.backends.n8n.node_types.conditions import is_true, make_expression

from orgflow_ir.flow.control_flow.graph import list_reachable
from orgflow_ir.model import Task
from orgflow_ir.model.bindings import Form
from orgflow_ir.program.syntax import variables
from orgflow_ir.work.asked_fields import AskedField, AskedType
from orgflow_ir.work.condition_types import typed_variables
from orgflow_ir.work.process_variables import Read
from orgflow_ir.work.statements import Decide, expressions

if TYPE_CHECKING:
    from orgflow.backends.n8n.emit.emitter import CompiledScope

    from orgflow_ir.pipeline import PassContext
    from orgflow_ir.work.tasks import Work

FieldType = Literal["number", "boolean", "object", "list", "any"]

_TESTS: dict[FieldType, tuple[str, str]] = {
    "number": ('typeof {} === "number"', "a number"),
    "boolean": ('typeof {} === "boolean"', "true or false"),
    "object": ('typeof {0} === "object" && !Array.isArray({0})', "an object"),
    "list": ("Array.isArray({})", "a list"),
    "any": ("true", "given"),
}


_OF_TABLES: dict[str, AskedType] = {
    "string": "text", "number": "number", "double": "number", "integer": "whole", "long": "whole",
    "boolean": "boolean",
}  # fmt: skip
"""Types of inputs of decision tables that a field of a page has."""


class PayloadField(NamedTuple):
    """A field of the start data of a process.

    Attributes:
        name: the variable.
        type: the type that its readers expect.
        required: whether every run reads it and only the start sets it.
        values: the only ones for which a gateway has a branch; empty if others are harmless.
    """

    name: str
    type: FieldType = "any"
    required: bool = True
    values: tuple[str, ...] = ()


def payload_fields(compiled: CompiledScope, start: str) -> tuple[PayloadField, ...]:
    """The fields that only a start sets and that are read."""
    found: dict[str, PayloadField] = {}
    always = _Always(compiled, start)
    trees = [b.tree for d in compiled.decisions.values() for b in d.branches if b.tree is not None]
    types = {field.variable: field.type for field in typed_variables(trees)}
    # Tasks that do what the model says set what it says; of others nobody knows.
    does = (e for e, work in compiled.work.items() if work.steps is not None or work.act)
    known = {(element, "unknown") for element in does}
    for read in _reads(compiled):
        setters = {(s.element, s.by) for s in compiled.variables.setters(read)}
        if (start, "form") in setters:  # the fields of its form are what it is started with
            setters = setters - {(start, "form")} | {(start, "payload")}
        if {one for one in setters if one not in known} != {(start, "payload")}:
            continue
        name, required = read.variable, not read.tested and always.passes(read.element)
        kind: FieldType = "object" if len(read.path) > 1 else "any"
        match types.get(name):
            case "number" | "whole":
                kind = "number"
            case "boolean":
                kind = "boolean"
        other = found.get(name)
        if other is not None:
            kind = kind if other.type == "any" else other.type
            required = required or other.required
        found[name] = PayloadField(name, kind, required)
    for decision in compiled.decisions.values():
        if decision.values and decision.setter == start and decision.default is None:
            required = always.passes(decision.gateway.id)
            kind = "list" if decision.several else "any"
            values = () if decision.several else tuple(decision.values)
            found[decision.variable] = PayloadField(decision.variable, kind, required, values)
    return tuple(found.values())


def read_by_work(compiled: CompiledScope, start: str, ctx: PassContext) -> Iterator[AskedField]:
    """Fields for what the work of tasks reads before anything but a start can set it, with the
    types that all uses imply; none for parts of objects, lists, and what has no certain type."""
    from orgflow.backends.n8n.emit.computed import work_in

    from orgflow_ir.work.tasks import mentioned

    always = _Always(compiled, start)
    tasks = [n for n in compiled.graph.scope.nodes if isinstance(n, Task)]
    tasks_by_id = {t.id: t for t in tasks}
    works = {t.id: work_in(t, ctx) for t in tasks if not isinstance(t.binding, Form)}
    does = {task for task, work in works.items() if work.steps is not None or work.act}
    trees = [b.tree for d in compiled.decisions.values() for b in d.branches if b.tree is not None]
    for work in works.values():
        trees += expressions(work.statements)
    types = {field.variable: field for field in typed_variables(trees)}
    types.update((f.variable, f) for work in works.values() for f in _typed_by_decisions(work))
    parts = {path[0] for tree in trees for path in variables(tree) if len(path) > 1}
    required: dict[str, bool] = {}
    for task, work in works.items():
        for needed in work.reads():
            read = Read(task, needed.path, "mapping", needed.tested)
            earlier = frozenset(
                setter.element
                for setter in compiled.variables.setters(read)
                if setter.element not in (start, task)
                and setter.by != "payload"
                and (setter.by != "unknown" or setter.element not in does)
            )
            if task in list_reachable([start], compiled.graph.successors, earlier):
                at_once = not needed.tested and not earlier and always.passes(task)
                required[read.variable] = required.get(read.variable, False) or at_once
    for task, work in works.items():
        binding = tasks_by_id[task].binding
        for name in mentioned(binding) if work.unread and binding is not None else ():
            if name not in required and _only_given(
                Read(task, (name,), "mapping"), start, compiled
            ):
                required[name] = False
                types.setdefault(name, AskedField(name, name.replace("_", " "), "text"))
    for name, at_once in required.items():
        if name in types and name not in parts:
            yield types[name]._replace(required=at_once, source="mapping")


def _only_given(read: Read, start: str, compiled: CompiledScope) -> bool:
    """Whether the model names no step that sets a variable before a reader."""
    setters = compiled.variables.setters(read)
    return all(s.by in ("payload", "unknown") or s.element == start for s in setters)


def _typed_by_decisions(work: Work) -> Iterator[AskedField]:
    """Fields for the inputs of decision tables that are a variable of a simple type."""
    for one in work.steps or ():
        if not isinstance(one, Decide) or one.decision.table is None:
            continue
        for clause in one.decision.table.inputs:
            name = clause.expression.text.strip()
            type = _OF_TABLES.get((clause.expression.type_ref or "").lower())
            if name in one.decision.variables and type is not None:
                yield AskedField(name, name.replace("_", " "), type)


def _reads(compiled: CompiledScope) -> Iterator[Read]:
    """What conditions and the work of tasks read."""
    yield from (read for read in compiled.variables.reads if read.by == "condition")
    for element, work in compiled.work.items():
        for needed in work.reads():
            yield Read(element, needed.path, "mapping", needed.tested)


class _Always:
    """Whether every run that begins at a start comes by an element."""

    def __init__(self, compiled: CompiledScope, start: str) -> None:
        self.successors, self.start = compiled.graph.successors, start
        self.known: dict[str, bool] = {}

    def passes(self, element: str) -> bool:
        if element not in self.known:
            seen = list_reachable([self.start], self.successors, frozenset([element]))
            self.known[element] = all(self.successors.get(node) for node in seen)
        return self.known[element]


def check_payload(compiled: CompiledScope, start: NodeKey) -> None:
    """Insert the answer to incomplete calls after the webhook of a start; nothing if the process
    needs no data."""
    fields = payload_fields(compiled, str(start))
    if not fields:
        return
    graph = compiled.workflow_graph
    trigger = graph.nodes[start]
    problems = _problems(fields)
    check, accept, refuse = (HelperKey(start, "check", number) for number in range(3))
    graph.add(
        check,
        f"{trigger.name}: complete?",
        if_.NODE.name,
        if_.test_parameters(is_true(f"({problems}).length === 0", str(check))),
        element=trigger.element,
        role="check",
        notes=[f"A call must contain {', '.join(map(_words, fields))}."],
    )
    started = '({ message: "Workflow was started", run: $execution.id })'
    graph.add(
        accept,
        f"{trigger.name}: accepted",
        respond_to_webhook.NODE.name,
        respond_to_webhook.answer_parameters(200, make_expression(started)),
        element=trigger.element,
        role="check",
    )
    refused = f'({{ message: "The call is not complete", problems: {problems} }})'
    graph.add(
        refuse,
        f"{trigger.name}: refused",
        respond_to_webhook.NODE.name,
        respond_to_webhook.answer_parameters(400, make_expression(refused)),
        element=trigger.element,
        role="check",
    )
    trigger.parameters["responseMode"] = "responseNode"
    graph.wires = Wires(
        {
            (Port(accept) if source == Port(start) else source, target): flow
            for (source, target), flow in graph.wires.items()
        }
    )
    graph.connect(Port(start), Port(check))
    graph.connect(Port(check), Port(accept))
    graph.connect(Port(check, 1), Port(refuse))


def _problems(fields: tuple[PayloadField, ...]) -> str:
    """Code for a list of what a call lacks, in words."""
    return (
        f"((body) => [{', '.join(map(_problem, fields))}].filter((one) => one))"
        "((($json.body ?? $json) || {}))"
    )


def _problem(field: PayloadField) -> str:
    value, name = property_of("body", field.name), plain(field.name)
    absent = js_string(f"“{name}” is missing") if field.required else '""'
    if field.values:
        listed = ", ".join(map(js_string, field.values))
        test, words = f"[{listed}].includes({value})", f"one of {', '.join(field.values)}"
    else:
        code, words = _TESTS[field.type]
        test = code.format(value)
    wrong = js_string(f"“{name}” has to be {words}")
    return f'{value} === undefined || {value} === null ? {absent} : {test} ? "" : {wrong}'


def _words(field: PayloadField) -> str:
    words = " | ".join(field.values) if field.values else _TESTS[field.type][1]
    optional = "" if field.required else ", if present"
    kind = "" if words == "given" and not optional else f" ({words}{optional})"
    return f"{plain(field.name)}{kind}"
