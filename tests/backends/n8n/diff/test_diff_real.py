"""No false alarm: real workflows, examples and the benchmark, laid out again and renamed."""

from __future__ import annotations

import copy
import itertools
import json
import random
import time
from pathlib import Path
from typing import Any

import pytest
from diff_edits import compiled, models, relaid, renamed, steps
from orgflow.backends.n8n.diff.file_comparison import diff_workflows

from orgflow_ir.plugins import Registry

Json = dict[str, Any]
SECONDS = 6.0
"""Bound on comparing all 150 with themselves twice (about 1.5 s on an idle machine)."""


@pytest.fixture(scope="module")
def real(shared: Path) -> dict[str, Json]:
    paths = sorted((shared / "data" / "n8n-workflows").glob("*.json"))
    assert len(paths) == 150
    return {path.name: json.loads(path.read_bytes()) for path in paths}


@pytest.fixture(scope="module")
def emitted(root: Path, shared: Path, registry: Registry) -> list[Json]:
    """What examples and the benchmark compile to."""
    paths = [*sorted((root / "examples").glob("*/model.bpmn")), *models(shared)]
    found = [w for path in paths for w in compiled(path, registry, people="form")]
    assert len(found) >= 53
    return found


def test_real_workflows_do_not_differ_from_themselves(real: dict[str, Json]) -> None:
    start = time.process_time()
    for name, workflow in real.items():
        for other in (copy.deepcopy(workflow), relaid(workflow)):
            part = diff_workflows(workflow, other)
            assert not part.differs, (name, part)
            assert part.behaviour is not None
            assert part.behaviour.verdict == "same", name
    assert time.process_time() - start < SECONDS


def mutated(workflow: Json, rng: random.Random) -> Json:
    """A workflow with a few values anywhere in it doubled, dropped, swapped or emptied."""
    new = copy.deepcopy(workflow)
    for _ in range(4):
        holders: list[Any] = []
        todo: list[Any] = [new]
        while todo:
            at = todo.pop()
            values = list(at.values()) if isinstance(at, dict) else at
            holders += [at] if values else []
            todo += [v for v in values if isinstance(v, dict | list)]
        at = rng.choice(holders)
        key = rng.choice(list(at) if isinstance(at, dict) else range(len(at)))
        match rng.randrange(4):
            case 0 if isinstance(at, list):
                at.append(copy.deepcopy(at[key]))
            case 1 if at is not new:
                del at[key]
            case 2:
                other = rng.choice(list(at) if isinstance(at, dict) else range(len(at)))
                at[key], at[other] = at[other], at[key]
            case _ if not (at is new and key in ("nodes", "connections")):
                at[key] = rng.choice([None, "", [], {}, True, "={{ $json.x }}", 2])
    return new


def test_mutated_workflows_do_not_differ_from_themselves(real: dict[str, Json]) -> None:
    rng = random.Random(8)
    for name, workflow in real.items():
        mutant = mutated(workflow, rng)
        part = diff_workflows(mutant, copy.deepcopy(mutant))
        assert not part.differs, (name, part)


def walked(workflow: Json) -> tuple[Json, Json]:
    """A workflow and the same with a parameter that means nothing at each node, so that nothing
    can be told but by walking; both in the order that is modelled."""
    old = {**workflow, "settings": {"executionOrder": "v1"}}
    new = copy.deepcopy(old)
    for item in steps(new):
        item["parameters"] = {**(item.get("parameters") or {}), "noSuchParameter": True}
    return old, new


def test_real_workflows_walk_beside_themselves(real: dict[str, Json]) -> None:
    verdicts: dict[str, list[str]] = {}
    for name, workflow in list(real.items())[::2]:
        part = diff_workflows(*walked(workflow))
        assert part.behaviour is not None
        verdicts.setdefault(part.behaviour.verdict, []).append(name)
    assert set(verdicts) == {"changed", "bounded"}
    assert len(verdicts["bounded"]) <= 10  # loops and forks where one item may become several


def test_emitted_workflows_do_not_differ_from_themselves(emitted: list[Json]) -> None:
    for workflow in emitted:
        assert not diff_workflows(workflow, relaid(workflow)).differs
        part = diff_workflows(*walked(workflow))
        assert part.behaviour is not None
        assert part.behaviour.verdict in ("same", "changed"), (workflow["name"], part.behaviour)


def test_renamed_steps_are_renamed_and_nothing_else(emitted: list[Json]) -> None:
    for workflow in emitted:
        new, names = renamed(relaid(workflow))
        part = diff_workflows(workflow, new)
        assert part.behaviour is not None
        assert part.behaviour.verdict == "same", (workflow["name"], part.behaviour)
        assert {c.kind for c in part.changes} == {"renamed"}, part.changes
        assert {c.old: c.new for c in part.changes} == names


def test_without_notes_steps_are_found_by_id_or_neighbours(emitted: list[Json]) -> None:
    found = wrong = missed = 0
    for workflow in emitted:
        for by_id in (True, False):
            new, names = renamed(workflow, every=1 if by_id else 4)
            old = copy.deepcopy(workflow)
            for one in (old, new):
                one["nodes"] = steps(one)  # without the map
                for item in one["nodes"]:
                    item.pop("notes", None)
                    if not by_id:
                        item.pop("id")
            part = diff_workflows(old, new)
            pairs = {c.old: c.new for c in part.changes if c.kind == "renamed"}
            if by_id:
                assert pairs == names
                continue
            good = sum(names[old_name or ""] == name for old_name, name in pairs.items())
            found, wrong, missed = (
                found + good, wrong + len(pairs) - good, missed + len(names) - len(pairs)
            )  # fmt: skip
    print(f"by their neighbours: {found} found, {wrong} wrong, {missed} not found")
    assert wrong == 0
    assert found > 20 * missed


@pytest.mark.parametrize(("waits", "most"), [("execution", 0.1), ("rows", 0.2)])
def test_a_benchmark_model_takes_less_than_a_tenth_of_a_second(
    root: Path, shared: Path, registry: Registry, waits: str, most: float
) -> None:
    """One with rows has up to twice as many nodes."""
    times = []
    paths = [*sorted((root / "examples").glob("*/model.bpmn")), *models(shared)]
    for workflow in (w for p in paths for w in compiled(p, registry, people="form", waits=waits)):
        pair = walked(workflow)
        start = time.process_time()
        diff_workflows(*pair)
        times.append(time.process_time() - start)
    times.sort()
    print(f"median {times[len(times) // 2] * 1000:.1f} ms, longest {times[-1] * 1000:.1f} ms")
    assert times[-1] < most


def chain(size: int, tag: str = "n") -> Json:
    def item(name: str, kind: str) -> Json:
        full = f"n8n-nodes-base.{kind}"
        return {"name": name, "type": full, "typeVersion": 1, "position": [0, 0], "parameters": {}}

    names = ["Start", *(f"{tag}{i}" for i in range(size))]
    wires = {
        one: {"main": [[{"node": two, "type": "main", "index": 0}]]}
        for one, two in itertools.pairwise(names)
    }
    nodes = [item(n, "noOp" if i else "manualTrigger") for i, n in enumerate(names)]
    return {"nodes": nodes, "connections": wires, "settings": {"executionOrder": "v1"}}


def test_ten_thousand_nodes() -> None:
    start = time.process_time()
    old = chain(10_000)
    new = copy.deepcopy(old)
    del new["connections"]["n7000"]
    part = diff_workflows(old, new)
    assert part.behaviour is not None
    assert part.behaviour.reason == "`n7001` runs only in the old workflow"
    part = diff_workflows(old, chain(10_000, "other"))
    assert part.behaviour is not None
    assert part.behaviour.verdict == "same"
    assert {c.kind for c in part.changes} == {"renamed"}
    assert time.process_time() - start < 20
