"""Which node of the new version is which of the old: name, map, notes, id, then neighbours."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from orgflow.backends.n8n.format.workflow_document import Node, WorkflowDocument

How = Literal["name", "map", "notes", "id", "graph"]

_Around = list[tuple[str, tuple[str, int, int], str]]
"""Neighbours of a node: the side it is on, the ports of the wire, its name."""

_Neighbours = defaultdict[str, _Around]
_Best = tuple[int, str]

_HUB = 200
"""A node with more neighbours than this says nothing about which is which."""

HOW: Mapping[str, str] = {
    "name": "by its name",
    "map": "by the map in the sticky note",
    "notes": "by its notes",
    "id": "by its id",
    "graph": "by its place among the others",
}


@dataclass
class Matching:
    """Pairs of nodes by name.

    Attributes:
        pairs: the new name by the old one.
        how: how it is known, by the old name.
    """

    pairs: dict[str, str] = field(default_factory=dict)
    how: dict[str, How] = field(default_factory=dict)

    @property
    def back(self) -> dict[str, str]:
        """The old name by the new one."""
        return {new: old for old, new in self.pairs.items()}

    @property
    def renamed(self) -> dict[str, str]:
        """The pairs whose names differ."""
        return {old: new for old, new in self.pairs.items() if old != new}


def match(old: WorkflowDocument, new: WorkflowDocument) -> Matching:
    """Tie the nodes of two versions to each other, each to at most one."""
    matcher = _Matcher(old, new)
    for name in old.steps:
        if name in new.steps:
            matcher.claim(name, name, "name")
    matcher.by_key("map", lambda flow, step: flow.map.nodes.get(step.name))
    matcher.by_key("notes", lambda flow, step: step.tag)
    matcher.by_key("id", lambda flow, step: step.n8n_id or None)
    matcher.by_neighbours()
    return matcher.found


class _Matcher:
    def __init__(self, old: WorkflowDocument, new: WorkflowDocument) -> None:
        self.old, self.new = old, new
        self.found = Matching()
        self.taken: set[str] = set()

    def claim(self, old: str, new: str, how: How) -> bool:
        if old in self.found.pairs or new in self.taken:
            return False
        self.found.pairs[old] = new
        self.found.how[old] = how
        self.taken.add(new)
        return True

    def by_key(self, how: How, key: Callable[[WorkflowDocument, Node], Hashable | None]) -> None:
        """Pairs whose key is on one node of either side only, among those left."""
        left = self._keyed(self.old, set(self.found.pairs), key)
        right = self._keyed(self.new, self.taken, key)
        for value, names in left.items():
            others = right.get(value, [])
            if len(names) == len(others) == 1 and self._alike(names[0], others[0]):
                self.claim(names[0], others[0], how)

    def _keyed(
        self,
        flow: WorkflowDocument,
        done: set[str],
        key: Callable[[WorkflowDocument, Node], Hashable | None],
    ) -> dict[Hashable, list[str]]:
        found: dict[Hashable, list[str]] = defaultdict(list)
        for name, step in flow.steps.items():
            value = None if name in done else key(flow, step)
            if value is not None:
                found[value].append(name)
        return found

    def _alike(self, old: str, new: str) -> bool:
        """A trigger stays a trigger, and nothing else becomes one."""
        return self.old.steps[old].trigger == self.new.steps[new].trigger

    def by_neighbours(self) -> None:
        """What is left is tied where type and matched neighbours agree and nothing else fits as
        well; each tie may allow another, of its neighbours. Candidates are looked for around
        matched neighbours only, so that large workflows take no longer than their wires."""
        around_old, around_new = _around(self.old), _around(self.new)
        near = [name for name in self.old.steps if name not in self.found.pairs]
        while near:
            best: list[tuple[int, str, str]] = []
            for name in near:
                found = self._candidate(name, around_old[name], around_new)
                if found is not None:
                    best.append((found[0], name, found[1]))
            wanted = Counter(new for _, _, new in best)
            claimed = []
            for _, name, candidate in sorted(best, key=lambda b: -b[0]):
                if wanted[candidate] > 1 and not self._same_body(name, candidate):
                    continue
                if self.claim(name, candidate, "graph"):
                    claimed.append(name)
            beside = (other for name in claimed for _, _, other in around_old[name])
            near = [name for name in dict.fromkeys(beside) if name not in self.found.pairs]

    def _candidate(self, name: str, around: _Around, around_new: _Neighbours) -> _Best | None:
        """The node of the new version that is most like one of the old, and how much; `None` where
        there is none or there are several."""
        step = self.old.steps[name]
        scores: Counter[str] = Counter()
        for side, port, other in around:
            partner = self.found.pairs.get(other)
            if partner is None or len(around_new[partner]) > _HUB:
                continue
            for its_side, its_port, candidate in around_new[partner]:
                if its_side == side or candidate in self.taken:
                    continue
                if self.new.steps[candidate].type == step.type:
                    scores[candidate] += 2 if its_port == port else 1
        if not scores:
            return None
        most = max(scores.values())
        same = [c for c, n in scores.items() if n == most]
        if len(same) > 1:
            same = [c for c in same if self.new.steps[c].parameters == step.parameters]
        return (most, same[0]) if len(same) == 1 else None

    def _same_body(self, old: str, new: str) -> bool:
        one, other = self.old.steps[old], self.new.steps[new]
        return one.type == other.type and one.parameters == other.parameters


def _around(flow: WorkflowDocument) -> _Neighbours:
    """For each node its neighbours."""
    found: _Neighbours = defaultdict(list)
    for wire in flow.wires:
        ports = (wire.kind, wire.output, wire.input)
        found[wire.source].append(("after", ports, wire.target))
        found[wire.target].append(("before", ports, wire.source))
    return found
