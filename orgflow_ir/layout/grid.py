"""A grid of cells with channels between its rows and columns: the diagram before sizes are
assigned.

Column `c` lies between the vertical channels `c` and `c + 1`, row `r` between the horizontal
channels `r` and `r + 1`. On each axis, channel `k` has the index `2k`, and row or column `r` has
the index `2r + 1`. Nodes are placed in cells. Lines run along the middle of free rows and columns,
or in channels, which never contain nodes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import field
from typing import Literal

from orgflow_ir.layout.text import Block
from orgflow_ir.model.records import NamedTuple, dataclass

_BUCKET = 64
_MOST = 160
"""Number of indices per bucket in which stretches are looked up, and on which crossings are
counted."""
_CROWD = 64
"""If this many run already, further ones with the same source or target count as one."""

Kind = Literal["task", "event", "gateway", "box"]
Side = Literal["left", "right", "top", "bottom"]


@dataclass(eq=False)
class Cell:
    """A node in the grid: its size, the extent from its middle of the node and its parts, and the
    sides that lines use (`in` or `out`, with the distance from the middle)."""

    id: str
    kind: Kind
    width: float
    height: float
    column: int = 0
    row: int = 0
    left: float = 0
    right: float = 0
    top: float = 0
    bottom: float = 0
    label: Block | None = None
    ports: dict[tuple[Side, float], str] = field(default_factory=dict)
    parts: list[Part] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.left = self.right = max(self.left, self.width / 2)
        self.top = self.bottom = max(self.top, self.height / 2)

    def reach(self, box: tuple[float, float, float, float]) -> None:
        """Reserve the space of a box (left, top, width, height) relative to the middle."""
        x, y, w, h = box
        self.left, self.right = max(self.left, -x), max(self.right, x + w)
        self.top, self.bottom = max(self.top, -y), max(self.bottom, y + h)

    def uses(self, side: Side) -> bool:
        """Whether a line uses this side."""
        return any(s == side for s, _ in self.ports)


class Part(NamedTuple):
    """Something drawn with a node: its box relative to the node's middle; `label` marks text."""

    id: str
    box: tuple[float, float, float, float]
    label: bool = False


class Line(NamedTuple):
    """The position of a piece of a route: along a row or column (`offset` from its middle), or in a
    channel, where it is assigned a track later."""

    axis: Literal["h", "v"]
    channel: bool
    nth: int
    offset: float = 0.0

    @property
    def position(self) -> int:
        """Its index across."""
        return 2 * self.nth + (0 if self.channel else 1)


@dataclass(eq=False)
class Link:
    """A line from node to node, or to its own row (`row`: a pool's border).

    `offset` is the distance from the middle at which it leaves its source through `side`, for a
    boundary event or a data object above its task; `reach` is the distance of its edge from the
    middle. `marked`: it has a sign near its beginning. `vertical`: it begins and ends at top or
    bottom. A spot is an end on or in a cell: its distance below the middle, and half its height.
    """

    id: str
    source: str
    target: str
    label: Block | None = None
    offset: float | None = None
    reach: float = 0.0
    side: Side = "bottom"
    source_spot: tuple[float, float] | None = None
    target_spot: tuple[float, float] | None = None
    end_offset: float | None = None
    vertical: bool = False
    back: bool = False
    marked: bool = False
    rows: tuple[int, int] = (0, 0)
    source_row: int | None = None
    target_row: int | None = None


class Piece(NamedTuple):
    """A line of a route with its extent as indices on the other axis, low to high."""

    line: Line
    low: int
    high: int
    begin: int
    end: int


class Path(NamedTuple):
    """A route: the sides it uses and its lines, alternately along the two axes."""

    source_side: Side
    target_side: Side
    pieces: tuple[Piece, ...]


class Used(NamedTuple):
    """A stretch of a line used by a route."""

    low: int
    high: int
    source: str
    target: str


class Grid:
    """Cells and the routes between them."""

    def __init__(self, cells: dict[str, Cell], kinds: list[str], columns: int) -> None:
        self.cells = cells
        self.kinds = kinds
        """What each row is: `cells`, `line` (a border) or `box` (a pool without content)."""
        self.columns = columns
        self.strips: dict[int, tuple[float, float]] = {}
        """Rows that hold boxes outside of all columns: their reach above and below the middle."""
        self._in_row: dict[int, list[int]] = {}
        self._in_column: dict[int, list[int]] = {}
        for cell in cells.values():
            insort(self._in_row.setdefault(cell.row, []), cell.column)
            insort(self._in_column.setdefault(cell.column, []), cell.row)
        self.boxes = [r for r, kind in enumerate(kinds) if kind == "box"]
        self.used: set[Line] = set()
        self._along: dict[tuple[Line, int], list[Used]] = {}
        self._across: dict[tuple[str, int, int], list[Used]] = {}
        self.turns: dict[Line, set[tuple[int, int]]] = {}
        """Rows that lines come from on the left of a vertical channel and go to on its right."""

    def blocked(self, piece: Piece) -> bool:
        """Whether a node is strictly between the ends of a piece. The caller
        checks the ends."""
        line = piece.line
        if line.channel:
            return False
        table = self._in_row if line.axis == "h" else self._in_column
        taken = table.get(line.nth, [])
        first = bisect_right(taken, (piece.low - 1) // 2)
        if first < len(taken) and 2 * taken[first] + 1 < piece.high:
            return True
        if line.axis == "v" and self.boxes:
            at = bisect_left(self.boxes, piece.low // 2)
            return at < len(self.boxes) and piece.low < 2 * self.boxes[at] + 1 < piece.high
        return False

    def occupied(self, column: int, row: int) -> bool:
        """Whether a node occupies this cell."""
        taken = self._in_row.get(row, [])
        at = bisect_left(taken, column)
        return at < len(taken) and taken[at] == column

    def any_in_row(self, row: int, first: int, last: int) -> bool:
        """Whether a node is in this row between two columns, inclusive."""
        taken = self._in_row.get(row, [])
        at = bisect_left(taken, first)
        return at < len(taken) and taken[at] <= last

    def overlaps(self, piece: Piece, source: str, target: str) -> bool:
        """Whether a piece would overlap another route that shares no end with it."""
        if piece.line.channel:
            return False
        for bucket in range(piece.low // _BUCKET, piece.high // _BUCKET + 1):
            for u in self._along.get((piece.line, bucket), ()):
                apart = source != u.source and target != u.target
                if apart and u.low < piece.high and piece.low < u.high:
                    return True
        return False

    def crossings(self, piece: Piece, source: str, target: str) -> int:
        """The approximate number of routes that a piece crosses, except those that share an end
        with it."""
        other = "v" if piece.line.axis == "h" else "h"
        at = piece.line.position
        count = 0
        bucket = at // _BUCKET
        for index in range(piece.low, min(piece.high, piece.low + _MOST) + 1):
            for u in self._across.get((other, index, bucket), ()):
                if u.low <= at <= u.high and source != u.source and target != u.target:
                    edge = index in (piece.low, piece.high) or at in (u.low, u.high)
                    count += 1 if edge else 2
        return count

    def take(self, path: Path, source: str, target: str) -> None:
        """Record the position of a route."""
        for piece in path.pieces:
            used = Used(piece.low, piece.high, source, target)
            self.used.add(piece.line)
            axis, at = piece.line.axis, piece.line.position
            for bucket in range(piece.low // _BUCKET, piece.high // _BUCKET + 1):
                self._note_use(self._along.setdefault((piece.line, bucket), []), used)
                self._note_use(self._across.setdefault((axis, at, bucket), []), used)
        for line, turn in list_turns(path):
            self.turns.setdefault(line, set()).add(turn)

    @staticmethod
    def _note_use(known: list[Used], used: Used) -> None:
        if len(known) >= _CROWD:
            for at in range(len(known) - 1, len(known) - 9, -1):
                u = known[at]
                if used.source == u.source or used.target == u.target:
                    known[at] = u._replace(low=min(u.low, used.low), high=max(u.high, used.high))
                    return
        known.append(used)

    def swaps(self, path: Path) -> int:
        """The number of routes with which this one would swap rows in one channel, so that one of
        the two would overlap the other."""
        return sum(
            (low, high) in self.turns.get(line, ()) for line, (high, low) in list_turns(path)
        )


def list_turns(path: Path) -> list[tuple[Line, tuple[int, int]]]:
    """The vertical channels in which a route continues to the right in another row."""
    turning_lines = []
    for at in range(1, len(path.pieces) - 1):
        before, piece, after = path.pieces[at - 1 : at + 2]
        onward = before.begin < before.end and after.begin < after.end
        if piece.line.axis == "v" and piece.line.channel and onward:
            turning_lines.append((piece.line, (piece.begin, piece.end)))
    return turning_lines
