"""A change of a model as data, as written by fixes and agents and recorded by the `Rewriter`."""

from __future__ import annotations

from typing import Literal

from orgflow_ir.model.bindings import Binding
from orgflow_ir.model.elements import EventDefinition, Expression, Flow, Node
from orgflow_ir.model.value import Value

EditAction = Literal[
    "add", "replace", "remove",
    "set-binding", "set-condition", "set-timer", "relabel", "redirect", "set-default",
]  # fmt: skip


class Edit(Value):
    """One change of a node or a sequence flow of a scope.

    `scope` is the id of the process or sub-process, `id` that of the element to change. The other
    fields depend on `action`:

    - `add`: `node` or `flow`, a new element
    - `replace`: `node` or `flow`, which replaces `id`
    - `remove`: none; everything attached to a removed node is removed too
    - `set-binding`: `binding`, the implementation of the task; without it the task is a gap
    - `set-condition`: `condition` of the flow; none makes it unconditional
    - `set-timer`: `timer`, the timer of the event
    - `relabel`: `name`
    - `redirect`: `source`, `target` or both, the new ends of the flow
    - `set-default`: `default`, whether the flow is its source's default flow
    """

    action: EditAction
    scope: str
    id: str | None = None
    node: Node | None = None
    flow: Flow | None = None
    binding: Binding | None = None
    condition: Expression | None = None
    timer: EventDefinition | None = None
    name: str | None = None
    source: str | None = None
    target: str | None = None
    default: bool | None = None
