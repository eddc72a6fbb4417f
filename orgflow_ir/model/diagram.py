"""The drawing of a model, as a side table."""

from __future__ import annotations

from orgflow_ir.model.value import Extra, Value

PLANE = "@{urn:orgflow}plane"
"""Key of a shape's or edge's `extra` that says in which plane, counted from 0, it is drawn; none:
in the first one."""


class Shape(Value):
    """Where an element is drawn: left, top, width, height in diagram units, y downwards."""

    element: str
    bounds: tuple[float, float, float, float]
    label: tuple[float, float, float, float] | None = None
    horizontal: bool | None = None
    expanded: bool | None = None
    extra: Extra = ()


class Edge(Value):
    """How a flow is drawn: its waypoints (x, y)."""

    element: str
    waypoints: tuple[tuple[float, float], ...] = ()
    label: tuple[float, float, float, float] | None = None
    extra: Extra = ()


class Diagram(Value):
    """The source's drawing, a side table: nothing in it changes what the model means."""

    shapes: tuple[Shape, ...] = ()
    edges: tuple[Edge, ...] = ()
