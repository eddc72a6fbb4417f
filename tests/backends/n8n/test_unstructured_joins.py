"""Inclusive joins that close no split: n8n's engine, `verify` and an interpreter of the rule."""

from __future__ import annotations

import pytest
from bpmn_interpreter import Interpreter, Unsupported
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.plan.inclusive_joins import inclusive_joins
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from played_models import compiled, faults
from random_processes import process as random_process
from seeds import EVERY, seeds

from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.flow.soundness import analyse
from orgflow_ir.flow.token_game.runs import enumerate_runs
from orgflow_ir.model import Event, Model, Process, Task
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

# seeds of random processes whose joins close no split, and that are sound
OUTSIDE_OF_LOOPS = (490, 531, 870, 915, 1138, 1229, 1430)
IN_LOOPS = (110, 284, 994, 1054)


def joins(process: Process) -> set[tuple[str, bool]]:
    """The encodings of joins that close no split, and whether each is on a cycle."""
    ctx = PassContext()
    graph = ctx.analysis(ControlFlow, process)
    found = inclusive_joins(process, graph, ctx).values()
    return {(j.kind, j.gateway in graph.cyclic) for j in found if j.split is None}


def traces(model: Model, registry: Registry, runner: LocalRunner) -> set[tuple[str, ...]]:
    """The orders in which n8n's engine does the tasks, by the runs of the token game."""
    made, errors = compiled(model, registry)
    assert made is not None, errors
    assert faults(model, made, runner, registry) == []
    tasks = {n.id for s in model.scopes() for n in s.nodes if isinstance(n, Task)}
    runner.load(made, "P", PassContext())
    return {
        tuple(x.element for x in done.executed if x.element in tasks)
        for done in runner.play(enumerate_runs(model, "P", max_runs=20).runs)
    }


@pytest.mark.parametrize("seed", [*OUTSIDE_OF_LOOPS, *IN_LOOPS])
def test_they_wait_for_what_can_still_come(
    engine: LocalEngine, registry: Registry, seed: int
) -> None:
    process = random_process(seed)
    kind = ("exclusive", True) if seed in IN_LOOPS else ("partial", False)
    assert kind in joins(process)
    model = Model(id="m", processes=(process,))
    done = traces(model, registry, LocalRunner(engine))
    try:
        assert done <= Interpreter(model, most=3_000).traces()
    except Unsupported:
        assert seed in IN_LOOPS  # whose traces have no end


@pytest.mark.parametrize("seed", [95, 264, 689, 1252])
def test_what_n8n_cannot_wait_for_is_refused(registry: Registry, seed: int) -> None:
    """In a loop beside other work, and where several tokens come to one place."""
    process = random_process(seed)
    assert {kind for kind, _ in joins(process)} & {"unstructured"}
    made, errors = compiled(Model(id="m", processes=(process,)), registry)
    assert made is None
    assert any("n8n cannot determine which branches are still active" in e for e in errors), errors


def test_random_joins(engine: LocalEngine, registry: Registry) -> None:
    """More of them; in `make test` only those of a few seeds."""
    runner = LocalRunner(engine)
    played = 0
    for seed in seeds(2_000, 3_000):
        process = random_process(seed)
        kinds = {kind for kind, _ in joins(process)}
        verdicts = analyse(process, show=False).verdicts.values()
        sound = all(v.outcome == "proved" for v in verdicts)
        plain = not any(isinstance(n, Event) and n.attached_to for n in process.nodes)
        if not (sound and plain and kinds and "unstructured" not in kinds):
            continue
        model = Model(id="m", processes=(process,))
        done = traces(model, registry, runner)
        played += 1
        try:
            assert done <= Interpreter(model, most=1_000).traces(), seed
        except Unsupported:
            continue
    assert played >= (15 if EVERY else 1)
