"""The diagram of a model, as a side table."""

from __future__ import annotations

from orgflow_ir.model.value import Extra, Value

PLANE = "@{urn:orgflow}plane"
"""Key of a shape's or edge's `extra` with the number of its plane, counted from 0; without it, the
first plane."""


class Shape(Value):
    """The position of an element: left, top, width, height in diagram units, y downwards."""

    element: str
    bounds: tuple[float, float, float, float]
    label: tuple[float, float, float, float] | None = None
    horizontal: bool | None = None
    expanded: bool | None = None
    extra: Extra = ()


class Edge(Value):
    """The line of a flow: its waypoints (x, y)."""

    element: str
    waypoints: tuple[tuple[float, float], ...] = ()
    label: tuple[float, float, float, float] | None = None
    extra: Extra = ()


class Diagram(Value):
    """The diagram of the source, a side table without influence on the meaning of the model."""

    shapes: tuple[Shape, ...] = ()
    edges: tuple[Edge, ...] = ()
