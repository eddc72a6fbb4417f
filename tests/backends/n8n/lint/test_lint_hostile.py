"""Hostile files: whatever stands in a workflow, the examination ends and speaks its codes only."""

from __future__ import annotations

import copy
import json
import random
import time
from itertools import pairwise
from typing import Any

import pytest
from n8n_linted import Json, T, codes, flow, if_, linted, merge, node, reads_of, set_
from n8n_silent_cases import CASES

JUNK: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 10**30, 1e300, "", "=", "={{", "={{ }}", "={{ $('", "x" * 300,
    [], {}, [None], [[]], {"": {}}, {"values": 3}, {"__rl": True}, [{"name": "=x"}], {"$": [1]},
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every path in a value but its root."""
    found: list[tuple[Any, ...]] = []
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        found.append((*path, key))
        if isinstance(inner, dict | list):
            found += places(inner, (*path, key))
    return found


def broken(value: Json, rng: random.Random) -> Json:
    """The value with one to three of its parts replaced, removed or doubled."""
    made = copy.deepcopy(value)
    for _ in range(rng.randint(1, 3)):
        path = rng.choice(places(made))
        owner: Any = made
        for step in path[:-1]:
            owner = owner[step]
        action = rng.randrange(4)
        if action == 0:
            del owner[path[-1]]
        elif action == 1 and isinstance(owner, list):
            owner.append(copy.deepcopy(owner[path[-1]]))
        else:
            owner[path[-1]] = copy.deepcopy(rng.choice(JUNK))
        if not made:
            break
    return made


@pytest.mark.parametrize("name", CASES)
def test_broken_workflows_are_linted(name: str) -> None:
    rng = random.Random(name)
    findings = 0
    for _ in range(15):
        value = broken(CASES[name].bad, rng)
        for d in linted(value):
            findings += 1
            assert "OF430" <= d.code <= "OF469" or d.code.startswith("N8N1")
            assert d.loc is not None
            assert d.loc.line is not None
    assert findings


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"null", b"3", b'"x"', b"[]", b"[[[[[[[{}]]]]]]]", b'{"nodes": 3}', b"\xff\xfe",
     b'{"nodes": {}, "connections": []}', b'{"nodes": [null, 3, {}, {"name": ""}]}'],
)  # fmt: skip
def test_what_is_no_workflow_is_the_frontends_to_say(data: bytes) -> None:
    assert {d.code for d in linted(data)} <= {"OF446"}


def test_deep_and_wide_values() -> None:
    deep: Any = "={{ $json.x }}"
    for _ in range(200):
        deep = {"a": [deep]} if _ % 2 else deep
    wide = {f"k{i}": "={{ $('A').item.json.x }}" for i in range(5_000)}
    made = flow([T, node("A", "set", {"x": deep}), node("B", "code", wide)], "T > A, A > B")
    assert "OF433" in codes(made)


def test_numbers_without_end() -> None:
    """Counts from a file are not believed."""
    big = 10**9
    nodes = [
        T,
        node("S", "switch", {"mode": "expression", "numberOutputs": big, "output": "={{ 1 }}"}),
        node("M", "merge", {"mode": "append", "numberInputs": big}),
        node("L", "splitInBatches", {"batchSize": big}),
        node("W", "wait", {"amount": big, "unit": "days"}),
    ]
    made = flow(nodes, "T > S, S > M, M > L, L > W, L:1 > L")  # type: ignore[arg-type]
    made["connections"]["S"]["main"][0].append({"node": "M", "type": "main", "index": big})
    start = time.process_time()
    linted(made)
    assert time.process_time() - start < 2


def test_many_situations_are_bounded_and_said() -> None:
    """Fourteen choices side by side, each remembered by a Merge: 2 ** 14 situations."""
    names = [f"I{i}" for i in range(14)]
    nodes: list[Any] = [T, "Z"]
    text = "T > Z"
    for i, name in enumerate(names):
        nodes += [if_(name), merge(f"M{i}", "append")]
        text += f", T > {name}, {name} > M{i}, Z > M{i}:1"
    # Z is last, so that every Merge still waits when the choices are made
    nodes.append(nodes.pop(1))
    made = flow(nodes, text)
    start = time.process_time()
    found = linted(made)
    assert time.process_time() - start < 3
    assert [d.severity.value for d in found if d.code == "OF469"] == ["info"]


def test_long_workflows_take_linear_time() -> None:
    """2,000 nodes in a row, each reading from the first."""
    names = [f"N{i}" for i in range(2_000)]
    nodes: list[Any] = [T, set_("S", x=1)]
    nodes += [reads_of(name, "$('S').first().json.x + $json.x") for name in names]
    wires = ["T > S", "S > N0", *(f"{a} > {b}" for a, b in pairwise(names))]
    start = time.process_time()
    found = linted(flow(nodes, ", ".join(wires)))
    took = time.process_time() - start
    print(f"{took:.2f} s")
    assert [d.code for d in found] == []
    assert took < 6


def test_the_same_bytes_say_the_same() -> None:
    data = json.dumps([case.bad for case in CASES.values()]).encode()
    assert linted(data) == linted(data)
