"""The matcher: which node of one workflow corresponds to which node of another.

The caller gives the evidence, strongest first: names, the map in the sticky note, notes, ids,
neighbours. Later evidence does not change earlier pairs; only a copy shares its partner.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from math import inf
from typing import Generic, NamedTuple, Protocol, TypeVar

from orgflow.backends.n8n.format.identity import OrgflowMap
from orgflow.backends.n8n.format.workflow_document import Node

from orgflow_ir.model.records import dataclass
from orgflow_ir.targets.verification import How

K = TypeVar("K", bound=Hashable)
_K = TypeVar("_K", bound=Hashable, covariant=True)


class Link(Protocol[_K]):
    """A connection between two keys."""

    @property
    def kind(self) -> str: ...
    @property
    def source(self) -> _K: ...
    @property
    def output(self) -> int: ...
    @property
    def target(self) -> _K: ...
    @property
    def input(self) -> int: ...


class Side(NamedTuple, Generic[K]):
    """The input of matching: nodes by key, the connections between keys, and the content of the
    map."""

    steps: Mapping[K, Node]
    wires: Sequence[Link[K]]
    map: OrgflowMap


@dataclass
class Matching(Generic[K]):
    """The pairs, and the nodes without a partner.

    Attributes:
        key_of: key of the old node by name of the new one, in the order of matching; only copies
            share an old node.
        how: the evidence, by name of the new node.
        added: new nodes without a partner, in the order of the file.
        missing: keys of old nodes without a partner.
    """

    key_of: dict[str, K] = field(default_factory=dict)
    how: dict[str, How] = field(default_factory=dict)
    added: tuple[str, ...] = ()
    missing: tuple[K, ...] = ()

    @cached_property
    def pairs(self) -> dict[K, str]:
        """The new name by the old key, without copies."""
        return {key: name for name, key in self.key_of.items() if self.how[name] != "copy"}

    @cached_property
    def renamed(self) -> dict[K, str]:
        """The pairs whose names differ."""
        return {old: new for old, new in self.pairs.items() if old != new}


Evidence = Callable[["Matcher[K]"], None]


def match_nodes(old: Side[K], new: Side[str], by: Iterable[Evidence[K]]) -> Matching[K]:
    """Match the nodes of two workflows, strongest evidence first."""
    matcher = Matcher(old, new)
    for evidence in by:
        evidence(matcher)
    matching = Matching(matcher.key_of, matcher.how)
    matching.added = tuple(name for name in new.steps if name not in matcher.key_of)
    matching.missing = tuple(key for key in old.steps if key not in matcher.pairs)
    return matching


class Matcher(Generic[K]):
    """The pairs so far; evidence adds to them."""

    def __init__(self, old: Side[K], new: Side[str]) -> None:
        self.old, self.new = old, new
        self.key_of: dict[str, K] = {}
        self.pairs: dict[K, str] = {}
        self.how: dict[str, How] = {}

    def claim(self, old: K, new: str, how: How) -> bool:
        """Pair two nodes unless one has a partner or only one is a trigger; returns whether it
        did."""
        if old in self.pairs or new in self.key_of:
            return False
        if self.old.steps[old].trigger != self.new.steps[new].trigger:
            return False
        self.pair(old, new, how)
        return True

    def pair(self, old: K, new: str, how: How) -> None:
        """Pair two nodes; a second one for an old node is its copy."""
        self.pairs.setdefault(old, new)
        self.key_of[new], self.how[new] = old, how


def by_name(matcher: Matcher[str]) -> None:
    """Pairs nodes of the same name, even where one is a trigger and the other is not."""
    for name in matcher.old.steps:
        if name in matcher.new.steps:
            matcher.pair(name, name, "name")


def by_unique(how: How, key: Callable[[Side[str], Node], Hashable | None]) -> Evidence[str]:
    """Evidence that pairs two nodes if no other unpaired node of either side has their key."""

    def keyed_nodes(side: Side[str], done: Collection[str]) -> dict[Hashable, list[str]]:
        names_by_value: dict[Hashable, list[str]] = defaultdict(list)
        for name, node in side.steps.items():
            value = None if name in done else key(side, node)
            if value is not None:
                names_by_value[value].append(name)
        return names_by_value

    def match_unique(matcher: Matcher[str]) -> None:
        others = keyed_nodes(matcher.new, matcher.key_of)
        for value, names in keyed_nodes(matcher.old, matcher.pairs).items():
            if len(names) == len(others.get(value, ())) == 1:
                matcher.claim(names[0], others[value][0], how)

    return match_unique


BY_MAP = by_unique("map", lambda side, node: side.map.nodes.get(node.name))
BY_NOTES = by_unique("notes", lambda _, node: node.tag)
BY_ID = by_unique("id", lambda _, node: node.n8n_id or None)


# -- neighbours ----------------------------------------------------------------------------------

_E = TypeVar("_E", bound=Hashable)
_Traits = Counter[Hashable]
_Scores = Mapping[K, Mapping[str, float]]  # by key of the old node and name of the new one


class ByNeighbours(Generic[K]):
    """Evidence that pairs nodes by their paired neighbours, in rounds: an old node with the
    candidate that shares most connections.

    Args:
        kind: nodes of different kinds are never paired.
        apart: new nodes that are excluded.
    """

    most: float = 200
    """A node with more neighbours than this is not evidence for any of them."""

    def __init__(self, kind: Callable[[Node], Hashable], apart: Collection[str] = ()) -> None:
        self.kind, self.apart = kind, apart

    def __call__(self, matcher: Matcher[K]) -> None:
        self.matcher, steps, pairs = matcher, matcher.old.steps, matcher.pairs
        self.old, self.new = self._list_neighbours(matcher.old), self._list_neighbours(matcher.new)
        near = [key for key in steps if key not in pairs]
        while near:
            self.seen: dict[str, _Traits] = {}
            chosen = self.choose({key: self._score_candidates(key) for key in near})
            claimed = [old for old, new in chosen if matcher.claim(old, new, "graph")]
            near = [key for key in self.again(claimed) if key in steps and key not in pairs]

    def _list_neighbours(
        self, side: Side[_E]
    ) -> Mapping[_E, list[tuple[str, _E, Iterable[Hashable]]]]:
        """For each node its neighbours: before or after it, key, traits of the wire."""
        neighbours: dict[_E, list[tuple[str, _E, Iterable[Hashable]]]] = defaultdict(list)
        for wire in side.wires:
            neighbours[wire.source].append(("after", wire.target, self.traits(wire, wire.output)))
            neighbours[wire.target].append(("before", wire.source, self.traits(wire, wire.input)))
        return neighbours

    def _score_candidates(self, old: K) -> dict[str, float]:
        """Candidates for an old node: neighbours of its neighbours' partners."""
        steps, pairs, key_of = self.matcher.new.steps, self.matcher.pairs, self.matcher.key_of
        kind, mine, scores_by_name = self.kind(self.matcher.old.steps[old]), Counter[Hashable](), {}
        candidates: dict[str, None] = {}
        for side, other, traits in self.old[old]:
            if other in pairs and len(self.new[pairs[other]]) <= self.most:
                mine.update((side, pairs[other], trait) for trait in traits)
                beside = (new for at, new, _ in self.new[pairs[other]] if at != side)
                candidates.update(dict.fromkeys(beside))
        for new in candidates:
            if new in key_of or new in self.apart or new not in steps:
                continue
            if self.kind(steps[new]) == kind:
                if new not in self.seen:
                    self.seen[new] = Counter(
                        (side, other, trait)
                        for side, other, traits in self.new[new]
                        if other in key_of
                        for trait in traits
                    )
                if (score := self.score(mine, self.seen[new])) > 0:
                    scores_by_name[new] = score
        return scores_by_name

    def traits(self, wire: Link[Hashable], port: int) -> Iterable[Hashable]:
        """The compared traits of a connection: the neighbour, and the neighbour with the ports."""
        return None, (wire.kind, wire.output, wire.input)

    def score(self, own: _Traits, other: _Traits) -> float:
        """The similarity of two nodes by the traits of their connections."""
        return sum(count * other[trait] for trait, count in own.items())

    def choose(self, scores: _Scores[K]) -> Iterable[tuple[K, str]]:
        """The pairs of a round: parameters decide between equally similar candidates."""
        best: list[tuple[float, K, str]] = []
        for old, candidates in scores.items():
            first = _highest_scored(candidates)
            if len(first) > 1:
                first = [new for new in first if self._same_parameters(old, new)]
            if len(first) == 1:
                best.append((candidates[first[0]], old, first[0]))
        wanted = Counter(new for _, _, new in best)
        for _, old, new in sorted(best, key=lambda ranked: -ranked[0]):
            if wanted[new] == 1 or self._same_parameters(old, new):
                yield old, new

    def again(self, claimed: list[K]) -> Iterable[K]:
        """Old nodes of the next round: only those with newly paired neighbours, so the time for
        large workflows is linear in their connections."""
        return dict.fromkeys(other for old in claimed for _, other, _ in self.old[old])

    def _same_parameters(self, old: K, new: str) -> bool:
        return self.matcher.old.steps[old].parameters == self.matcher.new.steps[new].parameters


class ByMutualBest(ByNeighbours[K]):
    """Pairs nodes that are each other's unique best match, by the share of ports with common
    neighbours."""

    most = inf

    def traits(self, wire: Link[Hashable], port: int) -> Iterable[Hashable]:
        return (port,)

    def score(self, own: _Traits, other: _Traits) -> float:
        return len(own.keys() & other.keys()) / len(own.keys() | other.keys())

    def choose(self, scores: _Scores[K]) -> Iterable[tuple[K, str]]:
        columns: dict[str, dict[K, float]] = defaultdict(dict)
        for old, candidates in scores.items():
            for new, score in candidates.items():
                columns[new][old] = score
        for new in sorted(columns):
            first = _highest_scored(columns[new])
            if len(first) == 1 and _highest_scored(scores[first[0]]) == [new]:
                yield first[0], new

    def again(self, claimed: list[K]) -> Iterable[K]:
        return self.matcher.old.steps if claimed else ()


def _highest_scored(scores_by_name: Mapping[_E, float]) -> list[_E]:
    """Those with the highest score."""
    most = max(scores_by_name.values(), default=0)
    return [name for name, score in scores_by_name.items() if score == most]
