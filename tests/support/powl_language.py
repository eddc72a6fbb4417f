"""Random POWL and its language, by the definition: sequences of labels, without a net."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import Any

from orgflow.backends.powl.format import (
    Activity,
    Choice,
    Loop,
    PartialOrder,
    Powl,
    Silent,
    list_activities,
    partial_order,
)

from orgflow_ir.flow.token_game.semantics import Game
from orgflow_ir.model import Model, Task

Trace = tuple[str, ...]


def random_powl(chance: random.Random, depth: int = 2) -> Powl:
    """A small model; labels repeat now and then, and some steps are silent."""
    while True:
        powl = _random(chance, depth)
        if sum(1 for _ in list_activities(powl)) <= 8:
            return powl


def _random(chance: random.Random, depth: int) -> Powl:
    if depth == 0 or chance.random() < 0.2:
        if chance.random() < 0.2:
            return Silent()
        return Activity(chance.choice("abcdefgh"))
    kind = chance.choice(("choice", "loop", "order", "order"))
    if kind == "choice":
        children = [_random(chance, depth - 1) for _ in range(chance.randint(1, 3))]
        return Choice(tuple(children))
    if kind == "loop":
        return Loop(_random(chance, depth - 1), _random(chance, depth - 1))
    nodes = [_random(chance, depth - 1) for _ in range(chance.randint(2, 4))]
    pairs = [(a, b) for a in range(len(nodes)) for b in range(a + 1, len(nodes))]
    return partial_order(nodes, [pair for pair in pairs if chance.random() < 0.4])


def language(powl: Powl, longest: int) -> frozenset[Trace]:
    """Every trace of at most `longest` labels."""
    if isinstance(powl, Silent):
        return frozenset({()})
    if isinstance(powl, Activity):
        return frozenset({(powl.label,)}) if longest else frozenset()
    if isinstance(powl, Choice):
        return frozenset().union(*(language(child, longest) for child in powl.children))
    if isinstance(powl, Loop):
        return _looped(powl, longest)
    found: set[Trace] = set()
    chosen: list[tuple[Trace, ...]] = [()]
    for node in powl.nodes:
        parts = sorted(language(node, longest))
        chosen = [
            (*row, part) for row in chosen for part in parts
            if sum(map(len, row)) + len(part) <= longest
        ]  # fmt: skip
    for traces in chosen:
        found |= set(_interleaved(powl, traces))
    return frozenset(found)


def _looped(loop: Loop, longest: int) -> frozenset[Trace]:
    found = set(language(loop.do, longest))
    while True:
        more = {
            before + redo + again
            for before in found
            for redo in language(loop.redo, longest)
            for again in language(loop.do, longest)
            if len(before) + len(redo) + len(again) <= longest
        }
        if more <= found:
            return frozenset(found)
        found |= more


def _interleaved(order: PartialOrder, traces: tuple[Trace, ...]) -> Iterator[Trace]:
    """All mixtures in which a node begins when those before it, transitively, have ended."""
    before: dict[int, set[int]] = {n: set() for n in range(len(traces))}
    for first, second in order.order:
        before[second].add(first)
    lengths = tuple(map(len, traces))

    @cache
    def rest(at: tuple[int, ...]) -> frozenset[Trace]:
        if at == lengths:
            return frozenset({()})
        found: set[Trace] = set()
        for node, position in enumerate(at):
            if position == lengths[node] or not ended(node, at):
                continue
            later = (*at[:node], position + 1, *at[node + 1 :])
            found |= {(traces[node][position], *tail) for tail in rest(later)}
        return frozenset(found)

    def ended(node: int, at: tuple[int, ...]) -> bool:
        return all(at[n] == lengths[n] and ended(n, at) for n in before[node])

    yield from rest((0,) * len(traces))


def played(model: Model, longest: int) -> frozenset[Trace]:
    """The language of a model by the token game: labels of tasks in the order they are done."""
    game = Game(model)
    (process,) = model.processes
    labels = {n.id: n.name for n in process.nodes if isinstance(n, Task)}
    todo: list[tuple[Any, Trace]] = [(game.initial(process.id), ())]
    seen: set[tuple[Any, Trace]] = set()
    found: set[Trace] = set()
    while todo:
        state, trace = item = todo.pop()
        if item in seen:
            continue
        seen.add(item)
        steps = game.enabled(state)
        if not steps:
            assert game.finished(state), "stuck"
            found.add(trace)
        for step in steps:
            done = step.element in labels and step.action in ("done", "fire")
            longer = (*trace, labels[step.element]) if done else trace
            if len(longer) <= longest:
                todo.append((game.fire(state, step), longer))
    return frozenset(found)
