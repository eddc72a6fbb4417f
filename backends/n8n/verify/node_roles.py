"""The roles of the nodes of a workflow: what each stands for, decides, sets, stops or repeats.

The roles follow from the compiled form of the process, the matching of its nodes with those of the
workflow, and where a person may have edited a helper, from the workflow itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.emit.escalations import Escalated, escalated_calls
from orgflow.backends.n8n.emit.graph import HelperKey, NodeKey, decide_key
from orgflow.backends.n8n.format.document import TYPE_PREFIX
from orgflow.backends.n8n.format.matching import Matching
from orgflow.backends.n8n.format.workflow_document import Node as WorkflowNode
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument
from orgflow.backends.n8n.node_types.ports import outputs_of
from orgflow.backends.n8n.verify.choices import Reader
from orgflow.backends.n8n.verify.points import Roles
from orgflow.backends.n8n.verify.reference import Reference

from orgflow_ir.model import Event, Node, Opaque, SubProcess
from orgflow_ir.model.provenance import source_ids
from orgflow_ir.program.syntax import Tree
from orgflow_ir.work.gateway_decisions import Decision


class _Decided(NamedTuple):
    """The deciding gateways of the compiled form, see `Roles`.

    Attributes:
        setters: keys of the nodes that set decisions, with the gateways of these.
    """

    owners: dict[str, str]
    branches: dict[str, tuple[tuple[str, ...], str | None]]
    coded: set[str]
    given: set[str]
    setters: dict[NodeKey, list[str]]


class RoleDerivation:
    """The roles of the nodes of one workflow.

    Args:
        ref: the compiled form of the process.
        workflow: the workflow.
        matching: the keys of its nodes.
        readers: its deciding nodes.
    """

    def __init__(
        self,
        ref: Reference,
        workflow: WorkflowDocument,
        matching: Matching[NodeKey],
        readers: Mapping[str, Reader],
    ) -> None:
        self._ref, self._workflow, self._matching = ref, workflow, matching
        self._steps, self._readers = workflow.steps, readers

    def derive_roles(self) -> Roles:
        """The roles of all nodes."""
        ref, key_of = self._ref, self._matching.key_of
        stands = self._stands()
        deciding = self._decisions()
        needed = self._needed(stands)
        decided = {reader.gateway for reader in self._readers.values() if reader.main}
        cut = {n.id for n in ref.compiled.graph.nodes.values() if is_stub(n)}
        unneeded = [n for n in ref.source_nodes if n.id not in needed and n.id not in cut]
        escalated = self._escalated()
        calls = {call.call for call in escalated.values()}
        planned = ref.compiled.workflow_graph.nodes
        return Roles(
            stands=stands,
            readers=self._readers,
            owners=deciding.owners,
            branches=deciding.branches,
            coded=frozenset(deciding.coded),
            sets=self._sets(deciding.setters),
            given=frozenset(deciding.given),
            helpers=frozenset(n for n in key_of if n not in stands),
            disabled=frozenset(n for n, step in self._steps.items() if step.disabled),
            silent=frozenset(n.id for n in unneeded if n.id not in ref.deciders),
            dissolved=frozenset(
                n.id for n in unneeded if isinstance(n, SubProcess) or _is_compensation(n)
            ),
            splitting=self._splitting(deciding.owners, deciding.branches),
            idle=frozenset(n.id for n in ref.source_nodes if _is_idle(n)),
            equal={
                gateway: groups
                for gateway in deciding.owners
                if (groups := _group_equal_branches(ref.decision(gateway)))
            },
            several=frozenset(g for g in deciding.owners if ref.decision(g).several),
            loose=frozenset(owner for g, owner in deciding.owners.items() if g not in decided),
            refusals=self._refusals(),
            stubs=self._stubs(),
            guards=frozenset(self._guards()),
            failing={name: str(key) for name, key in key_of.items() if planned[key].fails_over},
            escalating=frozenset(name for name, key in key_of.items() if key in calls),
            escalated=escalated,
            uncaught=self._uncaught(),
        )

    def _stands(self) -> dict[str, str]:
        """The task or event of the source for each node that represents one."""
        elements = {name: self._ref.stands(key) for name, key in self._matching.key_of.items()}
        return {name: element for name, element in elements.items() if element is not None}

    def _decisions(self) -> _Decided:
        """The deciding gateways, and the nodes that set what they read."""
        ref = self._ref
        deciding = _Decided({}, {}, set(), set(), {})
        for owner, gateways in ref.deciders.items():
            for gateway in gateways:
                decision = ref.decision(gateway)
                default = decision.default
                deciding.owners[gateway] = owner
                deciding.branches[gateway] = (
                    tuple(b.flow.id for b in decision.branches),
                    default.flow.id if default is not None else None,
                )
                if decision.coded or not decision.values:
                    deciding.coded.add(gateway)
                    continue
                key = self._setter(gateway, decision)
                if key is None:
                    deciding.given.add(gateway)
                else:
                    deciding.setters.setdefault(key, []).append(gateway)
        return deciding

    def _setter(self, gateway: str, decision: Decision) -> NodeKey | None:
        """The key of the node that sets a decision; None if it is part of the trigger's data."""
        compiled = self._ref.compiled
        if decision.setter == gateway:
            return decide_key(gateway)
        if compiled.workflow_graph.nodes[decision.setter].role == "trigger":
            return None
        # The answers of a form have other names: the node behind it sets the decision.
        data = HelperKey(decision.setter, "data")
        if decision.setter in compiled.forms and data in compiled.workflow_graph.nodes:
            return data
        return decision.setter

    def _sets(self, setters: Mapping[NodeKey, list[str]]) -> dict[str, tuple[str, ...]]:
        """The gateways whose decisions each node sets."""
        return {
            name: tuple(g for g in setters[key] if self._may_write(name, key, g))
            for name, key in self._matching.key_of.items()
            if key in setters
        }

    def _needed(self, stands: Mapping[str, str]) -> set[str]:
        """The elements of the source that need a node."""
        keys = self._ref.compiled.workflow_graph.nodes
        needed = {e for key in keys if (e := self._ref.stands(key)) is not None}
        if not any(how in ("map", "notes", "id") for how in self._matching.how.values()):
            # Drawn by hand: nobody draws a node for an end at which nothing is done.
            standing = set(stands.values())
            nodes = self._ref.source_nodes
            needed -= {n.id for n in nodes if n.id not in standing and _does_nothing(n)}
        return needed

    def _uncaught(self) -> frozenset[str]:
        """Stop nodes behind the error outputs of tasks."""
        nodes = self._ref.compiled.workflow_graph.nodes
        caught = {str(key) for key, node in nodes.items() if node.fails_over}
        return frozenset(
            name
            for name, key in self._matching.key_of.items()
            if isinstance(key, HelperKey) and key.role == "stop" and str(key.owner) in caught
        )

    def _escalated(self) -> dict[str, Escalated]:
        """The nodes behind calls that tell what was thrown."""
        keys = self._matching.key_of.items()
        named = {name: key for name, key in keys if isinstance(key, HelperKey)}
        if not any(key.role == "escalated" for key in named.values()):
            return {}
        calls = escalated_calls(self._ref.compiled)
        return {
            name: calls[str(key.owner)] for name, key in named.items() if key.role == "escalated"
        }

    def _may_write(self, name: str, key: NodeKey, gateway: str) -> bool:
        """Whether a node can set what a gateway decides by: the one that makes variables of the
        answers of a form has to name the variable."""
        if not (isinstance(key, HelperKey) and key.role == "data"):
            return True
        step = self._steps[name]
        variable = self._ref.decision(gateway).variable
        if step.short not in ("set", "code", "noOp"):
            return True
        text = json.dumps(step.parameters, ensure_ascii=False)
        return re.search(rf"\b{re.escape(variable)}\b", text) is not None

    def _guards(self) -> Iterator[str]:
        """Nodes that ask again, or refuse a call: on the way back nothing of the model is done, and
        a call that is refused starts nothing."""
        key_of = self._matching.key_of
        for name, key in key_of.items():
            if isinstance(key, HelperKey) and key.role == "check" and self._refuses_calls(name):
                yield name
            if not isinstance(key, HelperKey) or key.role != "guard":
                continue
            form = self._matching.pairs.get(key.owner)
            again = list(self._workflow.targets.get(name, {}).get(1, ()))
            step = self._steps[name]
            # Steps that a person added on the way back are no part of the model.
            seen = {name}
            while (
                len(again) == 1
                and again[0] not in seen
                and again[0] not in key_of
                and _passes_items_on(self._steps[again[0]])
            ):
                seen.add(again[0])
                again = list(self._workflow.targets.get(again[0], {}).get(0, ()))
            if step.short == "if" and not step.disabled and again == [form]:
                yield name

    def _refuses_calls(self, name: str) -> bool:
        """Whether the other way of an If answers a call and ends there."""
        step = self._steps[name]
        ends = list(self._workflow.targets.get(name, {}).get(1, ()))
        return (
            step.short == "if"
            and not step.disabled
            and len(ends) == 1
            and self._steps[ends[0]].short == "respondToWebhook"
            and not self._targets(ends[0])
        )

    def _splitting(
        self,
        owners: Mapping[str, str],
        branches: Mapping[str, tuple[tuple[str, ...], str | None]],
    ) -> frozenset[str]:
        """Activities that have flows beside those that their one decision is about."""
        leaving: dict[str, set[str]] = {}
        for flow in (f for scope in self._ref.process.scopes() for f in scope.flows):
            leaving.setdefault(flow.source, set()).add(flow.id)
        gateways: dict[str, list[str]] = {}
        for gateway, owner in owners.items():
            gateways.setdefault(owner, []).append(gateway)
        decided = {reader.gateway for reader in self._readers.values() if reader.main}
        return frozenset(
            owner
            for owner, (first, *more) in gateways.items()
            if not more and first in decided and leaving.get(owner, set()) - {*branches[first][0]}
        )

    def _refusals(self) -> frozenset[str]:
        """Stop nodes right behind nodes that decide: they stop runs for which no branch fits."""
        before: dict[str, set[str]] = {}
        for wire in self._workflow.wires:
            if wire.kind == "main" and wire.source in self._steps:
                before.setdefault(wire.target, set()).add(self._steps[wire.source].type)
        choices = {f"{TYPE_PREFIX}{kind}" for kind in ("if", "switch", "filter")}
        return frozenset(
            name
            for name, step in self._steps.items()
            if step.short == "stopAndError" and before.get(name, {""}) <= choices
        )

    def _stubs(self) -> dict[str, str | None]:
        """Stop nodes of stubs. What a stub is before has not happened when it is reached, but for a
        start event and what belongs to the whole process."""
        graph = self._ref.compiled.workflow_graph
        nodes = {n.id: n for n in self._ref.source_nodes}
        stops: dict[str, str | None] = {}
        for name, key in self._matching.key_of.items():
            planned = graph.nodes[key]
            if planned.role == "stub" and self._steps[name].short == "stopAndError":
                source = nodes.get(source_ids(self._ref.compiled.graph.nodes[planned.element])[0])
                begun = source is None or (isinstance(source, Event) and source.position == "start")
                handles = isinstance(source, SubProcess) and source.flavour == "event"
                stops[name] = None if source is None or begun or handles else source.id
        return stops

    def _targets(self, name: str) -> list[str]:
        return [end for ends in self._workflow.targets.get(name, {}).values() for end in ends]


def _passes_items_on(step: WorkflowNode) -> bool:
    """Whether every item that comes to a node leaves it by its first output."""
    if step.disabled:
        return True
    kind = node_types.find_type(step.short)
    if kind is None or outputs_of(step.raw) != 1:
        return False
    keeps = kind.effect(step.version, step.parameters) in ("pass", "write")
    return (keeps and step.short not in ("filter", "wait")) or step.short in ("code", "httpRequest")


def is_stub(node: Node) -> bool:
    """Whether a run stops in place of an element."""
    return isinstance(node, Opaque) and node.stops is not None


def _does_nothing(node: Node) -> bool:
    """Whether an event does nothing: an end, or a milestone on the way, without a trigger."""
    return isinstance(node, Event) and node.position in ("end", "throw") and not node.definitions


def _is_compensation(node: Node) -> bool:
    """Whether a node begins what undoes finished work, and is done when that is."""
    return isinstance(node, Event) and any(d.kind == "compensation" for d in node.definitions)


def _is_idle(node: Node) -> bool:
    """Whether switching its node off changes nothing: an end or a milestone that does no work."""
    if not isinstance(node, Event) or node.position not in ("end", "throw"):
        return False
    return not node.definitions or node.trigger == "terminate"


def _group_equal_branches(decision: Decision) -> tuple[tuple[str, ...], ...]:
    """Groups of branches with the same condition, each in order."""
    groups: dict[Tree, list[str]] = {}
    for branch in decision.branches:
        if branch.tree is not None:
            groups.setdefault(branch.tree, []).append(branch.flow.id)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)
