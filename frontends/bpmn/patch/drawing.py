"""The diagram after a fix: shapes and edges of added, removed or redirected elements."""

from __future__ import annotations

import math

from orgflow.frontends.bpmn.patch.picture import (
    Box,
    Edge,
    Picture,
    Point,
    Shape,
    number_text,
    waypoint_text,
)
from orgflow.frontends.bpmn.patch.room import (
    ended_at,
    insert_strip,
    is_free,
    lead_around,
    line_to,
    on_border,
)
from orgflow.frontends.bpmn.patch.text import Changes
from orgflow.frontends.bpmn.xml.bpmn_names import BPMNDI
from orgflow.frontends.bpmn.xml.document import BpmnDocument
from orgflow.frontends.xml.tree import XmlElement

GATEWAY = 50.0
"""Side of a gateway's square in modelling tools."""
NEAR, WIDE = 25.0, 40.0
"""Minimum and usual length of a flow next to a new gateway."""
_STEP = 10.0

_DC = "http://www.omg.org/spec/DD/20100524/DC"
_DI = "http://www.omg.org/spec/DD/20100524/DI"


class Drawing:
    """The diagram of a document; `finish` writes its changes."""

    def __init__(self, document: BpmnDocument, changes: Changes) -> None:
        self.changes = changes
        self.declared = document.root.scope.prefixes
        self.picture = Picture(document)
        self.ids = {n.attrs["id"] for n in document.elements if "id" in n.attrs}
        self._removed: set[int] = set()
        self._new: dict[str, tuple[Box, Shape]] = {}
        self._across = False

    def finish(self) -> None:
        """Write the changes."""
        for shape in self.picture.shapes.values():
            if id(shape.node) not in self._removed:
                shape.write(self.changes)
        tag, _ = self._name_tag(_DI, "waypoint")
        for edge in self.picture.edges.values():
            if id(edge.node) not in self._removed:
                edge.write(self.changes, tag)

    def remove(self, name: str) -> None:
        """Remove the shape or edge of an element."""
        drawn: Shape | Edge | None
        for drawn in (self.picture.shapes.get(name), self.picture.edges.get(name)):
            if drawn is not None and id(drawn.node) not in self._removed:
                self._removed.add(id(drawn.node))
                self.changes.remove(drawn.node)

    def rerouted(self, name: str, source: str, target: str) -> None:
        """Move the ends of an edge to the current source and target of its flow."""
        edge, source_box, target_box = (
            self.picture.edges.get(name),
            self._find_box(source),
            self._find_box(target),
        )
        if edge is None or source_box is None or target_box is None or len(edge.points) < 2:
            return
        points = edge.points
        taken = self._boxes_around(edge.node, (source, target))
        if edge.source != source:
            points = self._draw_line(self._leaving_point(source_box, target_box), target_box, taken)
        elif self._across:
            turned = [(y, x) for x, y in points]
            ended = ended_at(turned, target_box.turned(), [b.turned() for b in taken])
            points = tuple((x, y) for y, x in ended)
        else:
            points = ended_at(points, target_box, taken)
            back = len(points) > 1 and points[1][0] < points[0][0]
            through = (
                back and points[0][0] > source_box.middle[0]
            )  # out of its right side, to the left
            if points[0][0] > target_box.x and (through or not is_free(points, taken)):
                points = lead_around(source_box, target_box, taken)
        edge.points, edge.source, edge.target = points, source, target

    def attached(self, name: str, source: str, target: str) -> None:
        """Make an edge that ended near its shapes touch them; the points between are unchanged."""
        edge, source_box, target_box = (
            self.picture.edges.get(name),
            self._find_box(source),
            self._find_box(target),
        )
        if edge is None or source_box is None or target_box is None or len(edge.points) < 2:
            return
        first, *between, last = edge.points
        if edge.source != source:
            first = on_border(first, source_box)
        if edge.target != target:
            last = on_border(last, target_box)
        edge.points, edge.source, edge.target = (first, *between, last), source, target

    def add_gateway(
        self, name: str, kind: str, before: str | None, behind: tuple[str, ...]
    ) -> None:
        """A shape before its successor, for which space is made; or after its predecessor."""
        shapes = self.picture.shapes
        after = shapes.get(before) if before is not None else None
        come = [b for n in behind if (b := self._find_box(n)) is not None]
        if after is not None and after.box is not None:
            beside = after
            box = self._place_gateway(after, come)
        elif come:
            beside = next(s for n in behind if (s := shapes.get(n)) is not None)
            x = max(b.right for b in come) + WIDE
            y = sum(b.middle[1] for b in come) / len(come) - GATEWAY / 2
            box = Box(x, y, GATEWAY, GATEWAY)
        else:
            return
        self._new[name] = box, beside
        last = self.picture.beside(beside)[0][-1].node
        bounds, _ = self._name_tag(_DC, "Bounds")
        shape, end = self._name_tag(BPMNDI, "BPMNShape")
        marker = ' isMarkerVisible="true"' if kind == "exclusive" else ""
        self.changes.insert_after(
            last,
            f'<{shape} id="{self._free_id(name)}" bpmnElement="{name}"{marker}>\n'
            f'  <{bounds} x="{number_text(box.x)}" y="{number_text(box.y)}" '
            f'width="{number_text(box.width)}" '
            f'height="{number_text(box.height)}" />\n</{end}>',
        )

    def add_flow(self, name: str, source: str, target: str) -> None:
        """An edge from one shape to another."""
        source_box, target_box = self._find_box(source), self._find_box(target)
        near = self._new[source][1] if source in self._new else self.picture.shapes.get(source)
        if source_box is None or target_box is None or near is None:
            return
        shapes, edges = self.picture.beside(near)
        last = (edges or shapes)[-1].node
        edge, end = self._name_tag(BPMNDI, "BPMNEdge")
        tag, _ = self._name_tag(_DI, "waypoint")
        points = self._draw_line(
            self._leaving_point(source_box, target_box),
            target_box,
            self._boxes_around(last, (source, target)),
        )
        lines = "".join(f"\n  {waypoint_text(tag, p)}" for p in points)
        self.changes.insert_after(
            last, f'<{edge} id="{self._free_id(name)}" bpmnElement="{name}">{lines}\n</{end}>'
        )

    # -- places -------------------------------------------------------------------------------

    def _find_box(self, name: str) -> Box | None:
        if name in self._new:
            return self._new[name][0]
        shape = self.picture.shapes.get(name)
        return shape.box if shape is not None else None

    def _boxes_around(self, on: XmlElement, but: tuple[str, ...]) -> list[Box]:
        """The boxes that a line is not to be drawn through."""
        plane = self.picture.plane.get(id(on))
        return [
            s.box for n, s in self.picture.shapes.items()
            if n not in but and s.box is not None and not s.container
            and self.picture.plane.get(id(s.node)) is plane
        ]  # fmt: skip

    def _place_gateway(self, after: Shape, come: list[Box]) -> Box:
        """The place of a gateway before a shape: between it and what leads there, with room made
        where that is too near; above it where the drawing runs downwards."""
        assert after.box is not None
        ahead = after.box
        left = any(b.right <= ahead.x for b in come)
        self._across = not left and any(b.bottom <= ahead.y for b in come)
        shapes, edges = self.picture.beside(after)
        own = ahead.turned() if self._across else ahead
        beam = Box(own.x - GATEWAY, own.middle[1] - GATEWAY / 2, GATEWAY, GATEWAY)
        before = -math.inf
        for shape in shapes:
            assert shape.box is not None
            box = shape.box.turned() if self._across else shape.box
            level = box.y < beam.bottom + 5 and beam.y < box.bottom + 5
            if box.right <= own.x and (level or shape.box in come):
                before = max(before, box.right)
            elif shape.container and box.x < own.x < box.right and level:
                before = max(before, box.x)  # the border of what is around
        room = own.x - before
        wanted = NEAR + GATEWAY + NEAR
        if room < wanted:
            more = math.ceil((wanted - room) / _STEP) * _STEP
            insert_strip(shapes, edges, own.x, more, across=self._across)
            own = own._replace(x=own.x + more)
            room += more
        x = own.x - GATEWAY - min(WIDE, (room - GATEWAY) / 2)
        placed = Box(x, beam.y, GATEWAY, GATEWAY)
        return placed.turned() if self._across else placed

    def _leaving_point(self, source_box: Box, target_box: Box) -> Point:
        if self._across and target_box.y >= source_box.bottom:
            return source_box.middle[0], source_box.bottom
        if target_box.x < source_box.right:
            return source_box.middle[0], source_box.bottom if target_box.middle[
                1
            ] >= source_box.middle[1] else source_box.y
        return source_box.right, source_box.middle[1]

    def _draw_line(self, begin: Point, target: Box, taken: list[Box]) -> tuple[Point, ...]:
        if not self._across:
            return line_to(begin, target, taken)
        turned = line_to(begin[::-1], target.turned(), [b.turned() for b in taken])
        return tuple((x, y) for y, x in turned)

    def _free_id(self, name: str) -> str:
        wanted, number_ = f"{name}_di", 2
        while wanted in self.ids:
            wanted, number_ = f"{name}_di{number_}", number_ + 1
        self.ids.add(wanted)
        return wanted

    def _name_tag(self, ns: str, local: str) -> tuple[str, str]:
        """How an element begins and what it is called, with a prefix of the root's or its own
        declaration."""
        prefixes = [p for p, uri in self.declared.items() if uri == ns]
        if not prefixes:
            return f'{local} xmlns="{ns}"', local
        name = f"{prefixes[0]}:{local}" if prefixes[0] else local
        return name, name
