"""Positions on n8n's canvas; elements that the IR adds are placed next to their node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from orgflow.frontends.n8n.source import SourceNode
from orgflow.frontends.n8n.wiring import Beside, Wiring

from orgflow_ir.model import Event
from orgflow_ir.model.diagram import Shape

NODE = 96.0
"""Side of a node on the canvas."""

_NOTE = (240.0, 160.0)
"""Default width and height of a sticky note."""

_SMALL = 36.0


def draw_shapes(nodes: Iterable[SourceNode], wiring: Wiring) -> list[Shape]:
    """Shapes of all elements with a position."""
    places: dict[str, tuple[float, float]] = {}
    shapes = []
    for node in nodes:
        if node.position is None:
            continue
        places[node.id] = node.position
        width, height = _node_size(node)
        shapes.append(Shape(element=node.id, bounds=(*node.position, width, height)))
    beside = {n.id: n for n in wiring.nodes if n.id in wiring.beside}
    shapes += _added_shapes(beside, wiring.beside, places)
    return shapes


def _node_size(node: SourceNode) -> tuple[float, float]:
    if node.short != "stickyNote":
        return NODE, NODE
    width, height = node.parameters.get("width"), node.parameters.get("height")
    return (_side_length(width, _NOTE[0]), _side_length(height, _NOTE[1]))


def _side_length(value: object, otherwise: float) -> float:
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e6
    return float(value) if good else otherwise  # type: ignore[arg-type]  # `good` says it is one


def _added_shapes(
    elements: Mapping[str, object],
    owners: Mapping[str, Beside],
    places: Mapping[str, tuple[float, float]],
) -> list[Shape]:
    """Joins left of their node, boundary events on its lower edge, the rest right of it."""
    shapes = []
    rows: Counter[tuple[str, int]] = Counter()
    for id, element in elements.items():
        owner = owners[id].owner
        if owner not in places:
            continue
        x, y = places[owner]
        if isinstance(element, Event) and element.position == "boundary":
            side, left, top = 0, x + 12.0, y + NODE - _SMALL / 2
            left += (_SMALL + 12.0) * rows[owner, side]
        elif owners[id].before:
            side, left, top = -1, x - 64.0, y + 60.0 * rows[owner, -1]
        else:
            side, left, top = 1, x + NODE + 28.0, y + 30.0 + 60.0 * rows[owner, 1]
        rows[owner, side] += 1
        shapes.append(Shape(element=id, bounds=(left, top, _SMALL, _SMALL)))
    return shapes
