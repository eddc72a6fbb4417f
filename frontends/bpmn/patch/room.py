"""Making space in a diagram: a strip is inserted, and everything after it moves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from orgflow.frontends.bpmn.patch.picture import Box, Edge, Point, Shape


def insert_strip(
    shapes: Iterable[Shape], edges: Iterable[Edge], cut: float, width: float, *, across: bool
) -> None:
    """Move everything that begins at `cut` or right of it (`across`: below it) by `width`.
    Containers that lie on both sides grow, so that nothing overlaps."""
    axis = 1 if across else 0
    moved: dict[str, bool] = {}
    known = {s.node.attrs.get("bpmnElement", "").rpartition(":")[2]: s for s in shapes}
    for name, shape in known.items():
        at = known.get(shape.host, shape)
        if at.container:  # it grows, and what is at its far side goes along
            at = shape
        assert at.box is not None
        moved[name] = at.box[axis] >= cut
    whole = {  # what grows instead moves with one side only
        name: move
        for name, move in moved.items()
        if move or not _grows_with(known[name], cut, axis)
    }
    for edge in edges:
        edge.points = _lead_edge(edge, whole, cut, width, axis)
        if edge.label is not None and edge.label.box is not None and edge.label.box[axis] >= cut:
            edge.label.box = _shift_box(edge.label.box, width, axis)
    for name, shape in known.items():
        box = shape.box
        assert box is not None
        if moved[name]:
            shape.box = _shift_box(box, width, axis)
            if shape.label is not None and shape.label.box is not None:
                shape.label.box = _shift_box(shape.label.box, width, axis)
        elif _grows_with(shape, cut, axis):
            grown = [*box]
            grown[axis + 2] += width
            shape.box = Box(*grown)


def _grows_with(shape: Shape, cut: float, axis: int) -> bool:
    box = shape.box
    return box is not None and shape.container and box[axis] < cut < box[axis] + box[axis + 2]


def _lead_edge(
    edge: Edge, moved: dict[str, bool], cut: float, width: float, axis: int
) -> tuple[Point, ...]:
    """The points of an edge: its ends move with what they are at, and lines along the cut stay
    such lines."""
    points = edge.points
    if not points:
        return points
    move = [p[axis] >= cut for p in points]
    move[0] = moved.get(edge.source, move[0])
    move[-1] = moved.get(edge.target, move[-1])
    for order in (range(1, len(points) - 1), range(len(points) - 2, 0, -1)):
        for i in order:
            near = i - 1 if order.step > 0 else i + 1
            if points[i][axis] == points[near][axis]:
                move[i] = move[near]
    now = [_put_at(p, p[axis] + width, axis) if m else p for p, m in zip(points, move, strict=True)]
    line_points = now[:1]
    for old, new in zip(pairwise(points), pairwise(now), strict=True):
        if old[0][axis] == old[1][axis] and new[0][axis] != new[1][axis]:
            half = (new[0][1 - axis] + new[1][1 - axis]) / 2  # a line along the cut, torn apart
            line_points += [_put_at((half, half), p[axis], axis) for p in new]
        line_points.append(new[1])
    return tuple(line_points)


def _put_at(point: Point, value: float, axis: int) -> Point:
    return (value, point[1]) if axis == 0 else (point[0], value)


def _shift_box(box: Box, width: float, axis: int) -> Box:
    moved = [*box]
    moved[axis] += width
    return Box(*moved)


def line_to(begin: Point, target: Box, taken: Sequence[Box] = ()) -> tuple[Point, ...]:
    """Horizontal and vertical lines from a point to a facing side of a box: over its upper or lower
    corner if that is free of the boxes `taken`."""
    x, y = begin
    centre, middle = target.middle
    if x <= target.x:
        if abs(y - middle) < 1:
            return tuple(dict.fromkeys((begin, (target.x, middle))))
        side = target.bottom if y > middle else target.y
        over = ((x, y), (centre, y), (centre, side))
        if abs(y - middle) > target.height / 2 + 10 and is_free(over, taken):
            return over
        turn = (x + target.x) / 2
        return ((x, y), (turn, y), (turn, middle), (target.x, middle))
    side = target.bottom if y > middle else target.y
    if abs(x - centre) < 1:
        return (begin, (centre, side))
    return (begin, (centre, y), (centre, side))


def lead_around(source: Box, target: Box, taken: Sequence[Box]) -> tuple[Point, ...]:
    """A line back from one box to another, below or above all shapes between them."""
    left, right = min(source.x, target.x), max(source.right, target.right)
    between = [b for b in (source, target, *taken) if b.x < right and left < b.right]
    candidates = []
    for side, other, y in (
        (source.bottom, target.bottom, max(b.bottom for b in between) + 30),
        (source.y, target.y, min(b.y for b in between) - 30),
    ):
        start, end = source.middle[0], target.middle[0]
        candidates.append(((start, side), (start, y), (end, y), (end, other)))
    return next((w for w in candidates if is_free(w, taken)), candidates[0])


def is_free(points: Sequence[Point], taken: Iterable[Box]) -> bool:
    """Whether a line avoids boxes."""
    boxes = [
        Box(min(a[0], b[0]), min(a[1], b[1]), abs(a[0] - b[0]), abs(a[1] - b[1]))
        for a, b in pairwise(points)
    ]
    return not any(line.meets(box, 4) for box in taken for line in boxes)


def on_border(point: Point, box: Box) -> Point:
    """The point on a box's border that is nearest to a point."""
    x = min(max(point[0], box.x), box.right)
    y = min(max(point[1], box.y), box.bottom)
    if (x, y) != point or x in (box.x, box.right) or y in (box.y, box.bottom):
        return x, y
    sides = ((box.x, y), (box.right, y), (x, box.y), (x, box.bottom))
    return min(sides, key=lambda side: abs(side[0] - x) + abs(side[1] - y))


def ended_at(points: Sequence[Point], target: Box, taken: Sequence[Box]) -> tuple[Point, ...]:
    """The current line with its end moved to a side of `target`."""
    *before, near, last = points
    centre, middle = target.middle
    if before and near[0] == last[0] and not target.y - 10 < near[1] < target.bottom + 10:
        side = target.bottom if near[1] > middle else target.y
        return (*before, (centre, near[1]), (centre, side))
    if before and near[1] == last[1] and near[0] < target.x - 5 and before[-1][0] == near[0]:
        return (*before, (near[0], middle), (target.x, middle))
    return line_to(points[0], target, taken)
