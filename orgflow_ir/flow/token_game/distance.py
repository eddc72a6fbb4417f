"""Distances from flows to a goal, over all scopes of a net, to guide the search for runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from orgflow_ir.flow.token_game.net import Net

FAR = 1 << 30
"""The distance of unreachable places."""


class Distances:
    """The connections of a net as one graph of nodes: flows, links, boundary events, entry and exit
    of sub-processes, backwards."""

    def __init__(self, net: Net) -> None:
        self.net = net
        self.before: list[list[int]] = [[] for _ in net.nodes]
        for node in net.nodes:
            after = [net.consumer[p] for p in node.outs] + [*node.links, *node.boundaries]
            for target in after:
                self.before[target].append(node.index)
            if node.handler >= 0:
                self.before[node.handler].append(node.index)
            if node.body >= 0:
                self._enter_body(node.index, node.body)
        for scope in net.scopes:
            for i in scope.events:
                for other in scope.nodes:
                    if other != i:
                        self.before[i].append(other)

    def _enter_body(self, holder: int, body: int) -> None:
        scope = self.net.scopes[body]
        inner = scope.nodes if scope.loop or scope.ad_hoc else (scope.starts or scope.sources)
        for i in inner:
            self.before[i].append(holder)

    def to_flows(self, goals: Iterable[int]) -> list[int]:
        """For each node, the number of steps to the nearest of some flows (0 for its own flows)."""
        return self._spread_distances(self.net.producer[p] for p in goals)

    def to_end(self) -> list[int]:
        """For each node, the number of steps to the end of its scope."""
        return self._spread_distances(n.index for n in self.net.nodes if not n.outs and not n.links)

    def _spread_distances(self, goals: Iterable[int]) -> list[int]:
        far = [FAR] * len(self.net.nodes)
        queue: deque[int] = deque()
        for i in goals:
            if far[i]:
                far[i] = 0
                queue.append(i)
        while queue:
            i = queue.popleft()
            for b in self.before[i]:
                if far[b] == FAR:
                    far[b] = far[i] + 1
                    queue.append(b)
        return far
