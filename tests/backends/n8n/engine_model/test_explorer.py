"""The explorer: each state once, breadth first, with the shortest way to it, within a bound."""

from __future__ import annotations

import random

import pytest
from orgflow.backends.n8n.engine_model.explorer import Explorer

Graph = dict[int, list[int]]


def explored(graph: Graph, starts: list[int], most: int) -> Explorer[int, tuple[int, int]]:
    explorer = Explorer[int, tuple[int, int]](most)
    for start in starts:
        explorer.start(start)
    for state in explorer.pending():
        for after in graph[state]:
            explorer.reach(after, (state, after))
    return explorer


def distances(graph: Graph, starts: list[int]) -> dict[int, int]:
    """By relaxing every edge until nothing changes, in no order of its own."""
    far = dict.fromkeys(starts, 0)
    for _ in graph:
        for one, others in graph.items():
            for other in others if one in far else ():
                far[other] = min(far.get(other, len(graph)), far[one] + 1)
    return far


@pytest.mark.parametrize("seed", range(20))
def test_states_and_ways_are_the_nearest(seed: int) -> None:
    rnd = random.Random(seed)
    graph = {n: [o for o in range(25) if rnd.random() < 0.08] for n in range(25)}
    starts = rnd.sample(range(25), 2)
    found = explored(graph, starts, 1_000)
    far = distances(graph, starts)
    assert set(found.states) == set(far)
    assert not found.bounded
    assert found.looked_at == len(far)
    for state in found.states:
        way = found.way(found.index(state))
        assert len(way) == far[state]
        assert [b for _, b in way[:-1]] == [a for a, _ in way[1:]]
        assert not way or (way[0][0] in starts and way[-1][1] == state)


def test_a_bound_leaves_states_and_says_so() -> None:
    line = {n: [n + 1] for n in range(9)} | {9: []}
    found = explored(line, [0], 4)
    assert (found.bounded, found.looked_at, len(found.states)) == (True, 4, 5)
    assert not explored(line, [0], 10).bounded
    assert list(found.back()) == [(2, (2, 3)), (1, (1, 2)), (0, (0, 1))]
    assert 4 in found
    assert 5 not in found
