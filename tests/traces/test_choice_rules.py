"""Conditions of choices: planted ones are found, and random values yield none."""

from __future__ import annotations

import random

import pytest

from orgflow_ir.mining.choice_rules import (
    Observation,
    WayRule,
    decide_way,
    find_choice_rules,
    round_between,
)
from orgflow_ir.mining.event_log import Scalar
from orgflow_ir.mining.log_process import format_duration, round_duration, show_duration


def draw_values(draw: random.Random) -> dict[str, Scalar]:
    return {
        "amount": float(draw.randrange(100)),
        "region": draw.choice(["north", "south", "west"]),
        "is new": draw.random() < 0.5,
        "name": f"n{draw.randrange(1000)}",
    }


def decide_planted(kind: str, values: dict[str, Scalar]) -> int:
    match kind:
        case "number":
            return int(float(values["amount"]) > 40)
        case "ranges":
            return sum(float(values["amount"]) > limit for limit in (30, 70))
        case "text":
            return int(values["region"] == "south")
    return int(values["is new"] is True)


@pytest.mark.parametrize(
    ("kind", "shown"),
    [("number", ["amount <= 40", "None"]), ("text", ["None", 'region = "south"']),
     ("flag", ["None", "is new = false"]), ("ranges", ["amount <= 30", "amount <= 70", "None"])],
)  # fmt: skip
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_planted_conditions(kind: str, shown: list[str], noise: float) -> None:
    draw = random.Random(4)
    ways = len(shown)
    observations, truth = [], []
    for _ in range(600):
        values = draw_values(draw)
        way = decide_planted(kind, values)
        truth.append(Observation(values, way))
        observations.append(
            Observation(values, draw.randrange(ways) if draw.random() < noise else way)
        )
    rules = find_choice_rules(observations, ways)
    assert rules is not None
    right = sum(decide_way(rules.rules, entry.values) == entry.way for entry in truth)
    assert right / len(truth) > 0.97
    assert rules.accuracy >= 1 - noise
    if not noise:
        assert sorted(map(str, rules.rules)) == sorted(shown)


def test_random_values_yield_no_condition() -> None:
    draw = random.Random(5)
    for _ in range(60):
        observations = [
            Observation(draw_values(draw), draw.choices((0, 1), (1, 3))[0]) for _ in range(200)
        ]
        assert find_choice_rules(observations, 2) is None


def test_few_cases_yield_no_condition() -> None:
    few = [Observation({"x": float(n)}, int(n > 5)) for n in range(30)]
    assert find_choice_rules(few, 2) is None


def test_a_condition_needs_a_value_of_its_type() -> None:
    rule = WayRule("x", ">", (5.0,))
    assert [rule.holds({"x": value}) for value in (6.0, 5.0, "6", True)] == [
        True, False, False, False,
    ]  # fmt: skip
    assert not rule.holds({})


def test_conditions_as_feel() -> None:
    assert WayRule("order.amount", ">", (5.0,)).feel == "order.amount > 5"
    assert WayRule("is new", "in", (True,)).feel is None
    assert WayRule("x", "in", ('a"b', 2.0)).feel == 'x = "a\\"b" or x = 2'


@pytest.mark.parametrize(
    ("low", "high", "between"), [(999, 1004, 1000), (0.12, 0.19, 0.15), (3, 4, 3), (17, 41, 30)]
)
def test_thresholds_are_round(low: float, high: float, between: float) -> None:
    assert round_between(low, high) == between


def test_durations() -> None:
    assert [show_duration(s) for s in (0, 59, 3600, 100_000)] == ["0 s", "59 s", "1 h", "1.16 d"]
    assert round_duration(3 * 86_400 + 900) == 3 * 86_400
    assert [format_duration(s) for s in (0, 3600, 86_400, 90_061)] == [
        "PT0S", "PT1H", "P1D", "P1DT1H1M1S",
    ]  # fmt: skip
