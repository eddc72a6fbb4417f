"""Runs of the workflow that go on indefinitely without doing anything the model does."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from orgflow.backends.n8n.verify.points import Move, Point


class Onward(NamedTuple):
    """A move seen from where it begins: where it leads, and whether the model moves, too."""

    to: Point
    moved: bool


def circle(after: Mapping[Point, Sequence[Onward]]) -> Point | None:
    """The first point of a circle that the workflow can never leave and in which the model stands
    still; None where there is none. `after` has every point, in the order in which it was found.

    A circle that can be left, such as one that tries something again, is none.
    """
    before: dict[Point, list[Point]] = {point: [] for point in after}
    for point, onward in after.items():
        for one in onward:
            before[one.to].append(point)
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


def pumped(back: Iterable[tuple[Point, Move]], point: Point) -> bool:
    """Whether the way to `point` (`back` are its moves from the last one on, each with the point it
    is made from) repeats itself indefinitely: the same node with the same items runs again, the
    model has not moved, and what was pending below it then was never touched."""
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
