"""Which node of a workflow stands for what: map, notes, ids, names, then neighbours, and copies."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from orgflow.backends.n8n.format.workflow_document import Node, WorkflowDocument
from orgflow.backends.n8n.verify.reference import Reference

from orgflow_ir.targets.verification import How

_CHOICES = frozenset({"if", "switch", "filter"})


@dataclass
class Matching:
    """What the nodes of a workflow stand for.

    Attributes:
        key_of: graph key of the reference by node name.
        how: how it is known, by node name.
        added: names of nodes that stand for nothing, in the order of the file.
        missing: workflow_graph keys that no node stands for.
    """

    key_of: dict[str, str] = field(default_factory=dict)
    how: dict[str, How] = field(default_factory=dict)
    added: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def match(ref: Reference, workflow: WorkflowDocument) -> Matching:
    """Tie the nodes of `workflow` to those of the reference."""
    return _Matcher(ref, workflow).run()


class _Matcher:
    def __init__(self, ref: Reference, workflow: WorkflowDocument) -> None:
        self.ref = ref
        self.steps, self.map = workflow.steps, workflow.map
        self.wires = [
            (w.source, w.output, w.target, w.input) for w in workflow.wires if w.kind == "main"
        ]
        self.found = Matching()
        self.taken: dict[str, str] = {}
        self.later: list[tuple[str, str]] = []  # copies: node and the key of what it copies
        workflow_graph = ref.compiled.workflow_graph
        self.keys: dict[tuple[str, str], list[str]] = defaultdict(list)
        for key, node in workflow_graph.nodes.items():
            role = "" if node.role in ("element", "trigger") else node.role
            self.keys[(node.element, role)].append(key)

    def run(self) -> Matching:
        self._by_notes()
        self._by_map()
        self._by_id()
        self._by_name()
        self._by_neighbours()
        self._copies()
        found = self.found
        found.added = tuple(name for name in self.steps if name not in found.key_of)
        found.missing = tuple(
            k for k in self.ref.compiled.workflow_graph.nodes if k not in self.taken
        )
        return found

    def _claim(self, name: str, key: str, how: How) -> bool:
        if name in self.found.key_of or key in self.taken:
            return False
        if not self._fits(name, key):
            return False
        self.found.key_of[name] = key
        self.found.how[name] = how
        self.taken[key] = name
        return True

    def _fits(self, name: str, key: str) -> bool:
        """A trigger stays a trigger, and nothing else becomes one."""
        starts = self.ref.compiled.workflow_graph.nodes[key].role == "trigger"
        return starts == self.steps[name].trigger

    def _by_notes(self) -> None:
        """Notes travel with a node, names of the map are those of the day it was compiled; where a
        tag stands on several nodes, the one the map names is the original, else the first."""
        tagged: dict[str, list[str]] = defaultdict(list)
        for name, step in self.steps.items():
            tag = step.tag
            if tag is None or tag not in self.keys:
                continue
            keys = self.keys[tag]
            if len(keys) > 1:  # several helpers of one element: the name tells which
                named = [k for k in keys if self.ref.compiled.workflow_graph.nodes[k].name == name]
                keys = named or [k for k in keys if _same_body(step, self.ref.nodes[k])][:1]
            if keys:
                tagged[keys[0]].append(name)
        for key, names in tagged.items():
            element = self.ref.compiled.workflow_graph.nodes[key].element
            own = self.ref.compiled.workflow_graph.nodes[key].name
            names.sort(key=lambda n: (self.map.nodes.get(n) != element, n != own))
            for name in names:
                said = self.map.nodes.get(name)
                known: How = "map" if said == element else "notes"
                if self._claim(name, key, known):
                    continue
                # A copy that was given the name of another step, "keep the name", is that step.
                if said is None or self._tagged(said):
                    self.later.append((name, key))

    def _tagged(self, element: str) -> bool:
        """Whether some node has the tag of an element itself."""
        return any(step.tag == (element, "") for step in self.steps.values())

    def _by_map(self) -> None:
        copies = {name for name, _ in self.later}
        for name, element in self.map.nodes.items():
            if name in self.steps and name not in copies:
                for key in self.keys.get((element, ""), ())[:1]:
                    self._claim(name, key, "map")

    def _by_id(self) -> None:
        ids = {node.n8n_id: key for key, node in self.ref.nodes.items()}
        for name, step in self.steps.items():
            if step.n8n_id in ids:
                self._claim(name, ids[step.n8n_id], "id")

    def _by_name(self) -> None:
        copies = {name for name, _ in self.later}
        names = {node.name: key for key, node in self.ref.compiled.workflow_graph.nodes.items()}
        folded = {_folded(name): key for name, key in names.items()}
        for name in self.steps:
            if name not in copies:
                key = names.get(name) or folded.get(_folded(name))
                if key is not None:
                    self._claim(name, key, "name")

    def _by_neighbours(self) -> None:
        """What is left is tied where kind and matched neighbours agree, and nothing else fits as
        well; each tie may allow another."""
        copies = {name for name, _ in self.later}
        sketch_wires = [
            (a.node, a.number, b.node, b.number) for a, b in self.ref.compiled.workflow_graph.wires
        ]
        workflow_graph = self.ref.compiled.workflow_graph
        while True:
            names = [n for n in self.steps if n not in self.found.key_of and n not in copies]
            keys = [k for k in workflow_graph.nodes if k not in self.taken]
            if not names or not keys:
                return
            around_keys = {k: _around(k, sketch_wires, set(self.taken)) for k in keys}
            around_names = {
                n: {
                    (side, port, self.found.key_of[other])
                    for side, port, other in _around(n, self.wires, set(self.found.key_of))
                }
                for n in names
            }
            scores = {
                (n, k): _overlap(around_names[n], around_keys[k])
                for n in names
                for k in keys
                if _kind(self.steps[n]) == _kind(self.ref.nodes[k]) and self._fits(n, k)
            }
            best = _mutual_best(scores)
            claimed = [self._claim(n, k, "graph") for n, k in best]
            if not any(claimed):
                return

    def _copies(self) -> None:
        """A pasted copy of a node does the same work once more; one that was changed since is a
        step of its own."""
        for name, key in self.later:
            if key not in self.taken:  # the tag of a trigger on a node that is none
                continue
            original = self.steps[self.taken[key]]
            if name not in self.found.key_of and _same_body(self.steps[name], original):
                self.found.key_of[name] = key
                self.found.how[name] = "copy"


def _kind(step: Node) -> str:
    short = step.type.rsplit(".", 1)[-1]
    if step.trigger:
        return "trigger"
    if short in _CHOICES:
        return "choice"
    return short if short in ("merge", "stopAndError") else "step"


def _same_body(one: Node, other: Node) -> bool:
    def body(step: Node) -> str:
        return json.dumps([step.type, step.parameters], sort_keys=True)

    return body(one) == body(other)


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())


def _around(
    node: str, wires: Iterable[tuple[str, int, str, int]], known: set[str]
) -> set[tuple[str, int, str]]:
    """Matched neighbours with the side and the port of `node` they are at."""
    found = set()
    for source, output, target, slot in wires:
        if target == node and source in known:
            found.add(("in", slot, source))
        if source == node and target in known:
            found.add(("out", output, target))
    return found


def _overlap(one: set[Any], other: set[Any]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


def _mutual_best(scores: Mapping[tuple[str, str], float]) -> list[tuple[str, str]]:
    """Pairs that are each other's only best."""

    def only_best(pairs: list[tuple[float, tuple[str, str]]]) -> tuple[str, str] | None:
        pairs.sort(reverse=True)
        if pairs[0][0] <= 0 or (len(pairs) > 1 and pairs[1][0] == pairs[0][0]):
            return None
        return pairs[0][1]

    by_name: dict[str, list[tuple[float, tuple[str, str]]]] = defaultdict(list)
    by_key: dict[str, list[tuple[float, tuple[str, str]]]] = defaultdict(list)
    for pair, score in scores.items():
        by_name[pair[0]].append((score, pair))
        by_key[pair[1]].append((score, pair))
    mine = {only_best(pairs) for pairs in by_name.values()}
    return sorted(p for p in (only_best(pairs) for pairs in by_key.values()) if p and p in mine)
