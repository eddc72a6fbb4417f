"""The model of n8n's engine, held to what a real n8n server did."""

from __future__ import annotations

import json

from model_replay import Recorded, replay
from orgflow.backends.n8n.engine_model import EngineModel
from shared_data import shared_data


def test_predicts_the_recorded_runs_of_a_server() -> None:
    lines = shared_data("n8n-runs.jsonl").read_text(encoding="utf-8").splitlines()
    found = {}
    for line in lines:
        run = json.loads(line)
        last = len(run["order"]) - 1
        record = [
            Recorded(
                None,
                node,
                tuple(outputs),
                failed=run["status"] == "error" and place == last,
                in_process=True,
            )
            for place, (node, outputs) in enumerate(run["order"])
        ]
        different = replay(EngineModel(run["wf"]), run["trigger"], record, run["status"])
        if different is not None:
            found[run["name"]] = different
    assert not found
    assert len(lines) == 135


def test_a_changed_record_is_noticed() -> None:
    run = json.loads(shared_data("n8n-runs.jsonl").read_text(encoding="utf-8").splitlines()[0])
    record = [Recorded(None, node, tuple(outputs)) for node, outputs in run["order"]]
    assert replay(EngineModel(run["wf"]), run["trigger"], record, "success") is None
    assert replay(EngineModel(run["wf"]), run["trigger"], record[:-1], "success") is not None
    swapped = [*record[:2], record[3], record[2], *record[4:]]
    assert replay(EngineModel(run["wf"]), run["trigger"], swapped, "success") is not None
    doubled = [*record[:-1], record[-1]._replace(outputs=(2,))]
    assert replay(EngineModel(run["wf"]), run["trigger"], doubled, "success") is not None
    assert replay(EngineModel(run["wf"]), run["trigger"], record, "error") is not None
