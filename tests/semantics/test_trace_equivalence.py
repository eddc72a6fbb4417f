"""Two processes compared by their runs: with themselves, with mutants, and with a plain referee."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from n8n_language import Seen, difference, in_both
from orgflow.compilation.reading import load_model
from random_processes import process as random_process

from orgflow_ir.comparison.model_changes import compare_models
from orgflow_ir.flow.token_game.trace_equivalence import compare_processes
from orgflow_ir.model import Model, Process, Task
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

MODELS = sorted((Path(__file__).resolve().parent.parent / "diagnostics").glob("*/*.bpmn"))


def read(path: Path, registry: Registry) -> Model | None:
    return load_model(str(path), registry, PassContext(registry=registry))


def every(process: Process) -> dict[str, str]:
    return {n.id: n.id for scope in process.scopes() for n in scope.nodes}


def swapped(model: Model, seed: int) -> Model:
    """Two tasks of the first process with one another's flows."""
    process = model.processes[0]
    tasks = [n.id for n in process.nodes if isinstance(n, Task)]
    if len(tasks) < 2:
        return model
    one, two = random.Random(seed).sample(tasks, 2)
    other = {one: two, two: one}
    flows = tuple(
        f.replace(source=other.get(f.source, f.source), target=other.get(f.target, f.target))
        for f in process.flows
    )
    changed = process.replace(flows=flows)
    return model.replace(processes=(changed, *model.processes[1:]))


def test_the_benchmark_walks_beside_itself(shared: Path, registry: Registry) -> None:
    start = time.process_time()
    verdicts: dict[str, int] = {}
    for path in sorted((shared / "data" / "pmo" / "bpmn").glob("*.bpmn")):
        model = read(path, registry)
        assert model is not None
        for process in model.processes:
            if process.nodes:
                pair = (model, process)
                found = compare_processes(pair, pair, every(process))
                verdicts[found.verdict] = verdicts.get(found.verdict, 0) + 1
                assert found.verdict in ("same", "bounded"), (path.name, found)
    print(verdicts, f"{time.process_time() - start:.1f} s")
    assert verdicts["same"] >= 50


def test_mutants_of_the_benchmark_are_judged_as_the_referee_does(
    shared: Path, registry: Registry
) -> None:
    counts: dict[tuple[str, str], int] = {}
    for number, path in enumerate(sorted((shared / "data" / "pmo" / "bpmn").glob("*.bpmn"))):
        model = read(path, registry)
        assert model is not None
        if len(model.processes) != 1:
            continue
        mutant = swapped(model, number)
        one, two = model.processes[0], mutant.processes[0]
        visible = in_both(one, two)
        sides = [Seen(m, m.processes[0], visible, 20_000) for m in (model, mutant)]
        expected, _ = difference(*sides)
        found = compare_processes((model, one), (mutant, two), every(one))
        key = (expected, found.verdict)
        counts[key] = counts.get(key, 0) + 1
        if found.verdict == "different":
            assert not found.run[-1].same
            assert all(row.same for row in found.run[:-1])
    print(counts)
    assert {k for k in counts if "bounded" not in k} <= {("same", "same"), ("different",) * 2}
    assert counts[("different", "different")] > 30


def test_random_processes_are_judged_as_the_referee_does() -> None:
    pairs = [pair for seed in range(0, 60, 7) for pair in random_pairs(seed)]
    judged = {"same": 0, "different": 0}
    for seed, model, mutant in pairs:
        process, other = model.processes[0], mutant.processes[0]
        visible = in_both(process, other)
        sides = [Seen(m, m.processes[0], visible, 2_000) for m in (model, mutant)]
        expected, _ = difference(*sides)
        pair = (model, process), (mutant, other)
        found = compare_processes(*pair, every(process), limit=4_000)
        if "bounded" not in (expected, found.verdict):
            # The referee does not look at runs that get stuck.
            stuck = any("stuck" in row.old + row.new for row in found.run)
            assert found.verdict == expected or stuck, (seed, found)
            judged[expected] += 1
    assert min(judged.values()) >= 2, judged


def random_pairs(seed: int) -> list[tuple[int, Model, Model]]:
    """A random process beside itself, and beside one with two tasks swapped."""
    model = Model(id="m", processes=(random_process(seed),))
    return [(seed, model, model), (seed, model, swapped(model, seed))]


@pytest.mark.parametrize("path", MODELS, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_malformed_models_are_compared_as_far_as_they_go(path: Path, registry: Registry) -> None:
    model = read(path, registry)
    other = next((p for p in MODELS if p.parent == path.parent and p != path), path)
    second = read(other, registry)
    if model is None or second is None:
        return
    assert not compare_models(model, model, names=("a", "b")).differs
    text = model.to_json()
    assert not compare_models(model, Model.from_json(text), names=("a", "b")).differs
    if model.processes != second.processes:
        found = compare_models(model, second, names=("a", "b"))
        assert found.differs, path
