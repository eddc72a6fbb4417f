"""Graph searches of the oracle, which shares no code with what it referees."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

State = TypeVar("State", bound=Hashable)


def leading_to(ways: Mapping[State, Iterable[State]], goals: Iterable[State]) -> set[State]:
    """Goals, and the states from which some way leads to one."""
    before: dict[State, list[State]] = {}
    for state, following in ways.items():
        for new in following:
            before.setdefault(new, []).append(state)
    seen = set(goals)
    stack = list(seen)
    while stack:
        for state in before.get(stack.pop(), ()):
            if state not in seen:
                seen.add(state)
                stack.append(state)
    return seen


def bottoms(ways: Mapping[State, Iterable[State]], among: set[State]) -> Iterator[set[State]]:
    """Sets of states of `among` that no way leaves, each come to from all others of its set
    (Kosaraju: two depth-first searches, the second against the ways)."""
    order: list[State] = []
    seen: set[State] = set()
    for start in among:
        if start in seen:
            continue
        seen.add(start)
        stack = [(start, iter(ways[start]))]
        while stack:
            state, ahead = stack[-1]
            new = next((s for s in ahead if s in among and s not in seen), None)
            if new is None:
                order.append(state)
                stack.pop()
            else:
                seen.add(new)
                stack.append((new, iter(ways[new])))
    before: dict[State, list[State]] = {}
    for state in among:
        for new in ways[state]:
            before.setdefault(new, []).append(state)
    found: set[State] = set()
    for start in reversed(order):
        if start in found:
            continue
        group, todo = {start}, [start]
        while todo:
            for state in before.get(todo.pop(), ()):
                if state in among and state not in found and state not in group:
                    group.add(state)
                    todo.append(state)
        found |= group
        if all(new in group for state in group for new in ways[state]):
            yield group
