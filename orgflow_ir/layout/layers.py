"""Columns and rows of a flow graph: longest paths, then branches packed below each other.

Columns follow the longest paths, ignoring backward flows. Rows come from the dominator tree. The
longest branch of a split continues in the row of the split, and the others are packed below it as
blocks; after the join, the flow returns to the row of the split. A flow that skips columns keeps a
row free. Structured parts therefore have no crossings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from orgflow_ir.flow.control_flow.graph import immediate_dominators
from orgflow_ir.layout.stacking import Block, list_postorder, merge_blocks
from orgflow_ir.model.records import NamedTuple, dataclass

_ROOT = "\x00root"
_MAX_SPAN = 300
_CLIMB = 60


class Arc(NamedTuple):
    """A flow from node to node. `side`: it leaves a boundary event, so it is never the main
    flow."""

    id: str
    source: str
    target: str
    side: bool = False


class Placed(NamedTuple):
    """Column and row of each node, and the row kept free for each flow that skips columns."""

    column: dict[str, int]
    row: dict[str, int]
    free: dict[str, int]
    reach: dict[str, int]
    """The last column up to which the main flow of a node needs its row, if it skips columns."""


@dataclass(eq=False, repr=False)
class _Work:
    out: dict[str, list[Arc]]
    layer: dict[str, int]
    forward: dict[str, list[Arc]] = field(default_factory=dict)
    children: dict[str, list[str]] = field(default_factory=dict)
    height: dict[str, int] = field(default_factory=dict)
    offset: dict[str, int] = field(default_factory=dict)
    inside: dict[str, str] = field(default_factory=dict)
    reach: dict[str, int] = field(default_factory=dict)
    into: dict[str, list[str]] = field(default_factory=dict)
    above: dict[str, str] = field(default_factory=dict)
    without: frozenset[str] = frozenset()


def assign_columns(
    nodes: Sequence[str], arcs: Iterable[Arc], together: Iterable[tuple[str, str]] = ()
) -> tuple[dict[str, int], frozenset[str]]:
    """The column of each node, and the backward flows. In a pair in `together` (a message's sender
    and receiver), the second comes no earlier than the first if possible."""
    out: dict[str, list[Arc]] = {n: [] for n in nodes}
    into: dict[str, int] = dict.fromkeys(nodes, 0)
    for arc in arcs:
        if arc.source != arc.target:
            out[arc.source].append(arc)
            into[arc.target] += 1
    starts = [n for n in nodes if into[n] == 0]
    forward, order = _least_back(out, [*starts, *nodes])
    pairs: dict[str, list[str]] = {}
    _add_pairs(forward, pairs, together)
    if pairs:
        order = _sort_postorder(forward, pairs, nodes)
    layer = _longest_paths(forward, order, pairs)
    held = {n for others in pairs.values() for n in others}
    for node in order:  # further starts stand close to what they lead to
        if into[node] == 0 and forward[node] and node not in held and node not in pairs:
            layer[node] = max(layer[node], min(layer[a.target] for a in forward[node]) - 1)
    kept = {a.id for kept_arcs in forward.values() for a in kept_arcs}
    return layer, frozenset(a.id for leaving in out.values() for a in leaving if a.id not in kept)


def _longest_paths(
    forward: Mapping[str, list[Arc]], order: Sequence[str], pairs: Mapping[str, list[str]]
) -> dict[str, int]:
    layer = dict.fromkeys(order, 0)
    for node in reversed(order):
        for arc in forward[node]:
            layer[arc.target] = max(layer[arc.target], layer[node] + 1)
        for other in pairs.get(node, ()):
            layer[other] = max(layer[other], layer[node])
    return layer


def _least_back(
    out: Mapping[str, list[Arc]], starts: Sequence[str]
) -> tuple[dict[str, list[Arc]], list[str]]:
    """Flows without those back. In a loop with several ways in these depend on the order of the
    search: of the order given and its opposite the one with fewer of them, with less that stands
    right of all ends, with fewer columns."""
    best: tuple[tuple[int, int, int], dict[str, list[Arc]], list[str]] | None = None
    for turned in ({n: arcs[::-1] for n, arcs in out.items()}, out):
        forward, order = _select_forward(turned, starts)
        if turned is not out:
            forward = {n: arcs[::-1] for n, arcs in forward.items()}
        layer = _longest_paths(forward, order, {})
        kept = sum(map(len, forward.values()))
        ends = max((layer[n] for n, arcs in out.items() if not arcs), default=len(layer))
        rank = (-kept, sum(at > ends for at in layer.values()), max(layer.values(), default=0))
        if best is None or rank <= best[0]:
            best = (rank, forward, order)
    assert best is not None
    return best[1], best[2]


def _add_pairs(
    forward: Mapping[str, list[Arc]],
    pairs: dict[str, list[str]],
    together: Iterable[tuple[str, str]],
) -> None:
    """The pairs that close no cycle, in order."""

    def reaches_goal(start: str, goal: str) -> bool:
        seen = {start}
        stack = [start]
        while stack:
            node = stack.pop()
            if node == goal:
                return True
            for other in (*(a.target for a in forward[node]), *pairs.get(node, ())):
                if other not in seen:
                    seen.add(other)
                    stack.append(other)
        return False

    for source, target in together:
        if source in forward and target in forward and not reaches_goal(target, source):
            pairs.setdefault(source, []).append(target)


def _sort_postorder(
    forward: Mapping[str, list[Arc]], pairs: Mapping[str, list[str]], nodes: Sequence[str]
) -> list[str]:
    """Post-order of the graph with pairs as arcs: acyclic by construction."""
    succ = {n: [*(a.target for a in forward[n]), *pairs.get(n, ())] for n in nodes}
    order: list[str] = []
    seen: set[str] = set()
    for first in nodes:
        if first in seen:
            continue
        seen.add(first)
        work = [(first, iter(succ[first]))]
        while work:
            node, rest = work[-1]
            for target in rest:
                if target not in seen:
                    seen.add(target)
                    work.append((target, iter(succ[target])))
                    break
            else:
                order.append(node)
                work.pop()
    return order


def _select_forward(
    out: Mapping[str, list[Arc]], starts: Sequence[str]
) -> tuple[dict[str, list[Arc]], list[str]]:
    """Flows without those back to a node on the way, and all nodes in post-order."""
    forward: dict[str, list[Arc]] = {n: [] for n in out}
    state: dict[str, int] = {}
    order: list[str] = []
    for first in starts:
        if first in state:
            continue
        state[first] = 1
        work = [(first, iter(out[first]))]
        while work:
            node, rest = work[-1]
            for arc in rest:
                if state.get(arc.target) != 1:
                    forward[node].append(arc)
                if arc.target not in state:
                    state[arc.target] = 1
                    work.append((arc.target, iter(out[arc.target])))
                    break
            else:
                state[node] = 2
                order.append(node)
                work.pop()
    return forward, order


def place_nodes(
    nodes: Sequence[str],
    arcs: Sequence[Arc],
    layer: Mapping[str, int],
    back: frozenset[str],
    without: frozenset[str] = frozenset(),
) -> Placed:
    """Rows for one process, whose nodes have columns; unconnected nodes go below, in parallel.
    Flows in `without` need no separate row if they skip columns."""
    touched = {end for arc in arcs for end in (arc.source, arc.target)}
    flowing = [n for n in nodes if n in touched]
    column = {n: layer[n] for n in flowing}
    work = _Work({n: [] for n in flowing}, {**column, _ROOT: -1}, without=without)
    into: dict[str, int] = dict.fromkeys(flowing, 0)
    for arc in arcs:
        if arc.source != arc.target and arc.id not in back:
            work.out[arc.source].append(arc)
            into[arc.target] += 1
            work.into.setdefault(arc.target, []).append(arc.source)
    starts = [n for n in flowing if into[n] == 0]
    work.forward = {**work.out, _ROOT: [Arc("", _ROOT, n) for n in starts]}
    rows, free = _assign_rows(work) if flowing else ({}, {})
    _place_loose([n for n in nodes if n not in touched], column, rows)
    return Placed(column, rows, free, work.reach)


def _place_loose(nodes: Sequence[str], column: dict[str, int], rows: dict[str, int]) -> None:
    below = max(rows.values(), default=-1) + 1
    wide = max(4, min(8, max(column.values(), default=0) + 1))
    for number, node in enumerate(nodes):
        column[node], rows[node] = number % wide, below + number // wide


def _assign_rows(work: _Work) -> tuple[dict[str, int], dict[str, int]]:
    idom = immediate_dominators(
        _ROOT, {n: [a.target for a in arcs] for n, arcs in work.forward.items()}
    )
    work.children = {n: [] for n in work.forward}
    for node in sorted(idom, key=lambda n: work.layer[n]):
        work.children[idom[node]].append(node)
        work.above[node] = idom[node]
    for node in sorted(work.forward, key=lambda n: -work.layer[n]):
        targets = work.forward[node]
        work.height[node] = max((work.height[a.target] + 1 for a in targets), default=0)
    _pack_blocks(work)
    rows = {_ROOT: 0}
    stack = [_ROOT]
    while stack:
        node = stack.pop()
        for child in work.children[node]:
            rows[child] = rows[node] + work.offset[child]
            stack.append(child)
    free = {key[1:]: rows[owner] + work.offset[key] for key, owner in work.inside.items()}
    lowest = min((r for n, r in rows.items() if n != _ROOT), default=0)
    return (
        {n: r - lowest for n, r in rows.items() if n != _ROOT},
        {f: r - lowest for f, r in free.items()},
    )


def _pack_blocks(work: _Work) -> None:
    """Offsets of every node's block against its dominator's, bottom-up."""
    blocks: dict[str, Block] = {}
    for node in list_postorder(_ROOT, work.children):
        own = work.layer[node]
        block = Block({own: (0, 0)})
        waiting = dict.fromkeys(work.children[node])
        arcs = _main_first(work, node)
        for number, arc in enumerate(arcs):
            gap = range(own + 1, min(work.layer[arc.target], own + 1 + _MAX_SPAN))
            if gap and node != _ROOT:
                span = Block(dict.fromkeys(gap, (0, 0)))
                if number == 0 and not arc.side:
                    block = merge_blocks(block, span)[0]
                    work.reach[node] = gap[-1]
                elif arc.id not in work.without:
                    key = "\x00" + arc.id
                    work.inside[key] = node
                    block, work.offset[key] = (
                        _merge_below(block, span) if arc.side else merge_blocks(block, span)
                    )
            elif arc.target in waiting:
                del waiting[arc.target]
                block = _stack_block(work, block, arc.target, blocks, below=arc.side)
                if node != _ROOT and not arc.side:
                    _widen_block(block, own, work.offset[arc.target])
        for child in waiting:
            block = _stack_block(work, block, child, blocks)
            _keep_way(work, block, node, child)
        blocks[node] = block


def _keep_way(work: _Work, block: Block, node: str, join: str) -> None:
    """Keep the way free from the branches of `node` up to where they meet."""
    for source in work.into.get(join, ()):
        row = 0
        for _ in range(_CLIMB):
            if source == node:
                _widen_block(block, work.layer[join], row)
                break
            if source not in work.above:
                break
            row += work.offset[source]
            source = work.above[source]


def _widen_block(block: Block, column: int, row: int) -> None:
    top, bottom = block.rows[column]
    at = row - block.shift
    block.rows[column] = (min(top, at), max(bottom, at))


def _main_first(work: _Work, node: str) -> list[Arc]:
    """The flows of a node: the longest way first, those of boundary events last."""
    arcs = work.forward[node]
    if len(arcs) < 2 or node == _ROOT:
        return arcs
    main = max(arcs, key=lambda a: (not a.side, work.height[a.target]))  # the first of equals
    near = work.layer[node] + 1  # ways round something stand next to it

    def branch_place(arc: Arc) -> tuple[bool, bool]:
        return (arc.side, work.layer[arc.target] == near)

    return [main, *sorted((a for a in arcs if a is not main), key=branch_place)]


def _stack_block(
    work: _Work, block: Block, child: str, blocks: dict[str, Block], *, below: bool = False
) -> Block:
    join = _merge_below if below else merge_blocks
    merged, work.offset[child] = join(block, blocks.pop(child))
    return merged


def _merge_below(upper: Block, lower: Block) -> tuple[Block, int]:
    """`lower` at least a row below the first row of `upper`: what a boundary event leads to."""
    lower.shift += 1
    merged, shift = merge_blocks(upper, lower)
    return merged, shift + 1
