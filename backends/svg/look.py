"""Highlighted elements of one picture: a run, findings, badges, notes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from orgflow.backends.svg.marks import draw_circle
from orgflow.backends.svg.nodes import draw_rect
from orgflow.backends.svg.words import draw_centred, escape_text

from orgflow_ir.layout.labels import Space
from orgflow_ir.layout.text import text_width
from orgflow_ir.model import Element, Model, SubProcess
from orgflow_ir.model.diagram import Diagram, Edge, Shape
from orgflow_ir.model.records import NamedTuple

SEVERITIES = ("info", "warning", "error")
"""From the least to the most severe."""
_SIGNS = {"error": "!", "warning": "!", "info": "i"}
Point = tuple[float, float]


class Look(NamedTuple):
    """By element: severity, whether a run took it, text of a badge, additional text for its
    title."""

    highlights: Mapping[str, str]
    taken: Collection[str]
    marks: Mapping[str, str]
    notes: Mapping[str, str]
    signs: Mapping[str, str] = {}

    def opening(self, element: Element) -> str:
        """The group of an element, with its classes and its tooltip."""
        kinds = ["of-el"]
        if element.id in self.taken:
            kinds.append("of-taken")
        if element.id in self.highlights:
            kinds.append(f"of-{self.highlights[element.id]}")
        title = f"{element.caption} ({element.construct})"
        if self.notes.get(element.id):
            title += f"\n{self.notes[element.id]}"
        return (
            f'<g class="{" ".join(kinds)}" data-element="{escape_text(element.id)}">'
            f"<title>{escape_text(title)}</title>"
        )

    def rank(self, element: str) -> int:
        """The drawing order of overlapping lines: highlighted ones on top."""
        if element in self.highlights:
            return 2 + SEVERITIES.index(self.highlights[element])
        return int(element in self.taken)

    def badge_width(self, element: str) -> float:
        """Shared by all badges of an element."""
        sign = text_width(self.signs.get(element, "")) + 8
        return max(20.0, sign) * (element in self.highlights) + max(
            16.0, text_width(self.marks.get(element, "")) + 8
        )

    def badges(self, element: str, x: float, y: float) -> list[str]:
        """The severity, and the requested text to the left of it."""
        parts: list[str] = []
        severity = self.highlights.get(element)
        if severity is not None:
            sign = self.signs.get(element, _SIGNS[severity])
            wide = max(16.0, text_width(sign) + 6)
            kind = f"of-badge-{severity}"
            parts.append(
                draw_rect((x - wide / 2, y - 8, wide, 16), kind, 8)
                if wide > 16
                else draw_circle(x, y, 8, kind)
            )
            parts += draw_centred([sign], x, y, "of-badge-text")
            x -= wide + 4
        mark = self.marks.get(element)
        if mark:
            wide = max(16.0, text_width(mark) + 8)
            parts.append(draw_rect((x - wide / 2, y - 8, wide, 16), "of-badge-taken", 8))
            parts += draw_centred([mark], x, y, "of-badge-text")
        return parts


def build_look(
    model: Model,
    drawing: Diagram,
    highlights: Mapping[str, Any],
    taken: Collection[str],
    marks: Mapping[str, str],
    notes: Mapping[str, str],
    signs: Mapping[str, str] | None = None,
) -> Look:
    """A look; elements of a closed sub-process are shown on that. `signs` replace `!` and `i` in
    the badges of highlighted elements. Raises `ValueError` for an unknown severity."""
    visible = shown_as(model, drawing)
    severities: dict[str, str] = {}
    for name, value in highlights.items():
        severity = str(getattr(value, "value", value))
        if severity not in SEVERITIES:
            raise ValueError(
                f"there is no severity {severity!r}; the severities are {', '.join(SEVERITIES)}"
            )
        at = visible(name)
        if at not in severities or SEVERITIES.index(severity) > SEVERITIES.index(severities[at]):
            severities[at] = severity
    shown = {visible(name): sign for name, sign in (signs or {}).items()}
    return Look(severities, frozenset(map(visible, taken)), marks, notes, shown)


def shown_as(model: Model, drawing: Diagram) -> Callable[[str], str]:
    """The visible element: itself, or the closed sub-process around it."""
    shown = {s.element for s in drawing.shapes} | {e.element for e in drawing.edges}
    around = _map_around(model)

    def find_visible(name: str) -> str:
        while name not in shown and name in around:
            name = around[name]
        return name

    return find_visible


def _map_around(model: Model) -> dict[str, str]:
    """The sub-process around each element that is in one."""
    return {
        element.id: scope.id
        for scope in model.scopes()
        if isinstance(scope, SubProcess)
        for part in (
            scope.nodes,
            scope.flows,
            scope.data_objects,
            scope.data_flows,
            scope.artifacts,
        )
        for element in part
    }


class Spots:
    """The positions of line badges: on no text and no other badge, if possible in the longest
    segment that no other line begins or ends with."""

    def __init__(self, drawing: Diagram, edges: Iterable[Edge]) -> None:
        self._space = Space()
        items: tuple[Shape | Edge, ...] = (*drawing.shapes, *drawing.edges)
        for item in items:
            if item.label is not None:
                self._space.add_box(item.label, item.element)
        self._begun: dict[tuple[Point, int, int], int] = {}
        for edge in edges:
            for key in (_points_key(edge.waypoints), _points_key(edge.waypoints[::-1])):
                self._begun[key] = self._begun.get(key, 0) + 1

    def take(self, edge: Edge, wide: float) -> Point:
        """The centre of a badge, `wide` and 16 high, whose area is then occupied."""
        best: tuple[float, Point] | None = None
        for x, y in self._list_candidates(edge):
            cost = self._space.cost((x - wide / 2, y - 8, wide, 16))
            if best is None or cost < best[0]:
                best = (cost, (x, y))
            if not cost:
                break
        assert best is not None
        x, y = best[1]
        self._space.add_box((x - wide / 2, y - 8, wide, 16), edge.element)
        return x, y

    def _list_candidates(self, edge: Edge) -> Iterator[Point]:
        pieces = list(pairwise(edge.waypoints))
        own = list(pieces)
        if len(pieces) > 1 and self._begun[_points_key(edge.waypoints)] > 1:
            own = own[1:]
        if len(own) > 1 and self._begun[_points_key(edge.waypoints[::-1])] > 1:
            own = own[:-1]
        own.sort(key=lambda p: -abs(p[0][0] - p[1][0]) - abs(p[0][1] - p[1][1]))
        for (ax, ay), (bx, by) in own:
            for part in (0.5, 0.7, 0.3, 0.8, 0.6, 0.4):
                yield ax + (bx - ax) * part, ay + (by - ay) * part


def _points_key(points: tuple[Point, ...]) -> tuple[Point, int, int]:
    (ax, ay), (bx, by) = points[0], points[1]
    return points[0], (bx > ax) - (bx < ax), (by > ay) - (by < ay)
