"""The drawing after a fix: shapes and edges of what was added, removed or led elsewhere."""

from __future__ import annotations

from typing import NamedTuple

from orgflow.frontends.bpmn.names import BPMNDI
from orgflow.frontends.bpmn.patch.text import Changes
from orgflow.frontends.bpmn.tree import XmlDocument, XmlElement

GATEWAY = 50.0
"""Side of a gateway's square, as modelling tools draw it."""

_DC = "http://www.omg.org/spec/DD/20100524/DC"
_DI = "http://www.omg.org/spec/DD/20100524/DI"


class Box(NamedTuple):
    """A rectangle, in the diagram's units."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> tuple[float, float]:
        """Its centre."""
        return self.x + self.width / 2, self.y + self.height / 2


Point = tuple[float, float]


class Drawing:
    """Shapes and edges of a document, by the id of what they draw; empty where it has none."""

    def __init__(self, document: XmlDocument, changes: Changes) -> None:
        self.changes = changes
        self.declared = document.root.scope.prefixes
        self.shapes: dict[str, XmlElement] = {}
        self.edges: dict[str, XmlElement] = {}
        self.boxes: dict[str, Box] = {}
        for node in document.elements:
            if node.ns == BPMNDI and node.local in ("BPMNShape", "BPMNEdge"):
                drawn = node.attrs.get("bpmnElement", "").rpartition(":")[2]
                (self.shapes if node.local == "BPMNShape" else self.edges).setdefault(drawn, node)
        for name, shape in self.shapes.items():
            box = _box(shape)
            if box is not None:
                self.boxes[name] = box

    def remove(self, name: str) -> None:
        """Take the shape or edge of an element out."""
        for found in (self.shapes.pop(name, None), self.edges.pop(name, None)):
            if found is not None:
                self.changes.remove(found)

    def rerouted(self, name: str, source: str, target: str) -> None:
        """Lead an edge, as it is drawn so far, to where its flow begins and ends now."""
        edge, box = self.edges.get(name), self.boxes.get(target)
        if edge is None or box is None or source not in self.boxes:
            return
        points = [p for p in edge.children if p.local == "waypoint"]
        old = [_point(p) for p in points]
        known = [p for p in old if p is not None]
        if len(known) < 2 or len(known) != len(old):
            return
        way = _way(known[0], box)
        for unneeded in points[1:-1]:
            self.changes.remove(unneeded)
        last = points[-1]
        tag, _ = self._tag(_DI, "waypoint")
        lines = [f'<{tag} x="{_number(x)}" y="{_number(y)}" />' for x, y in way[1:]]
        text = f"{self.changes.line_end}{self.changes.indentation(last)}".join(lines)
        self.changes.replace(last.start, last.end, text)

    def add_gateway(
        self, name: str, kind: str, before: str | None, behind: tuple[str, ...]
    ) -> None:
        """A shape left of what follows it, or right of what comes before it."""
        after = self.boxes.get(before) if before is not None else None
        come = [self.boxes[b] for b in behind if b in self.boxes]
        if not self.shapes or (after is None and not come):
            return
        if after is not None:
            x, y = after.x - GATEWAY - 40, after.middle[1] - GATEWAY / 2
            right = max((b.x + b.width for b in come if b.x < after.x), default=x - 40)
            x = max(x, min((right + after.x - GATEWAY) / 2, after.x - GATEWAY - 10))
        else:
            x = max(b.x + b.width for b in come) + 40
            y = sum(b.middle[1] for b in come) / len(come) - GATEWAY / 2
        box = self.boxes[name] = Box(x, y, GATEWAY, GATEWAY)
        last = next(reversed(self.shapes.values()))
        bounds, _ = self._tag(_DC, "Bounds")
        shape, end = self._tag(BPMNDI, "BPMNShape")
        marker = ' isMarkerVisible="true"' if kind == "exclusive" else ""
        self.changes.insert_after(
            last,
            f'<{shape} id="{name}_di" bpmnElement="{name}"{marker}>\n'
            f'  <{bounds} x="{_number(box.x)}" y="{_number(box.y)}" width="{_number(box.width)}" '
            f'height="{_number(box.height)}" />\n</{end}>',
        )

    def add_flow(self, name: str, source: str, target: str) -> None:
        """An edge from one shape to another."""
        one, two = self.boxes.get(source), self.boxes.get(target)
        if one is None or two is None:
            return
        last = next(reversed((self.edges or self.shapes).values()))
        edge, end = self._tag(BPMNDI, "BPMNEdge")
        point, _ = self._tag(_DI, "waypoint")
        begin = (one.x + one.width, one.middle[1])
        if two.x < begin[0]:
            begin = (one.middle[0], one.y + one.height)
        lines = "".join(
            f'\n  <{point} x="{_number(x)}" y="{_number(y)}" />' for x, y in _way(begin, two)
        )
        self.changes.insert_after(
            last, f'<{edge} id="{name}_di" bpmnElement="{name}">{lines}\n</{end}>'
        )

    def _tag(self, ns: str, local: str) -> tuple[str, str]:
        """How an element begins and what it is called, with a prefix of the root's or its own
        declaration."""
        prefixes = [p for p, uri in self.declared.items() if uri == ns]
        if not prefixes:
            return f'{local} xmlns="{ns}"', local
        name = f"{prefixes[0]}:{local}" if prefixes[0] else local
        return name, name


def _way(begin: Point, target: Box) -> list[Point]:
    """Horizontal and vertical lines from a point to the side of a box that faces it."""
    x, y = begin
    _, middle = target.middle
    if x <= target.x:
        if abs(y - middle) < 1:
            return [begin, (target.x, middle)]
        turn = x + max((target.x - x) / 2, 0)
        return [begin, (turn, y), (turn, middle), (target.x, middle)]
    side = target.y + target.height if y > middle else target.y
    centre = target.middle[0]
    if abs(x - centre) < 1:
        return [begin, (centre, side)]
    return [begin, (centre, y), (centre, side)]


def _box(shape: XmlElement) -> Box | None:
    for child in shape.children:
        if child.local == "Bounds":
            try:
                return Box(*(float(child.attrs[k]) for k in ("x", "y", "width", "height")))
            except (KeyError, ValueError):
                return None
    return None


def _point(node: XmlElement) -> Point | None:
    try:
        return float(node.attrs["x"]), float(node.attrs["y"])
    except (KeyError, ValueError):
        return None


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
