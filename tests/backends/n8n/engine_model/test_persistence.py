"""What a server does to an execution that it stores, and what called workflows return.

Recorded on a server first (`recorded/runs.jsonl`); here the local engine and the model agree on it.
"""

from __future__ import annotations

from typing import Any

import pytest
from engine_fixture import CALLED, START, call, flow, if_node, node, noop, wait_hook
from model_replay import record_of, replay
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.engine_model import ANSWERED, RUNS, Config, EngineModel, Opens, Outcome

Json = dict[str, Any]


def two(name: str) -> Json:
    return node(name, "code", 2, {"jsCode": "return [{ json: { i: 0 } }, { json: { i: 1 } }];"})


def hook(name: str) -> Json:
    """A webhook wait; the engine tells waits apart by their suffix."""
    row = {**wait_hook(), "name": name}
    return {**row, "parameters": {**row["parameters"], "options": {"webhookSuffix": name}}}


def old(version: float, **parameters: str) -> Json:
    """The trigger of a called workflow in an older version."""
    return {**CALLED, "typeVersion": version, "parameters": CALLED["parameters"] | parameters}


LOOP = ("S>A", "A>G", "G>A", "G.1>B", "A>B")
CALLABLE = {
    "loops": flow([CALLED, noop("A"), if_node("G", "$runIndex < 2"), two("B")], *LOOP),
    "loops-1.1": flow([old(1.1), noop("A"), if_node("G", "$runIndex < 2"), two("B")], *LOOP),
    "loops-1.1-all": flow(
        [old(1.1, returnOutput="allRuns"), noop("A"), if_node("G", "$runIndex < 2"), two("B")],
        *LOOP,
    ),
    "asks": flow([CALLED, hook("W"), noop("A")], "S>W", "W>A"),
    "asks-in-a-loop": flow(
        [CALLED, hook("W"), if_node("G", "$runIndex < 1"), two("B")], "S>W", "W>B", "W>G", "G>W"
    ),
    "asks-two-ways": flow([CALLED, hook("W"), if_node("A", "$json.i > 0")], "S>W", "W>A"),
}
ENDS = [noop("E"), noop("F")]
CASES: dict[str, tuple[Json, list[tuple[str, tuple[int, ...]]]]] = {
    # B runs four times with 2 items each.
    "all runs": (flow([START, call("C", "loops"), *ENDS], "T>C", "C>E"), [("C", (8,))]),
    "old: last run": (flow([START, call("C", "loops-1.1"), *ENDS], "T>C", "C>E"), [("C", (2,))]),
    "old: all runs": (
        flow([START, call("C", "loops-1.1-all"), *ENDS], "T>C", "C>E"),
        [("C", (8,))],
    ),
    "stored: last run": (
        flow([START, call("C", "asks-in-a-loop"), *ENDS], "T>C", "C>E"),
        [("C", (2,)), ("E", (2,))],
    ),
    "stored: first output": (
        flow([START, call("C", "asks-two-ways"), *ENDS], "T>C", "C>E", "C.1>F"),
        [("C", (0,))],
    ),
    "same wait twice": (
        flow([START, two("A"), hook("W"), *ENDS], "T>A", "A>W", "A>W", "W>E"),
        [("W", (1,)), ("E", (1,)), ("W", (2,)), ("E", (2,))],
    ),
    "same wait, older": (
        flow([START, two("A"), hook("V"), hook("W"), *ENDS], "T>A", "A>W", "A>V", "V>W", "W>E"),
        [("V", (1,)), ("W", (1,)), ("E", (1,)), ("W", (1,)), ("E", (1,))],
    ),
    "same call twice": (
        flow([START, two("A"), call("C", "asks"), *ENDS], "T>A", "A>C", "A>C", "C>E"),
        [("C", (1,)), ("E", (1,)), ("C", (2,)), ("E", (2,))],
    ),
    "disabled stop": (
        flow(
            [START, two("A"), node("X", "stopAndError", 1, {"errorMessage": "x"}, disabled=True,
                                   onError="continueErrorOutput"), *ENDS],
            "T>A", "A>X", "X>E", "X.1>F",
        ),
        [("X", (0,))],
    ),
    "code that throws": (
        flow([START, two("A"), node("X", "code", 2, {"jsCode": "throw new Error('x');"},
                                    onError="continueErrorOutput"), *ENDS],
             "T>A", "A>X", "X>E", "X.1>F"),
        [("X", (0, 1)), ("F", (1,))],
    ),
    "code once": (
        flow([START, two("A"), node("X", "code", 2, {"jsCode": "return $input.all();"},
                                    executeOnce=True), *ENDS], "T>A", "A>X", "X>E"),
        [("X", (1,)), ("E", (1,))],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_engine_and_model_do_as_the_server_did(engine: LocalEngine, name: str) -> None:
    workflow, expected = CASES[name]
    run = engine.run(workflow, "T", workflows=CALLABLE)
    watched = {node for node, _ in expected}
    real = [(entry.node, entry.outputs) for entry in run.order if entry.workflow is None]
    assert [entry for entry in real if entry[0] in watched] == expected
    assert replay(EngineModel(workflow, CALLABLE), "T", record_of(run), run.status) is None


def walk(machine: EngineModel, *outcomes: Outcome) -> Config:
    config = machine.initial("T")
    for outcome in outcomes:
        config = machine.step(config, outcome)
    return config


def test_marks_go_when_nothing_can_be_stored_again() -> None:
    """A loop through a wait comes back to the same configuration."""
    workflow = flow([START, noop("A"), hook("W"), if_node("G", "1")], "T>A", "A>W", "W>G", "G>A")
    machine = EngineModel(workflow)
    once = walk(machine, RUNS, RUNS, Opens(), ANSWERED)
    again = machine.step(once, machine.outcomes(once)[0])
    for outcome in (RUNS, Opens(), ANSWERED):
        again = machine.step(again, outcome)
    assert again == once
    assert (once.frames[-1].passing, once.frames[-1].cuts) == ((), ())


def test_a_stored_node_marks_its_kind_and_no_other() -> None:
    rows = [START, hook("V"), hook("W"), noop("E")]
    machine = EngineModel(flow(rows, "T>W", "T>W", "T>V", "T>V", "V>E"))
    parked = walk(machine, RUNS, Opens())
    (frame,) = parked.frames
    names = [machine.flows[0].nodes[index].name for index, _ in frame.stack]
    assert names == ["W", "W", "V", "V"]
    assert (frame.passing, frame.cuts) == ((2,), (3,))
    after = walk(machine, RUNS, Opens(), ANSWERED, RUNS)  # the first V, its E
    place = machine.at(after)
    assert place is not None
    assert (place.node, place.kind) == ("V", "disabled")
    later = walk(machine, RUNS, Opens(), ANSWERED, RUNS, RUNS, RUNS, Opens())
    assert later.frames[-1].passing == (0,)
