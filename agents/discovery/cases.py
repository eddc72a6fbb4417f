"""Cases: which messages belong to one run of a process, and which to none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from orgflow.agents.discovery.traits import Traits, holders, rarity

# How much each trait of a pair of messages says for one case, as log-odds. They were estimated by
# logistic regression over pairs of messages with known cases of one corpus: with people shared or
# not, threads and roles known or not, words came out between .09 and .16 and meaning between 4.0
# and 5.4. No second corpus has confirmed them.
PEOPLE, WORDS, MEANING, DAYS, THREAD, PRIOR = 1.13, 0.11, 4.4, -1.16, 0.8, -3.1

COMMON_WORD = 0.02
"""A word in a larger share of the messages than this names no case."""

SMALLEST = 6
"""Fewer messages show no process: an exchange of words, a notice to all."""

WINDOW = 4000
"""Messages whose pairs are compared; more are cut into windows of time, one after the other."""


def find_cases(traits: Traits) -> list[list[int]]:
    """The cases, each as places of its messages; messages in no case are noise.

    Pairs of messages get a score: people and words they share, the rarer the more; how near they
    are in meaning and time; a thread. Cases grow from single messages by average linkage while the
    score of two groups speaks for one case. The distance in time of two groups is that of their
    nearest messages: a process may wait for months.
    """
    cases: list[list[int]] = []
    for begin in range(0, len(traits.messages), WINDOW):
        places = range(begin, min(begin + WINDOW, len(traits.messages)))
        cases += [[begin + i for i in group] for group in _window(traits, places)]
    return [case for case in cases if len(case) >= SMALLEST]


def _window(traits: Traits, places: range) -> list[list[int]]:
    cut = slice(places.start, places.stop)
    vectors = traits.vectors[cut]
    scores = PRIOR + MEANING * (vectors @ vectors.T).astype(np.float32)
    _add_shared(scores, traits.people[cut], PEOPLE, 1.0, 0.0)
    _add_shared(scores, traits.words[cut], WORDS, COMMON_WORD, 2.0)
    threads = [frozenset([m.thread] if m.thread else []) for m in traits.messages[cut]]
    for _, members in holders(threads):
        scores[np.ix_(members, members)] += THREAD
    days = traits.days[cut]
    gaps = DAYS * np.log1p(np.abs(days[:, None] - days[None, :])).astype(np.float32)
    return linked(scores, gaps)


def _add_shared(
    scores: Any, groups: Sequence[frozenset[str]], weight: float, common: float, less: float
) -> None:
    """Add to each pair the rarity of what both have."""
    rare = rarity(groups)
    most = max(3, common * len(groups))
    for item, members in holders(groups):
        if 1 < len(members) <= most:
            scores[np.ix_(members, members)] += weight * (rare[item] - less)


def linked(scores: Any, gaps: Any, stop: float = 0.0) -> list[list[int]]:
    """Groups by average linkage of `scores` plus the largest (nearest) of `gaps`, merged while the
    best pair is above `stop`. Both are symmetric matrices, and are used up."""
    count = len(scores)
    members: dict[int, list[int]] = {i: [i] for i in range(count)}
    alive = np.ones(count, bool)
    sizes = np.ones(count)

    def row_of(i: int) -> Any:
        row = np.where(alive, scores[i] + gaps[i], -np.inf)
        row[i] = -np.inf
        return row

    together = scores + gaps
    np.fill_diagonal(together, -np.inf)
    best = together.argmax(1) if count else np.zeros(0, int)
    value = together[np.arange(count), best] if count else np.zeros(0)
    while count:
        i = int(np.argmax(np.where(alive, value, -np.inf)))
        if not value[i] > stop:
            break
        j = int(best[i])
        share = sizes[i] / (sizes[i] + sizes[j])
        scores[i] = share * scores[i] + (1 - share) * scores[j]
        scores[:, i] = scores[i]
        gaps[i] = np.maximum(gaps[i], gaps[j])
        gaps[:, i] = gaps[i]
        alive[j] = False
        sizes[i] += sizes[j]
        members[i] += members.pop(j)
        row = row_of(i)
        best[i], value[i] = row.argmax(), row.max()
        for k in np.flatnonzero(alive & ((best == i) | (best == j))):
            if k != i:
                other = row_of(int(k))
                best[k], value[k] = other.argmax(), other.max()
        nearer = alive & (row > value)
        nearer[i] = False
        best[nearer], value[nearer] = i, row[nearer]
    return [sorted(group) for _, group in sorted(members.items())]
