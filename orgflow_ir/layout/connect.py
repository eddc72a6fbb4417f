"""A line between two boxes of an existing diagram: the best of a few shapes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from orgflow_ir.layout.group import Box, Point
from orgflow_ir.layout.labels import boxes_overlap
from orgflow_ir.layout.places import straighten_line

_HIT = 200.0
_BEND = 15.0
_SMALL = 60.0
_SHORT = 16.0
_STRAY = 4.0


def connect_boxes(
    source: Box, target: Box, solid: Sequence[Box], *, flow: bool = True
) -> tuple[Point, ...]:
    """A line from one box to another, around `solid` boxes if possible; a `flow` never leaves a box
    to the left."""
    near = [
        b for b in solid if b not in (source, target) and not _encloses_middle(b, source, target)
    ]
    best: tuple[float, tuple[Point, ...]] | None = None
    for points in _list_shapes(source, target, flow):
        path = straighten_line(list(points))
        cost = _BEND * (len(path) - 2)
        for a, b in pairwise(path):
            box = (min(a[0], b[0]), min(a[1], b[1]), abs(a[0] - b[0]), abs(a[1] - b[1]))
            cost += box[2] + box[3]
            cost += _HIT * sum(boxes_overlap(box, other, 4.0) for other in near)
            cost += _HIT * sum(boxes_overlap(box, other, -1.0) for other in (source, target))
        if best is None or cost < best[0]:
            best = (cost, path)
    assert best is not None
    return best[1]


def _encloses_middle(outer: Box, *inner: Box) -> bool:
    """Whether a box holds the middle of one of the others: it is around them."""
    return any(
        outer[0] < b[0] + b[2] / 2 < outer[0] + outer[2]
        and outer[1] < b[1] + b[3] / 2 < outer[1] + outer[3]
        for b in inner
    )


def _turn_box(box: Box) -> Box:
    return box[1], box[0], box[3], box[2]


def _find_level(source: Box, target: Box) -> float | None:
    """The height of a level line between two boxes, if there is one that meets both outlines: a
    small one (an event, a gateway) has to be met in the middle."""
    small, large = sorted((source, target), key=lambda b: b[3])
    y = small[1] + small[3] / 2
    unlike = large[3] > _SMALL and small[3] < 0.8 * large[3]
    room = large[3] / 4 if unlike else large[3] / 2 - _STRAY
    return y if large[1] + room <= y <= large[1] + large[3] - room else None


def _list_shapes(source: Box, target: Box, flow: bool) -> Iterator[tuple[Point, ...]]:
    sx, sy = source[0] + source[2] / 2, source[1] + source[3] / 2
    tx, ty = target[0] + target[2] / 2, target[1] + target[3] / 2
    right, left = (source[0] + source[2], sy), (target[0], ty)
    low, high = source[1] + source[3], source[1]
    level = _find_level(source, target)
    if level is not None and right[0] <= left[0]:
        yield (right[0], level), (left[0], level)
    elif level is not None and not flow and target[0] + target[2] <= source[0]:
        yield (source[0], level), (target[0] + target[2], level)
    upright = _find_level(_turn_box(source), _turn_box(target))
    if upright is not None and (low <= target[1] or target[1] + target[3] <= high):
        down = low <= target[1]
        yield (upright, low if down else high), (
            upright, target[1] if down else target[1] + target[3],
        )  # fmt: skip
    for x in ((right[0] + left[0]) / 2, right[0] + 20, left[0] - 20):
        yield right, (x, sy), (x, ty), left
    for y in (low, high):
        if abs(ty - y) >= _SHORT:
            yield (sx, y), (sx, ty), left
    bottom, top = (tx, target[1] + target[3]), (tx, target[1])
    end = bottom if sy > ty else top
    if abs(sy - end[1]) >= _SHORT:
        yield right, (tx, sy), end
    middle = (max(high, target[1]) + min(low, bottom[1])) / 2
    for y in (middle, max(low, bottom[1]) + 24, min(high, top[1]) - 24):
        start = (sx, low if y > sy else high)
        end = bottom if y > ty else top
        yield start, (sx, y), (tx, y), end
        yield right, (right[0] + 20, sy), (right[0] + 20, y), (left[0] - 20, y), (
            left[0] - 20, ty,
        ), left  # fmt: skip
