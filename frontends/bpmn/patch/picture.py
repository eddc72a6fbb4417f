"""A diagram in a file: boxes and lines that can be changed and written back."""

from __future__ import annotations

from collections.abc import Sequence

from orgflow.frontends.bpmn.patch.text import Changes
from orgflow.frontends.bpmn.xml.bpmn_names import BPMNDI
from orgflow.frontends.bpmn.xml.document import BpmnDocument
from orgflow.frontends.xml.tree import XmlElement

from orgflow_ir.model.records import NamedTuple

Point = tuple[float, float]

_AROUND = frozenset({"participant", "lane", "group"})
_INSIDE = frozenset({"subProcess", "transaction", "adHocSubProcess"})


class Box(NamedTuple):
    """A rectangle, in the diagram's units."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> Point:
        """Its centre."""
        return self.x + self.width / 2, self.y + self.height / 2

    @property
    def right(self) -> float:
        """Its right side."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Its lower side."""
        return self.y + self.height

    def turned(self) -> Box:
        """The same with x and y exchanged."""
        return Box(self.y, self.x, self.height, self.width)

    def meets(self, other: Box, apart: float = 0) -> bool:
        """Whether the distance of two boxes is less than `apart`."""
        return (
            self.x < other.right + apart
            and other.x < self.right + apart
            and self.y < other.bottom + apart
            and other.y < self.bottom + apart
        )


class Shape:
    """The shape of a node: its original and current box, and that of its label."""

    def __init__(self, node: XmlElement, element: XmlElement | None) -> None:
        self.node = node
        self.bounds = next((c for c in node.children if c.local == "Bounds"), None)
        self.was = self.box = _read_box(self.bounds)
        label = next((c for c in node.children if c.local == "BPMNLabel"), None)
        self.label = Label(label) if label is not None else None
        self.element = element
        self.container = element is not None and element.local in _AROUND
        self.container = self.container or node.attrs.get("isExpanded") == "true"
        host = element.attrs.get("attachedToRef", "") if element is not None else ""
        self.host = host.rpartition(":")[2]

    def write(self, changes: Changes) -> None:
        """Write the changes."""
        if self.bounds is not None and self.box is not None and self.was is not None:
            _rewrite_attributes(
                changes, self.bounds, ("x", "y", "width", "height"), self.was, self.box
            )
        if self.label is not None:
            self.label.write(changes)


class Label:
    """The position of a name."""

    def __init__(self, node: XmlElement) -> None:
        self.bounds = next((c for c in node.children if c.local == "Bounds"), None)
        self.was = self.box = _read_box(self.bounds)

    def write(self, changes: Changes) -> None:
        """Write the changes."""
        if self.bounds is not None and self.box is not None and self.was is not None:
            _rewrite_attributes(changes, self.bounds, ("x", "y"), self.was[:2], self.box[:2])


class Edge:
    """The edge of a flow: its original and current points."""

    def __init__(self, node: XmlElement, element: XmlElement | None) -> None:
        self.node = node
        self.waypoints = [c for c in node.children if c.local == "waypoint"]
        known = [p for c in self.waypoints if (p := _read_point(c)) is not None]
        self.was: tuple[Point, ...] = tuple(known) if len(known) == len(self.waypoints) else ()
        self.points = self.was
        label = next((c for c in node.children if c.local == "BPMNLabel"), None)
        self.label = Label(label) if label is not None else None
        ends = element.attrs if element is not None else {}
        self.source, self.target = (
            ends.get(k, "").rpartition(":")[2] for k in ("sourceRef", "targetRef")
        )

    def write(self, changes: Changes, tag: str) -> None:
        """Write the changes."""
        both = min(len(self.was), len(self.points))
        for node, old, new in zip(self.waypoints, self.was, self.points, strict=False):
            _rewrite_attributes(changes, node, ("x", "y"), old, new)
        for unneeded in self.waypoints[len(self.points) :] if self.points else ():
            changes.remove(unneeded)
        if more := self.points[both:]:
            last = self.waypoints[-1]
            apart = changes.line_end + changes.indentation(last) if changes.alone(last) else ""
            text = "".join(f"{apart}{waypoint_text(tag, p)}" for p in more)
            changes.replace(last.end, last.end, text)
        if self.label is not None:
            self.label.write(changes)


class Picture:
    """Shapes and edges of a document, by the id of their element; empty if it has none."""

    def __init__(self, document: BpmnDocument) -> None:
        by_id = {n.attrs["id"]: n for n in reversed(document.elements) if "id" in n.attrs}
        self.shapes: dict[str, Shape] = {}
        self.edges: dict[str, Edge] = {}
        self.plane: dict[int, XmlElement] = {}
        for plane in document.elements:
            if plane.ns != BPMNDI or plane.local != "BPMNPlane":
                continue
            for node in plane.descendants():
                if node.ns != BPMNDI or node.local not in ("BPMNShape", "BPMNEdge"):
                    continue
                self.plane[id(node)] = plane
                name = node.attrs.get("bpmnElement", "").rpartition(":")[2]
                if node.local == "BPMNShape":
                    self.shapes.setdefault(name, Shape(node, by_id.get(name)))
                else:
                    self.edges.setdefault(name, Edge(node, by_id.get(name)))

        for shape in self.shapes.values():
            if shape.element is not None and shape.element.local in _INSIDE:
                shape.container = any(
                    (inner := self.shapes.get(c.attrs.get("id", ""))) is not None
                    and self.plane[id(inner.node)] is self.plane[id(shape.node)]
                    for c in shape.element.children
                )

    def beside(self, shape: Shape) -> tuple[list[Shape], list[Edge]]:
        """The shapes (with a box) and the edges of the plane that contains one of them."""
        plane = self.plane.get(id(shape.node))
        return (
            [
                s for s in self.shapes.values()
                if self.plane.get(id(s.node)) is plane and s.box is not None
            ],
            [e for e in self.edges.values() if self.plane.get(id(e.node)) is plane],
        )  # fmt: skip


def waypoint_text(tag: str, point: Point) -> str:
    """A point as text."""
    return f'<{tag} x="{number_text(point[0])}" y="{number_text(point[1])}" />'


def number_text(value: float) -> str:
    """A coordinate as text."""
    return f"{value:.1f}".removesuffix(".0")


def _rewrite_attributes(
    changes: Changes,
    node: XmlElement,
    names: Sequence[str],
    old: Sequence[float],
    new: Sequence[float],
) -> None:
    for name, before, now in zip(names, old, new, strict=True):
        if before != now:
            changes.set_attribute(node, name, number_text(now))


def _read_box(bounds: XmlElement | None) -> Box | None:
    if bounds is None:
        return None
    try:
        return Box(*(float(bounds.attrs[k]) for k in ("x", "y", "width", "height")))
    except (KeyError, ValueError):
        return None


def _read_point(node: XmlElement) -> Point | None:
    try:
        return float(node.attrs["x"]), float(node.attrs["y"])
    except (KeyError, ValueError):
        return None
