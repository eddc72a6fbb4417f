"""From the traces of cases to a process tree in which every step stands once.

The inductive miner (Leemans, Fahland and van der Aalst 2013): the graph of steps that follow each
other is cut into parts that are a choice, a sequence, parallel or a loop, and each part is mined
by itself. Where no cut fits, the rest is not a flower, in which everything is allowed, but a row
of its steps, in which what a case lacks is optional.

Messages are few and late, which needs more caution than a log of a program: an option of several
neighbours that the same cases lack is one option, a changed order is parallel only if enough cases
support it, and a loop needs a step that recurs after another one.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Sequence as Row
from itertools import pairwise

from orgflow_ir.mining.event_rows import Trace
from orgflow_ir.mining.process_tree import (
    EMPTY,
    Leaf,
    Loop,
    Parallel,
    Tree,
    join_parts,
    join_ways,
)
from orgflow_ir.model.records import NamedTuple

FEWEST_PARALLEL = 3
"""Minimum number of cases that support parallel parts: with two, a changed order is chance."""

Parts = list[frozenset[int]]
"""The steps of each part of a cut, in the order of the cut."""


class StepGraph(NamedTuple):
    """Steps that directly follow each other in traces.

    Attributes:
        steps: all steps, in the order of their first events.
        after: the steps that follow each step.
        starts, ends: the steps that begin and end traces.
    """

    steps: tuple[int, ...]
    after: Mapping[int, frozenset[int]]
    starts: frozenset[int]
    ends: frozenset[int]


def mine_tree(traces: Iterable[Trace]) -> Tree:
    """The tree of traces; each step is one leaf. Without events, it is empty."""
    log = tuple(traces)
    # 1. cases in which nothing happens here make the rest an option
    taken = tuple(trace for trace in log if trace.steps)
    if not taken:
        return EMPTY
    if len(taken) < len(log):
        lacking = tuple(trace for trace in log if not trace.steps)
        return join_ways(
            (mine_tree(taken), EMPTY), (_collect_cases(taken), _collect_cases(lacking))
        )
    # 2. a single step: that it recurs is no loop
    graph = build_graph(taken)
    if len(graph.steps) == 1:
        return Leaf(graph.steps[0])
    # 3. the first cut that fits
    for mine_cut in (_mine_choice, _mine_sequence, _mine_parallel, _mine_loop):
        tree = mine_cut(taken, graph)
        if tree is not None:
            return tree
    # 4. a row
    return mine_row(taken)


def mine_row(traces: Iterable[Trace]) -> Tree:
    """Steps in one order, in which what a case lacks is optional.

    The order is that of most cases, two steps at a time; steps of which the cases do not tell the
    order, or whose orders form a circle, are by their mean place. Replays every trace without
    repetitions whose steps are in that order.
    """
    log = tuple(traces)
    # 1. the mean place of each step, from 0 to 1, and how many cases more have it before another
    places: dict[int, list[float]] = {}
    before: Counter[tuple[int, int]] = Counter()
    for trace in log:
        order = list(dict.fromkeys(trace.steps))
        for place, step in enumerate(order):
            places.setdefault(step, []).append(place / max(1, len(order) - 1))
            before.update((step, later) for later in order[place + 1 :])
    mean = {step: (statistics.fmean(own), step) for step, own in places.items()}
    # 2. the next step is the earliest one that no other should precede
    row: list[int] = []
    rest = sorted(mean, key=mean.__getitem__)
    while rest:
        free = [
            step for step in rest
            if not any(before[other, step] > before[step, other] for other in rest)
        ]  # fmt: skip
        row.append((free or rest)[0])
        rest.remove(row[-1])
    return _join_sequence(log, [frozenset((step,)) for step in row])


def build_graph(traces: Iterable[Trace]) -> StepGraph:
    """The graph of the steps that directly follow each other."""
    log = [trace.steps for trace in traces if trace.steps]
    steps = tuple(dict.fromkeys(step for row in log for step in row))
    after: dict[int, set[int]] = {step: set() for step in steps}
    for row in log:
        for first, second in pairwise(row):
            after[first].add(second)
    return StepGraph(
        steps,
        {step: frozenset(following) for step, following in after.items()},
        frozenset(row[0] for row in log),
        frozenset(row[-1] for row in log),
    )


# -- choice ------------------------------------------------------------------------------------


def _mine_choice(log: Row[Trace], graph: StepGraph) -> Tree | None:
    """Parts of which each case has one."""
    parts = join_related(graph.steps, lambda a, b: b in graph.after[a] or a in graph.after[b])
    if len(parts) < 2:
        return None
    logs = [tuple(trace for trace in log if trace.steps[0] in part) for part in parts]
    return join_ways(
        tuple(mine_tree(own) for own in logs),
        tuple(_collect_cases(own) for own in logs),
    )


# -- sequence ----------------------------------------------------------------------------------


def _mine_sequence(log: Row[Trace], graph: StepGraph) -> Tree | None:
    """Parts of which each is reached from all before it, and from none after it."""
    reached = _collect_reached(graph)
    parts = join_related(graph.steps, lambda a, b: (b in reached[a]) == (a in reached[b]))
    # parts that do not stand in one order become one, until all do
    while True:
        mixed = [
            (p, q) for n, p in enumerate(parts) for q in parts[n + 1 :]
            if not _is_ordered(p, q, reached) and not _is_ordered(q, p, reached)
        ]  # fmt: skip
        if not mixed:
            break
        (first, second), *_ = mixed
        parts = [p for p in parts if p not in (first, second)] + [first | second]
    if len(parts) < 2:
        return None
    # every part is reached from all before it: their numbers are the order
    before = {p: sum(_is_ordered(q, p, reached) for q in parts if q != p) for p in parts}
    return _join_sequence(log, sorted(parts, key=before.__getitem__))


def _is_ordered(
    first: Iterable[int], second: frozenset[int], reached: Mapping[int, frozenset[int]]
) -> bool:
    """Whether all steps of one part reach all of another, and none the other way round."""
    return all(b in reached[a] and a not in reached[b] for a in first for b in second)


def _join_sequence(log: Row[Trace], parts: Parts) -> Tree:
    """Parts in their order, each mined from its own steps of every trace."""
    logs = [_project_traces(log, part) for part in parts]
    lacking = [frozenset(n for n, t in enumerate(own) if not t.steps) for own in logs]
    everyone = frozenset(range(len(log)))  # by number: a case may pass a loop several times
    trees: list[Tree] = []
    at = 0
    while at < len(parts):
        # 1. neighbours that the same cases lack are one option
        end = at + 1
        while end < len(parts) and lacking[at] and lacking[end] == lacking[at]:
            end += 1
        # 2. what the other cases have in this place is the other way
        other = end
        while other < len(parts) and lacking[at] and lacking[other] == everyone - lacking[at]:
            other += 1
        trees.append(_mine_option(log, parts[at:end], parts[end:other]))
        at = other
    return join_parts(tuple(trees))


def _mine_option(log: Row[Trace], parts: Parts, others: Parts) -> Tree:
    """Neighbouring parts, which all cases have or the same ones lack; `others` are what these have
    instead."""
    branches: list[tuple[Tree, frozenset[int]]] = []
    rest = tuple(log)
    for group in (parts, others):
        steps = frozenset[int]().union(*group)
        own = tuple(trace for trace in rest if not steps.isdisjoint(trace.steps))
        if own:
            trees = tuple(mine_tree(_project_traces(own, part)) for part in group)
            branches.append((join_parts(trees), _collect_cases(own)))
            rest = tuple(trace for trace in rest if steps.isdisjoint(trace.steps))
    if rest:
        branches.append((EMPTY, _collect_cases(rest)))
    return join_ways(tuple(way for way, _ in branches), tuple(cases for _, cases in branches))


def _collect_cases(log: Iterable[Trace]) -> frozenset[int]:
    return frozenset(trace.case for trace in log)


def _project_traces(log: Iterable[Trace], part: frozenset[int]) -> tuple[Trace, ...]:
    """The traces with the steps of one part only; some may be empty."""
    return tuple(
        trace._replace(steps=tuple(step for step in trace.steps if step in part)) for trace in log
    )


def _collect_reached(graph: StepGraph) -> dict[int, frozenset[int]]:
    """The steps that each step reaches over one edge or more."""
    reached: dict[int, frozenset[int]] = {}
    for step in graph.steps:
        known: set[int] = set()
        todo = list(graph.after[step])
        while todo:
            following = todo.pop()
            if following not in known:
                known.add(following)
                todo.extend(graph.after[following])
        reached[step] = frozenset(known)
    return reached


# -- parallel ----------------------------------------------------------------------------------


def _mine_parallel(log: Row[Trace], graph: StepGraph) -> Tree | None:
    """Parts whose steps follow each other in both orders, in enough cases."""
    parts = join_related(
        graph.steps, lambda a, b: not (b in graph.after[a] and a in graph.after[b])
    )  # fmt: skip
    # a part in which no case begins or ends is within another one
    whole = [p for p in parts if p & graph.starts and p & graph.ends]
    rest = [p for p in parts if p not in whole]
    if len(whole) < 2:
        return None
    whole[0] = whole[0].union(*rest)
    support = [sum(any(s in part for s in trace.steps) for part in whole) > 1 for trace in log]
    if sum(support) < FEWEST_PARALLEL:
        return None
    return Parallel(tuple(mine_tree(_project_traces(log, part)) for part in whole))


# -- loop --------------------------------------------------------------------------------------


def _mine_loop(log: Row[Trace], graph: StepGraph) -> Tree | None:
    """A body in which every case begins and ends, and what is done before it is repeated."""
    outer = graph.starts | graph.ends
    inner = [step for step in graph.steps if step not in outer]
    parts = join_related(inner, lambda a, b: b in graph.after[a] or a in graph.after[b])
    body = set(outer)
    again: Parts = []
    for part in parts:
        entered = {a for a in outer for b in part if b in graph.after[a]}
        left = {b for a in part for b in graph.after[a]} - part
        # what is reached before an end, or left to another step than a start, is of the body
        if entered and left and entered <= graph.ends and left <= graph.starts:
            again.append(part)
        else:
            body |= part
    if not again:
        return None
    # each trace is cut where it changes between body and repetition
    bodies: list[Trace] = []
    repeats: list[Trace] = []
    for trace in log:
        piece: list[int] = []
        for step in (*trace.steps, None):
            if piece and (step is None or (step in body) != (piece[-1] in body)):
                kept = bodies if piece[-1] in body else repeats
                kept.append(Trace(trace.case, tuple(piece)))
                piece = []
            if step is not None:
                piece.append(step)
    return Loop(mine_tree(bodies), mine_tree(repeats))


def join_related(steps: Iterable[int], are_related: Callable[[int, int], bool]) -> Parts:
    """The connected components of steps under a relation, in the order of their first steps."""
    parts: Parts = []
    for step in steps:
        near = [part for part in parts if any(are_related(other, step) for other in part)]
        joined = frozenset((step,)).union(*near)
        at = parts.index(near[0]) if near else len(parts)
        parts = [*parts[:at], joined, *parts[at:]]
        parts = [part for part in parts if part not in near]
    return parts
