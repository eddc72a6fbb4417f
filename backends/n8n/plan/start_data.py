"""Fields of a start for what the work of tasks reads before anything else can set it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.task_work import work_in

from orgflow_ir.flow.control_flow.graph import list_reachable
from orgflow_ir.model import Task
from orgflow_ir.model.bindings import Form
from orgflow_ir.pipeline import PassContext
from orgflow_ir.program.syntax import variables
from orgflow_ir.work.asked_fields import AskedField, AskedType
from orgflow_ir.work.condition_types import typed_variables
from orgflow_ir.work.process_variables import Read
from orgflow_ir.work.statements import Decide, expressions
from orgflow_ir.work.tasks import Work, mentioned

_OF_TABLES: dict[str, AskedType] = {
    "string": "text", "number": "number", "double": "number", "integer": "whole", "long": "whole",
    "boolean": "boolean",
}  # fmt: skip
"""Types of inputs of decision tables that a field of a page has."""


def read_by_work(plan: ScopePlan, start: str, ctx: PassContext) -> Iterator[AskedField]:
    """Fields for what the work of tasks reads before anything but a start can set it, with the
    types that all uses imply; none for parts of objects, lists, and what has no certain type."""
    tasks = [n for n in plan.graph.scope.nodes if isinstance(n, Task)]
    works = {t.id: work_in(t, ctx) for t in tasks if not isinstance(t.binding, Form)}
    trees = [b.tree for d in plan.decisions.values() for b in d.branches if b.tree is not None]
    for work in works.values():
        trees += expressions(work.statements)
    types = {field.variable: field for field in typed_variables(trees)}
    types.update((f.variable, f) for work in works.values() for f in _typed_by_decisions(work))
    parts = {path[0] for tree in trees for path in variables(tree) if len(path) > 1}
    required = _list_first_reads(plan, start, works)
    for task in (task for task in tasks if task.id in works):
        for name in _list_mentioned(task, works[task.id]):
            read = Read(task.id, (name,), "mapping")
            if name not in required and _only_given(read, start, plan):
                required[name] = False
                types.setdefault(name, AskedField(name, name.replace("_", " "), "text"))
    for name, at_once in required.items():
        if name in types and name not in parts:
            yield types[name]._replace(required=at_once, source="mapping")


def _list_first_reads(plan: ScopePlan, start: str, works: Mapping[str, Work]) -> dict[str, bool]:
    """The variables that work reads where a run may come from the start with no step between that
    sets them, and whether every run does so."""
    always = Always(plan, start)
    does = {task for task, work in works.items() if work.steps is not None or work.act}
    required: dict[str, bool] = {}
    for task, work in works.items():
        for needed in work.reads():
            read = Read(task, needed.path, "mapping", needed.tested)
            earlier = frozenset(
                setter.element
                for setter in plan.variables.setters(read)
                if setter.element not in (start, task)
                and setter.by != "payload"
                and (setter.by != "unknown" or setter.element not in does)
            )
            if task in list_reachable([start], plan.graph.successors, earlier):
                at_once = not needed.tested and not earlier and always.passes(task)
                required[read.variable] = required.get(read.variable, False) or at_once
    return required


def _list_mentioned(task: Task, work: Work) -> tuple[str, ...]:
    """Variables that work mentions which is not executed."""
    return tuple(mentioned(task.binding)) if work.unread and task.binding is not None else ()


def _only_given(read: Read, start: str, plan: ScopePlan) -> bool:
    """Whether the model names no step that sets a variable before a reader."""
    setters = plan.variables.setters(read)
    return all(s.by in ("payload", "unknown") or s.element == start for s in setters)


def _typed_by_decisions(work: Work) -> Iterator[AskedField]:
    """Fields for the inputs of decision tables that are a variable of a simple type."""
    for step in work.steps or ():
        if not isinstance(step, Decide) or step.decision.table is None:
            continue
        for clause in step.decision.table.inputs:
            name = clause.expression.text.strip()
            type = _OF_TABLES.get((clause.expression.type_ref or "").lower())
            if name in step.decision.variables and type is not None:
                yield AskedField(name, name.replace("_", " "), type)


class Always:
    """Whether every run that begins at a start comes by an element."""

    def __init__(self, plan: ScopePlan, start: str) -> None:
        self.successors, self.start = plan.graph.successors, start
        self.known: dict[str, bool] = {}

    def passes(self, element: str) -> bool:
        if element not in self.known:
            seen = list_reachable([self.start], self.successors, frozenset([element]))
            self.known[element] = all(self.successors.get(node) for node in seen)
        return self.known[element]
