"""BLEU of short texts: how many words and word sequences two texts share."""

from __future__ import annotations

import math
import re
from collections import Counter


def bleu_score(candidate: str, reference: str) -> float:
    """Smoothed BLEU of words, up to sequences of four (Lin and Och, "ORANGE", COLING 2004).

    Example:
        >>> bleu("check the order", "check the order"), bleu("sing", "check the order")
        (1.0, 0.0)
    """
    mine, true = (re.findall(r"\w+", text.lower()) for text in (candidate, reference))
    if not mine or not true:
        return float(mine == true)
    logs = 0.0
    orders = min(4, len(mine))
    for n in range(1, orders + 1):
        here, there = (
            Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
            for words in (mine, true)
        )
        more = int(n > 1)  # one more of each but single words, so that one missing pair is not all
        both, all_ = sum((here & there).values()) + more, sum(here.values()) + more
        if not both:
            return 0.0
        logs += math.log(both / all_)
    brevity = min(0.0, 1 - len(true) / len(mine))
    return math.exp(logs / orders + brevity)
