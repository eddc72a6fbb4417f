"""Diagrams of whole models: pools, lanes and processes as bands of one grid, with sub-processes
inside.

All pools share their columns, so message flows can run straight down. The receiver of a message is
placed no further left than its sender if the flows permit this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations

from orgflow_ir.layout.bands import Entry, Plan, arrange_cells
from orgflow_ir.layout.cells import fold_spaces, put_label
from orgflow_ir.layout.grid import Grid, Line, Link, Path
from orgflow_ir.layout.group import Box, Drawn, Group, Stroke
from orgflow_ir.layout.labels import put_flow_labels
from orgflow_ir.layout.places import BOX_HEIGHT, Places, Spacing, compute_places
from orgflow_ir.layout.routes import route_links
from orgflow_ir.layout.section import Section, Spot, build_section, flow_label, is_open
from orgflow_ir.layout.text import wrap_text
from orgflow_ir.model import Model, Pool, Process, Scope, SubProcess
from orgflow_ir.model.records import NamedTuple

HEADER = 30.0
"""Width of the strip with the name of a pool or lane."""
_MOST_POOLS = 6
_MOST_CELLS = 2_000
"""The maximum size of a diagram for which a second attempt is made."""


def model_group(model: Model) -> Group:
    """The diagram of a whole model."""

    inner = {p.id: _draw_subprocesses(p) for p in model.processes}

    def build_routes(without: frozenset[str]) -> _Routed:
        return _route_plan(_model_plan(model, inner, without))

    return _draw_routes(_route_tightly(build_routes), bordered=True)


def _model_plan(
    model: Model, inner: Mapping[str, dict[str, Group]], without: frozenset[str]
) -> Plan:
    plan = Plan(_list_entries(model, inner), without=without)
    entries = plan.entries
    spots = {k: v for e in entries if e.part for k, v in e.part.spots.items()}
    pairs = [
        (spots[f.source].cell, spots[f.target].cell)
        for f in model.message_flows
        if f.source in spots and f.target in spots
    ]
    arrange_cells(plan, pairs, bordered=True)
    _link_messages(plan, model, spots)
    return plan


def scope_group(scope: Scope) -> Group:
    """The diagram of the content of a scope, with its sub-processes."""
    inner = _draw_subprocesses(scope)

    def build_routes(without: frozenset[str]) -> _Routed:
        plan = Plan([Entry(None, build_section(scope, inner))], without=without)
        arrange_cells(plan, (), bordered=bool(scope.lanes))
        return _route_plan(plan)

    return _draw_routes(_route_tightly(build_routes), bordered=False)


def _frame_content(node: SubProcess, content: Group) -> Group:
    """Content with room around it for the name above and the markers below."""
    frame = Group()
    title = wrap_text(fold_spaces(node.name), max(120.0, content.width - 20), 3)
    top = 10.0 + title.height + 2
    frame.width = max(content.width + 8, title.width + 30, 100.0)
    frame.height = max(content.height + top + 22, 80.0)
    frame.add(content, (frame.width - content.width) / 2, top)
    return frame


def _draw_subprocesses(scope: Scope) -> dict[str, Group]:
    """The drawings of the sub-processes in a scope."""
    groups = {}
    for node in scope.nodes:
        if is_open(node):
            assert isinstance(node, SubProcess)
            groups[node.id] = _frame_content(node, scope_group(node))
    return groups


# -- order of pools ------------------------------------------------------------------------------


def _list_entries(model: Model, inner: Mapping[str, dict[str, Group]]) -> list[Entry]:
    processes = {p.id: p for p in model.processes}
    entries = []
    taken: set[str] = set()
    for pool in _order_pools(model):
        process = processes.get(pool.process or "")
        if process is None or process.id in taken:
            entries.append(Entry(pool, None))
            continue
        taken.add(process.id)
        entries.append(Entry(pool, build_section(process, inner[process.id])))
    entries += [
        Entry(None, build_section(p, inner[p.id])) for p in model.processes if p.id not in taken
    ]
    return entries


def _order_pools(model: Model) -> Sequence[Pool]:
    """Pools in the model's order, or in the one with the shortest way for messages."""
    pools = model.pools
    if not 2 < len(pools) <= _MOST_POOLS:
        return pools
    home: dict[str, int] = {}
    processes: dict[str, Process] = {p.id: p for p in model.processes}
    for number, pool in enumerate(pools):
        home[pool.id] = number
        process = processes.get(pool.process or "")
        for scope in process.scopes() if process is not None else ():
            home.update((n.id, number) for n in scope.nodes)
    ends = [(home[f.source], home[f.target]) for f in model.message_flows
            if f.source in home and f.target in home]  # fmt: skip
    empty = {n for n, pool in enumerate(pools) if pool.process not in processes}

    def order_cost(order: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        at = {n: i for i, n in enumerate(order)}
        total = 0
        for a, b in ends:
            low, high = sorted((at[a], at[b]))
            total += sum(1 if order[i] in empty else 3 for i in range(low + 1, high)) + 1
        return total, order

    return [pools[n] for n in min(permutations(range(len(pools))), key=order_cost)]


# -- messages ------------------------------------------------------------------------------------


def _link_messages(plan: Plan, model: Model, spots: Mapping[str, Spot]) -> None:
    """Message flows as links between cells, or cells and the borders of pools."""
    borders = {e.pool.id: e for e in plan.entries if e.pool is not None}
    rows = {}
    for entry in plan.entries:
        if entry.part is not None:
            rows.update(dict.fromkeys(entry.part.cells, (entry.first, entry.last)))
    stripped = {n for names in plan.strip_rows.values() for n in names}
    for flow in model.message_flows:
        link = Link(flow.id, "", "", flow_label(flow.name), vertical=True)
        ends: list[_End] = []
        for end in (flow.source, flow.target):
            spot = spots.get(end)
            pool = borders.get(end)
            if spot is not None and spot.cell not in stripped:
                ends.append((spot.cell, spot.dx, None, rows[spot.cell]))
            elif pool is not None:
                ends.append((end, None, pool, (pool.first, pool.last)))
        if len(ends) < 2 or ends[0][3] == ends[1][3]:
            continue
        first, second = ends
        link.source, link.target = first[0], second[0]
        link.offset, link.end_offset = first[1], second[1]
        link.source_spot, link.target_spot = (
            _find_spot(spots, e) for e in (flow.source, flow.target)
        )
        for mine, other, name in ((first, second, "source_row"), (second, first, "target_row")):
            if mine[2] is not None:
                below = other[3][0] >= mine[3][1]
                setattr(link, name, mine[3][1] if below else mine[3][0])
        plan.links.append(link)


_End = tuple[str, float | None, Entry | None, tuple[int, int]]


def _find_spot(spots: Mapping[str, Spot], name: str) -> tuple[float, float] | None:
    spot = spots.get(name)
    return None if spot is None or spot.half is None else (spot.dy, spot.half)


# -- shapes --------------------------------------------------------------------------------------


class _Routed(NamedTuple):
    """A plan whose lines have their ways through the grid."""

    plan: Plan
    grid: Grid
    paths: dict[str, Path]

    @property
    def crossings(self) -> int:
        """About how many; for comparison."""
        links = {link.id: link for link in self.plan.links}
        return sum(
            self.grid.crossings(piece, links[name].source, links[name].target)
            for name, path in self.paths.items()
            for piece in path.pieces
        )


def _route_tightly(build: Callable[[frozenset[str]], _Routed]) -> _Routed:
    """Built again without the rows that were kept free for flows that took another way, where
    that crosses no more."""
    first = build(frozenset())
    unused = {
        name
        for name, row in first.plan.free.items()
        if all(p.line != Line("h", False, row) for p in first.paths[name].pieces)
    }
    if not unused or len(first.grid.cells) > _MOST_CELLS:
        return first
    second = build(frozenset(unused))
    return second if second.crossings <= first.crossings else first


def _route_plan(plan: Plan) -> _Routed:
    cells = {k: c for e in plan.entries if e.part for k, c in e.part.cells.items()}
    stripped = {n for names in plan.strip_rows.values() for n in names}
    inside = {k: c for k, c in cells.items() if k not in stripped}
    wide = max((c.column for c in inside.values()), default=-1) + 1
    grid = Grid(inside, plan.kinds, max(wide, 1))
    for row, names in plan.strip_rows.items():
        high = max(cells[n].top + cells[n].bottom for n in names)
        grid.strips[row] = (high / 2, high / 2)
    return _Routed(plan, grid, route_links(grid, plan.links, plan.free))


def _draw_routes(routed: _Routed, *, bordered: bool) -> Group:
    plan, grid, paths = routed
    cells = {k: c for e in plan.entries if e.part for k, c in e.part.cells.items()}
    links = {link.id: link for link in plan.links}
    for cell in cells.values():
        put_label(cell)
    spacing = Spacing() if bordered else Spacing(14.0, 0.0)
    at = compute_places(grid, links, paths, tuple(plan.bands), spacing)
    left = _measure_left(plan)
    drawing = Group(at.width + left, at.height)
    _strip_places(plan, grid, at, drawing, left)
    _draw_frames(plan, at, drawing, left)
    middles = {k: (at.x[c.column] + left, at.y[c.row]) for k, c in grid.cells.items()}
    middles.update(_strip_middles(plan, cells, at, left))
    boxes = _draw_cells(plan, drawing, middles)
    reversed_ = {n for e in plan.entries if e.part for n in e.part.reversed}
    for name, points in at.routes.items():
        moved = tuple((round(x + left, 2), y) for x, y in points)
        drawing.strokes.append(Stroke(name, moved[::-1] if name in reversed_ else moved))
    _draw_ties(plan, drawing, boxes)
    marked = {k for k, v in links.items() if v.marked}
    put_flow_labels(drawing, {k: v.label for k, v in links.items() if v.label is not None}, marked)
    return drawing


def _measure_left(plan: Plan) -> float:
    """Room for the names of pools and lanes."""
    deepest = 0.0
    for entry in plan.entries:
        own = HEADER if entry.pool is not None else 0.0
        if entry.part is not None and entry.part.lanes:
            own += HEADER * max(_measure_depths(entry.part).values())
        deepest = max(deepest, own)
    return deepest


def _measure_depths(part: Section) -> dict[str, int]:
    depth: dict[str, int] = {}
    for lane in part.lanes:
        depth[lane.id] = depth.get(lane.parent or "", 0) + 1
    return depth


def _strip_places(plan: Plan, grid: Grid, at: Places, drawing: Group, left: float) -> None:
    """Strips may be wider than the columns."""
    cells = {k: c for e in plan.entries if e.part for k, c in e.part.cells.items()}
    for names in plan.strip_rows.values():
        wide = sum(cells[n].left + cells[n].right + 26 for n in names) + 26
        drawing.width = max(drawing.width, wide + left)


def _strip_middles(
    plan: Plan, cells: Mapping[str, object], at: Places, left: float
) -> dict[str, tuple[float, float]]:
    middles = {}
    for row, names in plan.strip_rows.items():
        x = left + 26
        for name in names:
            cell = cells[name]
            middles[name] = (x + cell.left, at.y[row] + (cell.top - cell.bottom) / 2)  # type: ignore[attr-defined]
            x += cell.left + cell.right + 26  # type: ignore[attr-defined]
    return middles


def _draw_frames(plan: Plan, at: Places, drawing: Group, left: float) -> None:
    """Pools and lanes, outer before inner."""
    for entry in plan.entries:
        top, bottom = at.y[entry.first], at.y[entry.last]
        start = 0.0
        if entry.pool is not None:
            box: Box = (0.0, top, drawing.width, bottom - top)
            if entry.part is None:
                box = (0.0, top - BOX_HEIGHT / 2, drawing.width, BOX_HEIGHT)
            drawing.shapes.append(Drawn(entry.pool.id, box, horizontal=True))
            start = HEADER
        if entry.part is None or not entry.part.lanes:
            continue
        spans = {b.element: b for b in plan.bands}
        for name, depth in _measure_depths(entry.part).items():
            band = spans.get(name)
            if band is not None:
                x = start + HEADER * (depth - 1)
                y, low = at.y[band.first], at.y[band.last]
                drawing.shapes.append(
                    Drawn(name, (x, y, drawing.width - x, low - y), horizontal=True)
                )


def _draw_cells(
    plan: Plan, drawing: Group, middles: Mapping[str, tuple[float, float]]
) -> dict[str, Box]:
    """Every node with what is drawn with it; the boxes of all."""
    boxes: dict[str, Box] = {}
    for entry in plan.entries:
        if entry.part is None:
            continue
        for name, cell in entry.part.cells.items():
            x, y = middles[name]
            labels = {p.id: p.box for p in cell.parts if p.label}

            def draw_shape(
                element: str, box: Box, labels: Mapping[str, Box] = labels, x: float = x,
                y: float = y, expanded: bool | None = None,
            ) -> None:  # fmt: skip
                label = labels.get(element)
                put = (round(x + box[0], 2), round(y + box[1], 2), box[2], box[3])
                words_at = None
                if label is not None:
                    words_at = (round(x + label[0], 2), round(y + label[1], 2), label[2], label[3])
                boxes[element] = put
                drawing.shapes.append(Drawn(element, put, words_at, expanded=expanded))

            own = (-cell.width / 2, -cell.height / 2, cell.width, cell.height)
            group = entry.part.inner.get(name)
            draw_shape(name, own, expanded=True if group is not None else None)
            if group is not None:
                drawing.add(group, x - group.width / 2, y - group.height / 2)
                for inner in group.shapes:
                    boxes[inner.element] = drawing.shapes[-1].box
            for part in cell.parts:
                if not part.label and part.id != name:
                    draw_shape(part.id, part.box)
    boxes.update((s.element, s.box) for s in drawing.shapes)
    return boxes


def _draw_ties(plan: Plan, drawing: Group, boxes: Mapping[str, Box]) -> None:
    """Straight lines from data and text to the node or flow they stand with."""
    routes = {s.element: s.points for s in drawing.strokes}
    for entry in plan.entries:
        if entry.part is None:
            continue
        for name, thing, target in entry.part.tied:
            x, y, w, h = boxes[thing]
            start = (x + w / 2, y + h)
            if target in routes:
                a, b = routes[target][:2]
                end = (round((a[0] + b[0]) / 2, 2), round((a[1] + b[1]) / 2, 2))
            elif target in boxes:
                bx, by, bw, _ = boxes[target]
                inner = 10.0 if bw > 60 else bw / 2
                end = (min(max(start[0], bx + inner), bx + bw - inner), by)
            else:
                continue
            points = ((round(start[0], 2), round(start[1], 2)), end)
            backwards = name in entry.part.reversed
            drawing.strokes.append(Stroke(name, points[::-1] if backwards else points))
