"""Handlers that became steps run as the token game of the model says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from compensation_models import MODELS, REFUSED, random_undoing
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from played_models import compiled, faults
from seeds import at_least, seeds

from orgflow_ir.plugins import Registry


@pytest.fixture
def runner(engine: LocalEngine) -> Iterator[LocalRunner]:
    return LocalRunner(engine)


@pytest.mark.parametrize("name", MODELS)
def test_the_engine_undoes_what_the_token_game_undoes(
    runner: LocalRunner, registry: Registry, name: str
) -> None:
    made, errors = compiled(MODELS[name], registry)
    assert made is not None, errors
    assert faults(MODELS[name], made, runner, registry) == []


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_run_decides_is_refused(registry: Registry, name: str) -> None:
    model, reason = REFUSED[name]
    made, errors = compiled(model, registry)
    assert made is None
    assert any(e.startswith("OF403") and reason in e for e in errors), errors


def test_random_ones(runner: LocalRunner, registry: Registry) -> None:
    played = 0
    for seed in seeds(300):
        model = random_undoing(seed)
        made, errors = compiled(model, registry)
        if made is None:
            reasons = ("compensated", "in a different way")
            assert all(any(one in e for one in reasons) for e in errors), (seed, errors)
            continue
        assert faults(model, made, runner, registry) == [], seed
        played += 1
    assert played >= at_least(100)
