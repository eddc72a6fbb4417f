"""Values with which a node fails, loops without end or decides nothing, and addresses and callers
across files: n8n's engine decides where it runs the workflow."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from n8n_linted import Json, T, codes, conditions, flow, linted, node
from orgflow.api import check, read
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.lint.lint import lint_file

from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext

ITEM = node("S", "set", {"mode": "raw", "jsonOutput": '{"a": 1}'})


def after_item(tested: Json) -> Json:
    return flow([T, ITEM, tested, "A"], "T > S, S > X, X > A")


# -- waits, loops, answers -------------------------------------------------------------------------

DATES = (
    "not a date", "tomorrow", "2020-13-45", "2020-00-01", "31.12.2020", "1577836800000",
    "2020-01-01", "01/02/2020", "2020-01-01T10:00:00", "12:00", "2020", "Jan 1 2020",
    "2020-01-01 10:00", "20200101", "Wed, 01 Jan 2020 10:00:00 GMT", "2020-W01", "soon",
    "2020-01-32", "01.12.2020",
)  # fmt: skip


@pytest.mark.parametrize("date", DATES)
def test_the_date_of_a_wait(date: str, engine: LocalEngine) -> None:
    workflow = after_item(node("X", "wait", {"resume": "specificTime", "dateTime": date}))
    fails = engine.run(workflow, "T").status != "success"
    assert ("N8N119" in codes(workflow)) == fails


@pytest.mark.parametrize("size", [0, -1, "0", "abc", "", 0.5, False, 1, "1", 2, 1.5, "1e1"])
def test_the_batch_size_of_a_loop(size: Any, engine: LocalEngine) -> None:
    loop = node("X", "splitInBatches", {"batchSize": size, "options": {}})
    workflow = flow([T, ITEM, loop, "D", "B"], "T > S, S > X, X > D, X:1 > B, B > X")
    works = "D" in [entry.node for entry in engine.run(workflow, "T").order]
    assert ("N8N119" in codes(workflow)) != works


@pytest.mark.parametrize("version", [1, 1.1, 1.4])
def test_an_answer_without_a_call(version: float, engine: LocalEngine) -> None:
    answer = node("X", "respondToWebhook", {"respondWith": "noData"}, typeVersion=version)
    workflow = after_item(answer)
    fails = engine.run(workflow, "T").status != "success"
    assert ("N8N103" in codes(workflow)) == fails == (version > 1)


@pytest.mark.parametrize(
    "trigger",
    [
        node("W", "webhook", {"path": "a-b", "responseMode": "responseNode"}),
        node("W", "wait", {"resume": "webhook", "responseMode": "responseNode"}),
    ],
    ids=["webhook", "wait"],
)
def test_an_answer_with_a_call(trigger: Json) -> None:
    answer = node("X", "respondToWebhook", {"respondWith": "noData"}, typeVersion=1.4)
    assert "N8N103" not in codes(flow([T, trigger, answer], "T > X, W > X, T > W"))


# -- operations ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "version", "parameters", "fault"),
    [
        ("slack", 2.2, {"resource": "message", "operation": "shout"}, "`shout`"),
        ("slack", 2.2, {"resource": "mesage", "operation": "post"}, "`mesage`"),
        ("slack", 2.2, {"resource": "channel", "operation": "post"}, "`channel`"),
        ("slack", 2.2, {"operation": "shout"}, "`shout`"),
        ("slack", 2.2, {"resource": "message", "operation": "postEphemeral"}, "`postEphemeral`"),
        ("gmail", 2.1, {"resource": "message", "operation": "sendd"}, "did you mean `send`"),
        ("postgres", 2.5, {"operation": "query"}, "`query`"),
        ("slackTool", 2.2, {"resource": "message", "operation": "shout"}, "`shout`"),
        ("slack", 1, {"resource": "message", "operation": "postEphemeral"}, ""),
        ("slack", 2.2, {"resource": "message", "operation": "post"}, ""),
        ("slack", 2.2, {"resource": "={{ $json.r }}", "operation": "get"}, ""),
        ("slack", 2.2, {"resource": "message", "operation": "={{ $json.o }}"}, ""),
        ("slack", 2.2, {}, ""),
        ("postgres", 2.5, {"operation": "executeQuery"}, ""),
        ("unknownService", 1, {"operation": "shout"}, ""),
    ],
)
def test_operations_of_services(kind: str, version: float, parameters: Json, fault: str) -> None:
    workflow = after_item(node("X", kind, parameters, typeVersion=version))
    messages = [f"{d.message} {d.help}" for d in linted(workflow) if d.code == "N8N115"]
    assert len(messages) == bool(fault)
    assert all(fault in message for message in messages)


def test_a_web_token_is_a_secret() -> None:
    token = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI5NzUzIiwibmFtZSI6IkFubiJ9."
    token += "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
    assert "N8N116" in codes(after_item(node("X", "set", {"mode": "raw", "jsonOutput": token})))
    for text in ("eyJhbGciOiJIUzI1NiIs", token.split(".")[1], "a.b.c"):
        workflow = after_item(node("X", "set", {"mode": "raw", "jsonOutput": text}))
        assert "N8N116" not in codes(workflow)


# -- conditions ------------------------------------------------------------------------------------


def compared(left: Any, right: Any, kind: str = "string", operation: str = "equals") -> Json:
    operator = {"type": kind, "operation": operation}
    if operation in ("true", "exists"):
        operator["singleValue"] = True  # type: ignore[assignment]
    return conditions([{"leftValue": left, "rightValue": right, "operator": operator}])


def listed_conditions() -> Iterator[tuple[Json, bool]]:
    yield compared("a", "a"), True
    yield compared("a", "b"), True
    yield compared("={{ 'a' }}", "a"), True
    yield compared("={{ 3 }}", 2, "number", "gt"), True
    yield compared("={{ 3 + 1 }}", 2, "number", "gt"), True
    yield compared(3, 2, "number", "gt"), True
    yield compared("={{ 3 > 2 }}", "", "boolean", "true"), True
    yield compared("={{ $json.a }}", 2, "number", "gt"), False
    yield compared("={{ $json.a }}", "={{ 2 }}", "number", "gt"), False
    yield compared("={{ true }}", "", "boolean", "true"), False
    yield compared("={{ Date.now() }}", 2, "number", "gt"), False
    yield compared(1, 1, "number"), False
    yield compared("true", "true"), False
    yield conditions([]), True
    yield conditions([], "or"), True


@pytest.mark.parametrize(("condition", "reported"), list(listed_conditions()))
def test_constant_conditions(condition: Json, *, reported: bool, engine: LocalEngine) -> None:
    for kind in ("if", "filter"):
        tested = node("X", kind, {"conditions": condition}, typeVersion=2.2)
        workflow = flow([T, ITEM, tested, "Y"], "T > S, S > X, X > Y")
        assert ("N8N120" in codes(workflow)) == reported
        if reported:
            # The engine takes the same way for every item.
            ends = set()
            for value in ('{"a": 1}', '{"a": "x", "b": true}'):
                source = node("S", "set", {"mode": "raw", "jsonOutput": value})
                run = engine.run(flow([T, source, tested, "Y"], "T > S, S > X, X > Y"), "T")
                ends.add(tuple(entry.node for entry in run.order))
            assert len(ends) == 1


def test_a_node_without_conditions_is_an_info() -> None:
    workflow = after_item(node("X", "if", {}))
    assert [d.severity.value for d in linted(workflow) if d.code == "N8N120"] == ["info"]


# -- across files ----------------------------------------------------------------------------------


def check_files(folder: Path, *workflows: Json) -> list[list[str]]:
    """The codes of each file of a command that has all of some files."""
    paths = [folder / f"w{number}.json" for number in range(len(workflows))]
    for path, workflow in zip(paths, workflows, strict=True):
        path.write_text(json.dumps(workflow), "utf-8")
    result = []
    for path in paths:
        ctx = PassContext(given=[str(given) for given in paths])
        lint_file(SourceFile(str(path), path.read_bytes()), ctx)
        result.append([d.code for d in ctx.diagnostics if d.code == "OF448"])
    return result


def hooked(name: str, id: str, path: str = "same", kind: str = "webhook", **more: Any) -> Json:
    parameters = {"path": path, "httpMethod": "POST", **more}
    return flow([node("W", kind, parameters), "A"], "W > A", name=name, id=id)


@pytest.mark.parametrize(
    ("first", "second", "reported"),
    [
        (hooked("a", "1"), hooked("b", "2"), True),
        (hooked("a", "1"), hooked("b", "2", "/same/"), True),
        (hooked("a", "1"), hooked("b", "2", httpMethod=["GET", "POST"]), True),
        (hooked("a", "1"), hooked("b", "2", kind="formTrigger"), True),
        (hooked("a", "1"), hooked("b", "2", "other"), False),
        (hooked("a", "1"), hooked("b", "2", httpMethod="PUT"), False),
        (hooked("a", "1"), hooked("a", "1"), False),
        (hooked("a", "1"), hooked("b", "2", "={{ $json.path }}"), False),
        (hooked("a", "1", "x/:id"), hooked("b", "2", "x/:id"), False),
    ],
    ids=["same", "slashes", "methods", "form", "path", "method", "version", "computed", "parts"],
)
def test_an_address_of_two_files(
    tmp_path: Path, first: Json, second: Json, *, reported: bool
) -> None:
    assert check_files(tmp_path, first, second) == [[], ["OF448"] if reported else []]


def test_an_address_of_two_workflows_of_a_file(tmp_path: Path) -> None:
    both: Any = [hooked("a", "1"), hooked("b", "2")]
    assert check_files(tmp_path, both) == [["OF448"]]


def test_an_address_of_a_disabled_trigger(tmp_path: Path) -> None:
    disabled = hooked("b", "2")
    disabled["nodes"][0]["disabled"] = True
    assert "OF448" not in check_files(tmp_path, hooked("a", "1"), disabled)[1]


@pytest.mark.parametrize(
    ("settings", "refused"),
    [
        ({"callerPolicy": "none"}, True),
        ({"callerPolicy": "any"}, False),
        ({"callerPolicy": "workflowsFromSameOwner"}, False),
        ({"callerPolicy": "workflowsFromAList", "callerIds": "x"}, True),
        ({}, False),
    ],
)
def test_the_policy_for_callers(tmp_path: Path, settings: Json, *, refused: bool) -> None:
    """n8n's `SubworkflowPolicyChecker` refuses each call of a workflow with the policy `none`."""
    start = node("C", "executeWorkflowTrigger", {"inputSource": "passthrough"})
    settings = {"executionOrder": "v1", **settings}
    called = flow([start, "A"], "C > A", id="sub", name="sub", settings=settings)
    (tmp_path / "sub.json").write_text(json.dumps(called), "utf-8")
    call = node(
        "X", "executeWorkflow", {"workflowId": {"__rl": True, "value": "sub", "mode": "id"}}
    )
    path = tmp_path / "main.json"
    path.write_text(json.dumps(flow([T, call], "T > X", id="main")), "utf-8")
    reported = {d.code for d in check(read(path)).diagnostics}
    assert ("N8N118" in reported) == refused


@pytest.mark.parametrize(
    ("between", "wires", "reported"),
    [
        ([], "C > X", True),
        ([node("S", "set", {})], "C > S, S > X", True),
        ([node("I", "if", {})], "C > I, I > X", False),
        ([node("K", "code", {"jsCode": "return []"})], "C > K, K > X", False),
        ([node("M", "manualTrigger")], "M > X", False),
    ],
    ids=["direct", "after a step", "decided", "code", "another start"],
)
def test_a_workflow_that_calls_itself(between: list[Json], wires: str, *, reported: bool) -> None:
    for value in ("own", "={{ $workflow.id }}"):
        start = node("C", "executeWorkflowTrigger", {"inputSource": "passthrough"})
        call = node("X", "executeWorkflow", {"workflowId": {"value": value, "mode": "id"}})
        workflow = flow([start, *between, call], wires, id="own")
        assert ("N8N124" in codes(workflow)) == reported
