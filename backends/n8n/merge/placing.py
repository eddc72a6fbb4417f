"""Positions of merged nodes: nodes moved by a person stay, the others follow the new layout."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from orgflow.backends.n8n.emit.layout import GRID, NODE, ROW
from orgflow.backends.n8n.merge.pairing import Trio

Place = tuple[float, float]

_APART = NODE + GRID
_MOST_STEPS = 200


def place_nodes(trios: Sequence[Trio], wires: Iterable[tuple[str, str]]) -> dict[str, Place]:
    """The position of each node except sticky notes, by key.

    Args:
        trios: the nodes of the merged workflow.
        wires: source and target of each of its connections.
    """
    near: dict[str, list[str]] = {}
    for source, target in wires:
        near.setdefault(target, []).insert(0, source)
        near.setdefault(source, []).append(target)
    by_key = {trio.key: trio for trio in trios}
    fixed: dict[str, Place] = {}
    free: dict[str, Place] = {}
    for trio in trios:
        if trio.ours is None or _was_moved(trio):
            if trio.theirs is not None:
                fixed[trio.key] = trio.theirs.position or (0, 0)
        else:
            free[trio.key] = trio.ours.position or (0, 0)
    _beside_moved(free, fixed, by_key, near)
    _with_neighbours(free, fixed, by_key, near)
    taken = list(fixed.values())
    for key in sorted(free, key=lambda name: (free[name][0], free[name][1])):
        free[key] = _clear_place(free[key], taken) if fixed else free[key]
        if fixed:
            taken.append(free[key])
    return {**free, **fixed}


def _was_moved(trio: Trio) -> bool:
    if trio.theirs is None:
        return False
    return trio.base is None or trio.theirs.position != trio.base.position


def _beside_moved(
    free: dict[str, Place],
    fixed: Mapping[str, Place],
    by_key: Mapping[str, Trio],
    near: Mapping[str, list[str]],
) -> None:
    """A new node stands beside the node it follows, also where a person has moved that one."""
    for key in free:
        trio = by_key[key]
        if trio.theirs is not None:
            continue
        for other in near.get(key, ()):
            anchor = by_key[other]
            if other in fixed and anchor.ours is not None and anchor.ours.position is not None:
                dx = free[key][0] - anchor.ours.position[0]
                dy = free[key][1] - anchor.ours.position[1]
                free[key] = (fixed[other][0] + dx, fixed[other][1] + dy)
                break


def _with_neighbours(
    free: Mapping[str, Place],
    fixed: dict[str, Place],
    by_key: Mapping[str, Trio],
    near: Mapping[str, list[str]],
) -> None:
    """A node that a person added goes along with the node it follows, if the layout moved that."""
    for key in fixed:
        trio = by_key[key]
        if trio.ours is not None:
            continue
        for other in near.get(key, ()):
            anchor = by_key[other].theirs
            if other in free and anchor is not None and anchor.position is not None:
                dx = free[other][0] - anchor.position[0]
                dy = free[other][1] - anchor.position[1]
                fixed[key] = (fixed[key][0] + dx, fixed[key][1] + dy)
                break


def _clear_place(wanted: Place, taken: Sequence[Place]) -> Place:
    """The first place from `wanted` downwards that no node of these covers."""
    x, y = wanted
    for _ in range(_MOST_STEPS):
        if all(abs(x - a) >= _APART or abs(y - b) >= _APART for a, b in taken):
            break
        y += ROW / 2
    return x, y
