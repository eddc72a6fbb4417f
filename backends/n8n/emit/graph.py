"""A workflow before it has positions: nodes with keys and wires between their ports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from orgflow.backends.n8n.emit.names import Names

from orgflow_ir.model import Scope
from orgflow_ir.model.records import NamedTuple

Role = Literal[
    "element", "trigger", "stop", "stub", "decide", "branch", "join", "pass", "data", "before",
    "latest", "inputs", "outputs", "guard", "caught", "check", "round", "escalated", "thrown",
]  # fmt: skip
"""What a node is there for: to stand for an element, to start, to stop loudly where no branch
matches, to stop loudly before what n8n does not support, to decide, to test one inclusive branch,
to join some of many branches, to pass on, to keep variables behind a node, to be one node before
another, to take variables from parallel branches, to compute what a task is given, and what becomes
of what it hands on, to ask again where a form was not answered, to tell errors of a task from each
other, to check what a run is started with, to count how often a form is come to, to tell which
escalations a called process has thrown, and to return them."""


class HelperKey(NamedTuple):
    """The key of a node that stands for no element but helps the node with the key `owner`."""

    owner: NodeKey
    role: Role
    number: int | None = None

    def __str__(self) -> str:
        """Its text in the seeds of ids and in orders by key. Ids of deployed nodes are made of it,
        so it never changes."""
        return f"{self.owner}\x00{self.role}{'' if self.number is None else self.number}"


NodeKey = str | HelperKey
"""The key of a node in a graph: the id of the element that it stands for (or `start_key`), or that
of a helper."""


class Port(NamedTuple):
    """An output or input of a node."""

    node: NodeKey
    number: int = 0


@dataclass(eq=False, repr=False)
class GraphNode:
    """A node to be. `element` is the id of the element it belongs to; of all nodes of an element
    the one with role `element` (or `trigger`) stands for it. `switches` are fields beside its
    parameters, such as how often it is tried. One that `fails_over` has an error output, its
    second. `version` is that of its type where it is not one that every compile chooses."""

    key: NodeKey
    name: str
    type: str
    parameters: dict[str, Any]
    element: str
    role: Role
    notes: list[str] = field(default_factory=list)
    webhook: bool = False
    switches: dict[str, Any] = field(default_factory=dict)
    fails_over: bool = False
    version: float | None = None


def most_ports(node: GraphNode) -> int:
    """How many ports the side of a node has that has most."""
    if node.type == "switch":
        return len(node.parameters["rules"]["values"]) + 1  # and the fallback
    if node.type == "merge":
        return int(node.parameters["numberInputs"])
    return 2 if node.type == "if" or node.fails_over else 1


def entry_key(element: str, graph: WorkflowGraph) -> NodeKey:
    """The node by which a token comes to an element: what computes its inputs, or counts how often
    it is come to, else its own."""
    keys = (HelperKey(element, "inputs"), HelperKey(element, "round"))
    return next((key for key in keys if key in graph.nodes), element)


def exit_key(element: str, graph: WorkflowGraph) -> NodeKey:
    """The node by which a token leaves an element: what computes its outputs, else its own."""
    key = HelperKey(element, "outputs")
    return key if key in graph.nodes else element


def decide_key(element: str) -> HelperKey:
    """The key of the node in which somebody decides for a gateway that sets its own variable."""
    return HelperKey(element, "decide")


def start_key(scope: Scope) -> str:
    """The key, and the element, of the trigger of a scope that has no start event."""
    return f"{scope.id}__start"


class WorkflowGraph:
    """Nodes in order of creation, wires in order of making with the flow each is of, if any."""

    def __init__(self, reserved: frozenset[str] = frozenset()) -> None:
        self.nodes: dict[NodeKey, GraphNode] = {}
        self.wires: dict[tuple[Port, Port], str | None] = {}
        self.names = Names()
        for name in sorted(reserved):
            self.names.take(name)

    def add(
        self,
        key: NodeKey,
        name: str,
        type: str,
        parameters: dict[str, Any],
        *,
        element: str,
        role: Role = "element",
        notes: list[str] | None = None,
        webhook: bool = False,
    ) -> GraphNode:
        """A new node; its name is made unique."""
        node = GraphNode(
            key,
            self.names.take(name, str(key)),
            type,
            parameters,
            element,
            role,
            notes or [],
            webhook,
        )
        self.nodes[key] = node
        return node

    def connect(self, source: Port, target: Port, flow: str | None = None) -> None:
        """A wire, of a flow if it is of one. A second one between the same ports would be one token
        for n8n, where the model has two: it goes through a node of its own."""
        if (source, target) in self.wires:
            number = sum(1 for n in self.nodes.values() if n.role == "pass")
            owner = self.nodes[target.node]
            extra = self.add(
                HelperKey(owner.key, "pass", number),
                f"Second way to {owner.name}",
                "noOp",
                {},
                element=owner.element,
                role="pass",
            )
            self.wires[(source, Port(extra.key))] = flow
            source = Port(extra.key)
        self.wires[(source, target)] = flow
