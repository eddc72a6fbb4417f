"""Positions from the source's diagram, where it has one that reads from left to right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orgflow.backends.n8n.layout import COLUMN, GRID, ROW
from orgflow.backends.n8n.sketch import Sketch

from orgflow_ir.model import Model, Process

SCALE_X = 1.7
SCALE_Y = 1.6
"""BPMN tools draw tasks 100 wide and 150 apart; n8n's nodes need 256 by 176."""

_CLOSE_X = 176
_CLOSE_Y = 112
"""Nodes nearer than this in both directions would hide each other or each other's names."""


@dataclass(frozen=True)
class Drawn:
    """Positions of nodes (top left corner) and of lane bands (top, bottom), in canvas units."""

    positions: dict[str, tuple[int, int]]
    lanes: dict[str, tuple[int, int]]


def from_diagram(model: Model, process: Process, sketch: Sketch) -> Drawn | None:
    """The source's positions, scaled and with room made for nodes that it does not have; `None`
    where there is no diagram, it is incomplete, or it does not read from left to right."""
    if model.diagram is None:
        return None
    shapes = {s.element: s.bounds for s in model.diagram.shapes}
    centres = {
        n.id: (shapes[n.id][0] + shapes[n.id][2] / 2, shapes[n.id][1] + shapes[n.id][3] / 2)
        for n in process.nodes
        if n.id in shapes
    }
    wanted = {node.element for node in sketch.nodes.values()}
    if not wanted <= centres.keys() or not _left_to_right(process, centres):
        return None
    left = min(x for x, _ in centres.values())
    top = min(y for _, y in centres.values())
    spots: dict[str, list[float]] = {}
    for key, node in sketch.nodes.items():
        x, y = centres[node.element]
        spots[key] = [(x - left) * SCALE_X, (y - top) * SCALE_Y]
    _make_room(sketch, spots)
    placed = _settle(sketch, spots)
    if placed is None:
        return None
    bands = {}
    for lane in process.lanes:
        if lane.id in shapes:
            bounds = shapes[lane.id]
            bands[lane.id] = (
                _snap((bounds[1] - top) * SCALE_Y),
                _snap((bounds[1] + bounds[3] - top) * SCALE_Y),
            )
    return Drawn(placed, bands)


def _left_to_right(process: Process, centres: Mapping[str, tuple[float, float]]) -> bool:
    flows = [f for f in process.flows if f.source in centres and f.target in centres]
    rightwards = sum(1 for f in flows if centres[f.target][0] > centres[f.source][0] + 10)
    return bool(flows) and rightwards >= 0.7 * len(flows)


def _make_room(sketch: Sketch, spots: dict[str, list[float]]) -> None:
    """A free column left of gateways with a decision node, right of those with branch tests."""
    for role, behind in (("decide", False), ("branch", True)):
        owners = sorted(
            {n.element for n in sketch.nodes.values() if n.role == role},
            key=lambda e: (spots[e][0], e),
        )
        for owner in owners:
            edge = spots[owner][0] + (1 if behind else 0)
            extra = {n.key for n in sketch.nodes.values() if n.role == role and n.element == owner}
            for key, spot in spots.items():
                if key not in extra and spot[0] >= edge:
                    spot[0] += COLUMN
            for index, key in enumerate(sorted(extra)):
                base = spots[owner]
                spots[key] = [base[0] + (COLUMN if behind else -COLUMN), base[1] + index * ROW]


def _settle(
    sketch: Sketch, spots: Mapping[str, Sequence[float]]
) -> dict[str, tuple[int, int]] | None:
    """Snapped positions without overlaps: drawn nodes first, added ones moved down until free."""
    placed: dict[str, tuple[int, int]] = {}
    cells: dict[tuple[int, int], list[tuple[int, int]]] = {}

    def free(x: int, y: int) -> bool:
        cx, cy = x // _CLOSE_X, y // _CLOSE_Y
        return not any(
            abs(x - ox) < _CLOSE_X and abs(y - oy) < _CLOSE_Y
            for i in (cx - 1, cx, cx + 1)
            for j in (cy - 1, cy, cy + 1)
            for ox, oy in cells.get((i, j), ())
        )

    def put(key: str, x: int, y: int) -> None:
        placed[key] = (x, y)
        cells.setdefault((x // _CLOSE_X, y // _CLOSE_Y), []).append((x, y))

    added = ("stop", "join", "pass", "branch")
    for key, node in sketch.nodes.items():
        if node.role not in added:
            x, y = _snap(spots[key][0]), _snap(spots[key][1])
            if not free(x, y):
                return None
            put(key, x, y)
    for key, node in sketch.nodes.items():
        if node.role in added:
            x, y = _snap(spots[key][0]), _snap(spots[key][1])
            if node.role == "stop":
                x += COLUMN
                y += ROW
            tries = 0
            while not free(x, y) and tries < 200:
                y += GRID * 4
                tries += 1
            put(key, x, y)
    return placed


def _snap(value: float) -> int:
    return round(value / GRID) * GRID
