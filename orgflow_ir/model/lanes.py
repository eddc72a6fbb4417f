"""The nesting of lanes."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.model.elements import Lane


def outermost_first(lanes: Iterable[Lane]) -> tuple[Lane, ...]:
    """The lanes of a scope, each after its parent, otherwise in their order. A lane whose parent
    is not among them, or the first lane of a cycle, is outermost: its `parent` becomes `None`."""
    known = {lane.id: lane for lane in lanes}
    inner: dict[str, list[Lane]] = {}
    for lane in known.values():
        if lane.parent in known:
            inner.setdefault(lane.parent, []).append(lane)
    done: dict[str, Lane] = {}

    def put_lane(lane: Lane) -> None:
        stack = [lane]
        while stack:
            inner_lane = stack.pop()
            if inner_lane.id not in done:
                done[inner_lane.id] = inner_lane
                stack += reversed(inner.get(inner_lane.id, ()))

    for lane in known.values():
        if lane.parent not in known:
            put_lane(lane if lane.parent is None else lane.replace(parent=None))
    for lane in known.values():
        if lane.id not in done:
            put_lane(lane.replace(parent=None))
    return tuple(done.values())


def in_circles(lanes: Iterable[Lane]) -> tuple[str, ...]:
    """Lanes that contain themselves, directly or indirectly."""
    parent = {lane.id: lane.parent for lane in lanes}
    ids = []
    for id in parent:
        seen = {id}
        around = parent[id]
        while around is not None and around in parent and around not in seen:
            seen.add(around)
            around = parent[around]
        if around == id:
            ids.append(id)
    return tuple(ids)
