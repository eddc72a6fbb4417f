"""Hostile texts on a real server, whose evaluator of expressions is not the one in process.

Every text goes wherever text can be: names, branches, documentation, lanes, pools, messages,
timers, stops. Runs take every branch, and every stop is made to speak.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hostile_texts import CANARY, expressions, pack_model, packs, stops, texts
from orgflow.backends.n8n.engine.runs import RunRequest
from orgflow.backends.n8n.format.document import short_type, to_api
from orgflow.backends.n8n.server.client.backoff import Backoff
from orgflow.backends.n8n.server.client.client import FINISHED
from orgflow.backends.n8n.server.client.workflows import WorkflowClient
from orgflow.backends.n8n.server.deploy.carry_out import DeployRun
from orgflow.backends.n8n.server.deploy.deployment_plan import Wanted
from orgflow.backends.n8n.server.deployment_marker import without_marker
from orgflow.backends.n8n.server.executions.runner import ServerRunner
from orgflow.compiler import compile_model
from orgflow.evaluation.replay import judge_run

from orgflow_ir.flow.token_game.runs import enumerate_runs
from orgflow_ir.flow.token_game.semantics import Game, Policy
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

Json = dict[str, Any]
RUNS = 2


class Watching(WorkflowClient):
    """Keeps every execution that was over when it was looked at."""

    kept: dict[str, Json]

    def execution(self, execution_id: str) -> Json:
        answer = super().execution(execution_id)
        if answer.get("status") in FINISHED:
            self.kept[execution_id] = answer
        return answer


@pytest.fixture
def watching(server_url: str, key: str) -> Iterator[Watching]:
    with Watching(server_url, key, backoff=Backoff(10)) as made:
        made.kept = {}
        yield made


def test_there_are_enough() -> None:
    assert len(texts()) >= 300


@pytest.mark.parametrize("number", range(len(packs())))
def test_hostile_texts_stay_texts(watching: Watching, number: int, registry: Registry) -> None:
    pack = packs()[number]
    model = pack_model(pack, number)
    ctx = PassContext(registry=registry)
    emitted = compile_model(model, registry.backends["n8n"], ctx)
    assert emitted is not None, ctx.diagnostics
    runner = ServerRunner(watching, watching)
    runner.load(emitted, "P", ctx)

    # As it is delivered: it comes back as it was sent, and is published.
    deployer = DeployRun(watching, watching)
    wanted = [Wanted(runner.workflow, "file")]
    (first,) = deployer.deploy(deployer.plan(wanted))
    assert first.error is None
    try:
        (again,) = deployer.deploy(deployer.plan(wanted))
        assert [placed.action for placed in again.placed] == ["unchanged"]
        row = without_marker(watching.workflow(first.placed[0].id))
        assert row["nodes"] == to_api(runner.workflow)["nodes"]
    finally:
        watching.delete(first.placed[0].id)

    # As it runs: two runs that take every branch, then a run into each stop.
    game = Game(model, Policy(once=True))
    runs = enumerate_runs(model, "P", max_runs=RUNS, game=game).runs
    requests = [runner._run_request(run) for run in runs]
    spoken = stops(dict(runner.workflow))
    assert len(spoken) == len(pack)
    into = [_into_stop(requests[0], name) for name in sorted(requests[0].stubs or {})]
    played = runner.play_requests([*requests, *into])
    visible = runner.visible & {node.id for node in model.processes[0].nodes}
    for run, result in zip(runs, played, strict=False):
        judged = judge_run(game, model.processes[0], run, runner._read_result(result), visible)
        assert judged.verdict == "equal", judged.divergence
    said = {run.error_node: run.error for run in played[len(runs) :]}
    assert said == spoken  # word by word: nothing in them was evaluated

    assert len(watching.kept) == len(played)
    stubbed = {*(requests[0].stubs or {}), requests[0].trigger}
    for answer in watching.kept.values():
        # not as a part of a longer number: times have thirteen digits
        assert not re.search(rf"(?<!\d){CANARY}(?!\d)", json.dumps(answer))
        ran = {row["name"]: row for row in answer["workflowData"]["nodes"]}
        for row in runner.workflow["nodes"]:
            if row["name"] not in stubbed and short_type(row) != "wait":
                assert within(row["parameters"], ran[row["name"]]["parameters"]), row["name"]
    allowed = ("$(", "$json", "$execution", "Object.assign", "[", "(", "Array", "!")
    for text in expressions([row["parameters"] for row in runner.workflow["nodes"]]):
        assert text[:4] + text[-3:] == "={{  }}", text
        assert text[4:].startswith(allowed), text
        assert "}}" not in text[4:-3], text


def within(sent: Any, got: Any) -> bool:
    """Whether an execution has what was sent; n8n adds defaults."""
    if isinstance(sent, dict):
        return isinstance(got, dict) and all(within(v, got.get(k)) for k, v in sent.items())
    if isinstance(sent, list):
        return len(sent) == len(got) and all(map(within, sent, got))
    return bool(sent == got)


def _into_stop(request: RunRequest, name: str) -> RunRequest:
    """The run with a value for one decision that no branch has."""
    stubs = {key: dict(stub) for key, stub in (request.stubs or {}).items()}
    visits = stubs[name]["visits"] or [{}]
    stubs[name]["visits"] = [dict.fromkeys(one, "none of them") for one in visits]
    return request._replace(stubs=stubs)
