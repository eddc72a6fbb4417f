"""Groups by average linkage of a matrix of scores."""

from __future__ import annotations

from typing import Any

import numpy as np


def link_groups(scores: Any, gaps: Any, stop: float = 0.0) -> list[list[int]]:
    """Groups by average linkage (UPGMA) of `scores` plus the largest (nearest) of `gaps`, merged
    while the best pair is above `stop`.

    Each row remembers its best partner, so that a merge reads the rows of one group and of those
    whose best partner it was.

    Args:
        scores: a symmetric matrix of items by items; overwritten.
        gaps: of the same shape; overwritten.
        stop: the value that a pair has to exceed.

    Returns the places of each group, sorted.
    """
    count = len(scores)
    members: dict[int, list[int]] = {i: [i] for i in range(count)}
    alive = np.ones(count, bool)
    sizes = np.ones(count)

    def row_of(i: int) -> Any:
        """The values of a group with all others."""
        row = np.where(alive, scores[i] + gaps[i], -np.inf)
        row[i] = -np.inf
        return row

    # 1. the best partner of each item, and the value of that pair
    together = scores + gaps
    np.fill_diagonal(together, -np.inf)
    best = together.argmax(1) if count else np.zeros(0, int)
    value = together[np.arange(count), best] if count else np.zeros(0)
    while count:
        # 2. the best pair of all groups
        i = int(np.argmax(np.where(alive, value, -np.inf)))
        if not value[i] > stop:
            break
        j = int(best[i])
        # 3. row i becomes that of the merged group: means by size, nearest gaps
        share = sizes[i] / (sizes[i] + sizes[j])
        scores[i] = share * scores[i] + (1 - share) * scores[j]
        scores[:, i] = scores[i]
        gaps[i] = np.maximum(gaps[i], gaps[j])
        gaps[:, i] = gaps[i]
        alive[j] = False
        sizes[i] += sizes[j]
        members[i] += members.pop(j)
        # 4. its best partner, and that of groups whose partner was one of the two
        row = row_of(i)
        best[i], value[i] = row.argmax(), row.max()
        for k in np.flatnonzero(alive & ((best == i) | (best == j))):
            if k != i:
                other = row_of(int(k))
                best[k], value[k] = other.argmax(), other.max()
        # 5. groups to which the merged one is nearer than their partner
        nearer = alive & (row > value)
        nearer[i] = False
        best[nearer], value[nearer] = i, row[nearer]
    return [sorted(group) for _, group in sorted(members.items())]
