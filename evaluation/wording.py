"""Wording that the reports in text and as a page share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby

MOST_CHOICES = 40
"""Maximum number of choices of one run that are printed."""


def choices_line(
    choices: Iterable[tuple[str, tuple[str, ...]]], label: Callable[[str], str]
) -> str:
    """Choices (element, flows taken) in one line; consecutive equal ones are printed once, and of
    very many only the first ones."""
    shown = []
    for (element, taken), group in groupby(choices):
        times = sum(1 for _ in group)
        taken_flows = " + ".join(map(label, taken)) or "nothing"
        shown.append(f"{label(element)} → {taken_flows}" + (f" (×{times})" if times > 1 else ""))
    if len(shown) > MOST_CHOICES:
        shown = [*shown[:MOST_CHOICES], "…"]
    return "; ".join(shown)
