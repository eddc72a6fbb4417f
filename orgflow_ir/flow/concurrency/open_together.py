"""Elements of a process that may be open at the same time as a given step, for targets that wait at
one place at a time."""

from __future__ import annotations

from orgflow_ir.flow.concurrency.parallel_steps import Concurrency
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.model import (
    CallActivity,
    Event,
    Gateway,
    Node,
    Opaque,
    Process,
    SubProcess,
    Task,
)
from orgflow_ir.model.elements import Scope
from orgflow_ir.pipeline import PassContext


class OpenTogether:
    """For each element of a process, the external waits that may be open at the same time.

    Based on the structural concurrency relation, so no pair is missed; a pair that faults or
    mutually exclusive data rule out may be included.
    """

    def __init__(self, process: Process, ctx: PassContext) -> None:
        self._ctx = ctx
        self._scopes: dict[str, tuple[Scope, SubProcess | None]] = {}
        todo: list[tuple[Scope, SubProcess | None]] = [(process, None)]
        while todo:
            scope, owner = todo.pop()
            for node in scope.nodes:
                self._scopes[node.id] = scope, owner
                if isinstance(node, SubProcess):
                    todo.append((node, node))

    def with_element(self, element: str) -> tuple[Node, ...]:
        """Elements that may be open while an element is; includes the element if a second token may
        reach it."""
        found: dict[str, Node] = {}
        inside: str | None = element
        while inside is not None:
            scope, owner = self._scopes[inside]
            found.update((node.id, node) for node in self._in_scope(inside, scope))
            inside = owner.id if owner is not None else None
        return tuple(found.values())

    def _in_scope(self, element: str, scope: Scope) -> list[Node]:
        graph = self._ctx.analysis(ControlFlow, scope)
        attached: list[Node] = [
            n for n in scope.nodes if isinstance(n, Event) and n.attached_to == element and waits(n)
        ]
        if not _several_tokens(scope, graph):
            return attached
        beside = self._ctx.analysis(Concurrency, graph).beside(element)
        return attached + [graph.nodes[n] for n in beside if waits(graph.nodes[n])]


def waits(node: Node) -> bool:
    """Whether an element, or an element inside it, stays open until an external event. The behavior
    of a called process is unknown."""
    match node:
        case Task():
            return node.task_type in ("user", "manual", "receive")
        case Event():
            caught = node.position in ("catch", "boundary")
            return caught and node.trigger not in ("link", "error", "escalation", "compensation")
        case Gateway():
            return node.gateway_kind == "event"
        case SubProcess():
            return any(waits(inner) for inner in node.nodes)
        case CallActivity():
            return True
        case Opaque():
            return False


def _several_tokens(scope: Scope, graph: ControlFlow) -> bool:
    """Whether more than one token may be in a scope."""
    for node in scope.nodes:
        exclusive = isinstance(node, Gateway) and node.gateway_kind in ("exclusive", "event")
        if len(graph.out[node.id]) > 1 and not exclusive:
            return True
        if isinstance(node, SubProcess) and node.flavour == "event":
            return True
        if isinstance(node, Task | CallActivity | SubProcess) and node.loop is not None:
            return True
    starts = all(isinstance(graph.nodes[e], Event) for e in graph.entries)
    return len(graph.entries) > 1 and not starts
