"""A piece of a diagram: shapes, lines and labels with their positions."""

from __future__ import annotations

from dataclasses import field

from orgflow_ir.model.records import NamedTuple, dataclass

Box = tuple[float, float, float, float]
Point = tuple[float, float]


class Drawn(NamedTuple):
    """A shape: its box (left, top, width, height), the box of its label, and its appearance."""

    element: str
    box: Box
    label: Box | None = None
    horizontal: bool | None = None
    expanded: bool | None = None


class Stroke(NamedTuple):
    """A line: its points and its label's box."""

    element: str
    points: tuple[Point, ...]
    label: Box | None = None


@dataclass(eq=False)
class Group:
    """Shapes in drawing order (outer before inner), lines, and the total size."""

    width: float = 0.0
    height: float = 0.0
    shapes: list[Drawn] = field(default_factory=list)
    strokes: list[Stroke] = field(default_factory=list)

    def add(self, other: Group, dx: float, dy: float) -> None:
        """Add everything in `other`, shifted."""
        for s in other.shapes:
            label = None if s.label is None else move_box(s.label, dx, dy)
            self.shapes.append(s._replace(box=move_box(s.box, dx, dy), label=label))
        for t in other.strokes:
            points = tuple((round(x + dx, 2), round(y + dy, 2)) for x, y in t.points)
            label = None if t.label is None else move_box(t.label, dx, dy)
            self.strokes.append(t._replace(points=points, label=label))


def move_box(box: Box, dx: float, dy: float) -> Box:
    """A box elsewhere."""
    return (round(box[0] + dx, 2), round(box[1] + dy, 2), box[2], box[3])
