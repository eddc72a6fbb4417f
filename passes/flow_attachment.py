"""The shapes at the ends of a flow that lacks its source or target."""

from __future__ import annotations

from collections.abc import Mapping

from orgflow_ir.flow.control_flow.graph import list_reachable
from orgflow_ir.model import Event, Flow, Model, Opaque, Scope
from orgflow_ir.model import Node as ModelNode
from orgflow_ir.model.diagram import PLANE, Edge, Shape
from orgflow_ir.model.records import NamedTuple

NEAR = 12.0
"""Maximum distance in diagram units between the end of a flow and the shape it was meant to touch:
slightly more than the 10 units of the grids and snap distances of modelling tools."""

_Bounds = tuple[float, float, float, float]


def loose_ends(scope: Scope, reached: frozenset[str]) -> frozenset[str]:
    """The nodes of a scope at which a flow begins or ends whose other end is not in the scope
    (OF101 or OF102), if such a flow affects a run. Consequences of the missing end, such as steps
    without incoming flows, are not reported as well."""
    here = {node.id for node in scope.nodes}
    loose = [f for f in scope.flows if (f.source in here) != (f.target in here)]
    if not any(affects_runs(flow, scope, reached) for flow in loose):
        return frozenset()
    return frozenset(end for f in loose for end in (f.source, f.target) if end in here)


def affects_runs(flow: Flow, scope: Scope, reached: frozenset[str]) -> bool:
    """Whether a flow with a missing end begins or ends at a step that runs reach, or leads to steps
    that wait for it."""
    if flow.source in reached or flow.target in reached:
        return True
    ahead: dict[str, list[str]] = {}
    for other in scope.flows:
        ahead.setdefault(other.source, []).append(other.target)
    return bool(list_reachable((flow.target,), ahead) & reached)


class Attachment(NamedTuple):
    """A flow with the ends that the diagram shows.

    Attributes:
        flow: the flow, attached.
        source: its source node, if it was missing.
        target: its target node, if it was missing.
        near: nodes near an end, the nearest first, if there are several.
    """

    flow: Flow
    source: str | None
    target: str | None
    near: tuple[str, ...] = ()

    @property
    def sure(self) -> bool:
        """Whether each end is near one node only."""
        return not self.near


def find_attachment(
    flow: Flow, here: Mapping[str, ModelNode], scope: Scope, model: Model
) -> Attachment | None:
    """The nodes of its scope at the missing ends of a flow in the diagram, the nearest of several;
    `None` if an end touches none or is not drawn."""
    diagram = model.diagram
    if diagram is None:
        return None
    edge = next((e for e in diagram.edges if e.element == flow.id and len(e.waypoints) > 1), None)
    if edge is None:
        return None
    shapes = [s for s in diagram.shapes if s.element in here and _plane_of(s) == _plane_of(edge)]
    ends: dict[str, str] = {}
    near: tuple[str, ...] = ()
    for side, at, point in (
        ("source", flow.source, edge.waypoints[0]),
        ("target", flow.target, edge.waypoints[-1]),
    ):
        if at in here:
            continue
        touched = _touched_nodes(point, side, shapes, here)
        if not touched:
            return None
        ends[side] = touched[0]
        near = near or (tuple(touched) if len(touched) > 1 else ())
    attached = flow.replace(**ends)
    if attached.source == attached.target or _is_parallel(attached, scope):
        return None  # a loop of one step, or a second arrow, is more likely an accident
    return Attachment(attached, ends.get("source"), ends.get("target"), near)


def _plane_of(mark: Shape | Edge) -> str:
    return dict(mark.extra).get(PLANE, "0")


def _touched_nodes(
    point: tuple[float, float], side: str, shapes: list[Shape], here: Mapping[str, ModelNode]
) -> list[str]:
    """The nodes whose border is near a point and that a flow may begin or end at, nearest first."""
    distances = [
        (border_distance(point, shape.bounds), index, shape.element)
        for index, shape in enumerate(shapes)
        if _takes_end(side, here[shape.element])
    ]
    return [element for far, _, element in sorted(distances) if far <= NEAR]


def _takes_end(side: str, node: ModelNode) -> bool:
    """Whether a flow may begin (or end) at a node."""
    if isinstance(node, Opaque):
        return False
    if not isinstance(node, Event):
        return True
    if side == "source":
        return node.position != "end"
    return node.position in ("catch", "throw", "end")


def _is_parallel(flow: Flow, scope: Scope) -> bool:
    ends = (flow.source, flow.target)
    return any(f.id != flow.id and (f.source, f.target) == ends for f in scope.flows)


def border_distance(point: tuple[float, float], bounds: _Bounds) -> float:
    """The distance from a point to the border of a rectangle, also from inside."""
    (x, y), (left, top, width, height) = point, bounds
    outside = (max(left - x, 0, x - left - width), max(top - y, 0, y - top - height))
    if any(outside):
        return float((outside[0] ** 2 + outside[1] ** 2) ** 0.5)
    return min(x - left, left + width - x, y - top, top + height - y)
