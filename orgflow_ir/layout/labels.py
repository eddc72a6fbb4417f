"""Positions of flow labels: beside their line, without overlapping anything else."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from itertools import pairwise

from orgflow_ir.layout.group import Box, Group, Point, Stroke
from orgflow_ir.layout.text import Block

_TILE = 120.0
_WORDS = 100.0
_LINE = 6.0
_FAR = 0.02


class Space:
    """Boxes and lines drawn so far, searchable by area."""

    def __init__(self) -> None:
        self._boxes: dict[tuple[int, int], list[tuple[Box, str]]] = {}
        self._lines: dict[tuple[int, int], list[tuple[Box, str]]] = {}
        self._bundles: dict[tuple[Point, int, int], Point] = {}
        """How far it is noted already what runs from (or to) a point in a direction."""

    @staticmethod
    def _list_tiles(box: Box) -> Iterator[tuple[int, int]]:
        x, y, w, h = box
        for column in range(int(x // _TILE), int((x + w) // _TILE) + 1):
            for row in range(int(y // _TILE), int((y + h) // _TILE) + 1):
                yield column, row

    def add_box(self, box: Box, name: str) -> None:
        """A node or a label."""
        for tile in self._list_tiles(box):
            self._boxes.setdefault(tile, []).append((box, name))

    def add_line(self, points: tuple[Point, ...], name: str) -> None:
        """A line, piece by piece; lines in a bundle count once."""
        for piece in pairwise(points):
            rest = self._find_unbundled(*piece)
            if rest is None:
                continue
            (ax, ay), (bx, by) = rest
            box = (min(ax, bx), min(ay, by), abs(ax - bx), abs(ay - by))
            for tile in self._list_tiles(box):
                self._lines.setdefault(tile, []).append((box, name))

    def _find_unbundled(self, a: Point, b: Point) -> tuple[Point, Point] | None:
        """The part of a piece that is in no bundle yet."""
        if a[0] != b[0] and a[1] != b[1]:
            return a, b
        for start, end in ((a, b), (b, a)):
            key = (start, (end[0] > start[0]) - (end[0] < start[0]),
                   (end[1] > start[1]) - (end[1] < start[1]))  # fmt: skip
            far = self._bundles.get(key)
            if far is None:
                self._bundles[key] = end
            elif abs(end[0] - start[0]) + abs(end[1] - start[1]) <= (
                abs(far[0] - start[0]) + abs(far[1] - start[1])
            ):
                return None
            else:
                self._bundles[key] = end
                return far, end
        return a, b

    def cost(self, box: Box) -> float:
        """The amount of overlap of a label in this box."""
        boxes = {b for t in self._list_tiles(box) for b in self._boxes.get(t, ())}
        lines = {b for t in self._list_tiles(box) for b in self._lines.get(t, ())}
        hit = sum(_WORDS for b, _ in boxes if boxes_overlap(b, box))
        return hit + sum(_LINE for b, _ in lines if boxes_overlap(b, box))


def boxes_overlap(first: Box, second: Box, gap: float = 0.0) -> bool:
    """Whether two boxes overlap rather than only touch."""
    return (
        first[0] < second[0] + second[2] + gap
        and second[0] < first[0] + first[2] + gap
        and first[1] < second[1] + second[3] + gap
        and second[1] < first[1] + first[3] + gap
    )


def put_flow_labels(group: Group, blocks: Mapping[str, Block], marked: Container[str] = ()) -> None:
    """Give each line in `blocks` the best place for its label; lines in `marked` have a sign near
    their beginning that the label must not cover."""
    if not blocks:
        return
    space = Space()
    outer = {s.element for s in group.shapes if s.horizontal or s.expanded}
    for shape in group.shapes:
        if shape.element not in outer:
            space.add_box(shape.box, shape.element)
        if shape.label is not None:
            space.add_box(shape.label, shape.element)
    for stroke in group.strokes:
        space.add_line(stroke.points, stroke.element)
        if stroke.label is not None:
            space.add_box(stroke.label, stroke.element)
    begins: dict[tuple[Point, bool], int] = {}
    for stroke in group.strokes:
        key = (stroke.points[0], stroke.points[0][0] == stroke.points[1][0])
        begins[key] = begins.get(key, 0) + 1
    for at, stroke in enumerate(group.strokes):
        block = blocks.get(stroke.element)
        if block is not None:
            key = (stroke.points[0], stroke.points[0][0] == stroke.points[1][0])
            label = _choose_box(
                space, stroke, block, shared=begins[key] > 1, sign=stroke.element in marked
            )
            space.add_box(label, stroke.element)
            group.strokes[at] = stroke._replace(label=label)


def _choose_box(space: Space, stroke: Stroke, block: Block, *, shared: bool, sign: bool) -> Box:
    """The cheapest box; not beside a first piece that is `shared` with other flows."""
    best: tuple[float, Box] | None = None
    for extra, box in _list_candidates(stroke.points, block, shared, 20.0 if sign else 4.0):
        cost = space.cost(box) + extra
        if best is None or cost < best[0]:
            best = (cost, box)
        if cost - extra == 0 and extra < 3:
            break
    assert best is not None
    x, y, w, h = best[1]
    return (round(x, 2), round(y, 2), w, h)


def _list_candidates(
    points: tuple[Point, ...], block: Block, shared: bool, begin: float
) -> Iterator[tuple[float, Box]]:
    """Boxes beside the line with what speaks against each: those near its beginning come first."""
    w, h = block.width, block.height
    walked = 0.0
    for number, ((ax, ay), (bx, by)) in enumerate(pairwise(points)):
        length = abs(ax - bx) + abs(ay - by)
        common = shared and number == 0 and len(points) > 2
        base = 0.3 * number + (30.0 if common else 0.0)
        if ay == by:
            short = 4.0 if length < w + 4 else 0.0
            sign = 1 if bx > ax else -1
            reach = max(0.0, length - w)
            for step in (begin, 10.0, reach / 2, reach - 6, 24.0):
                if step < min(begin, reach) or (step > reach and step > begin + 8):
                    continue
                x = ax + step if sign > 0 else ax - step - w
                extra = base + short + _FAR * (walked + step)
                yield extra, (x, ay - h - 3, w, h)
                yield extra + 0.5, (x, ay + 3, w, h)
        else:
            down = by > ay
            reach = max(0.0, length - h)
            for step in (max(begin, 6.0), reach / 2, reach - 6):
                if step < 0:
                    continue
                y = ay + step if down else ay - step - h
                extra = base + 1.0 + _FAR * (walked + step)
                yield extra, (ax + 5, y, w, h)
                yield extra + 0.2, (ax - 5 - w, y, w, h)
        walked += 0.0 if common else length
    ax, ay = points[len(points) // 2]
    for far in range(1, 60):  # somewhere, but not on anything
        for dx, dy in ((0, -1), (0, 1), (1, -1), (1, 1), (-1, -1), (-1, 1), (1, 0), (-1, 0)):
            yield 20.0 + far, (ax + dx * far * 9 - w / 2, ay + dy * far * 8 - h / 2, w, h)
