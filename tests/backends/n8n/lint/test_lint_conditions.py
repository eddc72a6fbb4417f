"""The conditions of the 150 real workflows, as they are and broken, against n8n's own engine."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from n8n_linted import Json, T, flow, linted
from orgflow.backends.n8n.engine.local import LocalEngine

VALUES = ("5", 5, True, "true", [], "", None, "abc", {})
OPERATIONS = ("equals", "gt", "exists", "true", "contains", "lengthGt", "after", "empty", "equalz")
TYPES = ("string", "number", "boolean", "array", "object", "dateTime", "any")


def without_data(value: Any) -> Any:
    """The value with expressions that give null, which every comparison takes."""
    if isinstance(value, str) and value.startswith("="):
        return "={{ null }}"
    if isinstance(value, dict):
        return {k: without_data(v) for k, v in value.items()}
    return [without_data(v) for v in value] if isinstance(value, list) else value


def deciding(shared: Path) -> list[Json]:
    """Every If, Filter and Switch by rules that says its version."""
    found = []
    for path in sorted((shared / "data/n8n-workflows").glob("*.json")):
        for one in json.loads(path.read_text("utf-8"))["nodes"]:
            short = one["type"].removeprefix("n8n-nodes-base.")
            if short not in ("if", "filter", "switch") or not one.get("typeVersion"):
                continue
            if one["typeVersion"] < 2 or one["parameters"].get("mode") == "expression":
                continue
            found.append({**without_data(one), "name": "N", "position": None, "disabled": False})
            found[-1].pop("onError", None)
    return found


def mutated(one: Json, rng: random.Random) -> Json | None:
    """The node with one part of its first condition changed."""
    made: Json = json.loads(json.dumps(one))
    rules = made["parameters"].get("rules", {}).get("values")
    given = rules[0]["conditions"] if rules else made["parameters"].get("conditions")
    listed = given.get("conditions") if isinstance(given, dict) else None
    if not isinstance(listed, list) or not listed:
        return None
    match rng.randrange(4):
        case 0:
            listed[0]["leftValue"] = rng.choice(VALUES)
        case 1:
            listed[0]["rightValue"] = rng.choice(VALUES)
        case 2:
            listed[0].setdefault("operator", {})["operation"] = rng.choice(OPERATIONS)
        case _:
            listed[0].setdefault("operator", {})["type"] = rng.choice(TYPES)
    return made


def test_what_is_said_of_conditions_is_so(engine: LocalEngine, shared: Path) -> None:
    """A node said to fail fails; one that fails is told, at least as a warning."""
    rng = random.Random(7)
    real = deciding(shared)
    assert len(real) > 120
    nodes = real + [m for one in real for _ in range(2) if (m := mutated(one, rng)) is not None]
    seen: Counter[str] = Counter()
    wrong: list[Any] = []
    for one in nodes:
        made = flow([T, one], "T > N")
        failed = engine.run(made, "T").status == "error"
        said = [d for d in linted(made) if d.code in ("OF439", "OF440")]
        certain = [
            d for d in said
            if d.severity.value == "error" and ("fails" in d.message or "stops" in d.message)
        ]  # fmt: skip
        seen[f"{'fails' if failed else 'runs'}, {'told' if said else 'silent'}"] += 1
        if (failed and not said) or (certain and not failed):
            wrong.append((one["parameters"], [d.message for d in said]))
    print(dict(seen))
    assert wrong == []
    assert seen["fails, told"] > 30


FAULTY = {"leftValue": "a", "operator": {"type": "string", "operation": "equalz"}}


@pytest.mark.parametrize(
    ("kind", "version", "parameters", "place"),
    [
        (
            "if",
            2.2,
            {"conditions": {"combinator": "and", "conditions": [7, FAULTY]}},
            "conditions.conditions[1].operator",
        ),
        (
            "if",
            1,
            {"conditions": {"string": [7, {"value1": "a", "operation": "equalz"}]}},
            "conditions.string[1].operation",
        ),
        (
            "switch",
            3.2,
            {"rules": {"values": [7, {"conditions": {"conditions": [FAULTY]}}]}},
            "rules.values[1].conditions.conditions[0].operator",
        ),
    ],
)
def test_a_fault_behind_what_is_no_object_is_reported_where_it_is(
    kind: str, version: float, parameters: Json, place: str
) -> None:
    node = {**T, "name": "N", "type": f"n8n-nodes-base.{kind}", "typeVersion": version}
    found = linted(flow([T, {**node, "parameters": parameters}], "T > N"))
    assert [d.loc.element for d in found if d.loc is not None and "`equalz`" in d.message] == [
        f"$.nodes[1].parameters.{place}"
    ]


def test_rules_that_are_no_object_are_none() -> None:
    node = {**T, "name": "N", "type": "n8n-nodes-base.switch", "typeVersion": 3.2}
    found = linted(flow([T, {**node, "parameters": {"rules": 3.5}}], "T > N"))
    assert not [d for d in found if d.code == "OF439"]
