"""Positions of the sticky notes behind the steps of sub-processes that are part of a workflow: a
note lies behind them if no other node is among them."""

from __future__ import annotations

from collections.abc import Mapping

from orgflow.backends.n8n.emit.layout import NODE
from orgflow.backends.n8n.plan.graph import NodeKey, PlanGraph
from orgflow.backends.n8n.plan.groups import Group

COLOUR = 6
_BESIDE, _ABOVE, _BELOW, _LEVEL = 40, 56, 72, 24
"""Space between the nodes and the edges of the note, for its heading and the names under nodes, and
for each nested sub-process."""


def place_group(
    group: Group, graph: PlanGraph, positions: Mapping[NodeKey, tuple[int, int]]
) -> tuple[int, int, int, int] | None:
    """Left, top, width and height of its note; `None` if another node would lie on it."""
    own = {key for key, node in graph.nodes.items() if node.element in group.elements}
    mine = [key for key in own if graph.nodes[key].role != "stop"]  # those are far below
    if not mine:
        return None
    more = _LEVEL * group.levels
    xs, ys = zip(*(positions[key] for key in mine), strict=True)
    left, right = min(xs) - _BESIDE - more, max(xs) + NODE + _BESIDE + more
    top, bottom = min(ys) - _ABOVE - 2 * more, max(ys) + NODE + _BELOW + more
    for key in graph.nodes.keys() - own:
        x, y = positions[key]
        if left < x + NODE and x < right and top < y + NODE and y < bottom:
            return None
    return left, top, right - left, bottom - top
