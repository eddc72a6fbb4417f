"""Random models: what n8n's engine does is a run of the token game, and mutations are seen."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

import pytest
from model_gen import implicit, random_model
from n8n_compiled import emitted
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.plan.target import N8N_TARGET
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.evaluation.replay import judge_run, replay_model
from seeds import at_least, seeds

from orgflow_ir.flow.token_game.runs import enumerate_runs
from orgflow_ir.flow.token_game.semantics import Game, Policy
from orgflow_ir.legalisation.legalise import legalise
from orgflow_ir.model import Event, Flow, Gateway, Model, Process, Task
from orgflow_ir.pipeline import PassContext

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def runner(engine: LocalEngine) -> Iterator[LocalRunner]:
    return LocalRunner(engine)


def legal(model: Model) -> Model:
    ctx = PassContext()
    result = legalise(model, N8N_TARGET, ctx, allow_lossy=False)
    assert not ctx.has_errors, [d.message for d in ctx.diagnostics]
    return result


KINDS = [
    ("task", "xor", "and", "loop"),
    ("task", "or", "and", "loop"),
    ("task", "jumble", "and"),
    ("task", "xor", "and", "or", "loop", "jumble"),
]


@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
def test_engine_runs_are_token_game_runs(runner: LocalRunner, kinds: tuple[str, ...]) -> None:
    played = 0
    for seed in seeds(30):
        model = random_model(1000 + seed, 8 + seed, kinds)
        report = replay_model(model, emitted(legal(model)), runner, PassContext(), max_runs=6)
        wrong = [(r.verdict, r.divergence, r.run.choices) for r in report.runs if r.f1 < 1]
        assert report.ok, f"seed {seed}: {wrong or [r.divergence for r in report.runs]}"
        played += len(report.runs)
    assert played >= at_least(60)


def test_implicit_splits_and_joins(runner: LocalRunner) -> None:
    saved = 0
    for seed in seeds(25):
        explicit = random_model(4000 + seed, 12 + seed, ("task", "xor", "and", "loop", "jumble"))
        model = implicit(explicit)
        saved += len(explicit.processes[0].nodes) - len(model.processes[0].nodes)
        report = replay_model(model, emitted(legal(model)), runner, PassContext(), max_runs=5)
        assert report.ok, f"seed {seed}: {[r.divergence for r in report.runs]}"
    assert saved >= at_least(40)


@pytest.mark.parametrize(("kind", "width"), [("parallel", 11), ("parallel", 37), ("inclusive", 14)])
def test_wide_joins_are_nested_merges(runner: LocalRunner, kind: str, width: int) -> None:
    tasks = [Task(id=f"t{i}", name=f"Task {i}") for i in range(width)]
    gateways = [Gateway.validate({"id": i, "gateway_kind": kind}) for i in ("split", "join")]
    nodes = (Event(id="s", position="start"), *tasks, *gateways, Event(id="e", position="end"))
    pairs = [("s", "split"), ("join", "e"), *(("split", t.id) for t in tasks),
             *((t.id, "join") for t in tasks)]  # fmt: skip
    flows = tuple(
        Flow(id=f"f{i}", source=a, target=b, name=b if a == "split" and kind == "inclusive" else "")
        for i, (a, b) in enumerate(pairs)
    )
    model = Model(id="m", processes=(Process(id="P", nodes=nodes, flows=flows),))
    report = replay_model(model, emitted(legal(model)), runner, PassContext(), max_runs=6)
    assert report.ok, [r.divergence for r in report.runs]
    merges = [n for n in runner.workflow["nodes"] if n["type"].endswith(".merge")]
    assert len(merges) > 1
    assert all(n["parameters"]["numberInputs"] <= 10 for n in merges)


def wires(workflow: Any) -> list[tuple[str, int, int]]:
    stops = {n["name"] for n in workflow["nodes"] if n["type"].endswith("stopAndError")}
    return [
        (name, output, index)
        for name, ports in workflow["connections"].items()
        for output, targets in enumerate(ports["main"])
        for index, target in enumerate(targets)
        if target["node"] not in stops
    ]


def swappable(workflow: Any) -> list[str]:
    """Nodes whose first two outputs lead to different places."""
    return [
        name
        for name, ports in workflow["connections"].items()
        if len(ports["main"]) > 1 and ports["main"][0] != ports["main"][1]
    ]


def mutants(workflow: Any, rng: random.Random, count: int) -> Iterator[tuple[str, Any]]:
    for _ in range(count):
        changed = copy.deepcopy(workflow)
        if rng.random() < 0.5 and swappable(changed):
            name = rng.choice(swappable(changed))
            ports = changed["connections"][name]["main"]
            ports[0], ports[1] = ports[1], ports[0]
            yield f"swapped the first two outputs of {name}", changed
        else:
            name, output, index = rng.choice(wires(changed))
            gone = changed["connections"][name]["main"][output].pop(index)
            yield f"dropped the wire from {name} to {gone['node']}", changed


def test_swapped_branches_and_dropped_flows_are_seen(runner: LocalRunner) -> None:
    """Every flow is covered by some run, so every such mutation shows in some run."""
    tried = 0
    for seed in seeds(12):
        model = random_model(2000 + seed, 16, ("task", "xor", "and", "loop"))
        process = model.processes[0]
        game = Game(model, Policy(once=True))
        runs = enumerate_runs(model, process.id, game=game)
        assert runs.flows_covered == runs.flows_total
        runner.load(emitted(legal(model)), process.id, PassContext())
        visible = runner.visible & {n.id for n in process.nodes}
        right = runner.workflow
        for what, mutant in mutants(right, random.Random(seed), 5):
            runner.workflow = mutant
            verdicts = {
                judge_run(game, process, run, result, visible).verdict
                for run, result in zip(runs.runs, runner.play(runs.runs), strict=True)
            }
            assert verdicts & {"different"}, f"seed {seed}: nobody noticed: {what}"
            tried += 1
    assert tried == 5 * len(seeds(12))
