"""Positions from the source's diagram, if it reads from left to right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from orgflow.backends.n8n.emit.layout import COLUMN, GRID, NODE, PORT, ROW, find_lift
from orgflow.backends.n8n.plan.actions import WAITS
from orgflow.backends.n8n.plan.graph import NodeKey, PlanGraph
from orgflow.backends.n8n.plan.scopes import WorkflowScope

from orgflow_ir.flow.control_flow.graph import strong_components
from orgflow_ir.model.elements import Scope
from orgflow_ir.model.records import NamedTuple

SCALE_X = (1.7, 2.8)
SCALE_Y = (1.6, 2.6)
"""Minimum and maximum scale: BPMN tools draw tasks 100 wide and 150 apart, with gateways and events
closer; n8n's nodes and their names need about 200 by 130."""

_CLOSE_X = 176
_CLOSE_Y = 112
"""Nodes that are closer than this in both directions would hide each other or each other's
names."""

_NAME = 40
"""Space for the name of a stop above the edge of its lane."""

_ROOM = (("decide", False), ("round", False), ("branch", True), ("data", True), ("guard", True))
"""Roles of auxiliary nodes, and whether they follow their node."""

_ADDED = ("stop", "join", "pass", "branch")
_TRIES = 200
_SLACK = 20
_STEEP = 0.15
"""Maximum diagram units that a flow may go left, and the share of flows that may go (almost)
straight down."""

_CELL = 256
"""Side of the squares in which neighbours are searched."""


class Drawn(NamedTuple):
    """Positions of nodes (top left corner) and of lane bands (top, bottom), in canvas units."""

    positions: dict[NodeKey, tuple[int, int]]
    lanes: dict[str, tuple[int, int]]


def from_diagram(
    scope: WorkflowScope, workflow_graph: PlanGraph, ports: Mapping[NodeKey, int]
) -> Drawn | None:
    """The source's positions, scaled, with space for additional nodes; `None` if there is no
    diagram, it is incomplete, or it does not read from left to right."""
    if scope.model.diagram is None:
        return None
    shapes = {s.element: s.bounds for s in scope.model.diagram.shapes}
    centres = {
        n.id: (shapes[n.id][0] + shapes[n.id][2] / 2, shapes[n.id][1] + shapes[n.id][3] / 2)
        for n in scope.body.nodes
        if n.id in shapes
    }
    wanted = {node.element for node in workflow_graph.nodes.values()}
    if not wanted <= centres.keys() or not _left_to_right(scope.body, centres):
        return None
    across, down = _find_scales(list({centres[n.element] for n in workflow_graph.nodes.values()}))
    left = min(x for x, _ in centres.values())
    top = min(y for _, y in centres.values())
    spots: dict[NodeKey, list[float]] = {}
    for key, node in workflow_graph.nodes.items():
        x, y = centres[node.element]
        spots[key] = [(x - left) * across, (y - top) * down]
    _make_room(workflow_graph, spots)
    bands = {}
    for lane in scope.lanes:
        if lane.id in shapes:
            _, upper, _, high = shapes[lane.id]
            bands[lane.id] = (
                _snap_to_grid((upper - top) * down) + NODE // 2,
                _snap_to_grid((upper + high - top) * down) + NODE // 2,
            )
    settled = _Places(workflow_graph, spots, bands, ports)
    if not settled.drawn():
        return None
    settled.add()
    lifted = {key: (x, y - find_lift(ports.get(key, 0))) for key, (x, y) in settled.placed.items()}
    return Drawn(lifted, settled.bands)


def _find_scales(centres: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """How far the drawing is stretched so that the closest neighbours in a row or column fit."""
    ordered = sorted(centres)
    gap_x, gap_y = 1000.0, 1000.0
    for index, (x, y) in enumerate(ordered):
        for other_x, other_y in ordered[index + 1 :]:
            if other_x - x > 2 * _CLOSE_X:
                break
            dx, dy = other_x - x, abs(other_y - y)
            if dx >= dy and dy < 60:
                gap_x = min(gap_x, dx)
            elif dy > dx and dx < 90:
                gap_y = min(gap_y, dy)

    def stretch(gap: float, wanted: float, limits: tuple[float, float]) -> float:
        return min(max(limits[0], wanted / max(gap, 1.0)), limits[1])

    return stretch(gap_x, _CLOSE_X + GRID, SCALE_X), stretch(gap_y, ROW, SCALE_Y)


def _left_to_right(body: Scope, centres: Mapping[str, tuple[float, float]]) -> bool:
    """Whether flows go rightwards, but for those of loops: n8n's wires leave a node on its right
    and enter on its left, so one that goes down or back winds around both."""
    succ: dict[str, list[str]] = {n: [] for n in centres}
    for flow in body.flows:
        if flow.source in centres and flow.target in centres:
            succ[flow.source].append(flow.target)
    component = strong_components(succ)
    steps = [
        centres[b][0] - centres[a][0]
        for a, targets in succ.items()
        for b in targets
        if component[a] != component[b] or centres[b][0] > centres[a][0]
    ]
    if not steps or min(steps) < -_SLACK:
        return False
    return sum(1 for dx in steps if dx < 2 * _SLACK) <= _STEEP * len(steps)


def _make_room(workflow_graph: PlanGraph, spots: dict[NodeKey, list[float]]) -> None:
    """A free column left of gateways with a decision node, right of those with branch tests and of
    forms with what makes variables of the answers and what asks again."""
    nodes = workflow_graph.nodes
    answered = {n.element for n in nodes.values() if n.role == "data"}
    forms = {
        key
        for key, n in nodes.items()
        if n.role == "element" and (isinstance(n.action, WAITS) or n.element in answered)
    }
    for role, behind in _ROOM:
        owners = sorted(
            {
                n.element
                for n in nodes.values()
                if n.role == role and (role != "data" or n.element in forms)
            },
            key=lambda e: (spots[e][0], e),
        )
        for owner in owners:
            edge = spots[owner][0] + (1 if behind else 0)
            extra = {n.key for n in nodes.values() if n.role == role and n.element == owner}
            for key, spot in spots.items():
                if key not in extra and spot[0] >= edge:
                    spot[0] += COLUMN
            for index, key in enumerate(sorted(extra, key=str)):
                base = spots[owner]
                spots[key] = [base[0] + (COLUMN if behind else -COLUMN), base[1] + index * ROW]


class _Places:
    """Snapped positions without overlaps: drawn nodes first, added ones moved down until free, in a
    lane that is made higher where it is full.

    Attributes:
        placed: the position of each node so far, as if all were of one height.
        bands: top and bottom of each lane.
    """

    def __init__(
        self,
        workflow_graph: PlanGraph,
        spots: Mapping[NodeKey, Sequence[float]],
        bands: dict[str, tuple[int, int]],
        ports: Mapping[NodeKey, int],
    ) -> None:
        self.nodes, self.spots, self.bands, self.ports = workflow_graph.nodes, spots, bands, ports
        self.placed: dict[NodeKey, tuple[int, int]] = {}
        self.cells: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self.rows: list[int] = []

    def drawn(self) -> bool:
        """Place what the diagram has; whether nothing there hides another."""
        for key, node in self.nodes.items():
            if node.role not in _ADDED:
                spot = self._wanted(key)
                if not self._is_free(spot, _CLOSE_X, _CLOSE_Y):
                    return False
                self._put(key, spot)
        return True

    def add(self) -> None:
        """Place what the diagram does not have."""
        for key, ports in self.ports.items():  # room for what high nodes have below
            if key in self.placed:
                x, y = self.placed[key]
                for more in range(_CLOSE_Y, (ports - 2) * PORT - find_lift(ports) + 1, _CLOSE_Y):
                    self._take((x, y + more))
        for key, node in self.nodes.items():
            if node.role in _ADDED:
                x, y = self._wanted(key)
                if node.role == "stop":
                    self._put(key, self._beside(x, y))
                else:
                    below = ((x, y + number * 64) for number in range(_TRIES))
                    self._put(key, self._first_free(below) or (x, y))

    def _beside(self, x: int, y: int) -> tuple[int, int]:
        """A free place for the stop of a gateway, in its lane."""
        middle = y + NODE // 2
        lanes = [(low, name) for name, (high, low) in self.bands.items() if high <= middle <= low]
        if not lanes:
            return self._first_free(_list_places_around(x, y)) or (x, y)
        low = min(lanes)[0]
        inside = (spot for spot in _list_places_around(x, y) if spot[1] + NODE + _NAME <= low)
        return self._first_free(inside) or self._new_row(x + COLUMN, low)

    def _new_row(self, x: int, at: int) -> tuple[int, int]:
        """A place in a new row of the lanes that end at a height; what is below moves down."""
        for key, (left, y) in self.placed.items():
            if y + NODE // 2 > at:
                self.placed[key] = (left, y + ROW)
        for name, (high, low) in self.bands.items():
            self.bands[name] = (high + ROW * (high >= at), low + ROW * (low >= at))
        self.rows.append(at)
        cells, self.cells = self.cells, {}
        for spots in cells.values():
            for left, y in spots:
                self._take((left, y + ROW * (y + NODE // 2 > at)))
        return x, at + _snap_to_grid((ROW - NODE - _NAME) / 2)

    def _wanted(self, key: NodeKey) -> tuple[int, int]:
        x, y = (_snap_to_grid(value) for value in self.spots[key])
        for at in self.rows:
            y += ROW * (y + NODE // 2 > at)
        return x, y

    def _put(self, key: NodeKey, spot: tuple[int, int]) -> None:
        self.placed[key] = spot
        self._take(spot)

    def _take(self, spot: tuple[int, int]) -> None:
        self.cells.setdefault((spot[0] // _CELL, spot[1] // _CELL), []).append(spot)

    def _first_free(self, spots: Iterable[tuple[int, int]]) -> tuple[int, int] | None:
        return next((s for s in spots if self._is_free(s, COLUMN - 40, ROW - 16)), None)

    def _is_free(self, spot: tuple[int, int], wide: int, high: int) -> bool:
        x, y = spot
        cells = self.cells
        for i in range((x - wide) // _CELL, (x + wide) // _CELL + 1):
            for j in range((y - high) // _CELL, (y + high) // _CELL + 1):
                for ox, oy in cells.get((i, j), ()):
                    if abs(x - ox) < wide and abs(y - oy) < high:
                        return False
        return True


def _list_places_around(x: int, y: int) -> Iterator[tuple[int, int]]:
    """Places for a stop, best first: below and right of its gateway, near before far."""
    for down in range(ROW, 40 * ROW, GRID * 4):
        for right in (COLUMN, COLUMN // 2, COLUMN + COLUMN // 2):
            yield x + right, y + down


def _snap_to_grid(value: float) -> int:
    return round(value / GRID) * GRID
