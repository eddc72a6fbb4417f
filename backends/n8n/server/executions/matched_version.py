"""A version of a deployed workflow, matched with the process that it was compiled from."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from orgflow.backends.n8n.format.matching import Matching
from orgflow.backends.n8n.format.workflow_document import Node, WorkflowDocument
from orgflow.backends.n8n.plan.graph import NodeKey
from orgflow.backends.n8n.verify.choices import Reader
from orgflow.backends.n8n.verify.reference import Reference

from orgflow_ir.model.records import dataclass
from orgflow_ir.targets.verification import Changed


@dataclass(frozen=True, eq=False)
class Tie:
    """One version of a deployed workflow, matched with a process.

    Attributes:
        reference: the compiled form of the process.
        workflow: the executed version.
        matching: the element of each node, without guesses.
        readers: deciding nodes, with their decisions.
        changed: expressions whose decisions differ from the compiled ones.
    """

    reference: Reference
    workflow: WorkflowDocument
    matching: Matching[NodeKey]
    readers: Mapping[str, Reader]
    changed: tuple[Changed, ...]

    @property
    def name(self) -> str:
        """The name of the workflow."""
        return self.workflow.title

    @property
    def steps(self) -> Mapping[str, Node]:
        """Its nodes by name."""
        return self.workflow.steps

    @cached_property
    def visible(self) -> frozenset[str]:
        """Elements with a visible execution: tasks and events, and gateways with a node. Removed
        elements are included, since they should have run."""
        workflow_graph = self.reference.plan.workflow_graph
        elements = {e for k in workflow_graph.nodes if (e := self._step_element(k)) is not None}
        known = {n.id for n in self.reference.source_nodes}
        gateways = {
            workflow_graph.nodes[k].element
            for k in self.matching.key_of.values()
            if workflow_graph.nodes[k].role == "element"
        }
        return frozenset(elements | (gateways & known))

    def _step_element(self, key: NodeKey) -> str | None:
        node = self.reference.plan.workflow_graph.nodes[key]
        return self.reference.roles.steps.get(key) if node.role == "element" else None

    @cached_property
    def unknown(self) -> tuple[str, ...]:
        """Nodes without a known element, in the order of the file."""
        return self.matching.added

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """Tasks and events without a node."""
        gone = (self._step_element(key) for key in self.matching.missing)
        return tuple(dict.fromkeys(e for e in gone if e is not None))

    @cached_property
    def disabled(self) -> tuple[str, ...]:
        """Elements with a disabled node."""
        elements = (self.element(n) for n, step in self.steps.items() if step.disabled)
        return tuple(dict.fromkeys(e for e in elements if e is not None))

    @cached_property
    def rewired(self) -> tuple[str, ...]:
        """Connections that differ from the compiled workflow, in words."""
        workflow_graph, key_of = self.reference.plan.workflow_graph, self.matching.key_of
        compiled = {(a.node, b.node) for a, b in workflow_graph.wires}
        now: dict[tuple[NodeKey, NodeKey], tuple[str, str]] = {}
        for wire in self.workflow.wires:
            if wire.kind == "main":
                ends = (wire.source, wire.target)
                pair = (key_of.get(wire.source, wire.source), key_of.get(wire.target, wire.target))
                now.setdefault(pair, ends)
        names = {key: name for name, key in reversed(key_of.items())}
        gone = [
            f"`{names[a]}` no longer leads to `{names[b]}`"
            for a, b in sorted(compiled - now.keys(), key=lambda ends: [str(end) for end in ends])
            if a in names and b in names
        ]
        new = [f"`{a}` leads to `{b}`" for pair, (a, b) in now.items() if pair not in compiled]
        return (*gone, *new)

    @cached_property
    def edited(self) -> bool:
        """Whether its behaviour differs from the current output for the model."""
        return bool(self.unknown or self.missing or self.disabled or self.rewired or self.changed)

    def element(self, node: str) -> str | None:
        """The model element of a node."""
        key = self.matching.key_of.get(node)
        if key is None:
            return None
        element = self.reference.plan.workflow_graph.nodes[key].element
        for owner, gateways in self.reference.roles.deciders.items():
            if element in gateways:
                return owner
        return element

    def stands(self, node: str) -> bool:
        """Whether a node performs an element's work and is enabled."""
        key = self.matching.key_of.get(node)
        if key is None or self.steps[node].disabled:
            return False
        planned = self.reference.plan.workflow_graph.nodes[key]
        return planned.represents and self.element(node) == planned.element
