"""Where nodes stand. The layout affects execution on n8n: targets of one output run from top to
bottom.

Columns are longest paths without backward connections. Rows follow the dominator tree: the branches
of a split are packed below each other as blocks, their join returns to the row of the split, and a
connection that skips columns keeps its row free. So structured parts have no crossings, and the
first branch is at the top; of a decision, which runs only one branch, the longest one is, so that
the connection to its successor is straight.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from math import inf
from types import MappingProxyType

from orgflow.backends.n8n.plan.graph import NodeKey

from orgflow_ir.flow.control_flow.graph import immediate_dominators
from orgflow_ir.layout.stacking import Block, list_postorder, merge_blocks
from orgflow_ir.model.records import dataclass

COLUMN = 256
ROW = 224
GRID = 16
NODE = 96
PORT = 32
"""Canvas units: a node in n8n's editor is 96 wide and high with its name below, and 32 higher for
each port of a side above two; the grid is 16. A connection to the left runs 130 below its output
port by: below the name of its node, and above the next row."""

MOST_LIFT = 48
"""Maximum distance of a high node's top above its row; a node with three ports, 16 above it, has
its centre at the height of a node with one port, so the connection between them is straight."""

_NAME = 56
_FAR = 4
"""A connection over more columns passes a part of the workflow."""

_ROOT = -1
_MAX_SPAN = 200
_MOST_CLIMBS = 20
_NONE: Mapping[NodeKey, int] = MappingProxyType({})


_Number = int
"""The number of a node in a layout; keys of helpers are tuples, which are slow to look up."""


@dataclass(eq=False, repr=False)
class _Drawing:
    """What is drawn: `forward` has no wires back, `children` are those in the dominator tree,
    `exits` are the branches of decisions that a wire leads out of past much else."""

    succ: dict[_Number, list[_Number]]
    layer: dict[_Number, int]
    forward: dict[_Number, list[_Number]]
    children: dict[_Number, list[_Number]]
    ports: Mapping[_Number, int]
    exits: set[_Number]
    offset: dict[_Number, int] = field(default_factory=dict)


def find_lift(ports: int) -> int:
    """The distance above its row at which a node with this number of ports begins."""
    return min(max(0, ports - 2) * PORT // 2, MOST_LIFT)


def assign_cells(
    nodes: Sequence[NodeKey],
    wires: Iterable[tuple[NodeKey, NodeKey]],
    ports: Mapping[NodeKey, int] = _NONE,
    choices: Collection[NodeKey] = (),
    late: Collection[NodeKey] = (),
) -> dict[NodeKey, tuple[int, int]]:
    """Column and row of each node.

    Args:
        nodes: triggers first.
        wires: in the order of outputs.
        ports: their number, for nodes with more than two on a side.
        choices: nodes of which only one branch runs, so that the order of branches is irrelevant.
        late: nodes placed directly before their target, since the connection to it is straight and
            one to another row would run through nodes.
    """
    number = {node: at for at, node in enumerate(nodes)}
    numbers = range(len(nodes))
    succ: dict[_Number, list[_Number]] = {n: [] for n in numbers}
    begins = [True] * len(nodes)
    for begin, end in wires:
        target = number[end]
        if target not in (targets := succ[number[begin]]):
            targets.append(target)
            begins[target] = False
    succ[_ROOT] = [n for n in numbers if begins[n]] or list(numbers[:1])
    lost = _list_unreached(numbers, succ)
    succ[_ROOT] += lost
    forward, order = _find_forward_wires(succ)
    layer = dict.fromkeys(succ, 0)
    layer[_ROOT] = -1
    for node in reversed(order):
        after = layer[node] + 1
        for target in forward[node]:
            if layer[target] < after:
                layer[target] = after
    delayed = {number[key] for key in late if key in number}
    for node in order:  # successors come first
        if node in delayed and forward[node]:
            layer[node] = max(layer[node], min(layer[t] for t in forward[node]) - 1)
    idom = immediate_dominators(_ROOT, forward, order)
    children: dict[_Number, list[_Number]] = {n: [] for n in succ}
    for node in sorted(idom, key=layer.__getitem__):
        children[idom[node]].append(node)
    chosen = {number[key] for key in choices if key in number}
    exits = _find_exits(forward, layer, idom, chosen) if chosen else set()
    high = {number[key]: count for key, count in ports.items()}
    drawing = _Drawing(succ, layer, forward, children, high, exits)
    _pack_blocks(drawing)
    rows = _compute_rows(drawing)
    return {key: (layer[n], rows[n]) for key, n in number.items()}


def _list_unreached(
    nodes: Sequence[_Number], succ: Mapping[_Number, list[_Number]]
) -> list[_Number]:
    seen: set[_Number] = set()
    extra: list[_Number] = []
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


def _find_forward_wires(
    succ: Mapping[_Number, list[_Number]],
) -> tuple[dict[_Number, list[_Number]], list[_Number]]:
    """Wires without those back to a node on the way, and all nodes in post-order."""
    forward: dict[_Number, list[_Number]] = {n: [] for n in succ}
    state: dict[_Number, int] = {_ROOT: 1}
    order: list[_Number] = []
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


def _find_exits(
    forward: Mapping[_Number, list[_Number]],
    layer: Mapping[_Number, int],
    idom: Mapping[_Number, _Number],
    choices: Collection[_Number],
) -> set[_Number]:
    """Branches of decisions that a long wire leads out of."""
    exits: set[_Number] = set()
    left = _MOST_CLIMBS * len(layer)
    for source, targets in forward.items():
        for target in targets:
            if layer[target] - layer[source] <= _FAR:
                continue
            node, end = source, idom[target]
            while node != end and left:
                if idom[node] in choices:
                    exits.add(node)
                node, left = idom[node], left - 1
    return exits


def _pack_blocks(drawing: _Drawing) -> None:
    """Offsets of every node's block against its dominator's, bottom-up."""
    blocks: dict[_Number, Block] = {}
    last: dict[_Number, float] = {}
    """The last column of each block, wires left out."""
    d = drawing
    depth_first = list_postorder(_ROOT, d.children)
    for node in depth_first:
        own = d.layer[node]
        block = Block({own: (0, _more_rows(d.ports[node]) if node in d.ports else 0)})
        heads = set(d.children[node])
        last[node] = max([own, *[last[child] for child in heads]])
        for target in d.forward[node]:
            if d.layer[target] > own + 1:  # straight along the row, so it comes before the rest
                span = range(own + 1, min(d.layer[target], own + 1 + _MAX_SPAN))
                block = merge_blocks(block, Block(dict.fromkeys(span, (0, 0))))[0]
        branches = [t for t in d.forward[node] if t in heads and d.layer[t] == own + 1]
        if not d.exits.isdisjoint(branches):
            # Those past the others first, the shortest on top, so that their wires are straight.
            branches.sort(key=lambda n: last[n] if n in d.exits else inf)
        for target in branches:
            block = _stack_block(d, block, target, blocks)
        placed = set(branches)
        for child in d.children[node]:
            if child not in placed:
                block = _stack_block(d, block, child, blocks)
        blocks[node] = block


def _more_rows(ports: int) -> int:
    """How many rows below its own a node reaches into."""
    return max(0, NODE + max(0, ports - 2) * PORT - find_lift(ports) + _NAME - 1) // ROW


def _stack_block(d: _Drawing, block: Block, child: _Number, blocks: dict[_Number, Block]) -> Block:
    merged, shift = merge_blocks(block, blocks.pop(child))
    d.offset[child] = shift
    return merged


def _compute_rows(d: _Drawing) -> dict[_Number, int]:
    rows = {_ROOT: 0}
    stack = [_ROOT]
    while stack:
        node = stack.pop()
        for child in d.children[node]:
            rows[child] = rows[node] + d.offset[child]
            stack.append(child)
    return rows


def group_rows_by_lane(
    cells: Mapping[NodeKey, tuple[int, int]],
    lane: Mapping[NodeKey, str],
    lanes: Sequence[str],
    ports: Mapping[NodeKey, int] = _NONE,
) -> tuple[dict[NodeKey, tuple[int, int]], dict[str, tuple[int, int]]]:
    """Rows regrouped so that each lane has its own band: cells, and (first, last) row of each lane
    with nodes. The order of rows within a lane is kept; rows that share no column are combined.
    """
    used: dict[str, dict[int, list[int]]] = {name: {} for name in lanes}
    more: dict[tuple[str, int], int] = {}
    for node, (column, row) in cells.items():
        used[lane[node]].setdefault(row, []).append(column)
        if node in ports and (rows := _more_rows(ports[node])):
            more[lane[node], row] = max(rows, more.get((lane[node], row), 0))
    new: dict[tuple[str, int], int] = {}
    bands: dict[str, tuple[int, int]] = {}
    first = 0
    for name in lanes:
        if not used[name]:
            continue
        free: dict[int, int] = {}  # by column the first row that nothing is in, and nothing above
        last = first
        for row in sorted(used[name]):
            span = range(min(used[name][row]), max(used[name][row]) + 1)
            at = max((free.get(column, first) for column in span), default=first)
            new[name, row] = at
            at += more.get((name, row), 0)
            free.update(dict.fromkeys(span, at + 1))
            last = max(last, at)
        bands[name] = (first, last)
        first = last + 1
    return {n: (col, new[lane[n], row]) for n, (col, row) in cells.items()}, bands
