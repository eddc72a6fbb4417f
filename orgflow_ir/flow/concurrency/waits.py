"""Which elements wait, which events come from outside while something is active, and which ends
stop the other work."""

from __future__ import annotations

from orgflow_ir.flow.control_flow.calls import find_callee
from orgflow_ir.model import (
    CallActivity,
    Event,
    Gateway,
    Model,
    Node,
    Opaque,
    Process,
    Scope,
    SubProcess,
    Task,
)

OUTSIDE = frozenset({"message", "timer", "signal", "conditional"})
"""Triggers that occur outside the run."""

_WAITING_TASKS = frozenset({"user", "manual", "receive"})
"""Types of tasks in which a token waits for somebody or for a message."""

_OF_THE_FLOW = ("link", "error", "escalation", "compensation")
"""Triggers of events that only the run itself makes occur."""


def waits_outside(node: Node) -> bool:
    """Whether an element, or an element inside it, stays open until an external event; boundary
    events included. The behavior of a called process is unknown."""
    match node:
        case Task():
            return node.task_type in _WAITING_TASKS
        case Event():
            caught = node.position in ("catch", "boundary")
            return caught and node.trigger not in _OF_THE_FLOW
        case Gateway():
            return node.gateway_kind == "event"
        case SubProcess():
            return any(waits_outside(inner) for inner in node.nodes)
        case CallActivity():
            return True
        case Opaque():
            return False


class WaitingElements:
    """Which elements of a model wait in the flow: themselves, or something in them. Of calls, the
    called processes of the model are known."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._known: dict[int, bool] = {}

    def waits(self, node: Node) -> bool:
        """Whether a token waits in an element for somebody or something."""
        if isinstance(node, Task):
            return node.task_type in _WAITING_TASKS
        if isinstance(node, Event):
            return node.position == "catch" and any(d.kind in OUTSIDE for d in node.definitions)
        if isinstance(node, SubProcess):
            return not takes_over(node) and self.waits_in(node)
        if isinstance(node, CallActivity):
            called = find_callee(node, self._model)
            return called is not None and self.waits_in(called)
        return isinstance(node, Gateway) and node.gateway_kind == "event"

    def waits_in(self, scope: Scope | Process) -> bool:
        """Whether anything in a scope waits."""
        if id(scope) not in self._known:
            self._known[id(scope)] = False  # a call that comes round to itself adds nothing
            self._known[id(scope)] = any(self.waits(node) for node in scope.nodes)
        return self._known[id(scope)]


def may_wait(node: Node) -> bool:
    """Whether an element may be a wait, a race or an end that stops others, by its own kind: for
    a choice among the many elements that are none."""
    if isinstance(node, Task):
        return node.task_type in _WAITING_TASKS
    if isinstance(node, Event):
        return bool(node.definitions)
    return isinstance(node, (SubProcess, CallActivity)) or (
        isinstance(node, Gateway) and node.gateway_kind == "event"
    )


def comes_from_outside(node: Node) -> bool:
    """Whether an element is a boundary event or an event sub-process with an external trigger."""
    if isinstance(node, Event):
        outside = any(d.kind in OUTSIDE for d in node.definitions)
        return node.position == "boundary" and outside
    if isinstance(node, SubProcess) and node.flavour == "event":
        return any(d.kind in OUTSIDE for start in handler_starts(node) for d in start.definitions)
    return False


def takes_over(node: SubProcess) -> bool:
    """Whether an event sub-process ends all other work of its scope when it begins."""
    return node.flavour == "event" and all(start.interrupting for start in handler_starts(node))


def handler_starts(handler: SubProcess) -> list[Event]:
    """The start events of a sub-process."""
    return [n for n in handler.nodes if isinstance(n, Event) and n.position == "start"]


def stops_others(node: Node) -> bool:
    """Whether an event ends the rest of the active work in its scope."""
    return (
        isinstance(node, Event)
        and node.position == "end"
        and any(d.kind in ("terminate", "error", "cancel") for d in node.definitions)
    )
