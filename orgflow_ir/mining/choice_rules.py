"""Conditions of choices by one attribute: found in half of the cases, and judged by the others.

The search is exact over all tests of one attribute: a threshold of a number, or values of a text. A
condition is stated only where it decides the other half of the cases clearly better than the most
frequent way does, so a table of random values yields none.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from orgflow_ir.mining.event_log import Scalar
from orgflow_ir.model.records import NamedTuple

LEAST_CASES: Final = 20
"""Cases in each half."""

LEAST_GAIN: Final = 0.5
"""The share of the errors of the most frequent way that a condition avoids."""

LEAST_DEVIATIONS: Final = 4.0
"""Standard deviations of chance by which a condition is better: one in 30,000 attributes is by
chance."""

MOST_VALUES: Final = 40
"""Distinct values of a text from which it is a name, not a reason."""


class Observation(NamedTuple):
    """The values that a case had at a choice, and the way that it took."""

    values: Mapping[str, Scalar]
    way: int


class WayRule(NamedTuple):
    """A condition of one way of a choice.

    Attributes:
        attribute: the attribute.
        operator: `<=`, `>`, or `in`.
        operands: one number, or the values.
    """

    attribute: str
    operator: str
    operands: tuple[Scalar, ...]

    def holds(self, values: Mapping[str, Scalar]) -> bool:
        """Whether a case has the condition; not without a value of its type."""
        value = values.get(self.attribute)
        if self.operator == "in":
            return value in self.operands
        (limit,) = self.operands
        if not isinstance(value, float) or not isinstance(limit, float):
            return False  # a truth value is no number
        return value <= limit if self.operator == "<=" else value > limit

    def __str__(self) -> str:
        if self.operator == "in":
            return " or ".join(f"{self.attribute} = {_show_value(v)}" for v in self.operands)
        return f"{self.attribute} {self.operator} {_show_value(self.operands[0])}"

    @property
    def feel(self) -> str | None:
        """The condition as FEEL, `None` if the attribute is no name of it."""
        if not re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", self.attribute):
            return None
        return str(self)


class ChoiceRules(NamedTuple):
    """The conditions of a choice.

    Attributes:
        rules: the condition of each branch, or `None` for the remaining one.
        accuracy: the share of the cases of the other half that go where the conditions say.
        baseline: the share of these cases that take the most frequent branch.
        cases: the number of all cases.
    """

    rules: tuple[WayRule | None, ...]
    accuracy: float
    baseline: float
    cases: int


def _show_value(value: Scalar) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.15g}"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def find_choice_rules(observations: Sequence[Observation], way_count: int) -> ChoiceRules | None:
    """The conditions by one attribute that decide a choice best, `None` where none does.

    Args:
        observations: the cases.
        way_count: the number of ways.
    """
    learned, judged = observations[::2], observations[1::2]
    if len(judged) < LEAST_CASES:
        return None
    names = sorted({name for observation in learned for name in observation.values})
    best: tuple[float, ChoiceRules] | None = None
    counts = Counter(observation.way for observation in judged)
    baseline = max(counts.values()) / len(judged)
    for name in names:
        for rules in _propose_rules(learned, name, way_count):
            right = sum(decide_way(rules, entry.values) == entry.way for entry in learned)
            if best is None or right > best[0]:
                accuracy = sum(decide_way(rules, e.values) == e.way for e in judged) / len(judged)
                candidate = ChoiceRules(rules, accuracy, baseline, len(observations))
                best = (right, candidate)
    if best is None or baseline == 1:
        return None
    chosen = best[1]
    gain = (chosen.accuracy - baseline) / (1 - baseline)
    chance = math.sqrt(baseline * (1 - baseline) / len(judged))
    if gain < LEAST_GAIN or chosen.accuracy - baseline < LEAST_DEVIATIONS * chance:
        return None
    return chosen


def decide_way(rules: Sequence[WayRule | None], values: Mapping[str, Scalar]) -> int:
    """The first way whose condition holds, else the one without."""
    for way, rule in enumerate(rules):
        if rule is not None and rule.holds(values):
            return way
    return rules.index(None)


def _propose_rules(
    learned: Sequence[Observation], name: str, way_count: int
) -> list[tuple[WayRule | None, ...]]:
    """The best conditions by one attribute: by thresholds, and by values."""
    entries = [(entry.values[name], entry.way) for entry in learned if name in entry.values]
    proposed: list[tuple[WayRule | None, ...]] = []
    numbers = sorted((v, way) for v, way in entries if isinstance(v, float) and v == v)
    if len(numbers) > len(entries) / 2 and way_count == 2:
        threshold = _find_threshold(numbers)
        if threshold is not None:
            limit, low = threshold
            rule = WayRule(name, "<=" if low == 0 else ">", (limit,))
            proposed.append((rule, None))
    elif len(numbers) > len(entries) / 2:
        proposed += _find_ranges(numbers, name, way_count)
    values = Counter(value for value, _ in entries)
    if 1 < len(values) <= MOST_VALUES:
        proposed += _find_values(entries, name, way_count)
    return proposed


def _find_threshold(numbers: Sequence[tuple[float, int]]) -> tuple[float, int] | None:
    """The number that separates two ways best, and the way of those up to it."""
    total = Counter(way for _, way in numbers)
    below: Counter[int] = Counter()
    best, limit, low = 0, 0.0, 0
    for n, (value, way) in enumerate(numbers[:-1]):
        below[way] += 1
        following = numbers[n + 1][0]
        if following == value:
            continue
        for first in (0, 1):
            right = below[first] + total[1 - first] - below[1 - first]
            if right > best:
                best, limit, low = right, round_between(value, following), first
    return (limit, low) if best else None


def round_between(low: float, high: float) -> float:
    """The number with the fewest digits that is at least `low` and less than `high`."""
    for digits in range(-12, 16):
        middle = (low + high) / 2
        for rounded in (round(middle, digits), math.floor(middle * 10.0**digits) / 10.0**digits):
            if low <= rounded < high:
                return rounded
    return low


def _find_ranges(
    numbers: Sequence[tuple[float, int]], name: str, way_count: int
) -> list[tuple[WayRule | None, ...]]:
    """Ascending thresholds of more than two ways, in the order of their medians."""
    medians = {}
    for way in range(way_count):
        own = [value for value, other in numbers if other == way]
        if not own:
            return []
        medians[way] = own[len(own) // 2]
    order = sorted(medians, key=medians.__getitem__)
    if order != list(range(way_count)) and order != list(range(way_count))[::-1]:
        return []  # ways are tested in their order
    rules: list[WayRule | None] = [None] * way_count
    for way in range(way_count - 1):
        place = order.index(way)
        ascending = order[0] == 0
        lower = set(order[: place + 1] if ascending else order[:place])
        entries = [(value, 0 if other in lower else 1) for value, other in numbers]
        threshold = _find_threshold(entries)
        if threshold is None:
            return []
        rules[way] = WayRule(name, "<=" if ascending else ">", (threshold[0],))
    return [tuple(rules)]


def _find_values(
    entries: Sequence[tuple[Scalar, int]], name: str, way_count: int
) -> list[tuple[WayRule | None, ...]]:
    """The values of which most cases take each way."""
    counts: dict[Scalar, Counter[int]] = {}
    for value, way in entries:
        counts.setdefault(value, Counter())[way] += 1
    owned: dict[int, list[Scalar]] = {}
    for value in sorted(counts, key=lambda v: (type(v).__name__, v)):
        owned.setdefault(counts[value].most_common(1)[0][0], []).append(value)
    if len(owned) < 2:
        return []
    # the way with most values is the one that is left
    left = max(range(way_count), key=lambda way: (len(owned.get(way, ())), way))
    rules = [
        None if way == left else WayRule(name, "in", tuple(owned.get(way, ())))
        for way in range(way_count)
    ]
    return [tuple(rules)]
