"""Matches a workflow with its compiled form: notes and map, ids, names, neighbours, copies."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from types import MappingProxyType

from orgflow.backends.n8n.format.identity import OrgflowMap, folded_name
from orgflow.backends.n8n.format.matching import ByMutualBest, Matcher, Matching, Side, match_nodes
from orgflow.backends.n8n.format.references import follow_renames
from orgflow.backends.n8n.format.workflow_document import Node, WorkflowDocument
from orgflow.backends.n8n.plan.graph import NodeKey
from orgflow.backends.n8n.verify.reference import Reference

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.targets.verification import How

_CHOICES = frozenset({"if", "switch", "filter"})
_NONE: Mapping[str, str] = MappingProxyType({})


def match_reference(ref: Reference, workflow: WorkflowDocument) -> Matching[NodeKey]:
    """The nodes of `workflow` matched with those of the reference, by keys of its graph."""
    graph = ref.plan.workflow_graph
    wires = [_Made("main", a.node, a.number, b.node, b.number) for a, b in graph.wires]
    main = [wire for wire in workflow.wires if wire.kind == "main"]
    old = Side(ref.nodes, wires, OrgflowMap())
    tie = _Tie(ref, workflow)
    mutual = ByMutualBest[NodeKey](_node_kind, tie.later)
    by = (tie.notes, tie.map, tie.ids, tie.names, mutual, tie.copies)
    return match_nodes(old, Side(workflow.steps, main, workflow.map), by)


class _Made(NamedTuple):
    """A wire of the graph."""

    kind: str
    source: NodeKey
    output: int
    target: NodeKey
    input: int


class _Tie:
    """The evidence that the graph of a reference gives. `later` has the copies by name, with the
    key of the node that each copies."""

    def __init__(self, ref: Reference, workflow: WorkflowDocument) -> None:
        self.ref, self.graph = ref, ref.plan.workflow_graph
        self.steps, self.said = workflow.steps, workflow.map.nodes
        self.later: dict[str, NodeKey] = {}
        self.keys: dict[tuple[str, str], list[NodeKey]] = defaultdict(list)
        for key, node in self.graph.nodes.items():
            role = "" if node.role in ("element", "trigger") else node.role
            self.keys[(node.element, role)].append(key)

    def notes(self, matcher: Matcher[NodeKey]) -> None:
        """Notes travel with a node, names of the map are those of the day it was compiled; where a
        tag stands on several nodes, the one the map names is the original, else the first."""
        tagged: dict[NodeKey, list[str]] = defaultdict(list)
        for name, step in self.steps.items():
            tag = step.tag
            if tag is None or tag not in self.keys:
                continue
            keys = self.keys[tag]
            if len(keys) > 1:  # several helpers of one element: the name tells which
                named = [k for k in keys if self.graph.nodes[k].name == name]
                keys = named or [k for k in keys if _same_body(step, self.ref.nodes[k])][:1]
            if keys:
                tagged[keys[0]].append(name)
        for key, names in tagged.items():
            element, own = self.graph.nodes[key].element, self.graph.nodes[key].name
            names.sort(key=lambda n: (self.said.get(n) != element, n != own))
            for name in names:
                identity = self.said.get(name)
                known: How = "map" if identity == element else "notes"
                if matcher.claim(key, name, known):
                    continue
                # A copy that was given the name of another step, "keep the name", is that step.
                if identity is None or self._tagged(identity):
                    self.later[name] = key

    def _tagged(self, element: str) -> bool:
        """Whether some node has the tag of an element itself."""
        return any(step.tag == (element, "") for step in self.steps.values())

    def map(self, matcher: Matcher[NodeKey]) -> None:
        """The map in the sticky note."""
        for name, element in self.said.items():
            if name in self.steps and name not in self.later:
                for key in self.keys.get((element, ""), ())[:1]:
                    matcher.claim(key, name, "map")

    def ids(self, matcher: Matcher[NodeKey]) -> None:
        """n8n's ids, which the editor keeps until a workflow is imported again."""
        ids = {node.n8n_id: key for key, node in self.ref.nodes.items()}
        for name, step in self.steps.items():
            if step.n8n_id in ids:
                matcher.claim(ids[step.n8n_id], name, "id")

    def names(self, matcher: Matcher[NodeKey]) -> None:
        """Names, exact or up to case and spacing."""
        names = {node.name: key for key, node in self.graph.nodes.items()}
        plain = {folded_name(name): key for name, key in names.items()}
        for name in self.steps:
            key = names.get(name) or plain.get(folded_name(name))
            if key is not None and name not in self.later:
                matcher.claim(key, name, "name")

    def copies(self, matcher: Matcher[NodeKey]) -> None:
        """A pasted copy of a node does the same work once more; one that was changed since is a
        step of its own. Of nodes pasted together n8n's editor makes references name the copies."""
        originals = {name: matcher.pairs[k] for name, k in self.later.items() if k in matcher.pairs}
        for name, original in originals.items():
            if name in matcher.key_of:
                continue  # the tag of a trigger on a node that is none
            if _same_body(self.steps[name], self.steps[original], originals):
                matcher.pair(self.later[name], name, "copy")


def _node_kind(step: Node) -> str:
    if step.trigger:
        return "trigger"
    short = step.type.rsplit(".", 1)[-1]
    if short in _CHOICES:
        return "choice"
    return short if short in ("merge", "stopAndError") else "step"


def _same_body(first: Node, other: Node, originals: Mapping[str, str] = _NONE) -> bool:
    """Whether two nodes do the same; a reference to a copy is one to its original."""

    def body(step: Node) -> str:
        return json.dumps([step.type, follow_renames(step.parameters, originals)], sort_keys=True)

    return body(first) == body(other)
