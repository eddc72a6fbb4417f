"""The one reader of conditions: every version of If, Filter and Switch in one structure."""

from __future__ import annotations

from typing import Any

import pytest
from orgflow.backends.n8n.format.condition_parameters import condition_of, rules_of

SECOND = {
    "combinator": "or",
    "conditions": [
        {
            "leftValue": "={{ 1 }}",
            "rightValue": 2,
            "operator": {"type": "number", "operation": "gt"},
        },
        {
            "leftValue": "x",
            "operator": {"type": "string", "operation": "empty", "singleValue": True},
        },
        {"leftValue": "x"},
    ],
}
FIRST = {"number": [{"value1": 1, "value2": 2}], "string": [{"value1": "a", "operation": "regex"}]}


def test_both_shapes_of_a_condition_give_the_same_structure() -> None:
    second = condition_of(SECOND)
    assert (second.either, second.first) == (True, False)
    assert [tuple(c)[:5] for c in second.comparisons] == [
        ("={{ 1 }}", "number", "gt", 2, False),
        ("x", "string", "empty", None, True),
        ("x", "string", None, None, False),
    ]
    first = condition_of(FIRST, "any")
    assert (first.either, first.first) == (True, True)
    assert [tuple(c)[:4] for c in first.comparisons] == [
        (1, "number", "smaller", 2),  # what version 1 leaves out
        ("a", "string", "regex", None),
    ]
    assert not condition_of(FIRST, "all").either


@pytest.mark.parametrize("value", [None, [], 3, {"conditions": 3}, {"conditions": [3, None]}])
def test_odd_conditions_are_read_as_far_as_they_go(value: Any) -> None:
    assert all(c.raw == {} for c in condition_of(value).comparisons)


def test_an_if_takes_its_second_output_where_nothing_holds() -> None:
    found = rules_of("if", 1, {"conditions": FIRST, "combineOperation": "any"})
    assert found is not None
    assert (found.rules[0].condition.either, found.rules[0].output, found.fallback) == (True, 0, 1)


@pytest.mark.parametrize(
    ("version", "rows", "outputs"),
    [
        (1, {"rules": [{"output": 3}, {}, {"output": -1}]}, [3, 0, 0]),
        (2, {"rules": [{"output": 3}, {}]}, [0, 1]),
        (3.2, {"values": [{"outputKey": "a"}, {"conditions": SECOND}]}, [0, 1]),
        (3, {"rules": [{}]}, []),
    ],
)
def test_rules_of_a_switch_name_their_outputs(version: float, rows: Any, outputs: Any) -> None:
    found = rules_of("switch", version, {"rules": rows, "value1": "v", "dataType": "string"})
    assert found is not None
    assert [rule.output for rule in found.rules] == outputs
    if version < 3:
        assert found.rules[0].condition.comparisons[0].left == "v"


def test_the_fallback_of_a_switch_stands_where_its_version_has_it() -> None:
    options = {
        "fallbackOutput": "extra",
        "renameFallbackOutput": "Else",
        "allMatchingOutputs": True,
    }
    new = rules_of("switch", 3, {"options": options, "fallbackOutput": 2})
    old = rules_of("switch", 1, {"options": options, "fallbackOutput": 2})
    gone = rules_of("switch", 1, {"fallbackOutput": -1})
    assert new is not None
    assert old is not None
    assert gone is not None
    assert (new.fallback, new.fallback_name, new.every) == ("extra", "Else", True)
    assert (old.fallback, gone.fallback) == (2, None)
    assert rules_of("switch", 3, {"mode": "expression"}) is None
    assert rules_of("set", 3, {}) is None
