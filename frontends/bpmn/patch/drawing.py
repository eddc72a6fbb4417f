"""The diagram after a fix: shapes and edges of added, removed or redirected elements."""

from __future__ import annotations

import math

from orgflow.frontends.bpmn.patch.picture import Box, Edge, Picture, Point, Shape, number, waypoint
from orgflow.frontends.bpmn.patch.room import (
    around,
    ended_at,
    free,
    insert_strip,
    line_to,
    on_border,
)
from orgflow.frontends.bpmn.patch.text import Changes
from orgflow.frontends.bpmn.xml.document import BpmnDocument
from orgflow.frontends.bpmn.xml.names import BPMNDI
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
        tag, _ = self._tag(_DI, "waypoint")
        for edge in self.picture.edges.values():
            if id(edge.node) not in self._removed:
                edge.write(self.changes, tag)

    def remove(self, name: str) -> None:
        """Remove the shape or edge of an element."""
        found: Shape | Edge | None
        for found in (self.picture.shapes.get(name), self.picture.edges.get(name)):
            if found is not None and id(found.node) not in self._removed:
                self._removed.add(id(found.node))
                self.changes.remove(found.node)

    def rerouted(self, name: str, source: str, target: str) -> None:
        """Move the ends of an edge to the current source and target of its flow."""
        edge, one, two = self.picture.edges.get(name), self._box(source), self._box(target)
        if edge is None or one is None or two is None or len(edge.points) < 2:
            return
        points = edge.points
        taken = self._taken(edge.node, (source, target))
        if edge.source != source:
            points = self._line(self._leaving(one, two), two, taken)
        elif self._across:
            turned = [(y, x) for x, y in points]
            ended = ended_at(turned, two.turned(), [b.turned() for b in taken])
            points = tuple((x, y) for y, x in ended)
        else:
            points = ended_at(points, two, taken)
            back = len(points) > 1 and points[1][0] < points[0][0]
            through = back and points[0][0] > one.middle[0]  # out of its right side, to the left
            if points[0][0] > two.x and (through or not free(points, taken)):
                points = around(one, two, taken)
        edge.points, edge.source, edge.target = points, source, target

    def attached(self, name: str, source: str, target: str) -> None:
        """Make an edge that ended near its shapes touch them; the points between are unchanged."""
        edge, one, two = self.picture.edges.get(name), self._box(source), self._box(target)
        if edge is None or one is None or two is None or len(edge.points) < 2:
            return
        first, *between, last = edge.points
        if edge.source != source:
            first = on_border(first, one)
        if edge.target != target:
            last = on_border(last, two)
        edge.points, edge.source, edge.target = (first, *between, last), source, target

    def add_gateway(
        self, name: str, kind: str, before: str | None, behind: tuple[str, ...]
    ) -> None:
        """A shape before its successor, for which space is made; or after its predecessor."""
        shapes = self.picture.shapes
        after = shapes.get(before) if before is not None else None
        come = [b for n in behind if (b := self._box(n)) is not None]
        if after is not None and after.box is not None:
            beside = after
            box = self._placed(after, come)
        elif come:
            beside = next(s for n in behind if (s := shapes.get(n)) is not None)
            x = max(b.right for b in come) + WIDE
            y = sum(b.middle[1] for b in come) / len(come) - GATEWAY / 2
            box = Box(x, y, GATEWAY, GATEWAY)
        else:
            return
        self._new[name] = box, beside
        last = self.picture.beside(beside)[0][-1].node
        bounds, _ = self._tag(_DC, "Bounds")
        shape, end = self._tag(BPMNDI, "BPMNShape")
        marker = ' isMarkerVisible="true"' if kind == "exclusive" else ""
        self.changes.insert_after(
            last,
            f'<{shape} id="{self._free(name)}" bpmnElement="{name}"{marker}>\n'
            f'  <{bounds} x="{number(box.x)}" y="{number(box.y)}" width="{number(box.width)}" '
            f'height="{number(box.height)}" />\n</{end}>',
        )

    def add_flow(self, name: str, source: str, target: str) -> None:
        """An edge from one shape to another."""
        one, two = self._box(source), self._box(target)
        near = self._new[source][1] if source in self._new else self.picture.shapes.get(source)
        if one is None or two is None or near is None:
            return
        shapes, edges = self.picture.beside(near)
        last = (edges or shapes)[-1].node
        edge, end = self._tag(BPMNDI, "BPMNEdge")
        tag, _ = self._tag(_DI, "waypoint")
        points = self._line(self._leaving(one, two), two, self._taken(last, (source, target)))
        lines = "".join(f"\n  {waypoint(tag, p)}" for p in points)
        self.changes.insert_after(
            last, f'<{edge} id="{self._free(name)}" bpmnElement="{name}">{lines}\n</{end}>'
        )

    # -- places -------------------------------------------------------------------------------

    def _box(self, name: str) -> Box | None:
        if name in self._new:
            return self._new[name][0]
        shape = self.picture.shapes.get(name)
        return shape.box if shape is not None else None

    def _taken(self, on: XmlElement, but: tuple[str, ...]) -> list[Box]:
        """The boxes that a line is not to be drawn through."""
        plane = self.picture.plane.get(id(on))
        return [
            s.box for n, s in self.picture.shapes.items()
            if n not in but and s.box is not None and not s.container
            and self.picture.plane.get(id(s.node)) is plane
        ]  # fmt: skip

    def _placed(self, after: Shape, come: list[Box]) -> Box:
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

    def _leaving(self, one: Box, two: Box) -> Point:
        if self._across and two.y >= one.bottom:
            return one.middle[0], one.bottom
        if two.x < one.right:
            return one.middle[0], one.bottom if two.middle[1] >= one.middle[1] else one.y
        return one.right, one.middle[1]

    def _line(self, begin: Point, target: Box, taken: list[Box]) -> tuple[Point, ...]:
        if not self._across:
            return line_to(begin, target, taken)
        turned = line_to(begin[::-1], target.turned(), [b.turned() for b in taken])
        return tuple((x, y) for y, x in turned)

    def _free(self, name: str) -> str:
        wanted, number_ = f"{name}_di", 2
        while wanted in self.ids:
            wanted, number_ = f"{name}_di{number_}", number_ + 1
        self.ids.add(wanted)
        return wanted

    def _tag(self, ns: str, local: str) -> tuple[str, str]:
        """How an element begins and what it is called, with a prefix of the root's or its own
        declaration."""
        prefixes = [p for p, uri in self.declared.items() if uri == ns]
        if not prefixes:
            return f'{local} xmlns="{ns}"', local
        name = f"{prefixes[0]}:{local}" if prefixes[0] else local
        return name, name
