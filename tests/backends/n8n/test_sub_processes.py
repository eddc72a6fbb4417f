"""Sub-processes that become part of what is around them run as the token game says."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.runner import LocalRunner
from orgflow.backends.n8n.verify.verify import verify_process
from orgflow.compiler import compile_model
from orgflow.evaluation.replay import replay_model
from seeds import at_least, seeds
from sub_process_models import MODELS, REFUSED, nested

from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.targets import Emitted


@pytest.fixture
def runner(engine: LocalEngine) -> Iterator[LocalRunner]:
    return LocalRunner(engine)


def compiled(model: Model, registry: Registry) -> tuple[Emitted | None, list[str]]:
    ctx = PassContext(registry=registry)
    made = compile_model(model, registry.backends["n8n"], ctx)
    return made, [f"{d.code} {d.message}" for d in ctx.diagnostics if d.severity == "error"]


def faults(model: Model, made: Emitted, runner: LocalRunner, registry: Registry) -> list[str]:
    """What the engine did otherwise, and what is not proved."""
    report = replay_model(model, made, runner, PassContext(), max_runs=40)
    wrong = [f"{r.verdict}: {r.divergence} ({r.run.choices})" for r in report.runs if not ok(r)]
    assert report.runs, report.unfinished
    for process in model.processes:
        workflow = json.loads(made.artifacts[0].text)
        found = verify_process(model, process, workflow, PassContext(registry=registry))
        if found.verdict.value != "proved":
            wrong.append(f"{found.verdict}: {found.difference or found.bound}")
    return wrong


def ok(run: object) -> bool:
    return getattr(run, "verdict", "") == "equal"


@pytest.mark.parametrize("name", MODELS)
def test_the_engine_runs_it_as_the_token_game_does(
    runner: LocalRunner, registry: Registry, name: str
) -> None:
    made, errors = compiled(MODELS[name], registry)
    assert made is not None, errors
    assert len(made.artifacts) == 1
    assert faults(MODELS[name], made, runner, registry) == []


@pytest.mark.parametrize("name", REFUSED)
def test_what_depends_on_its_border_is_refused(registry: Registry, name: str) -> None:
    model, reason = REFUSED[name]
    made, errors = compiled(model, registry)
    assert made is None
    assert any(e.startswith("OF403") and reason in e for e in errors), errors


def test_random_ones(runner: LocalRunner, registry: Registry) -> None:
    played = 0
    for seed in seeds(150):
        model = nested(seed)
        made, errors = compiled(model, registry)
        if made is None:
            # a step in a parallel branch that may fail
            assert all("may be under way" in e or "border" in e for e in errors), (seed, errors)
            continue
        assert faults(model, made, runner, registry) == [], seed
        played += 1
    assert played >= at_least(100)
