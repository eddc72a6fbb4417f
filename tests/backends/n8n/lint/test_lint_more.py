"""Faults that were missed once: a Merge with one wire, an expression that ends in the middle."""

from __future__ import annotations

import json
from typing import Any

import pytest
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.engine.runs import RunRequest

from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry


def workflow(middle: dict[str, Any]) -> dict[str, Any]:
    """Trigger, a node, and one behind it."""

    def node(name: str, type: str, version: float, x: int, p: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": name, "name": name, "type": f"n8n-nodes-base.{type}", "typeVersion": version,
            "position": [x, 0], "parameters": p,
        }  # fmt: skip

    def wire(target: str) -> dict[str, Any]:
        return {"main": [[{"node": target, "type": "main", "index": 0}]]}

    return {
        "name": "w",
        "nodes": [
            node("T", "manualTrigger", 1, 0, {}),
            {**node("M", "noOp", 1, 200, {}), **middle},
            node("Z", "noOp", 1, 400, {}),
        ],
        "connections": {"T": wire("M"), "M": wire("Z")},
        "settings": {"executionOrder": "v1"},
    }


def codes(made: dict[str, Any], registry: Registry) -> list[str]:
    ctx = PassContext(registry=registry)
    registry.backends["n8n"].lint(SourceFile("w.json", json.dumps(made).encode()), ctx)
    return [d.code for d in ctx.diagnostics]


def test_a_merge_with_one_wire_gives_nothing(engine: LocalEngine, registry: Registry) -> None:
    merge = {"mode": "combine", "combineBy": "combineByPosition", "numberInputs": 2}
    made = workflow({"type": "n8n-nodes-base.merge", "typeVersion": 3.2, "parameters": merge})
    (run,) = engine.run_many([RunRequest(made, "T", items=[{"json": {}}])])
    assert (run.status, [n.node for n in run.order]) == ("success", ["T", "M"])
    assert "OF450" in codes(made, registry)


@pytest.mark.parametrize("code", ["$json.a +", "$json.a ?", "$json.", "1 &&"])
def test_an_expression_that_ends_in_the_middle(
    engine: LocalEngine, registry: Registry, code: str
) -> None:
    field = {"id": "1", "name": "b", "value": f"={{{{ {code} }}}}", "type": "string"}
    parameters = {"assignments": {"assignments": [field]}, "options": {}}
    made = workflow({"type": "n8n-nodes-base.set", "typeVersion": 3.4, "parameters": parameters})
    (run,) = engine.run_many([RunRequest(made, "T", items=[{"json": {"a": 1}}])])
    assert run.status == "error"
    assert "OF441" in codes(made, registry)
    field["value"] = "={{ $json.a }} and {{ $json.b ? 'x +' : '?' }} +"
    assert codes(made, registry) == []


WRITES = [
    "$json.a = 1", "$json.a.b += 1", "$json['a']++", "delete $json.a",
    "Object.assign($json, {a: 1})", "$input.first().json.a = 1", "$('T').first().json.a = 1",
    "$execution.customData.get('a')",
]  # fmt: skip
READS = [
    "$json.a == 1", "$json.a === 1", "$json.a >= 1", "$json.a <= 1", "$json.a != 1",
    "[1].map((a) => $json.a)", "Object.assign({}, $json)", "$json.a }} = 5 {{ 1",
]  # fmt: skip


@pytest.mark.parametrize("code", [*WRITES, *READS])
def test_what_an_expression_writes_is_reported(registry: Registry, code: str) -> None:
    field = {"id": "1", "name": "b", "value": f"={{{{ {code} }}}}", "type": "string"}
    parameters = {"assignments": {"assignments": [field]}, "options": {}}
    made = workflow({"type": "n8n-nodes-base.set", "typeVersion": 3.4, "parameters": parameters})
    assert ("OF492" in codes(made, registry)) is (code in WRITES)


def test_code_may_change_what_it_is_given(registry: Registry) -> None:
    text = "for (const item of $input.all()) item.json.a = 1; $json.b = 2; return $input.all();"
    made = workflow(
        {"type": "n8n-nodes-base.code", "typeVersion": 2, "parameters": {"jsCode": text}}
    )
    assert "OF492" not in codes(made, registry)


@pytest.mark.parametrize(
    ("type", "parameters", "open"),
    [
        ("webhook", {"path": "orders"}, True),
        ("webhook", {"path": "orders", "authentication": "none"}, True),
        ("webhook", {"path": "orders", "authentication": "headerAuth"}, False),
        ("webhook", {"path": "7c9e6679-7425-40de-944b-e07fc1f90ae7"}, False),
        ("webhook", {"path": "orders-key0123456789abcdef01234567"}, False),
        ("formTrigger", {"options": {"path": "orders"}}, True),
        ("formTrigger", {"options": {"path": "orders"}, "authentication": "basicAuth"}, False),
        ("manualTrigger", {}, False),
    ],
)
@pytest.mark.parametrize("disabled", [False, True])
def test_an_address_that_anyone_can_call(
    registry: Registry, type: str, parameters: dict[str, Any], open: bool, disabled: bool
) -> None:
    made = workflow({})
    made["nodes"][0] |= {"type": f"n8n-nodes-base.{type}", "parameters": parameters}
    made["nodes"][0]["disabled"] = disabled
    assert ("OF425" in codes(made, registry)) is (open and not disabled)
