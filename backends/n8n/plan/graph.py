"""The graph of a planned workflow: nodes with keys, and connections between their ports."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, MutableMapping
from dataclasses import field
from typing import Literal

from orgflow.backends.n8n.plan.actions import Action, Join, PassOn, count_output_ports
from orgflow.backends.n8n.plan.names import Names

from orgflow_ir.model import Scope
from orgflow_ir.model.records import NamedTuple, dataclass

Role = Literal[
    "element", "trigger", "stop", "stub", "decide", "branch", "join", "pass", "data", "before",
    "latest", "inputs", "outputs", "guard", "caught", "check", "round", "escalated", "thrown",
    "message", "begin", "begins", "open", "await", "claim", "page", "refuse", "arrive", "split",
    "end", "continue", "take", "taken", "variables", "segment",
]  # fmt: skip
"""The purpose of a node: to represent an element, to start, to stop with an error if no branch
matches, to stop with an error before an unsupported element, to decide, to test one inclusive
branch, to join some of many branches, to pass on, to keep variables after a node, to be one node
before another, to take variables from parallel branches, to compute the input of a task and process
its output, to ask again if a form was not answered, to distinguish errors of a task, to check the
input of a run or of a page, to count the visits of a form, to determine the escalations that a
called process threw, to return them, and to send a message before a placeholder.

In a process of segments: to begin an instance, to tell calls that do so, to open what an element
waits for, to await a message before it, to claim a task, to answer its page, to refuse an answer,
to arrive at a join, to split into branches, to end a path, to continue the process when the support
set calls it, to claim the row that it calls with, to pass on claims that succeeded, to read the
variables, and to choose the segment."""


class HelperKey(NamedTuple):
    """The key of a node that represents no element but supports the node with the key `owner`."""

    owner: NodeKey
    role: Role
    number: int | None = None

    def __str__(self) -> str:
        """Its text in the seeds of ids and in orders by key. Ids of deployed nodes are made of it,
        so it never changes."""
        return f"{self.owner}\x00{self.role}{'' if self.number is None else self.number}"


NodeKey = str | HelperKey
"""The key of a node in a graph: the id of the element that it represents (or `start_key`), or that
of an auxiliary node."""


class Port(NamedTuple):
    """An output or input of a node."""

    node: NodeKey
    number: int = 0


@dataclass(eq=False, repr=False)
class PlanNode:
    """A planned node: a name, and an action with all that its printer needs.

    Attributes:
        key: identifies it in the graph.
        name: unique in the workflow.
        action: what it does; a later pass may complete it.
        element: the id of its element; of all nodes of an element, the one with the role `element`
            (or `trigger`) represents it.
        role: why it is there.
        notes: paragraphs of its note.
        fails_over: whether it has an error output, its second.
    """

    key: NodeKey
    name: str
    action: Action
    element: str
    role: Role
    notes: list[str] = field(default_factory=list)
    fails_over: bool = False

    @property
    def represents(self) -> bool:
        """Whether it represents its element."""
        return self.role in ("element", "trigger")


def most_ports(node: PlanNode) -> int:
    """The number of ports on the side of a node with most ports."""
    if isinstance(node.action, Join):
        return node.action.inputs
    return count_output_ports(node.action, fails_over=node.fails_over)


def entry_key(element: str, graph: PlanGraph) -> NodeKey:
    """The first node of an element: the one that computes its inputs or counts its visits,
    otherwise its own."""
    keys = (HelperKey(element, "inputs"), HelperKey(element, "round"))
    return next((key for key in keys if key in graph.nodes), element)


def exit_key(element: str, graph: PlanGraph) -> NodeKey:
    """The last node of an element: the one that computes its outputs, otherwise its own."""
    key = HelperKey(element, "outputs")
    return key if key in graph.nodes else element


def decide_key(element: str) -> HelperKey:
    """The key of the node in which a person decides for a gateway that sets its own variable."""
    return HelperKey(element, "decide")


def start_key(scope: Scope) -> str:
    """The key, and the element, of the trigger of a scope that has no start event."""
    return f"{scope.id}__start"


Wire = tuple[Port, Port]
"""A connection from an output to an input."""

_Ends = dict[NodeKey, dict[Wire, None]]


class Wires(MutableMapping[Wire, str | None]):
    """Connections in order of creation with the flow of each, if any; those of a node are found
    without a search."""

    def __init__(self, wires: Mapping[Wire, str | None] | None = None) -> None:
        self._flows: dict[Wire, str | None] = dict(wires or {})
        self._index: tuple[_Ends, _Ends] | None = None
        """By nodes at their sources and at their targets, once somebody asks for those."""

    def __getitem__(self, wire: Wire) -> str | None:
        return self._flows[wire]

    def __setitem__(self, wire: Wire, flow: str | None) -> None:
        self._flows[wire] = flow
        if self._index is not None:
            for end, by_node in zip(wire, self._index, strict=True):
                by_node.setdefault(end.node, {})[wire] = None

    def __delitem__(self, wire: Wire) -> None:
        del self._flows[wire]
        if self._index is not None:
            for end, by_node in zip(wire, self._index, strict=True):
                del by_node[end.node][wire]

    def __iter__(self) -> Iterator[Wire]:
        return iter(self._flows)

    def __len__(self) -> int:
        return len(self._flows)

    def __contains__(self, wire: object) -> bool:
        return wire in self._flows

    def add_new(self, wire: Wire, flow: str | None) -> bool:
        """Add a connection. Returns whether it was not there, else changes nothing."""
        if wire in self._flows:
            return False
        if self._index is not None:
            self[wire] = flow
        else:
            self._flows[wire] = flow
        return True

    def items(self) -> ItemsView[Wire, str | None]:
        """See `Mapping`."""
        return self._flows.items()

    def leaving(self, node: NodeKey) -> list[Wire]:
        """The connections from the outputs of a node, in order of creation."""
        return [*self._indexed()[0].get(node, ())]

    def arriving(self, node: NodeKey) -> list[Wire]:
        """The connections to the inputs of a node, in order of creation."""
        return [*self._indexed()[1].get(node, ())]

    def _indexed(self) -> tuple[_Ends, _Ends]:
        if self._index is None:
            sources: _Ends = {}
            targets: _Ends = {}
            for wire in self._flows:
                sources.setdefault(wire[0].node, {})[wire] = None
                targets.setdefault(wire[1].node, {})[wire] = None
            self._index = sources, targets
        return self._index


class PlanGraph:
    """Nodes in order of creation, connections in order of creation with the flow of each, if
    any."""

    def __init__(self, reserved: frozenset[str] = frozenset()) -> None:
        self.nodes: dict[NodeKey, PlanNode] = {}
        self.wires = Wires()
        self.names = Names()
        for name in sorted(reserved):
            self.names.take(name)

    def add(
        self,
        key: NodeKey,
        name: str,
        action: Action,
        *,
        element: str,
        role: Role = "element",
        notes: list[str] | None = None,
    ) -> PlanNode:
        """A new node with a unique name."""
        node = PlanNode(key, self.names.take(name, str(key)), action, element, role, notes or [])
        self.nodes[key] = node
        return node

    def reroute(self, moved: Mapping[Port, Port]) -> None:
        """Connections from some outputs lead from others instead."""
        wires = self.wires.items()
        self.wires = Wires({(moved.get(a, a), b): flow for (a, b), flow in wires})

    def connect(self, source: Port, target: Port, flow: str | None = None) -> None:
        """A connection, with its flow if it has one. n8n would treat a second one between the same
        ports as one token, whereas the model has two, so it goes through a separate node."""
        if self.wires.add_new((source, target), flow):
            return
        number = sum(1 for n in self.nodes.values() if n.role == "pass")
        owner = self.nodes[target.node]
        extra = self.add(
            HelperKey(owner.key, "pass", number),
            f"Second way to {owner.name}",
            PassOn(),
            element=owner.element,
            role="pass",
        )
        self.wires[(source, Port(extra.key))] = flow
        self.wires[(Port(extra.key), target)] = flow
