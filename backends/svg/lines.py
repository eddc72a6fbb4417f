"""Flows as SVG: rounded bends, arrow heads, dashes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from orgflow.backends.svg.marks import draw_circle, num_text

Point = tuple[float, float]
_RADIUS = 6.0


def round_bends(points: Sequence[Point]) -> str:
    """Path data with the bends rounded."""
    parts = [f"M{num_text(points[0][0])} {num_text(points[0][1])}"]
    for at in range(1, len(points) - 1):
        before, here, after = points[at - 1], points[at], points[at + 1]
        length_before, length_after = math.dist(before, here), math.dist(here, after)
        radius = min(_RADIUS, length_before / 2, length_after / 2)
        if radius < 1:
            parts.append(f"L{num_text(here[0])} {num_text(here[1])}")
            continue
        ax, ay = _point_toward(here, before, radius)
        bx, by = _point_toward(here, after, radius)
        parts.append(
            f"L{num_text(ax)} {num_text(ay)}Q{num_text(here[0])} "
            f"{num_text(here[1])} {num_text(bx)} {num_text(by)}"
        )
    parts.append(f"L{num_text(points[-1][0])} {num_text(points[-1][1])}")
    return "".join(parts)


def _point_toward(start: Point, goal: Point, far: float) -> Point:
    length = math.dist(start, goal) or 1.0
    return (
        start[0] + (goal[0] - start[0]) * far / length,
        start[1] + (goal[1] - start[1]) * far / length,
    )


def _arrow_head(points: Sequence[Point], long: float, wide: float) -> tuple[Point, Point, Point]:
    """Tip and wings of an arrow head at the end of a line."""
    tip = points[-1]
    back = next((p for p in reversed(points) if math.dist(p, tip) > 0.5), (tip[0] - 1, tip[1]))
    bx, by = _point_toward(tip, back, long)
    dx, dy = (bx - tip[0]) / long * wide, (by - tip[1]) / long * wide
    return tip, (bx - dy, by + dx), (bx + dy, by - dx)


def _draw_triangle(points: Sequence[Point], kind: str, long: float = 10, wide: float = 4.4) -> str:
    tip, left_wing, right_wing = _arrow_head(points, long, wide)
    corners = " ".join(f"{num_text(x)} {num_text(y)}" for x, y in (tip, left_wing, right_wing))
    return f'<path class="{kind}" d="M{corners}Z"/>'


def draw_sequence(
    points: Sequence[Point], *, default: bool, conditional: bool, dashed: bool = False
) -> list[str]:
    """A sequence flow; a default one has a slash near its beginning, a conditional one that does
    not leave a gateway begins with a diamond."""
    parts = [
        f'<path class="of-line{" of-dash" if dashed else ""}" d="{round_bends(points)}"/>',
        _draw_triangle(points, "of-head"),
    ]
    begin = points[0]
    ahead = next((p for p in points if math.dist(p, begin) > 0.5), begin)
    ux, uy = ahead[0] - begin[0], ahead[1] - begin[1]
    length = math.hypot(ux, uy) or 1.0
    ux, uy = ux / length, uy / length
    if default:
        cx, cy = begin[0] + 10 * ux, begin[1] + 10 * uy
        sx, sy = (ux - uy) * 4.6, (uy + ux) * 4.6
        d = f"M{num_text(cx - sx)} {num_text(cy - sy)}L{num_text(cx + sx)} {num_text(cy + sy)}"
        parts.append(f'<path class="of-line" d="{d}"/>')
    if conditional:
        corners = [begin]
        for far, side in ((8, 5), (16, 0), (8, -5)):
            corners.append((begin[0] + far * ux - side * uy, begin[1] + far * uy + side * ux))
        d = "M" + " ".join(f"{num_text(x)} {num_text(y)}" for x, y in corners) + "Z"
        parts.append(f'<path class="of-line of-blank" d="{d}"/>')
    return parts


def draw_message(points: Sequence[Point]) -> list[str]:
    """A message flow: dashed, from a circle to an open head."""
    return [
        f'<path class="of-line of-message of-soft" d="{round_bends(points)}"/>',
        draw_circle(points[0][0], points[0][1], 4, "of-line of-blank"),
        _draw_triangle(points, "of-line of-blank", 10, 5),
    ]


def draw_association(points: Sequence[Point], *, start: bool, end: bool) -> list[str]:
    """An association or a data association: dotted, with open heads if it is directed."""
    parts = [f'<path class="of-line of-soft of-dot" d="{round_bends(points)}"/>']
    for wanted, way in ((end, points), (start, points[::-1])):
        if wanted:
            tip, left_wing, right_wing = _arrow_head(way, 8, 5)
            d = (
                f"M{num_text(left_wing[0])} "
                f"{num_text(left_wing[1])}L{num_text(tip[0])} {num_text(tip[1])}"
                f"L{num_text(right_wing[0])} {num_text(right_wing[1])}"
            )
            parts.append(f'<path class="of-line of-soft" d="{d}"/>')
    return parts
