"""Where nodes stand. Layout is semantics on n8n: targets of one output run from top to bottom.

Columns are longest paths without back wires. Rows come from the dominator tree: the branches of a
split are packed below each other as blocks, what follows where they meet goes back to the row of
the split, and a wire that skips columns keeps its row free. So structured parts have no crossings,
and the first branch is the top one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from orgflow.backends.n8n.emit.graph import NodeKey

from orgflow_ir.analysis.control_flow.graph import dominators
from orgflow_ir.layout.stacking import Block, merge, postorder

COLUMN = 256
ROW = 176
GRID = 16
NODE = 96
"""Canvas units; a node of n8n's editor is 96 wide and high with its name below, the grid is 16."""

_ROOT: NodeKey = "\x00root"
_MAX_SPAN = 200


@dataclass(eq=False, repr=False)
class _Drawing:
    """What is drawn: `forward` has no wires back, `children` are those in the dominator tree."""

    succ: dict[NodeKey, list[NodeKey]]
    layer: dict[NodeKey, int]
    forward: dict[NodeKey, list[NodeKey]]
    children: dict[NodeKey, list[NodeKey]]
    offset: dict[NodeKey, int] = field(default_factory=dict)


def grid(
    nodes: Sequence[NodeKey], wires: Iterable[tuple[NodeKey, NodeKey]]
) -> dict[NodeKey, tuple[int, int]]:
    """Column and row of each node; `wires` in order of outputs, first nodes are the triggers."""
    succ: dict[NodeKey, list[NodeKey]] = {n: [] for n in nodes}
    into: dict[NodeKey, int] = dict.fromkeys(nodes, 0)
    for source, target in wires:
        if target not in succ[source]:
            succ[source].append(target)
            into[target] += 1
    succ[_ROOT] = [n for n in nodes if into[n] == 0] or list(nodes[:1])
    lost = _unreached(nodes, succ)
    succ[_ROOT] += lost
    forward, order = _forward(succ)
    layer = dict.fromkeys(succ, 0)
    layer[_ROOT] = -1
    for node in reversed(order):
        for target in forward[node]:
            layer[target] = max(layer[target], layer[node] + 1)
    idom = dominators(_ROOT, forward)
    children: dict[NodeKey, list[NodeKey]] = {n: [] for n in succ}
    for node in sorted(idom, key=lambda n: layer[n]):
        children[idom[node]].append(node)
    drawing = _Drawing(succ, layer, forward, children)
    _pack(drawing)
    rows = _absolute(drawing)
    return {n: (layer[n], rows[n]) for n in nodes}


def _unreached(nodes: Sequence[NodeKey], succ: Mapping[NodeKey, list[NodeKey]]) -> list[NodeKey]:
    seen: set[NodeKey] = set()
    extra: list[NodeKey] = []
    stack = list(succ[_ROOT])
    for node in (None, *nodes):
        if node is not None and node not in seen:
            extra.append(node)
            stack.append(node)
        while stack:
            current = stack.pop()
            if current not in seen:
                seen.add(current)
                stack.extend(succ[current])
        seen.update(extra)
    return extra


def _forward(
    succ: Mapping[NodeKey, list[NodeKey]],
) -> tuple[dict[NodeKey, list[NodeKey]], list[NodeKey]]:
    """Wires without those back to a node on the way, and all nodes in post-order."""
    forward: dict[NodeKey, list[NodeKey]] = {n: [] for n in succ}
    state: dict[NodeKey, int] = {_ROOT: 1}
    order: list[NodeKey] = []
    work = [(_ROOT, iter(succ[_ROOT]))]
    while work:
        node, rest = work[-1]
        for target in rest:
            if state.get(target) != 1:
                forward[node].append(target)
            if target not in state:
                state[target] = 1
                work.append((target, iter(succ[target])))
                break
        else:
            state[node] = 2
            order.append(node)
            work.pop()
    return forward, order


def _pack(drawing: _Drawing) -> None:
    """Offsets of every node's block against its dominator's, bottom-up."""
    blocks: dict[NodeKey, Block] = {}
    d = drawing
    depth_first = postorder(_ROOT, d.children)
    for node in depth_first:
        own = d.layer[node]
        block = Block({own: (0, 0)})
        heads = set(d.children[node])
        placed: set[NodeKey] = set()
        for target in d.forward[node]:
            if d.layer[target] > own + 1:  # straight along the row, so it comes before the rest
                span = range(own + 1, min(d.layer[target], own + 1 + _MAX_SPAN))
                block = merge(block, Block(dict.fromkeys(span, (0, 0))))[0]
        for target in d.forward[node]:
            if target in heads and d.layer[target] == own + 1 and target not in placed:
                block = _stack(d, block, target, blocks)
                placed.add(target)
        for child in d.children[node]:
            if child not in placed:
                block = _stack(d, block, child, blocks)
        blocks[node] = block


def _stack(d: _Drawing, block: Block, child: NodeKey, blocks: dict[NodeKey, Block]) -> Block:
    merged, shift = merge(block, blocks.pop(child))
    d.offset[child] = shift
    return merged


def _absolute(d: _Drawing) -> dict[NodeKey, int]:
    rows = {_ROOT: 0}
    stack = [_ROOT]
    while stack:
        node = stack.pop()
        for child in d.children[node]:
            rows[child] = rows[node] + d.offset[child]
            stack.append(child)
    return rows


def banded(
    cells: Mapping[NodeKey, tuple[int, int]], lane: Mapping[NodeKey, str], lanes: Sequence[str]
) -> tuple[dict[NodeKey, tuple[int, int]], dict[str, tuple[int, int]]]:
    """Rows regrouped so that each lane has a band of its own: cells, and (first, last) row of each
    lane that has nodes. The order of rows inside a lane stays."""
    used: dict[str, list[int]] = {name: [] for name in lanes}
    for node, (_, row) in cells.items():
        rows = used[lane[node]]
        if row not in rows:
            rows.append(row)
    new: dict[tuple[str, int], int] = {}
    bands: dict[str, tuple[int, int]] = {}
    at = 0
    for name in lanes:
        if not used[name]:
            continue
        for row in sorted(used[name]):
            new[(name, row)] = at
            at += 1
        bands[name] = (at - len(used[name]), at - 1)
    return {n: (col, new[(lane[n], row)]) for n, (col, row) in cells.items()}, bands
