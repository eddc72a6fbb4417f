"""Runs that the text of BPMN gives models, on the token game and on n8n's engine.

The runs were written before the models were compiled, so that they judge the token game as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.engine.runs import RunRequest
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from played_models import ONE_EXECUTION, compiled, faults
from structure_cases import Case, Trace, cases

from orgflow_ir.flow.token_game.runs import enumerate_runs
from orgflow_ir.flow.token_game.semantics import Game, Policy, State
from orgflow_ir.model import Model, Task
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.targets import Emitted

CASES = {case.title: case for case in cases(Path(__file__).with_name("structure_cases.txt"))}
LONGEST = 6
"""Tasks of the longest run that is listed."""


def tasks(model: Model) -> frozenset[str]:
    return frozenset(n.id for s in model.scopes() for n in s.nodes if isinstance(n, Task))


def played(case: Case) -> set[Trace]:
    """The runs of the token game."""
    repeated = {"": 1, "any": 2}.get(case.bodies, 3)
    policy = Policy(once=True, instances=int(case.bodies) if case.bodies.isdecimal() else repeated)
    game, done = Game(case.model, policy), tasks(case.model)
    acts = ("fire",) if case.bodies else ("fire", "done")
    found: set[Trace] = set()
    seen: set[tuple[State, Trace]] = set()
    todo: list[tuple[State, Trace]] = [(game.initial("p"), ())]
    while todo:
        state, trace = todo.pop()
        if (state, trace) in seen or len(trace) > LONGEST:
            continue
        seen.add((state, trace))
        if game.finished(state):
            found.add((*trace, "ERR") if game.outcome(state) == "error" else trace)
        for step in game.enabled(state):
            shown = step.element in done and step.action in acts
            after = (*trace, step.element) if shown else trace
            todo.append((game.fire(state, step), after))
    return found


def engine_runs(case: Case, made: Emitted, runner: LocalRunner) -> Iterator[Trace]:
    """What n8n does with the runs of the model. A task that fails is not completed."""
    done = tasks(case.model)
    model = runner.meaning(case.model)
    runner.load(made, "p", PassContext())
    runs = enumerate_runs(model, "p", max_runs=40).runs
    for run, result in zip(runs, runner.play(runs), strict=True):
        assert result.status in ("success", "error"), result.error
        fails = {task: iter(visits) for task, visits in runner.failures_of(run).items()}
        trace = []
        for element in (n.element for n in result.executed if n.element in done):
            assert element is not None
            if next(fails.get(element, iter(())), None) is None:
                trace.append(element)
        yield (*trace, "ERR") if result.status == "error" else tuple(trace)


def counted(made: Emitted, engine: LocalEngine) -> Trace:
    """The tasks of the one run of a workflow in which nothing is scripted."""
    workflow = json.loads(made.artifacts[0].text)
    (run,) = engine.run_many([RunRequest(workflow, "Start")])
    assert run.status == "success", run.error
    return tuple(node.node for node in run.order if node.node in ("x", "z"))


@pytest.mark.parametrize("title", CASES)
def test_the_token_game_has_these_runs(title: str) -> None:
    case = CASES[title]
    expected = frozenset[Trace]().union(*case.runs)
    found = played(case)
    if case.bodies == "any":
        assert expected <= found
    else:
        assert expected == found


@pytest.mark.parametrize("title", CASES)
def test_the_engine_has_these_runs(engine: LocalEngine, registry: Registry, title: str) -> None:
    """Each run of the engine is one of them, and each of them is one up to the order of parallel
    steps."""
    case = CASES[title]
    made, errors = compiled(case.model, registry)
    if case.refused:
        assert made is None
        assert any(case.refused in error for error in errors), errors
        return
    if case.rows:
        alone, reasons = compiled(case.model, registry, ONE_EXECUTION)
        assert alone is None
        assert any(case.rows in reason for reason in reasons), reasons
    assert made is not None, errors
    runner = LocalRunner(engine)
    if case.bodies.isdecimal():
        assert {counted(made, engine)} in case.runs
        assert faults(case.model, made, runner, registry) == []
        return
    found = set(engine_runs(case, made, runner))
    bags = {tuple(sorted(trace)) for trace in found}
    wanted = {tuple(sorted(trace)) for orders in case.runs for trace in orders}
    assert wanted <= bags
    if case.bodies != "any":
        assert found <= frozenset[Trace]().union(*case.runs)
    assert faults(case.model, made, runner, registry) == []
