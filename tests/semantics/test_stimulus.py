"""Lists of stimuli: a run gives a list, the list the run; n8n's engine takes the same path."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from game_models import model, read_bpmn
from game_random import random_process
from model_gen import KINDS, random_model
from n8n_compiled import emitted
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.plan.target import N8N_TARGET
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.evaluation.replay import judge_run

from orgflow_ir.flow.token_game.runs import Run, enumerate_runs
from orgflow_ir.flow.token_game.semantics import Game, Policy
from orgflow_ir.flow.token_game.stimulus import (
    Payload,
    Stimulus,
    StimulusError,
    replay_stimuli,
    stimuli_from_json,
    stimuli_of,
    stimuli_to_json,
)
from orgflow_ir.flow.token_game.stub_data import with_data
from orgflow_ir.legalisation.legalise import legalise
from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext

CHOICE = "start s; user a; xor x; task b; task c; end e"
BEGUN = (Stimulus("s", "start"), Stimulus("a", "done"))
SCHEMA = Path(__file__).resolve().parents[2] / "orgflow_ir" / "schema" / "stimuli.schema.json"


def runs_of(made: Model, game: Game) -> Iterator[Run]:
    for process in made.processes:
        if process.nodes:
            found = enumerate_runs(made, process.id, max_runs=6, game=game)
            yield from (*found.runs, *found.stuck)


def same_again(made: Model) -> int:
    """Every run of a model comes back from its list; how many there were."""
    game = Game(made, Policy(once=True))
    count = 0
    for run in runs_of(made, game):
        stimuli = stimuli_of(game, run)
        # a run that was cut off goes on by itself
        most = {"most": len(run.steps)} if run.outcome == "running" else {}
        assert replay_stimuli(made, stimuli, game=game, **most) == run
        assert stimuli_from_json(stimuli_to_json(stimuli)) == stimuli
        count += 1
    return count


@pytest.mark.parametrize("seed", range(20))
def test_a_run_comes_back_from_its_stimuli(seed: int) -> None:
    assert same_again(random_model(seed, 14, KINDS)) > 0


def test_runs_of_any_graph_come_back() -> None:
    """Deadlocks, livelocks and several tokens in one place included."""
    tried = [Model(id="m", processes=(random_process(seed),)) for seed in range(40)]
    assert sum(same_again(made) for made in tried) > 80


def test_runs_of_pmo_come_back(shared: Path) -> None:
    paths = sorted((shared / "data" / "pmo" / "bpmn").glob("*.bpmn"))
    assert sum(same_again(read_bpmn(path)) for path in paths) > 200


def test_a_list_written_by_hand_waits_until_its_elements_are_ready() -> None:
    made = model(CHOICE, "s a, a x, x b, x c, b e, c e")
    run = replay_stimuli(
        made,
        [*BEGUN, Stimulus("x", "decide", Payload(("x-c",)))],
    )
    assert run.outcome == "completed"
    assert [s.element for s in run.steps] == ["s", "a", "a", "x", "c", "e"]


def test_a_list_that_is_over_leaves_the_process_where_it_waits() -> None:
    made = model("start s; user a; end e", "s a, a e")
    run = replay_stimuli(made, [Stimulus("s", "start")])
    assert run.outcome == "running"
    assert [(left.kind, left.element) for left in run.left] == [("open", "a")]


@pytest.mark.parametrize(
    ("stimuli", "message"),
    [
        ([], "begins with a `start`"),
        ([Stimulus("a", "done")], "begins with a `start`"),
        ([Stimulus("a", "start")], "no process starts at `a`"),
        ([Stimulus("s", "start"), Stimulus("e", "done")], "`e` is not ready for `done`"),
        ([*BEGUN, Stimulus("x", "decide")], "2 outgoing choices"),
        (
            [*BEGUN, Stimulus("x", "decide", Payload(("nowhere",)))],
            "`x` is not ready for `decide`",
        ),
    ],
)  # fmt: skip
def test_a_list_that_does_not_fit(stimuli: list[Stimulus], message: str) -> None:
    made = model(CHOICE, "s a, a x, x b, x c, b e, c e")
    with pytest.raises(StimulusError, match=message):
        replay_stimuli(made, stimuli)


def test_the_json_fits_its_schema() -> None:
    import jsonschema

    made = model(CHOICE, "s a, a x, x b, x c, b e, c e")
    game = Game(made, Policy(once=True))
    for run in runs_of(made, game):
        text = stimuli_to_json(stimuli_of(game, run))
        jsonschema.validate(json.loads(text), json.loads(SCHEMA.read_text("utf-8")))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "fly"}, "stimulus 1: `kind` is none of"),
        ({"element": ""}, "stimulus 1: `element` is not an id"),
        ({"at": -1}, "stimulus 1: `at` is not a non-negative number"),
        ({"at": True}, "stimulus 1: `at` is not a non-negative number"),
        ({"payload": []}, "stimulus 1: `payload` is not an object"),
        ({"payload": {"taken": [1]}}, "stimulus 1: `taken` is not a list"),
        ({"payload": {"values": 1}}, "stimulus 1: `values` is not an object"),
    ],
)
def test_json_that_is_no_list(change: dict[str, object], message: str) -> None:
    good = json.loads(stimuli_to_json([Stimulus("s", "start")]))
    good["stimuli"][0] |= change
    with pytest.raises(StimulusError, match=message):
        stimuli_from_json(json.dumps(good))


@pytest.mark.parametrize("text", ["{", "[]", '{"format": "x"}', '{"format": "orgflow-stimuli"}'])
def test_json_of_something_else(text: str) -> None:
    with pytest.raises(StimulusError):
        stimuli_from_json(text)


def test_the_engine_of_n8n_takes_the_path_of_the_list(engine: LocalEngine) -> None:
    """One list drives both: the token game plays it to the run, n8n's engine executes that run."""
    played = 0
    for seed in range(8):
        made = random_model(700 + seed, 12, ("task", "xor", "and", "or", "loop"))
        ctx = PassContext()
        legal = legalise(made, N8N_TARGET, ctx, allow_lossy=False)
        assert not ctx.has_errors
        process = made.processes[0]
        runner = LocalRunner(engine)
        runner.load(emitted(legal), process.id, ctx)
        visible = runner.visible & {n.id for n in process.nodes}
        game = Game(made, Policy(once=True))
        for run in enumerate_runs(made, process.id, max_runs=3, game=game).runs:
            data = runner.data_of(run)
            stimuli = stimuli_from_json(stimuli_to_json(with_data(stimuli_of(game, run), data)))
            expected = replay_stimuli(made, stimuli, game=game)
            assert expected == run
            result = runner.play_stimuli(stimuli)
            report = judge_run(game, process, expected, result, visible)
            assert report.verdict == "equal", report.divergence
            played += 1
    assert played >= 16
