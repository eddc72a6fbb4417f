"""The model of n8n's engine and the engine itself, driven by one list of stimuli."""

from __future__ import annotations

import pytest
from model_gen import random_model
from n8n_compiled import emitted
from n8n_scopes import around, choosing, parallel
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.plan.target import N8N_TARGET
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.backends.n8n.replay.scripted_run import executed_nodes

from orgflow_ir.flow.token_game.runs import enumerate_runs
from orgflow_ir.flow.token_game.semantics import Game, Policy
from orgflow_ir.flow.token_game.stimulus import Stimulus, StimulusError, stimuli_of
from orgflow_ir.flow.token_game.stub_data import with_data
from orgflow_ir.legalisation.legalise import legalise
from orgflow_ir.pipeline import PassContext


@pytest.mark.parametrize("kinds", [("task", "xor", "loop"), ("task", "xor", "and", "or", "loop")])
def test_the_engine_model_executes_what_the_engine_does(
    kinds: tuple[str, ...], engine: LocalEngine
) -> None:
    """Node by node and in the same order."""
    played = 0
    for seed in range(8):
        model = random_model(900 + seed, 14, kinds)
        ctx = PassContext()
        legal = legalise(model, N8N_TARGET, ctx, allow_lossy=False)
        assert not ctx.has_errors
        process = model.processes[0]
        runner = LocalRunner(engine)
        runner.load(emitted(legal), process.id, ctx)
        game = Game(model, Policy(once=True))
        for run in enumerate_runs(model, process.id, max_runs=4, game=game).runs:
            data = runner.data_of(run)
            stimuli = with_data(stimuli_of(game, run), data)
            result = runner.play_stimuli(stimuli)
            assert result.status == "success"
            executed = executed_nodes(model, runner.compiled, stimuli)
            assert executed == tuple(node.node for node in result.executed)
            played += 1
    assert played >= 16


def test_nodes_of_called_workflows_are_executed_where_they_are_called(engine: LocalEngine) -> None:
    for sub in (choosing(), parallel()):
        model = around(sub)
        runner = LocalRunner(engine)
        runner.load(emitted(model), "p", PassContext())
        assert len(runner.compiled.scopes) > 1
        game = Game(model, Policy(once=True))
        runs = enumerate_runs(model, "p", max_runs=4, game=game).runs
        for run in runs:
            stimuli = with_data(stimuli_of(game, run), runner.data_of(run))
            result = runner.play_stimuli(stimuli)
            assert result.status == "success"
            executed = executed_nodes(model, runner.compiled, stimuli)
            assert executed == tuple(node.node for node in result.executed)
            assert set(executed) & {"Refuse", "Wrap", "Check"}


def test_a_list_of_another_model_is_refused() -> None:
    model = random_model(901, 14, ("task", "xor"))
    made = emitted(model)
    with pytest.raises(StimulusError):
        executed_nodes(model, made.compiled[model.processes[0].id], [Stimulus("x", "start")])
