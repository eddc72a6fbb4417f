"""Several planes of one diagram, each with its own origin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from orgflow_ir.layout.group import Box, move_box
from orgflow_ir.model import Model, SubProcess
from orgflow_ir.model.diagram import PLANE, Diagram, Edge, Shape

Item = TypeVar("Item", Shape, Edge)
HEADING = 26.0
"""Height of the text above a plane."""
_GAP = 50.0


def plane_of(item: Shape | Edge) -> int:
    """The number of the plane that an item is drawn in."""
    number = next((v for k, v in item.extra if k == PLANE), "0")
    return int(number) if number.isdecimal() else 0


def in_plane(item: Item, plane: int) -> Item:
    """`item` in this plane."""
    return item.replace(extra=(*item.extra, (PLANE, str(plane)))) if plane else item


def stack_planes(model: Model, drawing: Diagram) -> tuple[Diagram, tuple[tuple[str, Box], ...]]:
    """All planes below each other as one, and for each after the first, its name and the box of the
    name.

    It is named after the sub-process whose content it shows, or after the first pool or process in
    it.
    """
    planes: dict[int, list[Shape | Edge]] = {}
    items: tuple[Shape | Edge, ...] = (*drawing.shapes, *drawing.edges)
    for item in items:
        planes.setdefault(plane_of(item), []).append(item)
    if len(planes) < 2:
        return drawing, ()
    homes, names = _map_homes(model)
    shapes: list[Shape] = []
    edges: list[Edge] = []
    headings: list[tuple[str, Box]] = []
    left = low = 0.0
    for number, plane in enumerate(sorted(planes)):
        x, y, right, bottom = find_bounds(planes[plane])
        dx, dy = 0.0, 0.0
        if number:
            dx, dy = left - x, low + _GAP + HEADING - y
            held = next((homes[i.element] for i in planes[plane] if i.element in homes), "")
            headings.append((names.get(held, ""), (left, low + _GAP, right - x, HEADING)))
        else:
            left = x
        low = bottom + dy
        for item in planes[plane]:
            label = None if item.label is None else move_box(item.label, dx, dy)
            if isinstance(item, Shape):
                shapes.append(item.replace(bounds=move_box(item.bounds, dx, dy), label=label))
            else:
                points = tuple((round(a + dx, 2), round(b + dy, 2)) for a, b in item.waypoints)
                edges.append(item.replace(waypoints=points, label=label))
    return Diagram(shapes=tuple(shapes), edges=tuple(edges)), tuple(headings)


def _map_homes(model: Model) -> tuple[dict[str, str], dict[str, str]]:
    """The scope or pool that says what a plane with an element shows; the names of those."""
    homes = {pool.id: pool.id for pool in model.pools}
    names = {pool.id: pool.label for pool in model.pools}
    for scope in model.scopes():
        names[scope.id] = scope.label
        for node in scope.nodes:
            homes[node.id] = scope.id
            if isinstance(node, SubProcess):
                names[node.id] = node.label
    return homes, names


def find_bounds(items: Iterable[Shape | Edge]) -> Box:
    """Left, top, right and bottom of everything, with space for text below small shapes."""
    xs: list[float] = []
    ys: list[float] = []
    for item in items:
        boxes = [] if item.label is None else [item.label]
        if isinstance(item, Shape):
            boxes.append(item.bounds)
            if item.label is None and item.bounds[2] <= 50:
                x, y, w, h = item.bounds
                boxes.append((x - 30, y - 20, w + 60, h + 50))
        else:
            xs += [x for x, _ in item.waypoints]
            ys += [y for _, y in item.waypoints]
        for x, y, w, h in boxes:
            xs += [x, x + w]
            ys += [y, y + h]
    return min(xs, default=0.0), min(ys, default=0.0), max(xs, default=0.0), max(ys, default=0.0)
