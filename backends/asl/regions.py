"""The parts that the flows of a fork lead to: regions, their overlaps, and whether they are
closed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orgflow_ir.flow.control_flow.graph import ControlFlow, list_reachable
from orgflow_ir.model import Event, Flow, Gateway
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.work.gateway_decisions import describe_gateway

JOINING = ("parallel", "inclusive")
"""Gateways that wait for the branches of a fork."""


class Group(NamedTuple):
    """Outgoing flows of a fork with overlapping regions, and the union of these."""

    flows: tuple[Flow, ...]
    region: frozenset[str]


class Regions:
    """Reachability in a scope, for the branches of its forks.

    An end event without output belongs to no region: each token ends there, so branches may share
    it, and every machine that leads there has its own state for it.
    """

    def __init__(self, graph: ControlFlow) -> None:
        self.graph = graph
        self.ends = frozenset(
            n.id
            for n in graph.scope.nodes
            if isinstance(n, Event)
            and n.position == "end"
            and n.trigger in ("none", "error", "terminate")
            and not graph.flows_out(n.id)
        )
        self._index = {n: i for i, n in enumerate(graph.nodes)}

    def reach(self, flow: Flow, avoid: Iterable[str | None]) -> frozenset[str]:
        """All nodes that a token on `flow` may reach without passing `avoid`."""
        blocked = frozenset(a for a in avoid if a is not None)
        return list_reachable([flow.target], self.graph.successors, blocked) - self.ends

    def groups(self, flows: Sequence[Flow], avoid: Iterable[str | None]) -> list[Group]:
        """The flows, grouped if their regions overlap, in the order of the first one."""
        avoid = tuple(avoid)
        groups: list[Group] = []
        for flow in flows:
            region = self.reach(flow, avoid)
            mine = [g for g in groups if not g.region.isdisjoint(region)]
            if not mine:
                groups.append(Group((flow,), region))
                continue
            merged = Group(
                (*(f for g in mine for f in g.flows), flow),
                region.union(*(g.region for g in mine)),
            )
            groups[groups.index(mine[0])] = merged
            groups = [g for g in groups if g not in mine[1:]]
        return groups

    def only_to(self, group: Group, join: str) -> bool:
        """Whether the region is left only to `join` or by ending."""
        succ = self.graph.successors
        return all(
            s in group.region or s == join or s in self.ends for n in group.region for s in succ[n]
        )

    def joins(self, node: str) -> bool:
        """Whether a node waits for several branches."""
        gateway = self.graph.nodes[node]
        return isinstance(gateway, Gateway) and gateway.gateway_kind in JOINING

    def breach(self, split: str, group: Group, exit_: str | None) -> str | None:
        """The reason why a branch has other entries than its own flows, or leads back to its
        split."""
        own = {f.id for f in group.flows}
        live = self.graph.reachable
        for inner in sorted(group.region, key=self._index.__getitem__):
            for arc in self.graph.into[inner]:
                mine = arc.flow is not None and arc.flow.id in own
                if arc.source not in group.region and not mine and arc.source in live:
                    return (
                        f"{self.named(arc.source)} leads from outside into its branch, to "
                        f"{self.named(inner)}"
                    )
            if split in self.graph.successors[inner] and split != exit_:
                return (
                    "a flow inside its branch leads back to it from "
                    f"{self.named(inner)}, past any join"
                )
        return None

    def named(self, node: str) -> str:
        """The name of a node in a reason."""
        element = self.graph.nodes.get(node)
        if element is None:
            return "the beginning"
        into = self.graph.flows_in(node)
        if not isinstance(element, Gateway) or element.name.strip() or len(into) < 2:
            return describe_gateway(element, self.graph)
        before = dict.fromkeys(w for f in into if (w := self._words_back(f.source)))
        if len(before) < 2:
            return f"the {element.gateway_kind} gateway `{node}`"
        kind = f"the {element.gateway_kind} gateway"
        return f"{kind} that joins {' and '.join(f'`{w}`' for w in list(before)[:3])}"

    def _words_back(self, node: str) -> str:
        """The label of the nearest element with a name at or before `node`, first flows first."""
        seen: set[str] = set()
        while node not in seen and not self.graph.nodes[node].name.strip():
            seen.add(node)
            into = self.graph.flows_in(node)
            if not into:
                return ""
            node = into[0].source
        return self.graph.nodes[node].label if self.graph.nodes[node].name.strip() else ""
