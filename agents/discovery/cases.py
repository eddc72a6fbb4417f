"""Cases: the messages that belong to one run of a process, and those that belong to none."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from orgflow.agents.discovery.case_weights import WEIGHTS
from orgflow.agents.discovery.evidence import PEOPLE, Group, Pairs
from orgflow.agents.discovery.traits import Traits

SMALLEST = 6
"""Fewer messages do not show a process by themselves: an exchange of words, or a notice to all. If
threads are cases, fewer messages suffice, provided that their subject recurs (`recurring`)."""

CERTAIN = 6.0
"""If threads are cases, two of them are one case only if the log-odds exceed this: a shared number
suffices, shared people and time do not."""

NEIGHBOURS = 12
"""Number of later groups, in the order of time, that a group is compared with if they share a
trait, so the number of pairs grows linearly with the number of messages."""


def find_cases(traits: Traits, weights: Sequence[float] = WEIGHTS) -> list[list[int]]:
    """The cases, each as places of its messages; messages without a case are noise. `weights` are
    those of `find_groups`."""
    groups, smallest = find_groups(traits, weights)
    return [group for group in groups if len(group) >= smallest]


def find_groups(traits: Traits, weights: Sequence[float] = WEIGHTS) -> tuple[list[list[int]], int]:
    """All groups of messages, each as places of its messages, and the minimum size of a case.

    Groups grow from conversations while two of them are more likely one case than two. The evidence
    for that is measured (`Pairs`) and weighted by a logistic regression. If the resulting groups
    are hardly larger than the conversations, the conversations are the cases, however short.

    Args:
        traits: the traits of the messages.
        weights: the weight of each of `MEASURES`.
    """
    pairs = Pairs(traits, weights)
    begun = [pairs.group(part) for part in split_conversations(traits)]
    groups, smallest = merge_groups(pairs, begun), SMALLEST
    if median_group_size(groups) < SMALLEST and median_group_size(begun) > 1:
        groups, smallest = merge_groups(pairs, begun, CERTAIN), 2
    return sorted(sorted(g.members) for g in groups), smallest


def median_group_size(groups: Sequence[Group]) -> int:
    """The size of the group that contains the median message, by the size of groups; 0 for none."""
    sizes = sorted(len(group.members) for group in groups)
    each = [size for size in sizes for _ in range(size)]
    return each[len(each) // 2] if each else 0


def split_conversations(traits: Traits) -> list[list[int]]:
    """Messages of one thread; a message without a thread alone."""
    threads: dict[str, list[int]] = {}
    for place, message in enumerate(traits.messages):
        threads.setdefault(message.thread or f"\n{place}", []).append(place)
    return list(threads.values())


def merge_groups(pairs: Pairs, groups: Sequence[Group], least: float = 0.0) -> list[Group]:
    """Groups merged, the best pair first, while the log-odds that a pair is one case are above
    `least`."""
    # 1. the gain of every pair of neighbours, best first; a group has a number for good
    alive = dict(enumerate(groups))
    near = _find_neighbours(pairs, groups)
    heap = [
        (-gain, a, b) for a, others in enumerate(near) for b in sorted(others)
        if a < b and (gain := pairs.gain(alive[a], alive[b])) > least
    ]  # fmt: skip
    heapq.heapify(heap)
    while heap:
        # 2. the best pair, unless one of the two has been merged since
        _, a, b = heapq.heappop(heap)
        if a not in alive or b not in alive:
            continue
        # 3. the merged group is a new one; its neighbours are those of both
        joined = pairs.joined(alive.pop(a), alive.pop(b))
        number = len(near)
        near.append({other for other in near[a] | near[b] if other in alive})
        near[a], near[b] = set(), set()
        # 4. its gain with each of them
        for other in sorted(near[number]):
            near[other].add(number)
            gain = pairs.gain(alive[other], joined)
            if gain > least:
                heapq.heappush(heap, (-gain, other, number))
        alive[number] = joined
    return list(alive.values())


def _find_neighbours(pairs: Pairs, groups: Sequence[Group]) -> list[set[int]]:
    """For each group those that share a trait with it and are near in time among these."""
    # 1. the groups that have a trait, in the order of time
    holding: dict[tuple[int, str], list[int]] = {}
    for place in sorted(range(len(groups)), key=lambda g: pairs.begins(groups[g])):
        for kind, counts in enumerate(groups[place].counts):
            for trait in counts:
                holding.setdefault((kind, trait), []).append(place)
    # 2. each with the next few of them
    near: list[set[int]] = [set() for _ in groups]
    for (kind, _), places in holding.items():
        most = NEIGHBOURS if kind == PEOPLE else NEIGHBOURS * 2 // 3
        for number, place in enumerate(places):
            for other in places[number + 1 : number + 1 + most]:
                near[place].add(other)
                near[other].add(place)
    return near
