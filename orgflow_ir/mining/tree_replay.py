"""Whether a process tree allows what was observed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from orgflow_ir.mining.event_rows import Trace
from orgflow_ir.mining.process_tree import (
    Choice,
    Leaf,
    Loop,
    Parallel,
    Sequence,
    Tree,
    list_leaves,
)


def measure_fitness(tree: Tree, traces: Iterable[Trace]) -> float:
    """The share of traces that are runs of the tree, from 0 to 1; 1 without traces."""
    replayed = [replays_steps(tree, trace.steps) for trace in traces]
    return sum(replayed) / len(replayed) if replayed else 1.0


def replays_steps(tree: Tree, steps: tuple[int, ...]) -> bool:
    """Whether steps in this order are a run of the tree, in which each step is one leaf."""
    match tree:
        case Leaf():
            return steps == (tree.step,)
        case Sequence():
            return _replays_sequence(tree, steps)
        case Choice():
            branches = [w for w in tree.options if not steps or steps[0] in set(list_leaves(w))]
            return any(replays_steps(way, steps) for way in branches)
        case Parallel():
            owned = [frozenset(list_leaves(part)) for part in tree.parts]
            return all(step in frozenset().union(*owned) for step in steps) and all(
                replays_steps(part, tuple(step for step in steps if step in own))
                for part, own in zip(tree.parts, owned, strict=True)
            )
        case Loop():
            return _replays_loop(tree, steps)
        case _:
            assert_never(tree)


def _replays_sequence(tree: Sequence, steps: tuple[int, ...]) -> bool:
    """Each part takes the steps that are its own, as far as they go."""
    at = 0
    for part in tree.parts:
        own, begin = frozenset(list_leaves(part)), at
        while at < len(steps) and steps[at] in own:
            at += 1
        if not replays_steps(part, steps[begin:at]):
            return False
    return at == len(steps)


def _replays_loop(tree: Loop, steps: tuple[int, ...]) -> bool:
    """The body, then any number of times the repetition and the body; each may do nothing."""
    # the places up to which the steps are a run that ends with the body
    todo = list(_find_ends(tree.body, steps, 0))
    reached = set(todo)
    while todo:
        begin = todo.pop()
        for middle in _find_ends(tree.again, steps, begin):
            for end in _find_ends(tree.body, steps, middle):
                if end not in reached:
                    reached.add(end)
                    todo.append(end)
    return len(steps) in reached


def _find_ends(tree: Tree, steps: tuple[int, ...], begin: int) -> Iterator[int]:
    """The places up to which steps from a place on are a run of the tree."""
    own = frozenset(list_leaves(tree))
    for end in range(begin, len(steps) + 1):
        if end > begin and steps[end - 1] not in own:
            return
        if replays_steps(tree, steps[begin:end]):
            yield end
