"""What looks like a fault and is none: idioms of workflows that people have published."""

from __future__ import annotations

import json
from typing import Any

import pytest
from engine_fixture import START, flow, noop
from engine_fixture import node as make
from orgflow import compiler
from orgflow.backends.n8n.backend import N8nBackend
from orgflow.compilation.reading import load_model

from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

Json = dict[str, Any]


def codes(made: Json, registry: Registry) -> list[str]:
    """What `check` says of a workflow."""
    ctx = PassContext(registry=registry)
    source = SourceFile("w.json", json.dumps(made).encode())
    model = load_model(source, registry, ctx, from_="n8n")
    assert model is not None
    compiler.check_model(model, ctx, without=N8nBackend.lint_replaces)
    N8nBackend().lint(source, ctx)
    return [d.code for d in ctx.diagnostics]


def serve(made: Json, source: str, target: str, kind: str) -> None:
    """Connect a sub-node."""
    ends = made["connections"].setdefault(source, {}).setdefault(kind, [[]])
    ends[0].append({"node": target, "type": kind, "index": 0})


def test_a_workflow_may_start_with_the_error_of_another(registry: Registry) -> None:
    """BPMN has no such start (OF136); n8n has the Error Trigger."""
    made = flow([make("E", "errorTrigger", 1), noop("A")], "E>A")
    assert codes(made, registry) == []


# -- OF443: reads that need no run -----------------------------------------------------------------


def reading(expression: str) -> Json:
    """`B` reads from `A`, which is on the other branch of an If."""
    field = {"id": "1", "name": "x", "type": "string", "value": expression}
    given = {"assignments": {"assignments": [field]}, "options": {}}
    return flow(
        [START, make("If", "if", 2.2, {"conditions": condition("true")}), noop("A"),
         make("B", "set", 3.4, given)],
        "T>If", "If>A", "If.1>B",
    )  # fmt: skip


def condition(operation: str, left: str = "={{ $json.ok }}", kind: str = "boolean") -> Json:
    """The conditions of an If, or of a rule of a Switch."""
    return {
        "options": {"version": 2, "caseSensitive": True, "typeValidation": "strict"},
        "combinator": "and",
        "conditions": [
            {
                "id": "1",
                "leftValue": left,
                "rightValue": "",
                "operator": {"type": kind, "operation": operation, "singleValue": True},
            }
        ],
    }


@pytest.mark.parametrize(
    "expression",
    [
        "={{ $('A').params.url }}",
        '={{ $node["A"].parameter.url }}',
        "={{ $node['A'].parameter['url'] }}",
        "={{ $node.A.parameter.url }}",
        "={{ $node['A'].context }}",
    ],
)
def test_parameters_of_a_node_need_no_run(expression: str, registry: Registry) -> None:
    assert "OF443" not in codes(reading(expression), registry)
    for read in ("json.url", "data"):
        faulty = reading(f"={{{{ $node['A'].{read} }}}} {expression[1:]}")
        assert "OF443" in codes(faulty, registry)


def test_reading_parameters_says_nothing_of_other_readers(registry: Registry) -> None:
    made = reading("={{ $('A').first().json.x }}")
    other = make("C", "set", 3.4, reading("={{ $('A').params.url }}")["nodes"][-1]["parameters"])
    made["nodes"].append(other)
    made["connections"]["B"] = {"main": [[{"node": "C", "type": "main", "index": 0}]]}
    assert "OF443" in codes(made, registry)


def test_one_of_two_nodes_has_run(registry: Registry) -> None:
    text = "={{ $('A').isExecuted ? $('A').first().json.x : $('B').first().json.x }}"
    given = reading(text)["nodes"][-1]["parameters"]
    nodes = [START, make("If", "if", 2.2, {"conditions": condition("true")}), noop("A"), noop("B")]
    wires = ["T>If", "If>A", "If.1>B", "A>C", "B>C"]
    made = flow([*nodes, make("C", "set", 3.4, given)], *wires)
    assert "OF443" not in codes(made, registry)
    # `D` runs in no run before it.
    given["assignments"]["assignments"][0]["value"] = text.replace("'B'", "'D'")
    late = flow([*nodes, make("C", "set", 3.4, given), noop("D")], *wires, "C>D")
    assert "OF443" in codes(late, registry)


def memory_of(*served: str) -> Json:
    chat = {**make("Chat", "chatTrigger", 1.1), "type": "@n8n/n8n-nodes-langchain.chatTrigger"}
    agent = {**make("Agent", "agent", 1.7), "type": "@n8n/n8n-nodes-langchain.agent"}
    key = {"sessionIdType": "customKey", "sessionKey": "={{ $('Session').first().json.id }}"}
    memory = {
        **make("Memory", "memoryBufferWindow", 1.3, key),
        "type": "@n8n/n8n-nodes-langchain.memoryBufferWindow",
    }
    made = flow([chat, noop("Session"), agent, memory], "Chat>Session", "Session>Agent")
    for name in served:
        serve(made, "Memory", name, "ai_memory")
    return made


def test_a_memory_serves_the_chat_too(registry: Registry) -> None:
    assert "OF443" not in codes(memory_of("Agent", "Chat"), registry)
    early = memory_of("Agent", "Chat")
    early["connections"] = {**early["connections"], "Chat": {"main": [[
        {"node": "Agent", "type": "main", "index": 0}]]}}  # fmt: skip
    early["connections"].pop("Session")
    early["connections"]["Agent"] = {"main": [[{"node": "Session", "type": "main", "index": 0}]]}
    assert "OF443" in codes(early, registry)


# -- OF456, OF457, OF462, OF446 ----------------------------------------------------------------


def test_the_first_loop_over_items_ends_by_itself(registry: Registry) -> None:
    for version, ends in ((1, True), (2, True), (3, True)):
        loop = make("Loop", "splitInBatches", version, {"batchSize": 1, "options": {}})
        back = "Loop.1>A" if version == 3 else "Loop>A"
        made = flow([START, loop, noop("A")], "T>Loop", back, "A>Loop")
        assert ("OF456" not in codes(made, registry)) is ends, version
    assert "OF456" in codes(flow([START, noop("A"), noop("B")], "T>A", "A>B", "B>A"), registry)


def switch(*rules: Json) -> Json:
    values = [{"conditions": rule} for rule in rules]
    given = {"mode": "rules", "rules": {"values": values}, "options": {}}
    made = flow([START, make("S", "switch", 3.2, given), noop("A")], "T>S")
    ends = [[{"node": "A", "type": "main", "index": 0}] for _ in rules]
    made["connections"]["S"] = {"main": ends}
    return made


def compared(operation: str, right: Any, kind: str) -> Json:
    made = condition(operation, kind=kind)
    made["conditions"][0]["rightValue"] = right
    del made["conditions"][0]["operator"]["singleValue"]
    return made


@pytest.mark.parametrize(
    ("rules", "exhaustive"),
    [
        ([condition("exists"), condition("notExists")], True),
        ([condition("true"), condition("false")], True),
        ([compared("equals", True, "boolean"), compared("equals", False, "boolean")], True),
        ([compared("gt", 5, "number"), compared("lte", 5, "number")], True),
        ([compared("gt", 5, "number"), compared("equals", 5, "number"),
          compared("lt", 5, "number")], True),
        ([compared("equals", "a", "string"), compared("notEquals", "a", "string")], True),
        ([compared("equals", "a", "string"), condition("true", "={{ true }}")], True),
        ([compared("equals", "a", "string"), condition("exists", "={{ $json }}", "object")], True),
        ([compared("equals", "a", "string"), condition("exists", "={{ $json.a }}", "object")],
         False),
        ([compared("equals", "a", "string"), compared("equals", "b", "string")], False),
        ([compared("gt", 5, "number"), compared("lte", 4, "number")], False),
        ([compared("gt", 5, "number"), compared("lt", 5, "number")], False),
        ([condition("exists"), condition("notExists", "={{ $json.other }}")], False),
        ([condition("true"), condition("true")], False),
    ],
)  # fmt: skip
def test_a_switch_whose_rules_take_everything(
    rules: list[Json], exhaustive: bool, registry: Registry
) -> None:
    assert ("OF457" not in codes(switch(*rules), registry)) is exhaustive


def test_retries_inside_a_call_count_from_zero(registry: Registry) -> None:
    called = make("Called", "executeWorkflowTrigger", 1.1, {"inputSource": "passthrough"})
    limit = make("Again?", "if", 2.2, {"conditions": condition("true", "={{ $runIndex < 3 }}")})
    wires = ["Called>Try", "Try>Again?"]
    assert "OF462" in codes(flow([called, noop("Try"), limit], *wires), registry)
    assert "OF462" not in codes(flow([called, noop("Try"), limit], *wires, "Again?>Try"), registry)
    # Only another trigger leads to it.
    made = flow([called, START, noop("Try"), limit], "T>Try", "Try>Again?")
    assert "OF462" not in codes(made, registry)


def test_the_order_matters_where_branches_run_side_by_side_or_meet(registry: Registry) -> None:
    line = flow([START, noop("A"), noop("B")], "T>A", "A>B", settings={})
    assert "OF446" not in codes(line, registry)
    fork = flow([START, noop("A"), noop("B")], "T>A", "T>B", settings={})
    assert codes(fork, registry).count("OF446") == 1


# -- OF111 --------------------------------------------------------------------------------------


def test_what_is_switched_off_is_meant_not_to_run(registry: Registry) -> None:
    off = {**noop("Off"), "disabled": True}
    assert "OF111" not in codes(flow([START, noop("A"), off], "T>A"), registry)
    behind = flow([START, noop("A"), off, noop("B")], "T>A", "Off>B")
    assert "OF111" not in codes(behind, registry)
    hook = {**make("Hook", "webhook", 2, {"path": "x"}), "disabled": True}
    assert "OF111" not in codes(
        flow([START, noop("A"), hook, noop("B")], "T>A", "Hook>B"), registry
    )
    lost = flow([START, noop("A"), off, noop("B")], "T>A", "B>Off")
    assert codes(lost, registry).count("OF111") == 1
