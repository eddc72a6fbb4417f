"""Rows for pools, lanes and processes, as bands of one grid below each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from orgflow_ir.layout.cells import fold_spaces
from orgflow_ir.layout.grid import Link
from orgflow_ir.layout.layers import Placed, assign_columns, place_nodes
from orgflow_ir.layout.places import Band
from orgflow_ir.layout.section import Section
from orgflow_ir.layout.text import wrap_text
from orgflow_ir.model import Pool
from orgflow_ir.model.records import dataclass


@dataclass(eq=False)
class Entry:
    """A pool with its process, a process without a pool, or a pool without a process."""

    pool: Pool | None
    part: Section | None
    first: int = 0
    last: int = 0


@dataclass(eq=False)
class Plan:
    """Everything in one grid."""

    entries: list[Entry]
    kinds: list[str] = field(default_factory=list)
    bands: list[Band] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    free: dict[str, int] = field(default_factory=dict)
    strip_rows: dict[int, list[str]] = field(default_factory=dict)
    without: frozenset[str] = frozenset()
    """Flows that need no separate row."""


def arrange_cells(plan: Plan, pairs: Sequence[tuple[str, str]], *, bordered: bool) -> None:
    """Columns and rows for every cell."""
    parts = [e.part for e in plan.entries if e.part is not None]
    cells = {k: c for p in parts for k, c in p.cells.items()}
    arcs = [a for p in parts for a in p.arcs]
    strips = {n for p in parts for n in p.strip}
    nodes = [n for n in cells if n not in strips]
    layer, back = assign_columns(nodes, arcs, pairs)
    for entry in plan.entries:
        entry.first = len(plan.kinds)
        if bordered:
            plan.kinds.append("line")
        if entry.part is None:
            plan.kinds[-1:] = ["box"]
            entry.last = entry.first
            continue
        _add_rows(plan, entry.part, layer, back)
        if bordered and not (entry.part.lanes):
            plan.kinds.append("line")
        entry.last = len(plan.kinds) - 1
        for link in entry.part.links:
            low = entry.first + 1 if bordered else entry.first
            high = entry.last - 1 if bordered else entry.last
            link.rows = (low, high)
            link.back = link.id in back
            plan.links.append(link)
        if entry.pool is not None:
            _add_band(plan, entry.pool.name, entry.pool.id, entry.first, entry.last)


def _add_band(plan: Plan, name: str, element: str, first: int, last: int) -> None:
    room = wrap_text(fold_spaces(name), 220.0, 2).width + 24
    plan.bands.append(Band(element, first, last, max(room, 60.0)))


def _add_rows(plan: Plan, part: Section, layer: Mapping[str, int], back: frozenset[str]) -> None:
    nodes = [n for n in part.cells if n not in part.strip]
    placed = place_nodes(nodes, part.arcs, layer, back, plan.without)
    for name, column in placed.column.items():
        part.cells[name].column = column
    if not part.lanes:
        _add_plain_rows(plan, part, placed)
        return
    parents = {lane.parent for lane in part.lanes}
    spans: dict[str, tuple[int, int]] = {}
    for lane in part.lanes:
        if lane.id in parents:
            continue
        first = len(plan.kinds) - 1
        _add_lane_rows(plan, part, placed, lane.id)
        plan.kinds.append("line")
        spans[lane.id] = (first, len(plan.kinds) - 1)
        _add_band(plan, lane.name, lane.id, *spans[lane.id])
    for lane in reversed(part.lanes):
        inner = [spans[x.id] for x in part.lanes if x.parent == lane.id and x.id in spans]
        if lane.id not in spans and inner:
            spans[lane.id] = (inner[0][0], inner[-1][1])
            _add_band(plan, lane.name, lane.id, *spans[lane.id])


def _add_plain_rows(plan: Plan, part: Section, placed: Placed) -> None:
    """Rows of a part without lanes, as they were placed."""
    at = len(plan.kinds)
    for name, row in placed.row.items():
        part.cells[name].row = at + row
    plan.free.update((f, at + r) for f, r in placed.free.items())
    used = [*placed.row.values(), *placed.free.values()]
    plan.kinds += ["cells"] * (max(used, default=-1) + 1)
    _add_strip(plan, part.strip)
    if not used and not part.strip:
        plan.kinds.append("cells")


def _add_lane_rows(plan: Plan, part: Section, placed: Placed, lane: str) -> None:
    """Rows of the nodes and the kept ways of one lane, without those that it does not use."""
    ends = {a.id: (a.source, a.target) for a in part.arcs}
    items = [
        (row, placed.column[n], placed.reach.get(n, placed.column[n]), n, "")
        for n, row in placed.row.items()
        if part.lane_of[n] == lane
    ]
    for flow, row in placed.free.items():
        source, target = ends[flow]
        if part.lane_of[source] == lane:
            items.append((row, placed.column[source] + 1, placed.column[target] - 1, "", flow))
    rows = _compact_rows(items, part, placed.column)
    at = len(plan.kinds)
    for (_, _, _, name, flow), row in rows:
        if name:
            part.cells[name].row = at + row
        else:
            plan.free[flow] = at + row
    plan.kinds += ["cells"] * (max((r for _, r in rows), default=-1) + 1)
    _add_strip(plan, [n for n in part.strip if part.lane_of[n] == lane])
    if len(plan.kinds) == at:
        plan.kinds.append("cells")


_Item = tuple[int, int, int, str, str]


def _compact_rows(
    items: list[_Item], part: Section, column: Mapping[str, int]
) -> list[tuple[_Item, int]]:
    """Rows of a lane's own: chains of one row stay together and move up as far as they can without
    passing others, or standing between a gateway and a branch of its."""
    after = {a.source: a.target for a in part.arcs}
    items = sorted(items, key=lambda i: (i[0], i[1], i[3], i[4]))
    chains: list[list[_Item]] = []
    for item in items:
        last = chains[-1][-1] if chains else None
        same_row = last is not None and last[0] == item[0] and item[3]
        if last is not None and same_row and after.get(last[3]) == item[3]:
            chains[-1].append(item)
            continue
        chains.append([item])
    taken: list[tuple[int, int, int]] = []
    placed_items = []
    rows = {item[3]: item[0] for item in items if item[3]}
    corners: dict[str, list[int]] = {}
    for arc in part.arcs:
        for name, other in ((arc.source, arc.target), (arc.target, arc.source)):
            above = name in rows and other in rows and rows[other] < rows[name]
            if above and part.cells[other].kind == "gateway":
                corners.setdefault(name, []).append(column[other])
    for chain in chains:
        begin, end = chain[0][1], chain[-1][2]
        over = [row for low, high, row in taken if low <= end and begin <= high]
        row = max(over, default=-1) + 1
        taken.append((begin, end, row))
        taken += [(at, at, row) for item in chain for at in corners.get(item[3], ())]
        placed_items += [(item, row) for item in chain]
    return placed_items


def _add_strip(plan: Plan, names: list[str]) -> None:
    if names:
        plan.strip_rows[len(plan.kinds)] = names
        plan.kinds.append("strip")
