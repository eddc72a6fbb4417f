"""Routes lines through the grid: for each line, the cheapest of a few shapes that hit no node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orgflow_ir.layout.grid import Cell, Grid, Line, Link, Path, Piece, Side

_BEND = 3.0
_LENGTH = 0.45
_CROSSING = 2.6
_SHARED_PORT = 5.0
_SHARED_BRANCH = 6.0
_SWAP = 30.0
_ODD_PORT = 2.0
_OFFSETS = (0.0, 20.0, -20.0, 36.0, -36.0, 10.0, -10.0, 28.0, -28.0)


def route_links(grid: Grid, links: Sequence[Link], free: dict[str, int]) -> dict[str, Path]:
    """A route for every link; `free` contains the rows that were kept free for some links."""
    paths: dict[str, Path] = {}
    twins: dict[tuple[str, str, float | None], list[Path]] = {}

    def route_order(link: Link) -> tuple[int, int]:
        if link.vertical:
            return (5, _row_distance(grid, link))
        u, v = grid.cells[link.source], grid.cells[link.target]
        if link.back:
            return (3, abs(u.column - v.column))
        straight = u.row == v.row and link.offset is None
        if straight and not grid.any_in_row(u.row, u.column + 1, v.column - 1):
            return (0, v.column - u.column)
        return (2 if link.id in free else 1, v.column - u.column)

    for link in sorted(links, key=route_order):
        if link.vertical:
            path = _route_vertical(grid, link)
        else:
            alike = twins.setdefault((link.source, link.target, link.offset), [])
            path = _route_flow(grid, link, free.get(link.id), alike)
            alike.append(path)
        paths[link.id] = path
        grid.take(path, link.source, link.target)
        _note_ports(grid, link, path)
    return {link.id: paths[link.id] for link in links}


def _row_distance(grid: Grid, link: Link) -> int:
    ends = []
    for name, row in ((link.source, link.source_row), (link.target, link.target_row)):
        ends.append(grid.cells[name].row if row is None else row)
    return abs(ends[0] - ends[1])


def _note_ports(grid: Grid, link: Link, path: Path) -> None:
    for name, side, way, piece in (
        (link.source, path.source_side, "out", path.pieces[0]),
        (link.target, path.target_side, "in", path.pieces[-1]),
    ):
        cell = grid.cells.get(name)
        if cell is not None and not (way == "out" and link.offset is not None):
            cell.ports.setdefault((side, piece.line.offset), way)


# -- shapes --------------------------------------------------------------------------------------


def _row_line(index: int) -> Line:
    return Line("h", False, index)


def _column_line(index: int, offset: float = 0.0) -> Line:
    return Line("v", False, index, offset)


def _between_rows(index: int) -> Line:
    return Line("h", True, index)


def _between_columns(index: int) -> Line:
    return Line("v", True, index)


def _route_flow(grid: Grid, link: Link, free: int | None, alike: Sequence[Path]) -> Path:
    """The best way that none of the flows `alike`, with the same ends, takes."""
    u, v = grid.cells[link.source], grid.cells[link.target]
    best: tuple[float, Path] | None = None
    for alone in (True, False):  # upon another line only where there is no other way
        for lines in sorted(_flow_shapes(grid, link, u, v, free, bool(alike)), key=len):
            if best is not None and _BEND * (len(lines) - 1) >= best[0]:
                break
            path = _find_path(lines, u, v, link)
            if path in alike and alone:
                continue
            most = None if best is None else best[0]
            cost = None if path is None else _path_cost(grid, path, u, v, link, alone, most)
            if path is not None and cost is not None and (best is None or cost < best[0]):
                best = (cost, path)
        if best is not None:
            return best[1]
    raise AssertionError("a route in channels hits no node")


def _flow_shapes(
    grid: Grid, link: Link, u: Cell, v: Cell, free: int | None, again: bool
) -> Iterator[tuple[Line, ...]]:
    cu, ru, cv, rv = u.column, u.row, v.column, v.row
    boundary = link.offset is not None
    down = _column_line(cu, link.offset or 0.0)
    into = _column_line(cv)
    channels = _list_channels(grid, link, u, v)
    forward = cv > cu
    turns_out = boundary or u.kind == "gateway" or not forward or again
    turns_in = v.kind == "gateway" or (not forward and v.kind in ("task", "box")) or again
    middles = [_between_rows(k) for k in channels]
    if free is not None:
        middles.insert(0, _row_line(free))
    if not boundary:
        yield from _sideways_shapes(u, v, middles, turns_in=turns_in)
    if turns_out:
        if forward and ru != rv:
            yield (down, _row_line(rv))
        for middle in middles:
            yield (down, middle, _between_columns(cv), _row_line(rv))
            if turns_in:
                yield (down, middle, into)


def _sideways_shapes(
    u: Cell, v: Cell, middles: Sequence[Line], *, turns_in: bool
) -> Iterator[tuple[Line, ...]]:
    """Lines out of the right side of a cell; `turns_in`: they may end at the top or bottom."""
    cu, ru, cv, rv = u.column, u.row, v.column, v.row
    out, into = _between_columns(cu + 1), _column_line(cv)
    forward = cv > cu
    if forward and ru == rv:
        yield (_row_line(ru),)
    if forward:
        yield (_row_line(ru), out, _row_line(rv))
        yield (_row_line(ru), _between_columns(cv), _row_line(rv))
        if turns_in and ru != rv:
            yield (_row_line(ru), into)
    for middle in middles:
        yield (_row_line(ru), out, middle, _between_columns(cv), _row_line(rv))
        if turns_in:
            yield (_row_line(ru), out, middle, into)


def _list_channels(grid: Grid, link: Link, u: Cell, v: Cell) -> list[int]:
    """Horizontal channels worth trying: those beside both ends, and those beside all that stands
    between them, above and below."""
    first, last = link.rows
    low, high = sorted((u.row, v.row))
    left, right = sorted((u.column, v.column))
    rows = [u.row, u.row + 1, v.row, v.row + 1]
    under = high + 1
    while under <= last and under < high + 12 and grid.any_in_row(under, left, right):
        under += 1
    over = low
    while over > first and over > low - 12 and grid.any_in_row(over - 1, left, right):
        over -= 1
    rows += [under, over]
    return [k for k in dict.fromkeys(rows) if first <= k <= last + 1]


def _route_vertical(grid: Grid, link: Link) -> Path:
    """A line between tops and bottoms: message flows, links of data and text."""
    u, v = grid.cells.get(link.source), grid.cells.get(link.target)
    best: tuple[float, Path] | None = None
    for alone in (True, False):
        for (cu, ru, du), (cv, rv, dv) in _vertical_ends(link, u, v, grid.columns // 2):
            for lines in _vertical_shapes(cu, ru, du, cv, rv, dv):
                if best is not None and _BEND * (len(lines) - 1) >= best[0]:
                    continue
                path = _join_lines(lines, (2 * cu + 1, 2 * ru + 1), (2 * cv + 1, 2 * rv + 1))
                if path is not None and link.reach and path.source_side != link.side:
                    continue
                most = None if best is None else best[0]
                cost = None if path is None else _vertical_cost(grid, path, u, v, link, alone, most)
                if path is not None and cost is not None and (best is None or cost < best[0]):
                    best = (cost, path)
        if best is not None:
            return best[1]
    raise AssertionError("a route in channels hits no node")


End = tuple[int, int, float]


def _vertical_ends(
    link: Link, u: Cell | None, v: Cell | None, middle: int
) -> Iterator[tuple[End, End]]:
    if u is None and v is None:  # from pool to pool
        for offset in _OFFSETS:
            yield (middle, link.source_row or 0, offset), (middle, link.target_row or 0, offset)
        return
    starts = _end_points(u, link.source_row, link.offset, v)
    for start in starts:
        for end in _end_points(v, link.target_row, link.end_offset, u):
            if u is None and v is not None:
                yield (end[0], start[1], end[2]), end
            elif v is None and u is not None:
                yield start, (start[0], end[1], start[2])
            else:
                yield start, end


def _end_points(
    cell: Cell | None, row: int | None, offset: float | None, other: Cell | None
) -> list[End]:
    if cell is None:
        return [(other.column if other is not None else 0, row or 0, 0.0)]
    if offset is not None:
        return [(cell.column, cell.row, offset)]
    limit = cell.width / 2 - 8 if cell.kind in ("task", "box") else 0
    return [(cell.column, cell.row, o) for o in _OFFSETS if abs(o) <= limit]


def _vertical_shapes(
    cu: int, ru: int, du: float, cv: int, rv: int, dv: float
) -> Iterator[tuple[Line, ...]]:
    first, second = _column_line(cu, du), _column_line(cv, dv)
    if first == second and ru != rv:
        yield (first,)
    low, high = min(ru, rv), max(ru, rv)
    middles = range(low + 1, high + 1) if ru != rv else range(low, high + 2)
    for k in list(middles)[:12]:
        yield (first, _between_rows(k), second)
    for near in (ru, ru + 1):
        for far in (rv, rv + 1):
            for side in dict.fromkeys((cu, cu + 1, cv, cv + 1)):
                yield (
                    first,
                    _between_rows(near),
                    _between_columns(side),
                    _between_rows(far),
                    second,
                )


# -- from shapes to paths ------------------------------------------------------------------------


def _find_path(lines: tuple[Line, ...], u: Cell, v: Cell, link: Link) -> Path | None:
    start, end = (2 * u.column + 1, 2 * u.row + 1), (2 * v.column + 1, 2 * v.row + 1)
    path = _join_lines(lines, start, end)
    if path is None:
        return None
    if link.offset is not None and path.source_side != "bottom":
        return None
    first, last = path.pieces[0], path.pieces[-1]
    if first.line.axis == "h" and path.source_side != "right":
        return None
    if last.line.axis == "h" and path.target_side != "left":
        return None
    return path


def _join_lines(
    lines: tuple[Line, ...], start: tuple[int, int], end: tuple[int, int]
) -> Path | None:
    """The path along `lines` from one cell to another (indices across and down)."""
    pieces = []
    for at, line in enumerate(lines):
        axis = 0 if line.axis == "h" else 1
        begin = start[axis] if at == 0 else lines[at - 1].position
        stop = end[axis] if at == len(lines) - 1 else lines[at + 1].position
        if begin == stop:
            return None
        pieces.append(Piece(line, min(begin, stop), max(begin, stop), begin, stop))
    first, last = pieces[0], pieces[-1]
    return Path(_find_side(first, first.end > first.begin), _find_side(last, last.end < last.begin),
                tuple(pieces))  # fmt: skip


def _find_side(piece: Piece, onward: bool) -> Side:
    if piece.line.axis == "h":
        return "right" if onward else "left"
    return "bottom" if onward else "top"


def _path_cost(
    grid: Grid, path: Path, u: Cell, v: Cell, link: Link, alone: bool, most: float | None
) -> float | None:
    cost = _walk_cost(grid, path, link, alone, most)
    if cost is None:
        return None
    for cell, side, way in ((u, path.source_side, "out"), (v, path.target_side, "in")):
        if way == "out" and link.offset is not None:
            continue
        taken = cell.ports.get((side, 0.0))
        if taken is not None and taken != way:
            cost += _SHARED_PORT
        elif taken == "out" and cell.kind == "gateway" and link.label is not None:
            cost += _SHARED_BRANCH  # two labels beside one line cannot be distinguished
        if side in ("top", "bottom") and cell.kind != "gateway":
            cost += _ODD_PORT if way == "in" or not link.back else _ODD_PORT / 4
    if link.back and path.source_side == "bottom":
        cost += 0.2
    return cost


def _vertical_cost(
    grid: Grid, path: Path, u: Cell | None, v: Cell | None, link: Link, alone: bool,
    most: float | None,
) -> float | None:  # fmt: skip
    cost = _walk_cost(grid, path, link, alone, most)
    if cost is None:
        return None
    for cell, side, piece in (
        (u, path.source_side, path.pieces[0]),
        (v, path.target_side, path.pieces[-1]),
    ):
        if cell is not None:
            if (side, piece.line.offset) in cell.ports:
                cost += _SHARED_PORT * 2
            cost += abs(piece.line.offset) * 0.01
    for spot, side in (
        (link.source_spot, path.source_side), (link.target_spot, path.target_side),
    ):  # fmt: skip
        if spot is not None and (spot[0] > 0) != (side == "bottom"):
            cost += _SHARED_PORT  # the long way through the cell
    return cost


def _walk_cost(grid: Grid, path: Path, link: Link, alone: bool, most: float | None) -> float | None:
    """Bends, length and crossings; `None` where a node is in the way, or another line beneath, or
    where bends and length alone cost as much as `most`."""
    cost = _BEND * (len(path.pieces) - 1) + _SWAP * grid.swaps(path)
    long = sum(piece.high - piece.low for piece in path.pieces)
    if most is not None and cost + _LENGTH * long / 2 >= most:
        return None
    source, target = link.source, link.target
    for at, piece in enumerate(path.pieces):
        if grid.blocked(piece) or (alone and grid.overlaps(piece, source, target)):
            return None
        if not piece.line.channel and _corner_blocked(grid, path, at):
            return None
        cost += _LENGTH * (piece.high - piece.low) / 2
        cost += _CROSSING * grid.crossings(piece, source, target) / 2
    return cost


def _corner_blocked(grid: Grid, path: Path, at: int) -> bool:
    """Whether the piece turns in a cell where a node stands."""
    if at + 1 == len(path.pieces):
        return False
    first, second = path.pieces[at].line, path.pieces[at + 1].line
    if first.channel or second.channel:
        return False
    column, row = (second.nth, first.nth) if first.axis == "h" else (first.nth, second.nth)
    return grid.occupied(column, row)
