"""The roles of the nodes of a workflow: what each stands for, decides, sets, stops or repeats.

The plan of the compiled workflow has the roles of its nodes (`plan/plan_roles.py`), and the
matching has the nodes of this workflow that take their places. Only what a person may have changed
is read from the workflow itself: disabled nodes, nodes that decide or set, and ways back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.format.document import TYPE_PREFIX
from orgflow.backends.n8n.format.matching import Matching
from orgflow.backends.n8n.format.workflow_document import Node as WorkflowNode
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument
from orgflow.backends.n8n.node_types.ports import outputs_of
from orgflow.backends.n8n.plan.actions import KeepAnswers
from orgflow.backends.n8n.plan.graph import HelperKey, NodeKey
from orgflow.backends.n8n.plan.plan_roles import source_of_stub
from orgflow.backends.n8n.verify.choices import Reader, group_equal_branches
from orgflow.backends.n8n.verify.points import Roles
from orgflow.backends.n8n.verify.reference import Reference

from orgflow_ir.model import Event, Node, Opaque, SubProcess


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
        self._planned, self._nodes = ref.roles, ref.plan.workflow_graph.nodes

    def derive_roles(self) -> Roles:
        """The roles of all nodes."""
        ref, planned, key_of = self._ref, self._planned, self._matching.key_of
        stands = {name: planned.steps[k] for name, k in key_of.items() if k in planned.steps}
        owners = planned.owners
        decided = {reader.gateway for reader in self._readers.values() if reader.main}
        needed = self._needed(stands)
        cut = {n.id for n in ref.plan.graph.nodes.values() if is_stub(n)}
        unneeded = [n for n in ref.source_nodes if n.id not in needed and n.id not in cut]
        calls = {action.call for action in planned.escalations.values()}
        return Roles(
            stands=stands,
            readers=self._readers,
            owners=owners,
            branches=planned.branches,
            coded=planned.coded,
            sets=self._sets(),
            given=planned.given,
            helpers=frozenset(n for n in key_of if n not in stands),
            disabled=frozenset(n for n, step in self._steps.items() if step.disabled),
            silent=frozenset(n.id for n in unneeded if n.id not in planned.deciders),
            dissolved=frozenset(
                n.id for n in unneeded if isinstance(n, SubProcess) or _is_compensation(n)
            ),
            splitting=self._splitting(decided),
            idle=frozenset(n.id for n in ref.source_nodes if _is_idle(n)),
            equal=group_equal_branches(ref),
            several=planned.several,
            loose=frozenset(owner for g, owner in owners.items() if g not in decided),
            refusals=self._refusals(),
            stubs=self._stubs(),
            guards=frozenset(self._guards()),
            failing={name: str(key) for name, key in key_of.items() if key in planned.failing},
            escalating=frozenset(name for name, key in key_of.items() if key in calls),
            escalated={
                name: planned.escalations[key]
                for name, key in key_of.items()
                if key in planned.escalations
            },
            uncaught=frozenset(name for name, key in key_of.items() if key in planned.uncaught),
        )

    def _sets(self) -> dict[str, tuple[str, ...]]:
        """The gateways whose decisions each node sets."""
        setters = self._planned.setters
        return {
            name: tuple(g for g in setters[key] if self._may_write(name, key, g))
            for name, key in self._matching.key_of.items()
            if key in setters
        }

    def _needed(self, stands: Mapping[str, str]) -> set[str]:
        """The elements of the source that need a node."""
        needed = {*self._planned.steps.values()}
        if not any(how in ("map", "notes", "id") for how in self._matching.how.values()):
            # Drawn by hand: nobody draws a node for an end at which nothing is done.
            standing = set(stands.values())
            nodes = self._ref.source_nodes
            needed -= {n.id for n in nodes if n.id not in standing and _does_nothing(n)}
        return needed

    def _may_write(self, name: str, key: NodeKey, gateway: str) -> bool:
        """Whether a node can set what a gateway decides by: the one that makes variables of the
        answers of a form has to name the variable."""
        if not isinstance(self._nodes[key].action, KeepAnswers):
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
        for name, key in self._matching.key_of.items():
            if key in self._planned.checks and self._refuses_calls(name):
                yield name
            if key in self._planned.guards and self._leads_back(name, key):
                yield name

    def _leads_back(self, name: str, key: NodeKey) -> bool:
        """Whether the other way of an If leads to the form before it, over steps that a person
        added and that are no part of the model."""
        assert isinstance(key, HelperKey)
        key_of, targets = self._matching.key_of, self._workflow.targets
        again = list(targets.get(name, {}).get(1, ()))
        seen = {name}
        while (
            len(again) == 1
            and again[0] not in seen
            and again[0] not in key_of
            and _passes_items_on(self._steps[again[0]])
        ):
            seen.add(again[0])
            again = list(targets.get(again[0], {}).get(0, ()))
        step = self._steps[name]
        form = self._matching.pairs.get(key.owner)
        return step.short == "if" and not step.disabled and again == [form]

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

    def _splitting(self, decided: set[str]) -> frozenset[str]:
        """Activities that have flows beside those that their one decision is about."""
        leaving: dict[str, set[str]] = {}
        for flow in (f for scope in self._ref.process.scopes() for f in scope.flows):
            leaving.setdefault(flow.source, set()).add(flow.id)
        branches = self._planned.branches
        return frozenset(
            owner
            for owner, (first, *more) in self._planned.deciders.items()
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
        nodes = {n.id: n for n in self._ref.source_nodes}
        stops: dict[str, str | None] = {}
        for name, key in self._matching.key_of.items():
            if key in self._planned.stubs and self._steps[name].short == "stopAndError":
                source = nodes.get(source_of_stub(self._nodes[key], self._ref.plan))
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
