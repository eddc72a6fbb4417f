"""Runs of the workflow that continue indefinitely without any step of the model."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from orgflow.backends.n8n.verify.points import Move, Point

from orgflow_ir.model.records import NamedTuple


class Onward(NamedTuple):
    """A move from its beginning: its target, and whether the model also moves."""

    to: Point
    moved: bool


def find_circle(after: Mapping[Point, Sequence[Onward]]) -> Point | None:
    """The first point of a cycle that the workflow can never leave and in which the model makes no
    step; None if there is none. `after` contains every point, in the order of discovery.

    A cycle with an exit, such as a retry, does not count.
    """
    before: dict[Point, list[Point]] = {point: [] for point in after}
    for point, onward in after.items():
        for move in onward:
            before[move.to].append(point)
    ends = deque(point for point in after if point.config.ended)
    leaves = set(ends)
    while ends:
        for point in before[ends.popleft()]:
            if point not in leaves:
                leaves.add(point)
                ends.append(point)
    trapped = [point for point in after if point not in leaves]
    if not trapped:
        return None
    still = {p: [o.to for o in after[p] if not o.moved and o.to not in leaves] for p in trapped}
    into: dict[Point, list[Point]] = {point: [] for point in trapped}
    for point, onward_points in still.items():
        for to in onward_points:
            into[to].append(point)
    # What only leads into circles goes as well as what only comes out of them.
    left = _without_dead_ends(still, into, set(trapped))
    left = _without_dead_ends(into, still, left)
    return next((point for point in trapped if point in left), None)


def _without_dead_ends(
    onward: Mapping[Point, list[Point]], back: Mapping[Point, list[Point]], points: set[Point]
) -> set[Point]:
    """The points from which `onward` goes on indefinitely inside `points`."""
    count = {point: sum(1 for to in onward[point] if to in points) for point in points}
    done = deque(point for point in points if not count[point])
    left = set(points)
    while done:
        gone = done.popleft()
        left.discard(gone)
        for point in back[gone]:
            if point in left:
                count[point] -= 1
                if not count[point]:
                    done.append(point)
    return left


def is_pumped(back: Iterable[tuple[Point, Move]], point: Point) -> bool:
    """Whether the path to `point` (`back` are its moves from the last one on, each with its source)
    repeats indefinitely: the same node with the same items runs again, the model has not moved, and
    the pending work below it was never touched."""
    frame = point.config.frames[0]
    top, lowest = frame.stack[-1], len(frame.stack)
    for earlier, move in back:
        if move.steps or len(earlier.config.frames) != 1:
            return False
        stack = earlier.config.frames[0].stack
        lowest = min(lowest, len(stack))
        same = stack[-1] == top and earlier.decided == point.decided
        if same and lowest == len(stack) and earlier.config.frames[0].phase is frame.phase:
            return True
    return False
