"""The behaviour of a workflow's stored executions, in terms of its source model.

An execution contains its workflow, so each is read by its own version. Nodes are matched with the
model as in `verify`, but never by their neighbours: a merely probable match is reported as unknown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from orgflow.backends.n8n.emit.graph import NodeKey
from orgflow.backends.n8n.format.matching import Matching
from orgflow.backends.n8n.format.workflow_document import Node, WorkflowDocument
from orgflow.backends.n8n.server.executions.choices_taken import visits_of
from orgflow.backends.n8n.server.executions.execution import StoredRun, read_execution
from orgflow.backends.n8n.verify.choices import Reader, readers
from orgflow.backends.n8n.verify.matching import match_reference
from orgflow.backends.n8n.verify.reference import Reference

from orgflow_ir.model import Event
from orgflow_ir.plugins.executions import (
    ExecutionObserver,
    Observed,
    SeenNode,
    UnreadableExecution,
)
from orgflow_ir.targets.verification import Changed

Json = Mapping[str, Any]

_SURE, _SAID = 0.5, 0.2
"""Share of a process that must be found in a workflow; lower if its map names the process, by an id
that other processes may share, such as `Process_1`."""


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
        workflow_graph = self.reference.compiled.workflow_graph
        found = {e for k in workflow_graph.nodes if (e := self._step(k)) is not None}
        known = {n.id for n in self.reference.source_nodes}
        gateways = {
            workflow_graph.nodes[k].element
            for k in self.matching.key_of.values()
            if workflow_graph.nodes[k].role == "element"
        }
        return frozenset(found | (gateways & known))

    def _step(self, key: NodeKey) -> str | None:
        node = self.reference.compiled.workflow_graph.nodes[key]
        return self.reference.stands(key) if node.role == "element" else None

    @cached_property
    def unknown(self) -> tuple[str, ...]:
        """Nodes without a known element, in the order of the file."""
        return self.matching.added

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """Tasks and events without a node."""
        gone = (self._step(key) for key in self.matching.missing)
        return tuple(dict.fromkeys(e for e in gone if e is not None))

    @cached_property
    def disabled(self) -> tuple[str, ...]:
        """Elements with a disabled node."""
        found = (self.element(n) for n, step in self.steps.items() if step.disabled)
        return tuple(dict.fromkeys(e for e in found if e is not None))

    @cached_property
    def rewired(self) -> tuple[str, ...]:
        """Connections that differ from the compiled workflow, in words."""
        workflow_graph, key_of = self.reference.compiled.workflow_graph, self.matching.key_of
        made = {(a.node, b.node) for a, b in workflow_graph.wires}
        now: dict[tuple[NodeKey, NodeKey], tuple[str, str]] = {}
        for wire in self.workflow.wires:
            if wire.kind == "main":
                ends = (wire.source, wire.target)
                pair = (key_of.get(wire.source, wire.source), key_of.get(wire.target, wire.target))
                now.setdefault(pair, ends)
        names = {key: name for name, key in reversed(key_of.items())}
        gone = [
            f"`{names[a]}` no longer leads to `{names[b]}`"
            for a, b in sorted(made - now.keys(), key=lambda ends: [str(end) for end in ends])
            if a in names and b in names
        ]
        new = [f"`{a}` leads to `{b}`" for pair, (a, b) in now.items() if pair not in made]
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
        element = self.reference.compiled.workflow_graph.nodes[key].element
        for owner, gateways in self.reference.deciders.items():
            if element in gateways:
                return owner
        return element

    def stands(self, node: str) -> bool:
        """Whether a node performs an element's work and is enabled."""
        key = self.matching.key_of.get(node)
        if key is None or self.steps[node].disabled:
            return False
        planned = self.reference.compiled.workflow_graph.nodes[key]
        return planned.role in ("element", "trigger") and self.element(node) == planned.element


@dataclass
class Observer(ExecutionObserver):
    """Reads executions of the workflows of one model.

    Args:
        references: the compiled form of each process (`verify.reference.references`).
        workflow: the workflow of an execution that does not contain it.
    """

    references: Mapping[str, Reference]
    workflow: Json | None = None
    ties: dict[str, Tie | None] = field(default_factory=dict)

    def observe(self, execution: Json) -> tuple[Observed, Tie]:
        """The behaviour of one execution. Raises `UnreadableExecution`."""
        identity = str(execution.get("id", "?"))
        workflow = execution.get("workflowData") or self.workflow
        if not isinstance(workflow, Mapping) or not isinstance(workflow.get("nodes"), list):
            raise UnreadableExecution(f"execution {identity} does not state its workflow")
        tie = self.tie(workflow)
        if tie is None:
            name = workflow.get("name")
            raise UnreadableExecution(
                f"execution {identity} belongs to the workflow `{name}`, which was not "
                "compiled from this model"
            )
        data = execution.get("data")
        if not isinstance(data, Mapping) or not isinstance(data.get("resultData"), Mapping):
            raise UnreadableExecution(f"n8n kept no data of execution {identity}")
        try:
            stored = read_execution(
                {"workflowId": "", **execution, "id": identity, "data": data,
                 "status": _status(execution)}
            )  # fmt: skip
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise UnreadableExecution(
                f"execution {identity} cannot be read: {type(error).__name__}"
            ) from None
        return _observed(execution, stored.order, stored.status, tie), tie

    def tie(self, workflow: Json) -> Tie | None:
        """A matched version of a workflow; None if it is from another source."""
        parts = [workflow.get("name"), workflow["nodes"], workflow.get("connections")]
        key = json.dumps(parts, sort_keys=True)
        if key not in self.ties:
            self.ties[key] = self._tie(workflow)
        return self.ties[key]

    def _tie(self, raw: Json) -> Tie | None:
        workflow = WorkflowDocument(raw)
        said = workflow.map.process
        found: list[tuple[float, Tie]] = []
        for process, reference in self.references.items():
            if said in self.references and said != process:
                continue
            matching = _certain(match_reference(reference, workflow))
            read, changed = readers(reference, matching, workflow)
            workflow_graph = reference.compiled.workflow_graph.nodes
            part = len(set(matching.key_of.values())) / max(len(workflow_graph), 1)
            if part >= (_SAID if said == process else _SURE):
                found.append((part, Tie(reference, workflow, matching, read, tuple(changed))))
        return max(found, key=lambda one: one[0])[1] if found else None


def _certain(found: Matching[NodeKey]) -> Matching[NodeKey]:
    """A matching without what is only likely."""
    kept = {name: key for name, key in found.key_of.items() if found.how[name] != "graph"}
    guessed = [name for name in found.key_of if name not in kept]
    lost = {found.key_of[name] for name in guessed} - set(kept.values())
    return Matching(
        kept,
        {name: found.how[name] for name in kept},
        (*found.added, *guessed),
        (*found.missing, *sorted(lost, key=str)),
    )


def _status(execution: Json) -> str:
    status = execution.get("status")
    if isinstance(status, str) and status:
        return status
    return "success" if execution.get("finished") else "unknown"


def _observed(execution: Json, order: Sequence[StoredRun], status: str, tie: Tie) -> Observed:
    data = execution["data"]
    result = data["resultData"]
    nodes = tuple(
        SeenNode(run.node, tie.element(run.node), tie.stands(run.node), run.status) for run in order
    )
    last = str(result.get("lastNodeExecuted") or (order[-1].node if order else ""))
    error = result.get("error")
    message = str(error.get("message") or "error") if isinstance(error, Mapping) else None
    if message is None and status not in ("success", "waiting", "running"):
        message = next((run.error for run in reversed(order) if run.error), None)
    begun = data.get("startData")
    visits, stopped = visits_of(order, tie)
    return Observed(
        id=str(execution.get("id", "?")),
        status=status,
        mode=str(execution.get("mode") or ""),
        began=str(execution.get("startedAt") or ""),
        process=tie.reference.process.id,
        start=_start(order, tie),
        nodes=nodes,
        elements=tuple(
            n.element
            for at, n in enumerate(nodes)
            if n.stands and n.element is not None and n.element in tie.visible and at not in stopped
        ),
        visits=visits,
        error=message,
        failed=tie.element(last) if status != "success" else None,
        partial=isinstance(begun, Mapping) and bool(begun.get("destinationNode")),
    )


def _start(order: Sequence[StoredRun], tie: Tie) -> str | None:
    """The start event of the model behind the first node, else the process's first one."""
    first = tie.element(order[0].node) if order else None
    starts = [
        n.id for n in tie.reference.process.nodes if isinstance(n, Event) and n.position == "start"
    ]
    if first in starts:
        return first
    if order and order[0].node in tie.steps and tie.steps[order[0].node].trigger:
        ahead = _targets(tie, order[0].node)
        for name, step in tie.steps.items():
            if step.trigger and tie.element(name) in starts and _targets(tie, name) == ahead:
                return tie.element(name)
    return starts[0] if starts else None


def _targets(tie: Tie, node: str) -> list[str]:
    return sorted(target for ends in tie.workflow.targets.get(node, {}).values() for target in ends)
