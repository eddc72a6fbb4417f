"""Types of variables at a gateway, where forms ask for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from orgflow.backends.n8n.plan.actions import PageStart
from orgflow.backends.n8n.plan.scope_plan import ScopePlan

from orgflow_ir.work.asked_fields import AskedField, AskedType
from orgflow_ir.work.form_fields import brings_values

if TYPE_CHECKING:
    from orgflow_ir.program.syntax import KnownType, Path

_TYPES: dict[AskedType, KnownType] = {
    "number": "number", "whole": "whole", "boolean": "truth", "text": "text", "lines": "text",
    "date": "text", "choice": "text",
}  # fmt: skip


def known_types(gateway: str, plan: ScopePlan) -> Callable[[Path], KnownType | None]:
    """A function for the type of a variable in the conditions of a gateway: that of the form fields
    that set it, if nothing else may set it on any path to the gateway after them."""
    types: dict[Path, KnownType | None] = {}

    def type_of(path: Path) -> KnownType | None:
        if path not in types:
            types[path] = _type_at(gateway, path, plan) if plan.forms else None
        return types[path]

    return type_of


def _type_at(gateway: str, path: Path, plan: ScopePlan) -> KnownType | None:
    graph = plan.graph
    types: set[KnownType] = set()
    seen, todo = {gateway}, [gateway]
    while todo:
        node = todo.pop()
        if node in graph.entries and not _by_page(node, plan):
            return None  # the input of a run may set it
        for arc in graph.into[node]:
            if arc.source in seen:
                continue
            seen.add(arc.source)
            asked = _find_asked_field(arc.source, path, plan)
            kind = _TYPES.get(asked.type) if asked is not None else None
            if kind is None and _may_set(arc.source, path[0], plan):
                return None
            if kind is not None:
                types.add(kind)
            if asked is None or kind is None or not asked.required:
                todo.append(arc.source)  # a blank answer keeps the value from before
    if types == {"number", "whole"}:
        return "number"
    return types.pop() if len(types) == 1 else None


def _by_page(start: str, plan: ScopePlan) -> bool:
    """Whether a start is a page, so that a run has no other input than its fields."""
    node = plan.workflow_graph.nodes.get(start)
    return node is not None and isinstance(node.action, PageStart)


def _may_set(element: str, variable: str, plan: ScopePlan) -> bool:
    """Whether an element may set a variable, apart from its form."""
    if any(setter.element == element for setter in plan.variables.declared.get(variable, ())):
        return True
    computed = element in plan.forms or (element in plan.work and element not in plan.named_work)
    return brings_values(plan.graph.nodes[element]) and not computed


def _find_asked_field(element: str, path: Path, plan: ScopePlan) -> AskedField | None:
    """The field of an element's form that sets a variable, if its mappings do not."""
    form = plan.forms.get(element)
    if form is None or path[0] in form.sets or path[0] in form.inside:
        return None
    fields = [field.asked for field in form.fields if field.asked.path == path]
    return fields[0] if len(fields) == 1 else None
