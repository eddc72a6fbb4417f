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

    def put(lane: Lane) -> None:
        stack = [lane]
        while stack:
            one = stack.pop()
            if one.id not in done:
                done[one.id] = one
                stack += reversed(inner.get(one.id, ()))

    for lane in known.values():
        if lane.parent not in known:
            put(lane if lane.parent is None else lane.replace(parent=None))
    for lane in known.values():
        if lane.id not in done:
            put(lane.replace(parent=None))
    return tuple(done.values())


def in_circles(lanes: Iterable[Lane]) -> tuple[str, ...]:
    """Lanes that contain themselves, directly or indirectly."""
    parent = {lane.id: lane.parent for lane in lanes}
    found = []
    for id in parent:
        seen = {id}
        around = parent[id]
        while around is not None and around in parent and around not in seen:
            seen.add(around)
            around = parent[around]
        if around == id:
            found.append(id)
    return tuple(found)
