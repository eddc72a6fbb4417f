"""Races between triggers, and waits that run in parallel with other waits.

An engine that waits at one place at a time cannot execute them; the analysis is independent of any
target.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from orgflow_ir.flow.concurrency.parallel_steps import Concurrency
from orgflow_ir.flow.control_flow.calls import callee
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.model import CallActivity, Event, Gateway, Model, Node, Process, SubProcess, Task
from orgflow_ir.model.elements import Scope
from orgflow_ir.pipeline import PassContext

OUTSIDE = frozenset({"message", "timer", "signal", "conditional"})
"""Triggers that occur outside the run."""


class ConcurrentWait(NamedTuple):
    """An element and its kind of wait: `race` or `parallel`, with an explanation."""

    element: Node
    kind: str
    reason: str


def concurrent_waits(model: Model, ctx: PassContext) -> Iterator[ConcurrentWait]:
    """Every race and every parallel wait of a model, scope by scope, at most one per element.

    Races are event-based gateways, boundary events and event sub-processes with an external
    trigger, and ends that stop a scope in which an element may be waiting. Parallel waits are
    elements that may wait at the same time as another: in parallel branches, or as instances of a
    parallel multi-instance activity.
    """
    waiting = _Waiting(model)
    for scope in model.scopes():
        concurrency: Concurrency | None = None
        for node in scope.nodes:
            found = _race(node)
            if found is None and isinstance(node, Task | CallActivity | SubProcess):
                loop = node.loop
                parallel = loop is not None and loop.kind == "multi-instance"
                if parallel and loop is not None and not loop.sequential and waiting.at(node):
                    found = ConcurrentWait(node, "parallel", "its instances wait at the same time")
            stops = _stops(node)
            if found is None and (stops or waiting.at(node)):
                concurrency = concurrency or ctx.analysis(
                    Concurrency, ctx.analysis(ControlFlow, scope)
                )
                nodes = ctx.analysis(ControlFlow, scope).nodes
                others = [nodes[n] for n in concurrency.beside(node.id) if waiting.at(nodes[n])]
                if others:
                    other = "itself" if others[0] is node else ctx.name(others[0])
                    kind = "race" if stops else "parallel"
                    found = ConcurrentWait(node, kind, f"{other} may be waiting at the same time")
            if found is not None:
                yield found


def _race(node: Node) -> ConcurrentWait | None:
    if isinstance(node, Gateway) and node.gateway_kind == "event":
        return ConcurrentWait(node, "race", "it continues with the first event")
    outside = isinstance(node, Event) and any(d.kind in OUTSIDE for d in node.definitions)
    if outside and isinstance(node, Event) and node.position == "boundary":
        return ConcurrentWait(node, "race", "it may occur while its activity is active")
    if isinstance(node, SubProcess) and node.flavour == "event":
        starts = (n for n in node.nodes if isinstance(n, Event) and n.position == "start")
        if any(d.kind in OUTSIDE for start in starts for d in start.definitions):
            return ConcurrentWait(node, "race", "it may begin while other steps are active")
    return None


def _stops(node: Node) -> bool:
    """Whether an event ends what else is under way in its scope."""
    return (
        isinstance(node, Event)
        and node.position == "end"
        and any(d.kind in ("terminate", "error", "cancel") for d in node.definitions)
    )


def _takes_over(node: SubProcess) -> bool:
    """Whether an event sub-process ends all other work of its scope when it begins."""
    starts = [n for n in node.nodes if isinstance(n, Event) and n.position == "start"]
    return node.flavour == "event" and all(start.interrupting for start in starts)


class _Waiting:
    """Which elements wait: themselves, or something in them."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._known: dict[int, bool] = {}

    def at(self, node: Node) -> bool:
        if isinstance(node, Task):
            return node.task_type in ("user", "manual", "receive")
        if isinstance(node, Event):
            return node.position == "catch" and any(d.kind in OUTSIDE for d in node.definitions)
        if isinstance(node, SubProcess):
            return not _takes_over(node) and self._in(node)
        if isinstance(node, CallActivity):
            called = callee(node, self._model)
            return called is not None and self._in(called)
        return isinstance(node, Gateway) and node.gateway_kind == "event"

    def _in(self, scope: Scope | Process) -> bool:
        if id(scope) not in self._known:
            self._known[id(scope)] = False  # a call that comes round to itself adds nothing
            self._known[id(scope)] = any(self.at(node) for node in scope.nodes)
        return self._known[id(scope)]
