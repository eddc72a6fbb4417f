"""pass@k by the unbiased estimator of Chen et al., "Evaluating Large Language Models Trained on
Code" (2021), section 2.1."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence


def pass_at_k(samples: int, passed: int, k: int) -> float:
    """The probability that one of `k` samples passes, given that `passed` of `samples` did.

    Example:
        >>> pass_at_k(4, 1, 1), pass_at_k(4, 1, 4), pass_at_k(3, 0, 2)
        (0.25, 1.0, 0.0)
    """
    if not 0 <= passed <= samples or not 1 <= k <= samples:
        raise ValueError(f"of {samples} samples {passed} passed, k is {k}")
    return 1.0 - math.comb(samples - passed, k) / math.comb(samples, k)


def by_name(outcomes: Iterable[tuple[str, bool]]) -> dict[str, list[bool]]:
    """The outcomes of several samples by name."""
    by_model: dict[str, list[bool]] = {}
    for name, passed in outcomes:
        by_model.setdefault(name, []).append(passed)
    return by_model


def mean_pass_at_k(outcomes: Mapping[str, Sequence[bool]], k: int) -> float | None:
    """The mean over all items with that many samples, `None` without any."""
    shares = [
        pass_at_k(len(results), sum(results), k)
        for results in outcomes.values()
        if len(results) >= k
    ]
    return sum(shares) / len(shares) if shares else None


def pass_lines(outcomes: Mapping[str, Sequence[bool]]) -> list[str]:
    """One line for each k up to the largest number of samples."""
    most = max(map(len, outcomes.values()), default=0)
    values = [(k, mean_pass_at_k(outcomes, k)) for k in range(1, most + 1)]
    return [f"pass@{k} {value:.3f}" for k, value in values if value is not None]
