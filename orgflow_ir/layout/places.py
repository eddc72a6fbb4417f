"""Maps the grid to the plane: widths of columns and channels, and the bends of every route."""

from __future__ import annotations

from collections.abc import Mapping

from orgflow_ir.layout.grid import Cell, Grid, Line, Link, Path
from orgflow_ir.layout.tracks import assign_tracks
from orgflow_ir.model.records import NamedTuple

Point = tuple[float, float]

GAP = 46.0
"""Minimum distance between the nodes of two columns."""
_TRACK = 14.0
_BESIDE = 18.0
_ROW_GAP = 22.0
_LABEL_GAP = 14.0


class Band(NamedTuple):
    """Rows that belong together (a lane, a pool): from the row of its upper border to that of its
    lower one, at least `least` high."""

    element: str
    first: int
    last: int
    least: float = 0.0


class Places(NamedTuple):
    """Middles of columns and rows, with the left edge and top at 0; the total size; and the
    routes."""

    x: list[float]
    y: list[float]
    width: float
    height: float
    routes: dict[str, tuple[Point, ...]]


class Spacing(NamedTuple):
    """Heights of horizontal channels next to borders: inside a band, and between two bands."""

    inside: float = 20.0
    outside: float = 40.0


def compute_places(
    grid: Grid,
    links: Mapping[str, Link],
    paths: Mapping[str, Path],
    bands: tuple[Band, ...] = (),
    spacing: Spacing | None = None,
) -> Places:
    """Where everything is. Every size follows from the content."""
    on, users = assign_tracks(paths, links)
    spacing = spacing or Spacing()
    x, across, width = _place_columns(grid, links, paths, users)
    y, down, height = _place_rows(grid, links, users, bands, spacing)

    def line_position(name: str, number: int, line: Line) -> float:
        middles, channels = (y, down) if line.axis == "h" else (x, across)
        if line.channel:
            return channels[line.nth][on[name, number]]
        return middles[line.nth] + line.offset

    routes: dict[str, tuple[Point, ...]] = {}
    for name, path in paths.items():
        where = [line_position(name, n, p.line) for n, p in enumerate(path.pieces)]
        link = links[name]
        points = [
            _find_end(
                grid,
                link.source,
                link.source_row,
                path,
                0,
                where[0],
                x,
                y,
                link.source_spot,
                link.reach,
            )
        ]
        for n in range(1, len(where)):
            first, second = where[n - 1], where[n]
            points.append((second, first) if path.pieces[n].line.axis == "v" else (first, second))
        end = _find_end(
            grid, link.target, link.target_row, path, -1, where[-1], x, y, link.target_spot, 0.0
        )
        points.append(end)
        routes[name] = straighten_line(points)
    return Places(x, y, width, height, routes)


def _find_end(
    grid: Grid, name: str, row: int | None, path: Path, at: int, where: float,
    x: list[float], y: list[float], spot: tuple[float, float] | None, reach: float,
) -> Point:  # fmt: skip
    side = path.source_side if at == 0 else path.target_side
    cell = grid.cells.get(name)
    if cell is None:
        assert row is not None
        sign = {"top": -1, "bottom": 1}[side]
        half = _BOX / 2 if grid.kinds[row] == "box" else 0
        return (where, y[row] + sign * half)
    cx, cy = x[cell.column], y[cell.row]
    if side in ("left", "right"):
        return (cx + (cell.width / 2 if side == "right" else -cell.width / 2), where)
    below, half = spot or (0.0, reach or cell.height / 2)
    return (where, cy + below + half if side == "bottom" else cy + below - half)


_BOX = 60.0
BOX_HEIGHT = _BOX
"""Height of a pool without content."""


def straighten_line(points: list[Point]) -> tuple[Point, ...]:
    """The line without repeated points and points on a straight line."""
    bends: list[Point] = []
    for point in points:
        if bends and _is_near(bends[-1], point):
            continue
        if len(bends) > 1 and _in_line(bends[-2], bends[-1], point):
            bends.pop()
        bends.append(point)
    if len(bends) == 1:
        bends.append(points[-1])
    return tuple((round(px, 2), round(py, 2)) for px, py in bends)


def _is_near(a: Point, b: Point) -> bool:
    return abs(a[0] - b[0]) < 0.01 and abs(a[1] - b[1]) < 0.01


def _in_line(a: Point, b: Point, c: Point) -> bool:
    same_x = abs(a[0] - b[0]) < 0.01 and abs(b[0] - c[0]) < 0.01
    same_y = abs(a[1] - b[1]) < 0.01 and abs(b[1] - c[1]) < 0.01
    return same_x or same_y


# -- across --------------------------------------------------------------------------------------


def _place_columns(
    grid: Grid,
    links: Mapping[str, Link],
    paths: Mapping[str, Path],
    users: Mapping[Line, list[list[str]]],
) -> tuple[list[float], dict[int, list[float]], float]:
    left = [18.0] * grid.columns
    right = [18.0] * grid.columns
    for cell in grid.cells.values():
        left[cell.column] = max(left[cell.column], cell.left)
        right[cell.column] = max(right[cell.column], cell.right)
    wanted = _label_room(grid, links, paths, right)
    middles: list[float] = []
    channels: dict[int, list[float]] = {}
    at = 0.0
    for k in range(grid.columns + 1):
        lines = users.get(Line("v", True, k), [])
        border = k in (0, grid.columns)
        least = 26.0 if border and not lines else GAP
        size = max(least, (len(lines) - 1) * _TRACK + 2 * _BESIDE) if lines else least
        labels = wanted.get(k, 0.0)
        if labels:
            size = max(size, labels + (len(lines) * _TRACK + 6 if lines else 0))
        room = (len(lines) - 1) * _TRACK
        start = at + (_BESIDE if labels else (size - room) / 2)
        channels[k] = [start + n * _TRACK for n in range(len(lines))]
        at += size
        if k < grid.columns:
            middles.append(at + left[k])
            at += left[k] + right[k]
    return middles, channels, at


def _label_room(
    grid: Grid, links: Mapping[str, Link], paths: Mapping[str, Path], right: list[float]
) -> dict[int, float]:
    """Channels that the label of a flow beginning left of them has to fit into."""
    widths: dict[int, float] = {}
    for name, link in links.items():
        if link.label is None or link.vertical or link.source not in grid.cells:
            continue
        cell = grid.cells[link.source]
        pieces = paths[name].pieces
        first = pieces[0] if pieces[0].line.axis == "h" or len(pieces) == 1 else pieces[1]
        if first.line.channel or first.high - first.low > 4:
            continue
        spare = 0.0 if first is pieces[0] else right[cell.column] - max(cell.width / 2, 8)
        if first is pieces[0] and not any(p.label and p.box[0] > 0 for p in cell.parts):
            spare = right[cell.column] - cell.width / 2
        if len(link.label.lines) > 1:
            spare = 0.0  # it would meet the label of its source
        need = link.label.width + _LABEL_GAP - spare + (16.0 if link.marked else 0.0)
        k = cell.column + 1
        widths[k] = max(widths.get(k, 0.0), need)
    return widths


# -- down ----------------------------------------------------------------------------------------


def _place_rows(
    grid: Grid,
    links: Mapping[str, Link],
    users: Mapping[Line, list[list[str]]],
    bands: tuple[Band, ...],
    spacing: Spacing,
) -> tuple[list[float], dict[int, list[float]], float]:
    kinds = grid.kinds
    top, bottom = _measure_extents(grid.cells, kinds, grid.strips)
    idle = _find_idle(grid)
    for r in idle:
        top[r] = bottom[r] = 0.0
    sizes: list[float] = []
    starts: dict[int, list[float]] = {}
    for k in range(len(kinds) + 1):
        size, offsets = _measure_channel(users.get(Line("h", True, k), []), links)
        above, below = kinds[k - 1] if k else "", kinds[k] if k < len(kinds) else ""
        inner = "cells" in (above, below)
        border = {above, below} & {"line", "box", ""}
        if inner:
            least = spacing.inside if border else _ROW_GAP
        else:
            least = spacing.outside if above and below else 0.0
        if k - 1 in idle:
            least = 0.0
        extra = max(0.0, least - size)
        starts[k] = [o + extra / 2 for o in offsets]
        sizes.append(max(size, least))
    for band in bands:  # the words at a band's left need their room
        inside = sum(sizes[band.first + 1 : band.last + 1])
        inside += sum(top[r] + bottom[r] for r in range(band.first + 1, band.last))
        if inside < band.least:
            more = (band.least - inside) / 2
            for k in (band.first + 1, band.last):
                sizes[k] += more
            starts[band.first + 1] = [o + more for o in starts[band.first + 1]]
    middles: list[float] = []
    channels: dict[int, list[float]] = {}
    at = 0.0
    for k in range(len(kinds) + 1):
        channels[k] = [at + o for o in starts[k]]
        at += sizes[k]
        if k < len(kinds):
            middles.append(at + top[k])
            at += top[k] + bottom[k]
    return middles, channels, at


def _find_idle(grid: Grid) -> set[int]:
    """Rows between others that nothing stands in and no line runs along."""
    busy = {cell.row for cell in grid.cells.values()}
    busy |= {line.nth for line in grid.used if line.axis == "h" and not line.channel}
    kinds = grid.kinds
    return {
        r
        for r, kind in enumerate(kinds)
        if kind == "cells" and r not in busy and r and kinds[r - 1] == "cells"
    }


def _measure_extents(
    cells: Mapping[str, Cell], kinds: list[str], strips: Mapping[int, tuple[float, float]]
) -> tuple[list[float], list[float]]:
    top = [0.0] * len(kinds)
    bottom = [0.0] * len(kinds)
    for r, kind in enumerate(kinds):
        if kind == "box":
            top[r] = bottom[r] = _BOX / 2
        elif kind == "cells":
            top[r] = bottom[r] = 14.0
    for r, (above, below) in strips.items():
        top[r], bottom[r] = above, below
    for cell in cells.values():
        top[cell.row] = max(top[cell.row], cell.top)
        bottom[cell.row] = max(bottom[cell.row], cell.bottom)
    return top, bottom


def _measure_channel(rows: list[list[str]], links: Mapping[str, Link]) -> tuple[float, list[float]]:
    """Height of a channel and its tracks in it; a label stands above its line."""
    if not rows:
        return 0.0, []
    at = 10.0
    offsets = []
    for number, names in enumerate(rows):
        labels = [links[n].label for n in names]
        high = max((label.height for label in labels if label is not None), default=0.0)
        at += high + 4 if high else (_TRACK if number else 2.0)
        offsets.append(at)
    return at + 12.0, offsets
