"""The model of n8n's engine, held to what a real server did with calls, errors, waits and merges.

`benchmarks/record_runs.py` made the runs and can make them again.
"""

from __future__ import annotations

import collections
import copy
import statistics

import pytest
from model_replay import replay
from orgflow.backends.n8n.engine_model import EngineModel
from recorded_runs import disagreement, parts, recorded, records

LINES = recorded()
# How many runs of a kind there have to be: fewer, and the recordings say little about it.
LEAST = {
    "call waited": 60,
    "call detached": 20,
    "each": 20,
    "nested": 10,
    "call fails": 30,
    "continueErrorOutput": 20,
    "continueRegularOutput": 20,
    "error": 40,
    "timer": 10,
    "wait answered": 20,
    "timeout": 5,
    "parallel waits": 8,
    "partial merge": 40,
    "loop": 15,
    "disabled": 7,
    "executeOnce": 8,
    "alwaysOutputData": 7,
    "random": 25,
}
# What the model does not cover (`EngineModel`): each is recorded so that it is known what n8n does.
OUTSIDE = {
    "call asks each": "the caller goes on with one of two items when the first call is over",
}


def test_does_what_the_server_did() -> None:
    found = {
        line["name"]: different for line in LINES if (different := disagreement(line)) is not None
    }
    assert {name: found[name] for name in found if name not in OUTSIDE} == {}
    assert set(OUTSIDE) <= set(found), "the model covers it now: take it off the list"


def test_what_is_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    kinds = collections.Counter(kind for line in LINES for kind in line["kinds"])
    ends = collections.Counter(line["status"] for line in LINES)
    sizes = [len(line["wf"]["nodes"]) for line in LINES]
    lengths = [len(line["order"]) for line in LINES]
    with capsys.disabled():
        print(f"\n{len(LINES)} runs of a server: {dict(sorted(ends.items()))}")
        print("  " + ", ".join(f"{name} {number}" for name, number in sorted(kinds.items())))
        for name, values in (("nodes", sizes), ("node runs", lengths)):
            shown = f"{min(values)}/{statistics.median(values):.0f}/{max(values)}"
            print(f"  {name} (least/median/most): {shown}")
    assert len({line["name"] for line in LINES}) == len(LINES) >= 240
    assert {name: kinds[name] for name, least in LEAST.items() if kinds[name] < least} == {}
    assert sum(size >= 30 for size in sizes) >= 25
    assert set(ends) == {"success", "error", "waiting"}


def test_a_changed_record_is_noticed() -> None:
    """One wrong count, one node left out, two exchanged, another end: none of them passes."""
    for line in LINES:
        part = next(parts(line))
        machine = EngineModel(line["wf"], line.get("workflows"), detached="apart")
        record = records(part)
        status = "success" if line["status"] == "error" else "error"
        assert replay(machine, part.trigger, record, status, items=part.items), line["name"]
        assert replay(machine, part.trigger, record[:-1], part.status, items=part.items)
        doubled = [*record, record[-1]]
        assert replay(machine, part.trigger, doubled, part.status, items=part.items)
        other = [record[1], record[0], *record[2:]]
        assert replay(machine, part.trigger, other, part.status, items=part.items)


def test_a_call_that_is_missing_is_noticed() -> None:
    line = copy.deepcopy(next(line for line in LINES if len(line.get("detached", ())) > 1))
    assert disagreement(line) is None
    line["detached"][0]["items"] += 1
    assert disagreement(line) is not None
    del line["detached"][0]
    assert disagreement(line) is not None
