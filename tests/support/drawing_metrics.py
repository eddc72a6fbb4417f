"""How readable a drawing is, in numbers: what overlaps, what crosses, what runs through what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from orgflow_ir.model import Event, Model, SubProcess
from orgflow_ir.model.diagram import Diagram, Edge, Shape

Box = tuple[float, float, float, float]
Point = tuple[float, float]
_TILE = 160.0
_SLACK = 0.6


class Metrics(NamedTuple):
    """Counts for one drawing; all but crossings and bends should be 0."""

    nodes: int
    edges: int
    node_overlaps: int
    label_overlaps: int
    lines_in_labels: int
    lines_through_nodes: int
    lines_upon_lines: int
    slanted: int
    crossings: int
    bends: int
    missing: int


class _Line(NamedTuple):
    box: Box
    edge: int
    piece: int


def measure(model: Model, drawing: Diagram) -> Metrics:
    """The metrics of `drawing` as a drawing of `model`."""
    view = _View(model, drawing)
    crossings, upon = view.meetings()
    flows = {f.id for s in model.scopes() for f in s.flows} | {f.id for f in model.message_flows}
    edges = [e for e in drawing.edges if e.element in flows]
    slanted = sum(
        1
        for e in edges
        for a, b in zip(e.waypoints, e.waypoints[1:], strict=False)
        if abs(a[0] - b[0]) > _SLACK and abs(a[1] - b[1]) > _SLACK
    )
    known = {s.element for s in drawing.shapes}
    wanted = {n.id for s in model.scopes() for n in s.nodes} | {p.id for p in model.pools}
    missing = len(wanted - known) + len(flows - {e.element for e in drawing.edges})
    return Metrics(
        len(view.nodes), len(drawing.edges), view.node_overlaps(), view.label_overlaps(),
        view.lines_in_labels(), view.lines_through_nodes(), upon, slanted, crossings,
        sum(max(0, len(e.waypoints) - 2) for e in edges), missing,
    )  # fmt: skip


class _View:
    """A drawing by tiles."""

    def __init__(self, model: Model, drawing: Diagram) -> None:
        frames = {p.id for p in model.pools} | {x.id for s in model.scopes() for x in s.lanes}
        self.inside: dict[str, set[str]] = {}
        self.hosts: dict[str, str] = {}
        self.ends: dict[str, tuple[str, str]] = {}
        self._index(model)
        boxes = {s.element: s.bounds for s in drawing.shapes if s.element not in frames}
        self.nodes = {n: b for n, b in boxes.items() if n not in self.inside}
        self.open = {n: b for n, b in boxes.items() if n in self.inside}
        closed = [n for n in self.open if not any(i in boxes for i in self.inside[n])]
        self.nodes.update((n, self.open.pop(n)) for n in closed)
        items: tuple[Shape | Edge, ...] = (*drawing.shapes, *drawing.edges)
        self.labels = [(item.element, item.label) for item in items if item.label is not None]
        self.edges = [e for e in drawing.edges if len(e.waypoints) > 1]
        self.lines: dict[tuple[int, int], list[_Line]] = {}
        for number, edge in enumerate(self.edges):
            for piece, (a, b) in enumerate(zip(edge.waypoints, edge.waypoints[1:], strict=False)):
                box = (min(a[0], b[0]), min(a[1], b[1]), abs(a[0] - b[0]), abs(a[1] - b[1]))
                for tile in _tiles(box):
                    self.lines.setdefault(tile, []).append(_Line(box, number, piece))

    def _index(self, model: Model) -> None:
        for scope in model.scopes():
            if isinstance(scope, SubProcess):
                self.inside[scope.id] = {
                    e.id
                    for s in scope.scopes()
                    for part in (s.nodes, s.data_objects, s.artifacts)
                    for e in part
                } - {scope.id}
            for node in scope.nodes:
                if isinstance(node, Event) and node.attached_to:
                    self.hosts[node.id] = node.attached_to
            for part in (scope.flows, scope.data_flows, scope.artifacts):
                for e in part:
                    self.ends[e.id] = (getattr(e, "source", "") or "",
                                       getattr(e, "target", "") or "")  # fmt: skip
        self.ends.update((f.id, (f.source, f.target)) for f in model.message_flows)

    def node_overlaps(self) -> int:
        """Pairs of nodes, and open sub-processes with what is not in them."""
        found = 0
        boxes = [*self.nodes.items(), *self.open.items()]
        for one, other in _pairs(boxes):
            (a, x), (b, y) = boxes[one], boxes[other]
            if self.hosts.get(a) == b or self.hosts.get(b) == a:
                continue
            if b in self.inside.get(a, ()) or a in self.inside.get(b, ()):
                continue
            if any(b in self.inside.get(h, ()) for h in (self.hosts.get(a, ""),)):
                continue
            found += _meet(x, y)
        return found

    def label_overlaps(self) -> int:
        """Labels on labels and labels on nodes; a boundary event's host does not count below."""
        boxes = [(n, b, False) for n, b in self.nodes.items()]
        boxes += [(n, b, True) for n, b in self.labels]
        found = 0
        for one, other in _pairs([(n, b) for n, b, _ in boxes]):
            (_, x, first), (_, y, second) = boxes[one], boxes[other]
            found += (first or second) and _meet(x, y)
        return found

    def lines_in_labels(self) -> int:
        """Pairs of a label and a line that runs through it."""
        found = set()
        for number, (_, box) in enumerate(self.labels):
            for tile in _tiles(box):
                for line in self.lines.get(tile, ()):
                    if _touches(line.box, box):
                        found.add((number, line.edge))
        return len(found)

    def lines_through_nodes(self) -> int:
        """Pairs of a line and a node that is neither of its ends, nor holds one of them."""
        found = set()
        for name, box in self.nodes.items():
            for tile in _tiles(box):
                for line in self.lines.get(tile, ()):
                    edge = self.edges[line.edge].element
                    ends = self.ends.get(edge, ())
                    if name in ends or any(self.hosts.get(e) == name for e in ends):
                        continue
                    if any(self.hosts.get(name) == e for e in ends):
                        continue
                    if _touches(line.box, box) and _through(self.edges[line.edge], line.piece, box):
                        found.add((edge, name))
        return len(found)

    def meetings(self) -> tuple[int, int]:
        """Crossings of lines, and pairs of lines without a common end that run upon each other."""
        crossing: set[tuple[int, int, int, int]] = set()
        upon: set[tuple[int, int]] = set()
        for lines in self.lines.values():
            for at, one in enumerate(lines):
                for other in lines[at + 1 :]:
                    if one.edge == other.edge:
                        continue
                    a, b = sorted((one, other), key=lambda x: (x.edge, x.piece))
                    kind = self._meeting(a, b)
                    if kind == "cross":
                        crossing.add((a.edge, a.piece, b.edge, b.piece))
                    elif kind == "upon":
                        upon.add((a.edge, b.edge))
        return len(crossing), len(upon)

    def _meeting(self, a: _Line, b: _Line) -> str:
        p, q = self._piece(a), self._piece(b)
        if _cross(p, q):
            return "cross"
        ends = set(self.ends.get(self.edges[a.edge].element, ())) - {""}
        if ends & set(self.ends.get(self.edges[b.edge].element, ())):
            return ""
        for axis in (0, 1):
            flat = all(abs(s[0][axis] - s[1][axis]) < 0.01 for s in (p, q))
            if flat and abs(p[0][axis] - q[0][axis]) < 0.01:
                low = max(min(s[0][1 - axis], s[1][1 - axis]) for s in (p, q))
                high = min(max(s[0][1 - axis], s[1][1 - axis]) for s in (p, q))
                if high - low > 1:
                    return "upon"
        return ""

    def _piece(self, line: _Line) -> tuple[Point, Point]:
        points = self.edges[line.edge].waypoints
        return points[line.piece], points[line.piece + 1]


def _tiles(box: Box) -> Iterator[tuple[int, int]]:
    x, y, w, h = box
    for column in range(int(x // _TILE), int((x + w) // _TILE) + 1):
        for row in range(int(y // _TILE), int((y + h) // _TILE) + 1):
            yield column, row


def _pairs(boxes: list[tuple[str, Box]]) -> Iterator[tuple[int, int]]:
    """Pairs of numbers of boxes that share a tile, each once."""
    tiles: dict[tuple[int, int], list[int]] = {}
    for number, (_, box) in enumerate(boxes):
        for tile in _tiles(box):
            tiles.setdefault(tile, []).append(number)
    seen: set[tuple[int, int]] = set()
    for members in tiles.values():
        for at, one in enumerate(members):
            for other in members[at + 1 :]:
                if (one, other) not in seen:
                    seen.add((one, other))
                    yield one, other


def _meet(one: Box, other: Box) -> bool:
    return (
        one[0] + _SLACK < other[0] + other[2]
        and other[0] + _SLACK < one[0] + one[2]
        and one[1] + _SLACK < other[1] + other[3]
        and other[1] + _SLACK < one[1] + one[3]
    )


def _touches(line: Box, box: Box) -> bool:
    """Whether a line's box, which may be flat, reaches into a box."""
    return (
        line[0] < box[0] + box[2] - _SLACK
        and box[0] + _SLACK < line[0] + line[2]
        and line[1] < box[1] + box[3] - _SLACK
        and box[1] + _SLACK < line[1] + line[3]
    )


def _through(edge: Edge, piece: int, box: Box) -> bool:
    """Whether the piece itself, not only its box, meets the node's box."""
    (ax, ay), (bx, by) = edge.waypoints[piece : piece + 2]
    if abs(ax - bx) < _SLACK or abs(ay - by) < _SLACK:
        return True
    steps = 24
    for n in range(steps + 1):
        x, y = ax + (bx - ax) * n / steps, ay + (by - ay) * n / steps
        if box[0] < x < box[0] + box[2] and box[1] < y < box[1] + box[3]:
            return True
    return False


def _cross(p: tuple[Point, Point], q: tuple[Point, Point]) -> bool:
    """Whether two pieces cross inside both."""

    def side(a: Point, b: Point, c: Point) -> float:
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    one, two = side(*p, q[0]), side(*p, q[1])
    three, four = side(*q, p[0]), side(*q, p[1])
    return one * two < -1e-6 and three * four < -1e-6
