"""Results of the reduction of a net: matching splits and joins, and mismatches."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Literal

from orgflow_ir.flow.nets.net import SINK, Kind, Net
from orgflow_ir.flow.nets.region_tree import Pair, Region, build_tree
from orgflow_ir.model.records import NamedTuple, dataclass


@dataclass(eq=False, repr=False)
class Edge:
    """An edge of the reduced graph: the part of the net between two of its nodes.

    `first` and `last` are its first and last arcs of the net; `event`: every path along it passes a
    boundary event.
    """

    src: int
    dst: int
    first: int
    last: int
    content: object = None
    event: bool = False


class Clash(NamedTuple):
    """A join whose type does not match its incoming branches.

    deadlock: the split of `pair` takes one (or some) of its branches, `join` waits for all; if
        `pair` is `None`, some incoming flows of the join come from nodes that never run
        (`net.dead_inputs`).
    unsync: the split takes several branches, and `join` passes each token. livelock: after `join`,
        no path leads out of a cycle; `around` is the cycle as (first, last) arc.
    """

    fault: Literal["deadlock", "unsync", "livelock"]
    join: int
    pair: Pair | None = None
    around: tuple[int, int] = (-1, -1)


class MatchedPair(NamedTuple):
    """A split and its join by element id; `join` is `None` if the branches end without one.
    `exact`: every branch begins at exactly this gateway and ends at exactly this join, not at one
    fused with it.
    """

    split: str
    join: str | None
    kind: Literal["xor", "and", "or", "clash"]
    exact: bool


@dataclass(eq=False, repr=False)
class Reduction:
    """The result of the reduction of one scope. `edges` is the irreducible residue: empty when the
    scope is structured (after repairs). `trap` is the node that endless loops lead to (-1: with
    repairs they lead to the end); `merged_or` states whether inclusive blocks were collapsed."""

    net: Net
    raw_pairs: list[Pair] = field(default_factory=list)
    clashes: list[Clash] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    kinds: list[Kind] = field(default_factory=list)
    absorbed: dict[int, int] = field(default_factory=dict)
    trunk: object = None
    trap: int = -1
    merged_or: bool = False

    @property
    def repaired(self) -> bool:
        """Whether clashes were repaired, so that the result may behave differently."""
        return self.trap < 0

    @property
    def structured(self) -> bool:
        """Whether the net was reduced completely."""
        return not self.edges

    def root(self, node: int) -> int:
        """The net node that represents `node` after equal gateways were fused."""
        while node in self.absorbed:
            node = self.absorbed[node]
        return node

    @cached_property
    def pairs(self) -> tuple[MatchedPair, ...]:
        """Splits with the join where all their branches into that join meet, innermost first."""
        net, matched = self.net, []
        for p in self.raw_pairs:
            split = net.element[p.split]
            if not split or not (p.whole_split if p.join == SINK else p.whole_join):
                continue
            join = net.element[p.join]
            exact = all(
                net.element[net.src[a]] == split and net.element[net.dst[b]] == join
                for a, b in p.branches
            )
            matched.append(MatchedPair(split, join or None, p.kind, exact and p.whole_split))
        return tuple(matched)

    def pair_of(self, join: str) -> str | None:
        """The one split whose branches, and no others, meet in `join`; `None` if there is none."""
        return self._by_join.get(join)

    @cached_property
    def _by_join(self) -> dict[str, str]:
        return {p.join: p.split for p in self.pairs if p.join is not None}

    @cached_property
    def tree(self) -> Region:
        """The region tree: contains every live element of the scope."""
        return build_tree(self.net, self.trunk, [e.content for e in self.edges], self.absorbed)


def list_elements(net: Net, content: object) -> set[str]:
    """Ids of the elements in the content of an edge."""
    names: set[str] = set()
    seen: set[int] = set()
    stack = [content]
    while stack:
        item = stack.pop()
        if isinstance(item, int):
            names.add(net.element[item])
        elif isinstance(item, str):
            names.add(item)
        elif item is not None and id(item) not in seen:
            seen.add(id(item))
            stack.extend(item.contents if isinstance(item, Pair) else item[1:])  # type: ignore[index]
    return names - {""}
