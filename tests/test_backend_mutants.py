"""`check_backend` finds backends that drop flows, mix branches or lose attachments: a small backend
without faults, and mutants of it that emit for every model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from orgflow_ir.model import (
    Event,
    EventDefinition,
    Flow,
    Gateway,
    Lane,
    MessageFlow,
    Model,
    Node,
    Process,
    SubProcess,
)
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.targets import Artifact, Emitted, Legal, TargetSpec
from orgflow_ir.testing import ContractError, check_backend

Scope = Process | SubProcess

LEGAL = ("task", "event", "gateway", "flow", "sub-process.plain", "lane", "pool")


class Graph(Backend):
    """A line a node and a line a flow, nested scopes set in."""

    name = "graph"
    target = TargetSpec("graph", {name: Legal() for name in LEGAL}, executes=False)

    def emit(self, model: Model, ctx: PassContext) -> Emitted:
        lines = [line for process in model.processes for line in self.scope(process)]
        lines += [f"{flow.source} ~> {flow.target}" for flow in self.messages(model)]
        return Emitted.whole(model, Artifact("graph.txt", "\n".join([*lines, ""])))

    def messages(self, model: Model) -> list[MessageFlow]:
        return list(model.message_flows)

    def members(self, lane: Lane) -> tuple[str, ...]:
        return lane.members

    def scope(self, scope: Scope) -> list[str]:
        lines = []
        if isinstance(scope, Process):
            lines += [f"{lane.name}: {' '.join(self.members(lane))}" for lane in scope.lanes]
        for node in self.nodes(scope):
            lines.append(self.node(node, scope))
            if isinstance(node, SubProcess):
                lines += [f"  {line}" for line in self.scope(node)]
        return [*lines, *(self.flow(flow, scope) for flow in self.flows(scope))]

    def node(self, node: Node, scope: Scope) -> str:
        words = [node.construct, node.id, repr(node.name), repr(self.doc(node))]
        if isinstance(node, Event):
            words += [f"on {self.attached(node, scope)}", repr(self.definitions(node))]
        return " ".join(words)

    def nodes(self, scope: Scope) -> list[Node]:
        return list(scope.nodes)

    def doc(self, node: Node) -> str:
        return node.doc

    def definitions(self, event: Event) -> tuple[EventDefinition, ...]:
        return event.definitions

    def attached(self, event: Event, scope: Scope) -> str | None:
        return event.attached_to

    def flows(self, scope: Scope) -> list[Flow]:
        return list(scope.flows)

    def flow(self, flow: Flow, scope: Scope) -> str:
        condition = self.condition(flow, scope)
        return f"{flow.source} -> {flow.target} {flow.name!r} {condition!r} {self.default(flow)}"

    def default(self, flow: Flow) -> bool:
        return flow.default

    def condition(self, flow: Flow, scope: Scope) -> str | None:
        return flow.condition.text if flow.condition is not None else None


class Executing(Graph):
    """The same for a target that runs its files and keeps all bindings."""

    target = TargetSpec("graph", {name: Legal() for name in LEGAL}, executes=True)

    def node(self, node: Node, scope: Scope) -> str:
        return f"{super().node(node, scope)} {getattr(node, 'binding', None)!r}"


def out(flow: Flow, scope: Scope) -> list[Flow]:
    """The flows that leave the same node."""
    return [other for other in scope.flows if other.source == flow.source]


def first_of_parallel(self: Graph, scope: Scope) -> list[Flow]:
    forks = {n.id for n in scope.nodes if isinstance(n, Gateway) and n.gateway_kind == "parallel"}
    return [f for f in scope.flows if f.source not in forks or out(f, scope)[0] is f]


def sorted_labels(self: Graph, flow: Flow, scope: Scope) -> str:
    names = sorted(other.name for other in out(flow, scope))
    name = names[out(flow, scope).index(flow)]
    return f"{flow.source} -> {flow.target} {name!r} {self.condition(flow, scope)!r}"


def first_condition(self: Graph, flow: Flow, scope: Scope) -> str | None:
    asked = [f.condition.text for f in out(flow, scope) if f.condition is not None]
    return None if flow.condition is None else min(asked)


def first_host(self: Graph, event: Event, scope: Scope) -> str | None:
    hosts = [n.id for n in scope.nodes if n.construct.startswith(("task", "sub-process"))]
    return None if event.attached_to is None else min(hosts)


MUTANTS: dict[str, tuple[type[Graph], dict[str, Callable[..., Any]], str]] = {
    "drops the last flow": (Graph, {"flows": lambda s, scope: list(scope.flows[:-1])},
                            "omits a flow"),
    "drops flows that lead back": (
        Graph,
        {"flows": lambda s, scope: [f for n, f in enumerate(scope.flows) if not any(
            f.target == earlier.source for earlier in scope.flows[:n])]},
        "omits a flow",
    ),
    "takes one branch of a parallel split": (Graph, {"flows": first_of_parallel},
                                             "omits a flow"),
    "drops flows in sub-processes": (
        Graph,
        {"flows": lambda s, scope: [] if isinstance(scope, SubProcess) else list(scope.flows)},
        "sub-process",
    ),
    "sorts the labels of branches": (Graph, {"flow": sorted_labels}, "cannot be distinguished"),
    "mixes conditions of branches": (Executing, {"condition": first_condition}, "mixes branches"),
    "attaches events to the first activity": (Graph, {"attached": first_host}, "the attachment"),
    "loses defaults": (Executing, {"default": lambda s, flow: False}, "default"),
    "loses what a task does": (
        Executing, {"node": lambda s, node, scope: Graph.node(s, node, scope)}, "bindings"),
    "loses conditions": (Executing, {"condition": lambda s, flow, scope: None}, "conditions"),
    "writes the names of conditions only": (
        Executing,
        {"condition": lambda s, flow, scope: flow.condition and flow.condition.text[:6]},
        "conditions",
    ),
    "loses times": (
        Executing,
        {"definitions": lambda s, event: tuple(d.kind for d in event.definitions)},
        "omits times",
    ),
    "loses lanes": (Executing, {"members": lambda s, lane: ()}, "omits lanes"),
    "loses documentation": (Executing, {"doc": lambda s, node: ""}, "documentation"),
    "loses message flows": (Executing, {"messages": lambda s, model: []}, "message flows"),
    "loses attachments": (Graph, {"attached": lambda s, event, scope: None}, "the attachment"),
}  # fmt: skip


@pytest.mark.parametrize("backend", [Graph, Executing])
def test_the_backend_without_faults_passes(backend: type[Graph]) -> None:
    check_backend(backend())


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_found(name: str) -> None:
    base, changed, complaint = MUTANTS[name]
    mutant = type("Mutant", (base,), changed)()
    with pytest.raises(ContractError, match=complaint):
        check_backend(mutant)
