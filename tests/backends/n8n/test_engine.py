"""n8n's engine in process, held to what a real n8n server did and to what it promises."""

from __future__ import annotations

import json
import subprocess
import time
from typing import Any

import pytest
from engine_fixture import (
    CALLED,
    ENDLESS,
    LAST_X,
    LOOP,
    LOOP_STUBS,
    START,
    call,
    flow,
    if_node,
    names,
    node,
    noop,
    output,
    reads,
    wait_hook,
)
from orgflow.backends.n8n.engine.engine_folder import engine_dir
from orgflow.backends.n8n.engine.local import EngineError, LocalEngine, RunRequest
from orgflow.backends.n8n.engine.node import find_node
from shared_data import shared_data

# Its node calls the server the runs were recorded on; here it is stubbed.
CALLS_OUT = {"httpRequest 4.4": {"A": {"visits": [{"status": "ok"}], "mode": "replace"}}}

Json = dict[str, Any]


def test_agrees_with_the_recorded_runs_of_a_server(engine: LocalEngine) -> None:
    recorded = [
        json.loads(line) for line in shared_data("n8n-runs.jsonl").read_text("utf-8").splitlines()
    ]
    empty: Json = {"headers": {}, "params": {}, "query": {}}
    runs = engine.run_many(
        RunRequest(
            workflow=record["wf"],
            trigger=record["trigger"],
            items=[{"json": empty | {"body": record["body"]}}],
            stubs=CALLS_OUT.get(record["name"]),
        )
        for record in recorded
    )
    differing = [
        (record["name"], record["status"], record["order"], run)
        for record, run in zip(recorded, runs, strict=True)
        if record["status"] != run.status
        or record["order"] != [[entry.node, list(entry.outputs)] for entry in run.order]
    ]
    assert len(recorded) == 135
    assert differing == []


def test_stubs_by_visit_in_a_loop_and_an_expression_past_a_replaced_item(
    engine: LocalEngine,
) -> None:
    run = engine.run(LOOP, "T", stubs=LOOP_STUBS, items=[{"json": {"k": 1}}], data=True)
    assert run.status == "success", run.error
    assert names(run) == ["T", "First", "S", "H", "G", "S", "H", "G", "S", "H", "G", "E"]
    items = [entry.items[0][0] for entry in run.order if entry.node in "SH" and entry.items]
    assert items == [{"k": 1, "x": 1}, {"r": 1}, {"r": 1, "x": 2}, {"r": 2}, {"r": 2, "x": 3}, {}]


def test_a_guarded_read_of_a_node_that_did_not_run_is_false(engine: LocalEngine) -> None:
    run = engine.run(LOOP, "T", stubs=LOOP_STUBS, items=[{"json": {"skip": True}}])
    assert names(run)[:4] == ["T", "First", "H", "G"]
    assert run.order[3].outputs == (0, 1)


def test_which_run_and_branch_last_reads(engine: LocalEngine) -> None:
    """The latest run; the output through which the reader is reached, found backwards."""
    reader = reads(
        "E",
        last="$('S').last().json.x",
        branch="$('S').last(0).json.x",
        oldest="$('S').last(0, 0).json.x",
        newest="$('S').last(0, -1).json.x",
        other="$('G').last(1, 0).json.x",
        reached="$('G').last().json.x",
    )
    nodes = [START, noop("S"), if_node("G", f"({LAST_X}) > 2"), reader]
    loop = flow(nodes, "T>S", "S>G", "G>E", "G.1>S")
    run = engine.run(loop, "T", stubs={"S": LOOP_STUBS["S"]})
    assert output(run) == {
        "last": "3",
        "branch": "3",
        "oldest": "1",
        "newest": "3",
        "other": "1",
        "reached": "3",
    }


def test_last_of_a_node_with_branches_that_join_again_reads_the_first_wired_branch(
    engine: LocalEngine,
) -> None:
    reader = reads("E", default="$('G').last()?.json ?? null", one="$('G').last(1)?.json ?? null")
    nodes = [START, if_node("G", "$json.x > 2"), noop("J"), reader]
    joined = flow(nodes, "T>G", "G>J", "G.1>J", "J>E")
    run = engine.run(joined, "T", items=[{"json": {"x": 1}}])
    assert output(run) == {"default": "null", "one": '{"x":1}'}


def test_stubs_in_a_sub_workflow_count_over_all_calls(engine: LocalEngine) -> None:
    sub = flow([CALLED, noop("P")], "S>P")
    main = flow([START, call("C", "sub"), if_node("G", "$json.p > 1"), noop("E")],
                "T>C", "C>G", "G>E", "G.1>C")  # fmt: skip
    stubs = {"sub/P": {"visits": [{"p": 1}, {"p": 2}]}}
    run = engine.run(main, "T", workflows={"sub": sub}, stubs=stubs)
    assert run.status == "success", run.error
    assert names(run) == ["T", "C", "sub/S", "sub/P", "G", "C", "sub/S", "sub/P", "G", "E"]
    assert [entry.caller for entry in run.order] == [None, None, 1, 1, None, None, 5, 5, None, None]
    assert {entry.run for entry in run.order if entry.workflow} == {0}


def test_a_call_that_is_not_waited_for_runs_when_the_caller_ends(engine: LocalEngine) -> None:
    main = flow([START, call("C", "sub", wait=False), noop("E")], "T>C", "C>E")
    run = engine.run(main, "T", workflows={"sub": flow([CALLED])})
    assert names(run) == ["T", "C", "E", "sub/S"]
    assert [(child.workflow, child.status) for child in run.detached] == [("sub", "success")]
    parked = flow([START, call("C", "sub", wait=False), wait_hook()], "T>C", "C>W")
    run = engine.run(parked, "T", workflows={"sub": flow([CALLED, wait_hook()], "S>W")})
    assert [(event.workflow, event.opened_at) for event in run.waits] == [(None, 2), ("sub", 4)]


def test_a_stub_stands_for_a_node_type_this_engine_does_not_have(engine: LocalEngine) -> None:
    odd = {**noop("X"), "type": "@n8n/n8n-nodes-langchain.agent", "parameters": {"a": 1}}
    main = flow([START, odd, reads("E", p="$('X').params.a", y="$json.y")], "T>X", "X>E")
    run = engine.run(main, "T", stubs={"X": {"visits": [{"y": 2}]}})
    assert (run.status, output(run)) == ("success", {"p": "1", "y": "2"})


def test_a_stub_that_replaces_gives_as_many_items_as_its_node_would(engine: LocalEngine) -> None:
    items = [{"json": {"k": number}} for number in range(3)]
    stubs = {"A": {"visits": [{"s": 1}], "mode": "replace"}}
    for kind, version, count in (("httpRequest", 4.5, 3), ("wait", 1.1, 1)):
        main = flow([START, node("A", kind, version)], "T>A")
        run = engine.run(main, "T", items=items, stubs=stubs)
        assert run.output == (({"s": 1},) * count,)


def test_a_node_that_nothing_reached_by_its_first_input_is_marked(engine: LocalEngine) -> None:
    always = {**noop("A"), "alwaysOutputData": True}
    main = flow([START, always, noop("E")], "T>A", "A>E")
    main["connections"]["T"]["main"][0][0]["index"] = 2
    run = engine.run(main, "T", stubs={"A": {"visits": [{"s": 1}]}}, data=True)
    assert names(run) == ["T", "A", "E"]
    assert [entry.unfed for entry in run.order] == [False, True, False]
    assert run.output == (({},),)


def test_a_failing_stub_and_a_failing_sub_workflow_leave_by_the_error_output(
    engine: LocalEngine,
) -> None:
    stop = node("X", "stopAndError", 1, {"errorType": "errorMessage", "errorMessage": "boom"})
    caught = call("C", "sub", onError="continueErrorOutput")
    task = {**noop("S"), "onError": "continueErrorOutput"}
    main = flow([START, task, caught, noop("E"), noop("never")], "T>S", "S>never", "S.1>C", "C.1>E")
    stubs = {"S": {"errors": ["late"]}}
    items = [{"json": {"k": 1}}]
    run = engine.run(main, "T", items=items, workflows={"sub": flow([CALLED, stop], "S>X")},
                     stubs=stubs, data=True)  # fmt: skip
    assert run.status == "success", run.error
    assert names(run) == ["T", "S", "C", "sub/S", "sub/X", "E"]
    assert run.order[1].items == ((), ({"error": "late", "k": 1},))
    assert output(run)["error"] == "boom"


@pytest.mark.parametrize("seconds", [50, 7200])
def test_a_wait_by_time_costs_no_time(engine: LocalEngine, seconds: int) -> None:
    """Three waits, which together take longer than the test may."""
    parameters = {"resume": "timeInterval", "amount": seconds, "unit": "seconds"}
    waits = [node(f"W{n}", "wait", 1.1, parameters) for n in range(3)]
    timed = flow([START, *waits, noop("E")], "T>W0", "W0>W1", "W1>W2", "W2>E")
    begun = time.monotonic()
    run = engine.run(timed, "T", items=[{"json": {"k": 1}}])
    assert time.monotonic() - begun < 120
    assert (names(run), output(run)) == (["T", "W0", "W1", "W2", "E"], {"k": 1})
    assert [(event.node, event.kind, event.opened_at, event.resumed) for event in run.waits] == [
        (f"W{n}", "time", n + 1, "timer") for n in range(3)
    ]
    assert {event.in_process for event in run.waits} == {seconds < 65}
    assert all(event.wait_till is not None for event in run.waits)


def test_a_retry_costs_no_time(engine: LocalEngine) -> None:
    """Fifteen tasks with two pauses of five seconds each: longer than the test may take."""
    tasks = [
        {**noop(f"S{n}"), "retryOnFail": True, "maxTries": 3, "waitBetweenTries": 5000}
        for n in range(15)
    ]
    wires = ["T>S0", *(f"S{n}>S{n + 1}" for n in range(14))]
    stubs = {f"S{n}": {"errors": ["a", "b", None]} for n in range(15)}
    begun = time.monotonic()
    run = engine.run(flow([START, *tasks], *wires), "T", stubs=stubs)
    assert run.status == "success"
    assert time.monotonic() - begun < 120


def test_webhook_answers_come_as_n8n_delivers_them_in_a_loop(engine: LocalEngine) -> None:
    loop = flow([START, wait_hook(), if_node("G", "$json.body.go"), noop("E")],
                "T>W", "W>G", "G>E", "G.1>W")  # fmt: skip
    run = engine.run(loop, "T", answers={"W": [{}, {"go": False}, {"go": True}]})
    assert names(run) == ["T", "W", "G", "W", "G", "W", "G", "E"]
    assert [event.opened_at for event in run.waits] == [1, 3, 5]
    assert {"headers", "params", "query", "body"} <= set(output(run))
    assert output(run)["body"] == {"go": True}


def test_a_form_answer_names_fields(engine: LocalEngine) -> None:
    fields = {"values": [{"fieldLabel": "ok"}, {"fieldLabel": "n", "fieldType": "number"}]}
    parameters = {"resume": "form", "formTitle": "t", "formFields": fields, "options": {}}
    form = flow([START, node("W", "wait", 1.1, parameters)], "T>W")
    run = engine.run(form, "T", answers={"W": [{"ok": "yes", "n": "4"}]})
    assert output(run) | {"ok": "yes", "n": 4} == output(run)
    assert run.waits[0].kind == "form"
    with pytest.raises(EngineError, match='"nope", which is no field of its form'):
        engine.run(form, "T", answers={"W": [{"nope": 1}]})


def test_a_limited_wait_times_out_with_its_input(engine: LocalEngine) -> None:
    limited = flow([START, wait_hook(limit=True), noop("E")], "T>W", "W>E")
    run = engine.run(limited, "T", items=[{"json": {"k": 1}}], answers={"W": [None]})
    assert (run.status, output(run), run.waits[0].resumed) == ("success", {"k": 1}, "timeout")
    answered = engine.run(limited, "T", items=[{"json": {"k": 1}}])
    assert (answered.waits[0].resumed, output(answered)["body"]) == ("answer", {})


def test_a_wait_nobody_answers_leaves_the_run_waiting(engine: LocalEngine) -> None:
    parked = flow([START, wait_hook(), noop("E")], "T>W", "W>E")
    run = engine.run(parked, "T", answers={"W": [None]})
    assert (run.status, names(run), run.waits[0].resumed) == ("waiting", ["T", "W"], None)


def test_stop_and_error_ends_with_its_message(engine: LocalEngine) -> None:
    # n8n itself would call a message with "canceled" in it a cancelled run.
    parameters = {"errorType": "errorMessage", "errorMessage": "order canceled"}
    run = engine.run(flow([START, node("X", "stopAndError", 1, parameters)], "T>X"), "T")
    assert (run.status, run.error, run.error_node) == ("error", "order canceled", "X")


def test_limits_of_nodes_time_and_depth(engine: LocalEngine) -> None:
    run = engine.run(ENDLESS, "T", limits={"nodes": 500})
    assert (run.status, len(run.order)) == ("limit", 500)
    run = engine.run(ENDLESS, "T", limits={"ms": 200, "nodes": 10**9})
    assert (run.status, run.error) == ("limit", "ran longer than 200 ms")
    run = engine.run(flow([START, call("C", "s")], "T>C"), "T",
                     workflows={"s": flow([CALLED, call("C", "s")], "S>C")})  # fmt: skip
    assert run.status == "limit"
    for code in ("while (true) {}", "await new Promise(() => {})"):
        stuck = flow([START, node("A", "code", 2, {"jsCode": code})], "T>A")
        assert engine.run(stuck, "T", limits={"ms": 200}).status == "limit"


@pytest.mark.parametrize(
    ("workflow", "more", "said"),
    [
        ({"nodes": 1}, {}, "no list of nodes"),
        (flow([noop("A")]), {}, 'no node "T" to start at'),
        (flow([START, START]), {}, 'two nodes named "T"'),
        (flow([START, node("A", "nope", 1)]), {}, 'unknown node type "n8n-nodes-base.nope"'),
        (flow([START, node("A", "if", 9)]), {}, "n8n-nodes-base.if has no version 9, only 1, 2,"),
        (flow([START], "T>A"), {}, 'connects "A", which is no node of it'),
        (flow([START]), {"stubs": {"A": {}}}, 'stub for "A", which is no node here'),
        (flow([START]), {"stubs": {"T": {"mode": "x"}}}, 'has mode "x"'),
        (flow([START, call("C", "s")], "T>C"), {}, 'sub-workflow "s" is called but was not given'),
    ],
)
def test_garbage_is_refused_in_words(
    engine: LocalEngine, workflow: Json, more: Json, said: str
) -> None:
    with pytest.raises(EngineError, match=said):
        engine.run(workflow, "T", **more)
    assert engine.run(flow([START]), "T").status == "success"


# -- what a server does not keep ------------------------------------------------------------------

KEEPS = reads("K", here="$json", first="$('A').first().json")


def code(name: str, text: str) -> Json:
    return node(name, "code", 2, {"jsCode": text})


@pytest.mark.parametrize(
    "writes",
    [
        "$('A').first().json.x = 2",
        "$json.x = 2",
        "$json.inner.y = 2",
        "delete $json.x",
        "Object.assign($json, { x: 2 })",
    ],
)
def test_what_an_expression_writes_into_an_item_is_gone(engine: LocalEngine, writes: str) -> None:
    """On a server expressions work on a copy."""
    given: Json = {"x": 1, "inner": {"y": 1}}
    noise = {**reads("W", done=f"(() => {{ try {{ {writes} }} catch {{}} return 1 }})()")}
    nodes = [START, noop("A"), noise, reads("K", first="$('A').first().json")]
    run = engine.run(flow(nodes, "T>A", "A>W", "W>K"), "T", items=[{"json": given}])
    assert run.status == "success", run.error
    assert json.loads(output(run)["first"]) == given


def test_what_code_writes_into_an_item_is_its_own(engine: LocalEngine) -> None:
    """It may change what it is given, and hand that on; nodes before it have what they had."""
    given: Json = {"x": 1, "inner": {"y": 1}}
    text = """
    for (const item of $input.all()) { item.json.x = 2; item.json.inner.y = 3; }
    $('A').first().json.x = 7;
    if ($('A').first().json.x !== 7) throw new Error('not its own copy');
    return $input.all();
    """
    nodes = [START, noop("A"), code("W", text), KEEPS]
    run = engine.run(flow(nodes, "T>A", "A>W", "W>K"), "T", items=[{"json": given}])
    assert run.status == "success", run.error
    assert json.loads(output(run)["here"]) == {"x": 2, "inner": {"y": 3}}
    assert json.loads(output(run)["first"]) == given


def test_custom_data_in_an_expression_is_refused(engine: LocalEngine) -> None:
    asks = reads("R", value="$execution.customData.get('approved')")
    with pytest.raises(EngineError, match="undefined in expressions on a server"):
        engine.run(flow([START, asks], "T>R"), "T")
    told = code("R", "$execution.customData.set('approved', 'yes'); return [];")
    assert engine.run(flow([START, told], "T>R"), "T").status == "success"


# -- one stop for several decisions (docs/n8n.md) --------------------------------------------------


@pytest.mark.parametrize(("first", "named"), [("true", "B?"), ("false", "A?")])
def test_a_stop_behind_several_decisions_can_name_the_one_that_led_to_it(
    first: str, named: str, engine: LocalEngine
) -> None:
    message = "=No branch of “{{ $prevNode.name }}” matches."
    stop = node("Stop", "stopAndError", 1, {"errorType": "errorMessage", "errorMessage": message})
    nodes = [START, if_node("A?", first), if_node("B?", "false"), stop]
    workflow = flow(nodes, "T>A?", "A?>B?", "A?.1>Stop", "B?.1>Stop")
    assert engine.run(workflow, "T").error == f"No branch of “{named}” matches."


_RENAMED = """
const { Workflow } = require(process.argv[1] + "/node_modules/n8n-workflow");
const rename = Workflow.prototype;
for (const text of JSON.parse(process.argv[2]))
  console.log(rename.renameNodeInParameterValue(text, "Old", "New"));
"""


def test_a_new_name_reaches_references_but_no_text_beside_the_name_of_the_node_before() -> None:
    texts = ["={{ $('Old').first().json.x }}", "={{ $prevNode.name === 'Old' ? 1 : 2 }}"]
    done = subprocess.run(
        [find_node().path, "-e", _RENAMED, str(engine_dir()), json.dumps(texts)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [texts[0].replace("Old", "New"), texts[1]]
