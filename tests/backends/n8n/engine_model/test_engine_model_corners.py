"""Corners that random workflows seldom reach, on n8n's engine and on the model of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from engine_fixture import CALLED, START, call, flow, if_node, node, noop, wait_hook
from model_replay import record_of, replay
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.engine_model import EngineModel

Json = dict[str, Any]
Runs = list[tuple[str, tuple[int, ...]]]


def many(name: str, items: int) -> Json:
    text = f"return Array.from({{ length: {items} }}, (_, i) => ({{ json: {{ i }} }}));"
    return node(name, "code", 2, {"jsCode": text})


def stop(name: str, **more: Any) -> Json:
    return node(name, "stopAndError", 1, {"errorMessage": "x"}, **more)


def filter_node(name: str, expression: str, **more: Any) -> Json:
    return {**if_node(name, expression), "type": "n8n-nodes-base.filter", **more}


def thrown_whole() -> Json:
    row = stop("X", onError="continueRegularOutput", executeOnce=True)
    return flow([START, many("A", 3), row, noop("E")], "T>A", "A>X", "X>E")


def error_output_of_what_throws() -> Json:
    row = stop("X", onError="continueErrorOutput")
    return flow([START, row, noop("E"), noop("F")], "T>X", "X>E", "X.1>F")


def filter_with_error_output() -> Json:
    row = filter_node("X", "$json.i > 0", onError="continueErrorOutput")
    return flow([START, many("A", 3), row, noop("E"), noop("F")], "T>A", "A>X", "X>E", "X.1>F")


def filter_with_a_second_wire() -> Json:
    row = filter_node("X", "$json.i > 0")
    return flow([START, many("A", 3), row, noop("E"), noop("F")], "T>A", "A>X", "X>E", "X.1>F")


def batches_done_twice() -> Json:
    row = node("B", "splitInBatches", 3, {"batchSize": 2, "options": {}})
    rows = [START, many("A", 3), row, noop("L"), if_node("G", "$runIndex < 2"), noop("E")]
    return flow(rows, "T>A", "A>B", "B.1>L", "L>B", "B>G", "G>B", "G.1>E")


def batches_with_error_output() -> Json:
    wired = batches_done_twice()
    wired["nodes"][2]["onError"] = "continueErrorOutput"
    return wired


def many_waiting_entries() -> Json:
    # The input that has no wire makes every arrival wait; the 13 are fired by text order.
    rows = [many(f"A{index}", index + 1) for index in range(13)]
    merge = node("M", "merge", 3.2, {"mode": "append", "numberInputs": 2})
    wired = flow([START, *rows, merge], *(f"T>{row['name']}" for row in rows))
    for row in rows:
        wires = [{"node": "M", "type": "main", "index": 1}]
        wired["connections"][row["name"]] = {"main": [wires]}
    return wired


def merge_with_an_input_too_few() -> Json:
    parameters = {"mode": "chooseBranch", "useDataOfInput": "3", "numberInputs": 2}
    row = node("M", "merge", 3.2, parameters, onError="continueRegularOutput")
    wired = flow([START, row, noop("E")], "T>M", "M>E")
    wired["connections"]["T"]["main"][0].append({"node": "M", "type": "main", "index": 1})
    return wired


def merge_with_an_input_unwired() -> Json:
    position = {"mode": "combine", "combineBy": "combineByPosition", "numberInputs": 3}
    row = node("M", "merge", 3.2, {**position, "options": {}})
    wired = flow([START, row, noop("E")], "T>M", "M>E")
    wired["connections"]["T"]["main"][0].append({"node": "M", "type": "main", "index": 1})
    return wired


def parked_with_error_output() -> Json:
    row = {**wait_hook(limit=True), "onError": "continueErrorOutput"}
    return flow([START, row, noop("E"), noop("F")], "T>W", "W>E", "W.1>F")


def parked_once() -> Json:
    row = {**wait_hook(limit=True), "executeOnce": True}
    return flow([START, many("A", 3), row, noop("E")], "T>A", "A>W", "W>E")


def two_outputs_returned() -> Json:
    rows = [START, call("X", "two"), noop("E"), noop("F")]
    return flow(rows, "T>X", "X>E", "X.1>F")


def two_outputs_returned_to_an_error_output() -> Json:
    rows = [START, call("X", "two", onError="continueErrorOutput"), noop("E"), noop("F")]
    return flow(rows, "T>X", "X>E", "X.1>F")


CALLABLE = {
    "two": flow([CALLED, many("A", 3), if_node("G", "$json.i > 0")], "S>A", "A>G"),
    "last": flow([CALLED, stop("X", onError="continueRegularOutput")], "S>X"),
}


def called_and_last_failed() -> Json:
    rows = [START, call("X", "last", onError="continueErrorOutput"), noop("E"), noop("F")]
    return flow(rows, "T>X", "X>E", "X.1>F")


@pytest.mark.parametrize(
    ("made", "expected", "status"),
    [
        (thrown_whole, [("X", (3,)), ("E", (3,))], "success"),
        (error_output_of_what_throws, [("X", (1,)), ("E", (1,))], "success"),
        (filter_with_error_output, [("X", (2, 0)), ("E", (2,))], "success"),
        (filter_with_a_second_wire, [("X", (2, 1)), ("F", (1,)), ("E", (2,))], "success"),
        (batches_done_twice, [("G", (3, 0)), ("G", (6, 0)), ("G", (0, 12)), ("E", (12,))], None),
        (batches_with_error_output, [("G", (3, 0)), ("G", (3, 0)), ("G", (0, 3))], None),
        (
            many_waiting_entries,
            [("M", (13 - n,)) for n in sorted(range(13), key=str)],
            "success",
        ),
        (merge_with_an_input_too_few, [("M", (1,)), ("E", (1,))], "success"),
        (merge_with_an_input_unwired, [("M", (0,))], "success"),
        (parked_with_error_output, [("W", (0, 0))], "success"),
        (parked_once, [("W", (3,)), ("E", (3,))], "success"),
        (two_outputs_returned, [("X", (2, 1)), ("F", (1,)), ("E", (2,))], "success"),
        (two_outputs_returned_to_an_error_output, [("X", (2, 0)), ("E", (2,))], "success"),
        (called_and_last_failed, [("X", (0, 1)), ("F", (1,))], "success"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_engine_and_model_agree(
    engine: LocalEngine, made: Callable[[], Json], expected: Runs, status: str | None
) -> None:
    workflow = made()
    answers = {"W": [None]} if any(row["name"] == "W" for row in workflow["nodes"]) else None
    run = engine.run(workflow, "T", workflows=CALLABLE, answers=answers)
    watched = {name for name, _ in expected}
    real = [(entry.node, entry.outputs) for entry in run.order if entry.workflow is None]
    # What the engine does, in plain sight; the replay below compares the whole run.
    assert [entry for entry in real if entry[0] in watched][: len(expected)] == expected
    assert status is None or run.status == status
    machine = EngineModel(workflow, CALLABLE)
    assert replay(machine, "T", record_of(run), run.status) is None
