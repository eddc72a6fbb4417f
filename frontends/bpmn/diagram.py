"""BPMN DI: where things are drawn (BPMN 2.0.2, 12). Read on demand only."""

from __future__ import annotations

from math import isfinite

from orgflow.backends.bpmn.format import PLANE
from orgflow.frontends.bpmn.bpmn_reading import Reading
from orgflow.frontends.bpmn.reading_rules import InvalidValue, UnknownReference
from orgflow.frontends.bpmn.xml.bpmn_names import BPMNDI, DC, DI
from orgflow.frontends.xml.tree import XmlElement

from orgflow_ir.model.diagram import Diagram, Edge, Shape
from orgflow_ir.model.value import Extra

Box = tuple[float, float, float, float]


def read_diagrams(r: Reading, diagrams: list[XmlElement]) -> tuple[Diagram | None, Extra]:
    """All shapes and edges of all diagrams; properties of a diagram itself, as kept data."""
    shapes: list[Shape] = []
    edges: list[Edge] = []
    shells: list[tuple[str, str]] = []
    planes = 0
    for diagram in diagrams:
        inner = []
        for child in diagram.children:
            if child.local == "BPMNPlane" and child.ns == BPMNDI:
                inner.append(_read_plane(r, child, shapes, edges, planes))
                planes += 1
            else:
                inner.append(r.document.standalone(child))
        shells.append((diagram.tag, r.document.shell(diagram, inner)))
    if not diagrams:
        return None, ()
    return Diagram(shapes=tuple(shapes), edges=tuple(edges)), tuple(shells)


def _read_plane(
    r: Reading, plane: XmlElement, shapes: list[Shape], edges: list[Edge], number: int
) -> str:
    rest = []
    which: Extra = ((PLANE, str(number)),) if number else ()
    for node in plane.children:
        if node.local == "BPMNShape" and node.ns == BPMNDI:
            shape = _read_shape(r, node)
            if shape is not None:
                shapes.append(shape.replace(extra=shape.extra + which) if which else shape)
        elif node.local == "BPMNEdge" and node.ns == BPMNDI:
            edge = _read_edge(r, node)
            if edge is not None:
                edges.append(edge.replace(extra=edge.extra + which) if which else edge)
        else:
            rest.append(r.document.standalone(node))
    return r.document.shell(plane, rest)


def _read_element(r: Reading, node: XmlElement) -> str | None:
    name = r.ref(node, "bpmnElement")
    if name in r.shared:
        return None  # OF150 reports the elements
    if name is not None and name in r.ids:
        return name
    r.report(
        UnknownReference,
        f"the diagram contains `{name}`, which is not in the file"
        if name
        else "a shape or edge of the diagram does not reference an element",
        node,
        help="remove the shape or edge; it is ignored",
    )
    return None


def _read_shape(r: Reading, node: XmlElement) -> Shape | None:
    name = _read_element(r, node)
    if name is None:
        return None
    bounds = next(
        (_read_bounds(r, c) for c in node.children if c.local == "Bounds" and c.ns == DC), None
    )
    if bounds is None:
        r.report(
            InvalidValue,
            f"the shape of `{name}` has no usable bounds",
            node,
            help="give it `Bounds` with x, y, width and height; it is ignored",
        )
        return None
    return Shape(
        element=name,
        bounds=bounds,
        label=_read_label(r, node),
        horizontal=_read_flag(r, node, "isHorizontal"),
        expanded=_read_flag(r, node, "isExpanded"),
        extra=_read_rest(r, node, ("bpmnElement", "isHorizontal", "isExpanded"), ("Bounds",)),
    )


def _read_edge(r: Reading, node: XmlElement) -> Edge | None:
    name = _read_element(r, node)
    if name is None:
        return None
    points = []
    for child in node.children:
        if child.local == "waypoint" and child.ns == DI:
            try:
                x, y = float(child.attrs["x"]), float(child.attrs["y"])
                usable = isfinite(x) and isfinite(y)
            except (KeyError, ValueError):
                usable = False
            if not usable:
                r.report(
                    InvalidValue,
                    f"a way point of `{name}` has no usable x and y",
                    child,
                    help="give it two numbers; it is ignored",
                )
            else:
                points.append((x, y))
    return Edge(
        element=name,
        waypoints=tuple(points),
        label=_read_label(r, node),
        extra=_read_rest(r, node, ("bpmnElement",), ("waypoint",)),
    )


def _read_bounds(r: Reading, node: XmlElement) -> Box | None:
    at = node.attrs
    try:
        box = (float(at["x"]), float(at["y"]), float(at["width"]), float(at["height"]))
    except (KeyError, ValueError):
        return None
    return box if all(map(isfinite, box)) else None


def _read_label(r: Reading, node: XmlElement) -> Box | None:
    for label in node.children:
        if label.local == "BPMNLabel":
            for child in label.children:
                if child.local == "Bounds":
                    return _read_bounds(r, child)
    return None


def _read_flag(r: Reading, node: XmlElement, attribute: str) -> bool | None:
    return r.boolean(node, attribute, False) if attribute in node.attrs else None


def _read_rest(
    r: Reading, node: XmlElement, attributes: tuple[str, ...], children: tuple[str, ...]
) -> Extra:
    extra: list[tuple[str, str]] = []
    for key, value in node.attrs.items():
        if key in attributes or key == "xmlns" or key.startswith("xmlns:"):
            continue
        ns, local = node.scope.attribute_name(key)
        extra.append((f"@{{{ns or BPMNDI}}}{local}", value))
    for child in node.children:
        plain = child.local == "BPMNLabel" and not child.attrs
        bounds_only = plain and all(c.local == "Bounds" for c in child.children)
        if child.local not in children and not (bounds_only and child.children):
            extra.append((child.tag, r.document.standalone(child)))
    return tuple(extra)
