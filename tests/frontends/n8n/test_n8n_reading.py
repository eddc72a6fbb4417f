"""What each kind of node and wire becomes."""

from __future__ import annotations

from typing import Any

import pytest
from n8n_workflows import START, arrows, constructs, node, process, read, wires, workflow

from orgflow_ir.flow.token_game.semantics import Game
from orgflow_ir.model import CallActivity, DataObject, Event, Gateway, Model, Process, Task
from orgflow_ir.model.bindings import Worker


def one(type_: str, version: float = 1, **p: Any) -> Any:
    """The element of the only step behind a trigger."""
    found = process([START, node("X", type_, version, p=p)], "Start > X")
    return next(n for n in found.nodes if n.id == "x")


def start_of(type_: str, **p: Any) -> Event:
    found = process([node("X", type_, p=p)]).nodes[0]
    assert isinstance(found, Event)
    return found


@pytest.mark.parametrize(
    ("type_", "construct"),
    [
        ("manualTrigger", "event.start.none"),
        ("executeWorkflowTrigger", "event.start.none"),
        ("webhook", "event.start.message"),
        ("formTrigger", "event.start.message"),
        ("gmailTrigger", "event.start.message"),
        ("emailReadImap", "event.start.message"),
        ("@n8n/n8n-nodes-langchain.chatTrigger", "event.start.message"),
        ("scheduleTrigger", "event.start.timer"),
        ("cron", "event.start.timer"),
        ("errorTrigger", "event.start.error"),
        ("n8nTrigger", "event.start.timer"),
    ],
)
def test_triggers(type_: str, construct: str) -> None:
    assert start_of(type_).construct == construct


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        ({"field": "seconds", "secondsInterval": 2}, "R/PT2S"),
        ({"field": "minutes"}, "R/PT5M"),
        ({"field": "hours", "hoursInterval": 4}, "R/PT4H"),
        ({"field": "hours", "triggerAtMinute": 5}, "5 * * * *"),
        ({"triggerAtHour": 9}, "0 9 * * *"),
        ({"field": "weeks", "triggerAtDay": [1, 3], "triggerAtHour": 8}, "0 8 * * 1,3"),
        ({"field": "cronExpression", "expression": "30 7 * * *"}, "30 7 * * *"),
        ({"field": "days", "daysInterval": 3, "triggerAtHour": 1},
         '{"field":"days","daysInterval":3,"triggerAtHour":1}'),
    ],
)  # fmt: skip
def test_schedules(interval: dict[str, Any], text: str) -> None:
    (timer,) = start_of("scheduleTrigger", rule={"interval": [interval]}).definitions
    assert (timer.timer, timer.expression and timer.expression.text) == ("cycle", text)


def test_a_schedule_with_two_rules_has_two_timers() -> None:
    rules = [{"triggerAtHour": 9}, {"triggerAtHour": 17}]
    assert start_of("scheduleTrigger", rule={"interval": rules}).trigger == "multiple"


@pytest.mark.parametrize(
    ("type_", "p", "construct"),
    [
        ("noOp", {}, "task.abstract"),
        ("set", {}, "task.service"),
        ("httpRequest", {}, "task.service"),
        ("code", {"jsCode": "return 1"}, "task.script"),
        ("function", {"functionCode": "return 1"}, "task.script"),
        ("form", {}, "task.user"),
        ("emailSend", {}, "task.send"),
        ("emailSend", {"operation": "sendAndWait"}, "task.user"),
        ("slack", {"operation": "getAll"}, "task.service"),
        ("telegram", {"operation": "sendPhoto"}, "task.send"),
        ("respondToWebhook", {}, "task.send"),
        ("executeWorkflow", {"workflowId": "7"}, "call-activity"),
        ("executeWorkflow", {"workflowId": "7", "options": {"waitForSubWorkflow": False}},
         "task.send"),
        ("stopAndError", {"errorMessage": "no"}, "event.end.error"),
        ("wait", {"resume": "webhook"}, "event.catch.message"),
        ("wait", {"resume": "webhook", "limitWaitTime": True}, "event.catch.multiple"),
        ("wait", {"resume": "form"}, "task.user"),
        ("wait", {}, "event.catch.timer"),
        ("@n8n/n8n-nodes-langchain.agent", {}, "task.service"),
    ],
)  # fmt: skip
def test_steps(type_: str, p: dict[str, Any], construct: str) -> None:
    assert one(type_, 1.1, **p).construct == construct


@pytest.mark.parametrize(
    ("p", "timer", "text", "language"),
    [
        ({"amount": 3, "unit": "days"}, "duration", "P3D", None),
        ({"amount": 1.5, "unit": "minutes"}, "duration", "PT1.5M", None),
        ({}, "duration", "PT5S", None),
        ({"amount": "={{ $json.n }}", "unit": "hours"}, "duration", "$json.n hours", "n8n"),
        ({"resume": "specificTime", "dateTime": "2027-01-01"}, "date", "2027-01-01", None),
        ({"resume": "specificTime", "dateTime": "={{ $json.t }}"}, "date", "$json.t", "n8n"),
    ],
)
def test_waits(p: dict[str, Any], timer: str, text: str, language: str | None) -> None:
    (found,) = one("wait", 1.1, **p).definitions
    assert found.timer == timer
    assert (found.expression.text, found.expression.language) == (text, language)


def test_a_task_keeps_its_node() -> None:
    task = one("httpRequest", 4.2, url="={{ $json.u }}", options={"a": [1]})
    assert isinstance(task, Task)
    assert isinstance(task.binding, Worker)
    assert task.binding.target == "n8n-nodes-base.httpRequest@4.2"
    assert dict(task.binding.parameters) == {"url": '"={{ $json.u }}"', "options": '{"a":[1]}'}
    assert ("{urn:orgflow:n8n}position", "[0,0]") in task.extra


def test_stop_and_error_ends_the_run_with_its_message() -> None:
    model, _ = read(
        workflow([START, node("X", "stopAndError", p={"errorMessage": "no"})], "Start > X")
    )
    assert model is not None
    (error,) = model.catalog.errors
    assert error.name == "no"
    assert model.processes[0].nodes[1].definitions[0].ref == error.id  # type: ignore[union-attr]


# -- choices -----------------------------------------------------------------------------------

IS_BIG = {"conditions": {"combinator": "or", "conditions": [
    {"leftValue": "={{ $json.n }}", "rightValue": 10,
     "operator": {"type": "number", "operation": "gt"}},
    {"leftValue": "={{ $json.s }}", "rightValue": "yes",
     "operator": {"type": "string", "operation": "equals"}},
    {"leftValue": "={{ $json.t }}", "rightValue": "",
     "operator": {"type": "string", "operation": "notEmpty", "singleValue": True}}]}}  # fmt: skip


def test_if() -> None:
    found = process(
        [START, node("Big", "if", 2.2, p=IS_BIG), node("A", "noOp"), node("B", "noOp")],
        "Start > Big, Big > A, Big:1 > B",
    )
    assert arrows(found) == ["start > big", "big > a (true)", "big /> b (false)"]
    said = found.flows[1].condition
    assert said is not None
    assert said.text == '$json.n > 10 or $json.s == "yes" or $json.t is not empty'
    assert said.language == "n8n"


def test_old_if() -> None:
    p = {"conditions": {"string": [{"value1": "={{$json.a}}", "operation": "isEmpty"}],
                        "number": [{"value1": "={{$json.b}}", "value2": 3}]},
         "combineOperation": "any"}  # fmt: skip
    found = process([START, node("C", "if", 1, p=p), node("A", "noOp")], "Start > C, C > A")
    assert found.flows[1].condition is not None
    assert found.flows[1].condition.text == "$json.a is empty or $json.b < 3"
    assert arrows(found)[2] == "c /> c__end (false)"


def test_filter_drops_to_an_end() -> None:
    found = process([START, node("F", "filter", 2), node("A", "noOp")], "Start > F, F > A")
    assert arrows(found) == ["start > f", "f > a (kept)", "f /> f__end (discarded)"]
    assert constructs(found)["f__end"] == "event.end.none"


def rule(key: str) -> dict[str, Any]:
    return {"conditions": {}, "renameOutput": True, "outputKey": key}


def switch(version: float = 3.2, **p: Any) -> Process:
    nodes = [START, node("S", "switch", version, p=p), *(node(n, "noOp") for n in "ABC")]
    return process(nodes, "Start > S, S > A, S:1 > B, S:2 > C")


def test_switch_with_an_extra_output() -> None:
    p = {"rules": {"values": [rule("a"), rule("b")]},
         "options": {"fallbackOutput": "extra", "renameFallbackOutput": "rest"}}  # fmt: skip
    found = switch(**p)
    assert arrows(found)[1:] == ["s > a (a)", "s > b (b)", "s /> c (rest)"]
    assert constructs(found)["s"] == "gateway.exclusive"


def test_switch_without_fallback_loses_what_fits_nowhere() -> None:
    found = switch(rules={"values": [rule("a"), rule("b"), rule("c")]})
    assert arrows(found)[-1] == "s /> s__end (no match)"


def test_switch_that_falls_back_on_a_rule() -> None:
    values = [rule("a"), rule("b"), rule("c")]
    found = switch(rules={"values": values}, options={"fallbackOutput": 1})
    assert arrows(found)[1:] == ["s > a (a)", "s /> b (b)", "s > c (c)"]


def test_switch_that_takes_all_that_fit() -> None:
    values = [rule("a"), rule("b"), rule("c")]
    found = switch(rules={"values": values}, options={"allMatchingOutputs": True})
    assert constructs(found)["s"] == "gateway.inclusive"


def test_switch_by_expression() -> None:
    found = switch(mode="expression", numberOutputs=3, output="={{ $json.k }}")
    assert [f.condition.text for f in found.flows if f.condition] == [
        "$json.k == 0", "$json.k == 1", "$json.k == 2"
    ]  # fmt: skip


def test_old_switch() -> None:
    p = {"value1": "={{$json.k}}", "dataType": "string", "fallbackOutput": 3,
         "rules": {"rules": [{"value2": "x"}, {"value2": "y", "output": 1}]}}  # fmt: skip
    found = switch(1, **p)
    assert arrows(found)[1:] == [
        "s > a", "s > b", "s > c (2)", "s /> s__end (3)"
    ]  # fmt: skip
    assert arrows(
        process(
            [START, node("S", "switch", 1, p=p), *(node(n, "noOp") for n in "AB")],
            "Start > S, S > A, S:1 > B",
        )
    )[1:] == ["s > a", "s > b", "s /> s__end (3)"]  # nothing ever leaves by the third output
    assert found.flows[2].condition is not None
    assert found.flows[2].condition.text == '$json.k == "y"'


@pytest.mark.parametrize(
    ("version", "loop", "done"),
    [(3, 1, 0), (2, 0, 1), (1, 0, None)],
)
def test_split_in_batches(version: float, loop: int, done: int | None) -> None:
    text = f"Start > L, L:{loop} > A, A > L" + ("" if done is None else f", L:{done} > B")
    nodes = [START, node("L", "splitInBatches", version), node("A", "noOp")]
    found = process([*nodes, *([] if done is None else [node("B", "noOp")])], text)
    assert constructs(found)["l"] == "gateway.exclusive"
    assert "l > a (loop)" in arrows(found)
    assert f"l /> {'l__end' if done is None else 'b'} (done)" in arrows(found)
    assert "a > l" in arrows(found)


def test_a_classifier_takes_one_way() -> None:
    p = {"categories": {"categories": [{"category": "good"}, {"category": "bad"}]}}
    full = "@n8n/n8n-nodes-langchain.textClassifier"
    nodes = [START, node("T", full, p=p), node("A", "noOp"), node("B", "noOp")]
    found = process(nodes, "Start > T, T > A, T:1 > B")
    assert arrows(found) == [
        "t > t__choice", "start > t", "t__choice > a (good)", "t__choice > b (bad)"
    ]  # fmt: skip
    assert constructs(found)["t__choice"] == "gateway.exclusive"


# -- splits and joins --------------------------------------------------------------------------

COMBINE = {"mode": "combine", "combineBy": "combineByPosition"}


@pytest.mark.parametrize(
    ("version", "p", "kind"),
    [
        (3.2, COMBINE, "parallel"),
        (3.2, {**COMBINE, "options": {"includeUnpaired": True}}, "inclusive"),
        (3.2, {}, "inclusive"),
        (3.2, {"mode": "append"}, "inclusive"),
        (3.2, {"mode": "chooseBranch"}, "parallel"),
        (3.2, {"mode": "combine", "combineBy": "combineAll"}, "parallel"),
        (3.2, {"mode": "combine"}, "parallel"),
        (3.2, {"mode": "combine", "joinMode": "enrichInput1"}, "inclusive"),
        (3.2, {"mode": "combineBySql"}, "inclusive"),
        (2.1, {"mode": "combine", "combinationMode": "mergeByPosition"}, "inclusive"),
        (2.1, {"mode": "combine", "combinationMode": "multiplex"}, "parallel"),
        (1, {"mode": "wait"}, "inclusive"),
        (1, {"mode": "passThrough"}, "complex"),
        (1, {"mode": "mergeByIndex"}, "inclusive"),
        (1, {"mode": "mergeByIndex", "join": "inner"}, "parallel"),
        (1, {"mode": "mergeByKey"}, "inclusive"),
    ],
)
def test_merge(version: float, p: dict[str, Any], kind: str) -> None:
    nodes = [START, node("A", "noOp"), node("B", "noOp"), node("M", "merge", version, p=p)]
    found = process(nodes, "Start > A, Start > B, A > M, B > M:1")
    assert constructs(found)["m"] == f"gateway.{kind}"
    assert arrows(found) == [
        "start > a", "start > b", "a > m", "b > m", "m > m__end"
    ]  # fmt: skip


def test_choose_branch_needs_its_first_two_inputs() -> None:
    nodes = [START, *(node(n, "noOp") for n in "ABC"), node("M", "merge", 3, p={
        "mode": "chooseBranch", "numberInputs": 3})]  # fmt: skip
    found = process(nodes, "Start > A, Start > B, Start > C, A > M, B > M:1, C > M:2")
    merge = next(n for n in found.nodes if n.id == "m")
    assert isinstance(merge, Gateway)
    assert merge.gateway_kind == "complex"
    assert merge.condition is not None
    assert merge.condition.text == "inputs 1 and 2 have come"


def test_a_merge_that_gives_an_empty_item_waits_for_none() -> None:
    merge = node("M", "merge", 3, p=COMBINE, alwaysOutputData=True)
    nodes = [START, node("A", "noOp"), merge]
    found = process(nodes, "Start > A, Start > M, A > M:1")
    assert constructs(found)["m"] == "gateway.inclusive"


def test_two_wires_into_one_input_of_a_merge_are_two_tokens() -> None:
    nodes = [START, *(node(n, "noOp") for n in "ABC"), node("M", "merge", 3, p=COMBINE)]
    found = process(nodes, "Start > A, Start > B, Start > C, A > M, B > M, C > M:1")
    assert "m__input0 > m" in arrows(found)
    assert {"a > m__input0", "b > m__input0", "c > m"} <= set(arrows(found))
    assert constructs(found)["m__input0"] == "gateway.exclusive"


def test_a_merge_with_one_input_wired_waits_for_nothing() -> None:
    nodes = [START, node("A", "noOp"), node("M", "merge", 3, p=COMBINE)]
    found = process(nodes, "Start > A, Start > M, A > M")
    assert constructs(found)["m"] == "gateway.exclusive"


def test_wires_into_one_input_join_without_a_gateway() -> None:
    nodes = [START, *(node(n, "noOp") for n in "ABC")]
    found = process(nodes, "Start > A, Start > B, A > C, B > C")
    assert len(found.nodes) == 4
    assert arrows(found) == ["start > a", "start > b", "a > c", "b > c"]


def test_several_wires_from_a_gateway_s_output_split() -> None:
    nodes = [START, node("I", "if", 2), *(node(n, "noOp") for n in "ABC")]
    found = process(nodes, "Start > I, I > A, I > B, I:1 > C")
    assert arrows(found) == [
        "start > i", "i > i__split0 (true)", "i__split0 > a", "i__split0 > b", "i /> c (false)",
    ]  # fmt: skip
    assert constructs(found)["i__split0"] == "gateway.parallel"


def test_a_node_with_two_inputs_waits_for_what_comes() -> None:
    nodes = [START, node("A", "noOp"), node("C", "compareDatasets", 2.3), node("B", "noOp")]
    found = process(nodes, "Start > A, Start > C, A > C:1, C:3 > B")
    assert constructs(found)["c__join"] == "gateway.inclusive"
    assert "c__choice > b (In B only)" in arrows(found)


# -- errors, disabled nodes, what is beside the flow -------------------------------------------


def test_an_error_output_is_a_boundary_event() -> None:
    call = node("Call", "httpRequest", 4.2, onError="continueErrorOutput")
    nodes = [START, call, node("Good", "noOp"), node("Bad", "noOp")]
    found = process(nodes, "Start > Call, Call > Good, Call:1 > Bad")
    event = next(n for n in found.nodes if n.id == "call__error")
    assert isinstance(event, Event)
    assert (event.construct, event.attached_to) == ("event.boundary.error", "call")
    assert arrows(found) == ["start > call", "call > good", "call__error > bad"]


def test_an_error_output_of_a_gateway_is_a_way_of_it() -> None:
    choice = node("I", "if", 2, onError="continueErrorOutput")
    nodes = [START, choice, *(node(n, "noOp") for n in "ABC")]
    found = process(nodes, "Start > I, I > A, I:1 > B, I:2 > C")
    assert arrows(found)[1:] == ["i > a (true)", "i /> b (false)", "i > c (error)"]


def test_an_error_output_of_a_wait_or_merge_is_a_choice_behind_it() -> None:
    wait = node("X", "wait", 1.1, onError="continueErrorOutput")
    found = process([START, wait, node("A", "noOp")], "Start > X, X:1 > A")
    assert "x__choice > a (error)" in arrows(found)
    assert "x__choice > x__end (success)" in arrows(found)


def test_a_form_with_a_limit_goes_on_without_an_answer() -> None:
    p = {"resume": "form", "limitWaitTime": True, "resumeAmount": 2, "resumeUnit": "days"}
    found = process([START, node("X", "wait", 1.1, p=p), node("A", "noOp")], "Start > X, X > A")
    assert constructs(found)["x__limit"] == "event.boundary.timer"
    assert arrows(found)[1:] == ["x > a", "x__limit > a"]


def test_a_disabled_node_passes_through() -> None:
    off = node("I", "if", 2, disabled=True)
    found = process([START, off, node("A", "noOp")], "Start > I, I > A")
    assert constructs(found)["i"] == "event.throw.none"
    assert ("{urn:orgflow:n8n}disabled", "true") in found.nodes[1].extra


def test_respond_to_webhook_with_a_response_output_takes_both() -> None:
    reply = node("R", "respondToWebhook", 1.4, p={"enableResponseOutput": True})
    nodes = [START, reply, node("A", "noOp"), node("B", "noOp")]
    assert arrows(process(nodes, "Start > R, R > A, R:1 > B"))[1:] == ["r > a", "r > b"]


def test_a_webhook_with_several_methods_chooses() -> None:
    hook = node("H", "webhook", 2, p={"multipleMethods": True})
    found = process([hook, node("A", "noOp"), node("B", "noOp")], "H > A, H:1 > B")
    assert arrows(found)[1:] == ["h__choice > a (GET)", "h__choice > b (POST)"]


def test_sub_nodes_serve_and_do_not_flow() -> None:
    lang = "@n8n/n8n-nodes-langchain."
    nodes = [
        START, node("Agent", f"{lang}agent"), node("Model", f"{lang}lmChatOpenAi"),
        node("Store", f"{lang}vectorStoreQdrant"), node("Embed", f"{lang}embeddingsOpenAi"),
        node("Alone", f"{lang}memoryBufferWindow"),
    ]  # fmt: skip
    value = workflow(nodes, "Start > Agent")
    value["connections"] |= wires("Model > Agent", "ai_languageModel")
    value["connections"] |= wires("Store > Agent", "ai_vectorStore")
    value["connections"] |= wires("Embed > Store", "ai_embedding")
    model, said = read(value)
    assert model is not None
    assert said == []
    found = model.processes[0]
    assert [n.id for n in found.nodes] == ["start", "agent"]
    assert [d.id for d in found.data_objects] == ["model", "store", "embed", "alone"]
    assert all(isinstance(d, DataObject) for d in found.data_objects)
    assert [(f.source, f.target, f.name) for f in found.data_flows] == [
        ("model", "agent", "ai_languageModel"), ("store", "agent", "ai_vectorStore")
    ]  # fmt: skip
    assert [(a.source, a.target, a.name) for a in found.artifacts] == [
        ("embed", "store", "ai_embedding")
    ]  # fmt: skip


def test_sticky_notes_are_annotations() -> None:
    note = node("Note", "stickyNote", p={"content": "## Hello", "width": 300, "height": 200},
                id="n1")  # fmt: skip
    model, _ = read(workflow([START, note]), diagram=True)
    assert model is not None
    (artifact,) = model.processes[0].artifacts
    assert (artifact.id, artifact.artifact_kind, artifact.text) == ("n1", "annotation", "## Hello")
    assert model.diagram is not None
    assert {s.element: s.bounds for s in model.diagram.shapes} == {
        "start": (0, 0, 96, 96), "n1": (0, 0, 300, 200)
    }  # fmt: skip


# -- ids, files, calls -------------------------------------------------------------------------


def test_ids_come_from_the_file_else_from_names() -> None:
    nodes = [{**START, "id": "s-1"}, node("Größe prüfen", "noOp"), node("Größe  prüfen!", "noOp")]
    found = process(nodes, "Start > Größe prüfen, Größe prüfen > Größe  prüfen!")
    assert [n.id for n in found.nodes] == ["s-1", "grosse_prufen", "grosse_prufen__2"]
    assert found.id == "w"


def test_several_workflows_call_each_other() -> None:
    def call(p: dict[str, Any]) -> dict[str, Any]:
        return node("Call", "executeWorkflow", 1.2, p=p)

    by_id = {"workflowId": {"__rl": True, "mode": "list", "value": "B1"}}
    itself = {"workflowId": {"value": "={{ $workflow.id }}"}, "mode": "each"}
    start = node("In", "executeWorkflowTrigger")
    model, said = read(
        [
            workflow([START, call(by_id)], "Start > Call", id="A1", name="One"),
            workflow([start, call(itself)], "In > Call", id="B1", name="Two"),
        ]
    )
    assert model is not None
    assert said == []
    assert [(p.id, p.name) for p in model.processes] == [("A1", "One"), ("B1", "Two")]
    first, second = (p.nodes[1] for p in model.processes)
    assert isinstance(first, CallActivity)
    assert isinstance(second, CallActivity)
    assert (first.called, second.called) == ("B1", "B1")
    assert second.loop is not None
    assert Game(model).starts("A1") == ("start",)


@pytest.mark.parametrize("key", ["workflow", "workflowData", "data"])
def test_what_stands_around_a_workflow_is_kept(key: str) -> None:
    model, said = read({"id": 7, key: workflow([START]), "meta": {"a": [1]}})
    assert model is not None
    assert said == []
    assert len(model.processes) == 1
    assert model.extra == (
        ("{urn:orgflow:n8n}$.id", "7"), ("{urn:orgflow:n8n}$.meta", '{"a":[1]}')
    )  # fmt: skip
    assert Model.from_json(model.to_json()) == model


def test_an_api_list_holds_several() -> None:
    model, _ = read({"data": [workflow([START]), workflow([START])], "nextCursor": None})
    assert model is not None
    assert [p.id for p in model.processes] == ["w", "w__2"]
    assert model.extra == (("{urn:orgflow:n8n}$.nextCursor", "null"),)


def test_settings_and_pinned_data_are_kept() -> None:
    found = process([START], pinData={"Start": [{"json": {"a": 1}}]}, active=False)
    assert dict(found.extra) == {
        "{urn:orgflow:n8n}settings": '{"executionOrder":"v1"}',
        "{urn:orgflow:n8n}pinData": '{"Start":[{"json":{"a":1}}]}',
        "{urn:orgflow:n8n}active": "false",
    }
