"""The executable nodes of a workflow and their connections, in the form for the checks.

The frontend reports malformed parts (OF05x); they are omitted here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.format.workflow_document import (
    Node,
    Path,
    WorkflowDocument,
    workflows_in,
)
from orgflow.backends.n8n.node_types.catalogue import newest_version

from orgflow_ir.flow.control_flow.graph import strong_components
from orgflow_ir.model.json_source_map import JsonDocument
from orgflow_ir.model.records import NamedTuple, dataclass
from orgflow_ir.model.source import SourceLocation

_READS: Final = re.compile(r"""\.([A-Za-z_$][\w$]*)|\[\s*(?:'([^'\\]*)'|"([^"\\]*)")\s*\]""")


class Wire(NamedTuple):
    """A connection on `main` between two nodes, by their indexes; `raw` is its end in the file."""

    source: int
    output: int
    target: int
    slot: int
    path: Path
    raw: Mapping[str, Any]


@dataclass(frozen=True)
class Workflow:
    """A workflow of a file.

    Attributes:
        nodes: those that n8n can run, by `Node.index`. A node without a version in the file has the
            newest, which n8n then uses.
        wires: the main connections between them.
        other: connections of another kind: kind, serving node, served node, place.
    """

    document: WorkflowDocument
    nodes: tuple[Node, ...]
    wires: tuple[Wire, ...]
    other: tuple[tuple[str, int, int, Path], ...]

    @property
    def name(self) -> str:
        """Its name."""
        return self.document.name if self.document.name.strip() else "workflow"

    @property
    def ordered(self) -> bool:
        """Whether it runs in the order v1: its settings say so, or it is a fragment that somebody
        pastes into a workflow, where new ones have this order."""
        return self.document.order == "v1" or self.fragment

    @property
    def fragment(self) -> bool:
        """Whether the file is what n8n's editor copies: nodes without a workflow around them."""
        return self.document.raw.keys().isdisjoint(("settings", "name", "id"))

    @cached_property
    def by_name(self) -> Mapping[str, Node]:
        """Nodes by name."""
        return {n.name: n for n in self.nodes}

    @cached_property
    def out(self) -> tuple[tuple[Wire, ...], ...]:
        """The outgoing connections of each node."""
        wires_out: list[list[Wire]] = [[] for _ in self.nodes]
        for wire in self.wires:
            wires_out[wire.source].append(wire)
        return tuple(map(tuple, wires_out))

    @cached_property
    def into(self) -> tuple[tuple[Wire, ...], ...]:
        """The incoming connections of each node."""
        wires_into: list[list[Wire]] = [[] for _ in self.nodes]
        for wire in self.wires:
            wires_into[wire.target].append(wire)
        return tuple(map(tuple, wires_into))

    @cached_property
    def serving(self) -> frozenset[int]:
        """Nodes that only serve others (a model, a tool, a memory)."""
        steps = {w.source for w in self.wires} | {w.target for w in self.wires}
        return frozenset(source for _, source, _, _ in self.other) - steps

    def steps_of(self, index: int) -> list[int]:
        """The steps in whose runs the expressions of a node are evaluated: itself, or those it
        serves.

        A trigger that a memory serves is excluded: n8n evaluates the memory's parameters there
        before any run, to load the previous session. So is a disabled node, which requests
        nothing.
        """
        if index not in self.serving:
            return [index]
        steps: list[int] = []
        todo, seen = [index], {index}
        while todo:
            at = todo.pop()
            for _, source, target, _ in self.other:
                if source != at or target in seen:
                    continue
                seen.add(target)
                node = self.nodes[target]
                if node.disabled or node.trigger:
                    continue
                todo.append(target)
                if target not in self.serving:
                    steps.append(target)
        return sorted(steps)

    @cached_property
    def live(self) -> frozenset[int]:
        """Nodes that are reachable from a trigger."""
        return self.reach([n.index for n in self.nodes if n.starts])

    def reach(self, starts: list[int], avoiding: frozenset[int] = frozenset()) -> frozenset[int]:
        """Nodes that are reachable from `starts`, including these."""
        reached = {s for s in starts if s not in avoiding}
        todo = sorted(reached)
        while todo:
            for wire in self.out[todo.pop()]:
                if wire.target not in reached and wire.target not in avoiding:
                    reached.add(wire.target)
                    todo.append(wire.target)
        return frozenset(reached)

    def after(self, index: int, avoiding: frozenset[int] = frozenset()) -> frozenset[int]:
        """Nodes that are reachable after a node; includes itself if it is on a cycle."""
        return self.reach([w.target for w in self.out[index]], avoiding)

    @cached_property
    def cyclic(self) -> frozenset[int]:
        """Nodes on a cycle of wires."""
        follow = {str(n.index): [str(w.target) for w in self.out[n.index]] for n in self.nodes}
        component_of = strong_components(follow)
        size = Counter(component_of.values())
        return frozenset(
            int(n) for n, component in component_of.items() if size[component] > 1 or n in follow[n]
        )

    def loc(self, path: Path) -> SourceLocation:
        """The place in the file: that of `path`, or the nearest existing one."""
        return self.document.loc(path)


def called_by_workflow(node: Node) -> bool:
    """Whether runs begin at this node if another workflow calls this one."""
    kind = node_types.find_type(node.short)
    return kind is not None and kind.start == "called"


def field_after(text: str, at: int) -> str | None:
    """The field that an access at `at` reads: `x` of `.x` and of `["x"]`."""
    if text.startswith("?.", at):
        at += 2 if text.startswith("?.[", at) else 1
    match = _READS.match(text, at)
    if match is None:
        return None
    return next(part for part in match.groups() if part is not None)


def read_workflows(source: JsonDocument) -> tuple[Workflow, ...]:
    """Every workflow of a file, in order."""
    return tuple(_read_workflow(document) for document in workflows_in(source, newest_version))


def _read_workflow(document: WorkflowDocument) -> Workflow:
    nodes = tuple(node for node in document.nodes if node.index >= 0)
    index = {node.name: node.index for node in nodes}
    wires: list[Wire] = []
    other: list[tuple[str, int, int, Path]] = []
    for wire in document.wires:
        if wire.source not in index or wire.target not in index:
            continue
        source, target = index[wire.source], index[wire.target]
        if wire.kind == "main":
            wires.append(Wire(source, wire.output, target, wire.input, wire.path, wire.raw))
        else:
            other.append((wire.kind, source, target, wire.path))
    return Workflow(document, nodes, tuple(wires), tuple(other))
