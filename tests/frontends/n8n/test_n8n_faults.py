"""What is wrong with a workflow file is said with its place, and the rest is read."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from n8n_restore import missing
from n8n_workflows import START, node, read, wires, workflow
from orgflow.frontends.n8n.frontend import N8nFrontend
from seeds import seeds

from orgflow_ir.diagnostics import Severity
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.model.verifier import list_violations
from orgflow_ir.pipeline import PassContext

STEP = node("A", "noOp")
GOOD = workflow([START, STEP], "Start > A")


def said(value: Any) -> list[tuple[str, str, str]]:
    """Code, JSON path and message of everything told."""
    _, found = read(value)
    for d in found:
        assert d.loc is not None
        assert d.loc.line is not None
        assert d.loc.column is not None
        assert d.help
    return [(d.code, d.loc.element or "", d.message) for d in found if d.loc is not None]


def test_nothing_is_said_of_a_good_workflow() -> None:
    assert said(GOOD) == []


def test_of050_not_json() -> None:
    ctx = PassContext()
    assert N8nFrontend().parse(SourceFile("w.json", b'{"nodes": [\n}'), ctx) is None
    (found,) = ctx.diagnostics
    assert (found.code, str(found.loc)) == ("OF050", "w.json:2:1")


@pytest.mark.parametrize("value", [{}, [], 7, None, {"tasks": []}, [[[[[[GOOD]]]]]]])
def test_of051_not_a_workflow(value: Any) -> None:
    model, found = read(value)
    assert model is None
    assert [d.code for d in found] == ["OF051"]


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"nodes": {}}, "$.nodes"),
        ({"nodes": [START, 7, STEP]}, "$.nodes[1]"),
        ({"nodes": [START, {**STEP, "parameters": "none"}]}, "$.nodes[1].parameters"),
        ({"nodes": [START, {**STEP, "typeVersion": "2"}]}, "$.nodes[1].typeVersion"),
        ({"nodes": [START, {**STEP, "disabled": 1}]}, "$.nodes[1].disabled"),
        ({"nodes": [START, {**STEP, "type": 7}]}, "$.nodes[1].type"),
        ({"connections": []}, "$.connections"),
        ({"connections": {"Start": []}}, "$.connections.Start"),
        ({"connections": {"Start": {"main": {}}}}, "$.connections.Start.main"),
        ({"connections": {"Start": {"main": [{}]}}}, "$.connections.Start.main[0]"),
        ({"connections": {"Start": {"main": [["A"]]}}}, "$.connections.Start.main[0][0]"),
        ({"connections": {"Start": {"main": [[{"node": 1}]]}}},
         "$.connections.Start.main[0][0].node"),
        ({"connections": {"Start": {"main": [[{"node": "A", "index": -1}]]}}},
         "$.connections.Start.main[0][0].index"),
    ],
)  # fmt: skip
def test_of052_wrong_values(change: dict[str, Any], path: str) -> None:
    value = {**GOOD, **change}
    model, found = read(value)
    assert model is not None
    assert [(d.code, d.loc and d.loc.element) for d in found if d.code != "OF054"] == [
        ("OF052", path)
    ]
    assert missing(value, model, model.processes[0]) == []


def test_of052_a_key_twice() -> None:
    ctx = PassContext()
    text = json.dumps(GOOD)[:-1] + ', "name": "Other"}'
    model = N8nFrontend().parse(SourceFile("w.json", text.encode()), ctx)
    assert model is not None
    assert model.name == "Other"
    assert [d.code for d in ctx.diagnostics] == ["OF052"]


def test_of053_missing_keys() -> None:
    nameless = {k: v for k, v in STEP.items() if k not in ("name", "type")}
    assert said(workflow([START, nameless])) == [
        ("OF053", "$.nodes[1]", "$.nodes[1] has no `name`"),
        ("OF053", "$.nodes[1]", "$.nodes[1] has no `type`"),
    ]
    assert [c for c, _, _ in said({"connections": {}})] == ["OF053"]


def test_of054_lost_connections() -> None:
    value = workflow([START, STEP], "Start > B, C > A")
    assert said(value) == [
        ("OF054", "$.connections.Start.main[0][0]",
         "a connection leads to `B`, which does not exist in the workflow"),
        ("OF054", "$.connections.C.main[0][0]",
         "a connection leads from `C`, which does not exist in the workflow"),
    ]  # fmt: skip
    model, _ = read(value)
    assert model is not None
    assert missing(value, model, model.processes[0]) == []


def test_of055_and_of059_repeated_names_and_ids() -> None:
    twice = [{**STEP, "id": "1"}, {**STEP, "id": "1"}]
    assert said(workflow([START, *twice], "Start > A")) == [
        ("OF055", "$.nodes[2]", "more than one node is named `A`"),
        ("OF059", "$.nodes[2].id", "`A` has the id of another node"),
    ]
    model, _ = read(workflow([START, *twice], "Start > A"))
    assert model is not None
    assert [n.id for n in model.processes[0].nodes] == ["start", "1", "a"]
    assert [f.target for f in model.processes[0].flows] == ["1"]


def test_of056_unknown_packages_once_each() -> None:
    nodes = [START, *(node(n, "n8n-nodes-acme.invoice") for n in "AB"), node("C", "x.y")]
    found = said(workflow(nodes))
    assert [(c, p) for c, p, _ in found] == [("OF056", "$.nodes[1]"), ("OF056", "$.nodes[3]")]
    assert found[0][2].startswith("`A` and 1 more: the meaning of the package `n8n-nodes-acme`")


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([STEP], "no trigger starts the workflow `W`"),
        (
            [{**START, "disabled": True}, STEP],
            "the only trigger of the workflow `W` is disabled: `Start`",
        ),
    ],
)
def test_of057_no_trigger(nodes: list[dict[str, Any]], message: str) -> None:
    assert said(workflow(nodes)) == [("OF057", "$", message)]


def test_an_empty_workflow_or_one_of_notes_needs_no_trigger() -> None:
    assert said(workflow([])) == []
    assert said(workflow([node("N", "stickyNote")])) == []


@pytest.mark.parametrize(
    ("nodes", "text", "why"),
    [
        ([node("I", "if", 2)], "Start > I, I:2 > A", "leaves from output 3"),
        ([node("I", "if", 2, disabled=True)], "Start > I, I:1 > A", "leaves a disabled node"),
        ([], "Start > A, A > Start", "leads into a trigger"),
        ([node("N", "stickyNote")], "Start > N", "has an end that is not a step"),
        ([node("E", "stopAndError")], "Start > E, E > A", "leaves from output 1"),
    ],
)
def test_of058_dead_connections(nodes: list[dict[str, Any]], text: str, why: str) -> None:
    value = workflow([START, STEP, *nodes], text)
    model, found = read(value)
    assert model is not None
    assert [d.code for d in found] == ["OF058"]
    assert why in found[0].message
    assert missing(value, model, model.processes[0]) == []


def test_a_connection_that_is_there_twice_is_two_flows() -> None:
    """n8n runs its target twice, measured on the local engine."""
    value = workflow([START, STEP], "Start > A, Start > A")
    model, found = read(value)
    assert model is not None
    assert found == []
    flows = [(f.source, f.target) for f in model.processes[0].flows]
    assert len(flows) == 2
    assert len(set(flows)) == 1


def test_of060_a_broken_map() -> None:
    note = node("Map", "stickyNote", p={"content": '`orgflow-map 1 {"model":"8e6e1b39d389",'})
    assert said(workflow([START, note])) == [
        ("OF060", "$.nodes[1]", "the map in the note `Map` cannot be read")
    ]


def test_severities() -> None:
    found = {r.code: r.severity for r in N8nFrontend().rules}
    errors = {c for c, s in found.items() if s is Severity.ERROR}
    assert errors == {f"OF05{n}" for n in range(6)}


def test_the_comparison_with_the_file_can_fail() -> None:
    model, _ = read(GOOD)
    assert model is not None
    process = model.processes[0]
    assert missing(GOOD, model, process) == []
    assert missing(GOOD, model, process.replace(flows=()))[0].startswith("wire lost")
    assert missing(GOOD, model, process.replace(nodes=process.nodes[:1]))[0].startswith("node lost")
    assert missing(GOOD, model, process.replace(extra=()))[0].startswith("key lost")


# -- whatever stands in a file -----------------------------------------------------------------

VALUES: list[Any] = [
    None, True, 0, -1, 7.5, 10**30, "", "={{ $json.x }}", "main", [], {}, [None], [[]], [{}],
    {"node": "A"}, "n8n-nodes-base.merge",
]  # fmt: skip
RICH = workflow(
    [
        node("Hook", "webhook", 2, p={"httpMethod": ["GET", "POST"], "multipleMethods": True}),
        node("Clock", "scheduleTrigger", 1.2, p={"rule": {"interval": [{"triggerAtHour": 9}]}}),
        node("Old clock", "cron", p={"triggerTimes": {"item": [{"mode": "everyWeek"}]}}),
        node("If", "if", 2, p={"conditions": {"combinator": "and", "conditions": [
            {"leftValue": "={{ $json.n }}", "rightValue": 1,
             "operator": {"type": "number", "operation": "gt"}}]}}),
        node("Switch", "switch", 3.2, p={
            "rules": {"values": [{"outputKey": "a", "conditions": {}}, {"outputKey": "b"}]},
            "options": {"fallbackOutput": "extra"}}),
        node("Old switch", "switch", p={"value1": 1, "rules": {"rules": [{"value2": 2}]}}),
        node("Merge", "merge", 3, p={"mode": "combine", "options": {}}),
        node("Wait", "wait", 1.1, p={"resume": "form", "limitWaitTime": True, "amount": 2}),
        node("Call", "executeWorkflow", 1.2, p={"workflowId": {"value": "x"}, "options": {}},
             onError="continueErrorOutput"),
        node("Stop", "stopAndError", p={"errorMessage": "no"}),
        node("Note", "stickyNote", p={"content": "orgflow-map 1 {\"nodes\": {\"If\": \"i\"}}"}),
        node("Model", "@n8n/n8n-nodes-langchain.lmChatOpenAi"),
    ],
    "Hook > If, Hook:1 > Switch, Clock > If, If > Merge, If:1 > Merge:1, Switch > Wait, "
    "Switch:1 > Old switch, Merge > Call, Call:1 > Stop, Wait > Call",
)  # fmt: skip
RICH["connections"] |= wires("Model > Call", "ai_languageModel")


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of all values in a JSON value."""
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from paths(inner, (*path, index))


@pytest.mark.parametrize("seed", seeds(8))
def test_nothing_is_raised_and_nothing_lost_whatever_is_put_in(seed: int) -> None:
    rnd = random.Random(seed)
    for _ in range(60):
        value = copy.deepcopy(RICH)
        for _ in range(rnd.choice([1, 1, 2, 4])):
            path = rnd.choice([p for p in paths(value) if p])
            holder: Any = value
            for step in path[:-1]:
                holder = holder[step]
            if rnd.random() < 0.25:
                del holder[path[-1]]
            else:
                holder[path[-1]] = copy.deepcopy(rnd.choice(VALUES))
        model, found = read(value, diagram=True)
        assert (model is not None) or any(d.severity is Severity.ERROR for d in found)
        if model is None:
            continue
        assert Model.from_json(model.to_json()) == model
        assert not list_violations(model)
        assert missing(value, model, model.processes[0]) == []
