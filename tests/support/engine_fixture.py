"""The fixture `engine`: n8n's real engine in one process; and what its tests build runs from."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NoReturn

import pytest
from orgflow.backends.n8n.engine.install import engine_status
from orgflow.backends.n8n.engine.local import EngineRun, LocalEngine


def missing(what: str) -> NoReturn:
    """Skip the test, or fail it under CI=true, where everything has to be there."""
    if os.environ.get("CI") == "true":
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="session")
def engine() -> Iterator[LocalEngine]:
    """n8n's engine; skips when it is not installed."""
    found = engine_status()
    if not found.installed:
        missing("n8n's engine is not installed: " + "; ".join(found.problems))
    with LocalEngine() as running:
        yield running


Json = dict[str, Any]


def node(name: str, kind: str, version: float, parameters: Json | None = None, **more: Any) -> Json:
    return {
        "name": name,
        "type": f"n8n-nodes-base.{kind}",
        "typeVersion": version,
        "position": [0, 0],
        "parameters": parameters or {},
        **more,
    }


def flow(nodes: list[Json], *wires: str, **more: Any) -> Json:
    """A workflow; a wire is "A>B", or "A.1>B" from output 1."""
    connections: Json = {}
    for wire in wires:
        source, target = wire.split(">")
        name, _, output = source.partition(".")
        outputs = connections.setdefault(name, {"main": [[], []]})["main"]
        outputs[int(output or 0)].append({"node": target, "type": "main", "index": 0})
    settings = {"executionOrder": "v1"}
    return {"nodes": nodes, "connections": connections, "settings": settings, **more}


def noop(name: str) -> Json:
    return node(name, "noOp", 1)


def if_node(name: str, expression: str) -> Json:
    condition = {
        "leftValue": "={{ " + expression + " }}",
        "rightValue": "",
        "operator": {"type": "boolean", "operation": "true", "singleValue": True},
    }
    options = {"caseSensitive": True, "leftValue": "", "typeValidation": "strict", "version": 2}
    conditions = {"options": options, "combinator": "and", "conditions": [condition]}
    return node(name, "if", 2.3, {"conditions": conditions, "options": {}})


def reads(name: str, **expressions: str) -> Json:
    """A Set node whose fields are the JSON of expressions."""
    rows = [
        {"id": key, "name": key, "type": "string", "value": "={{ JSON.stringify(" + text + ") }}"}
        for key, text in expressions.items()
    ]
    return node(name, "set", 3.5, {"assignments": {"assignments": rows}, "options": {}})


def call(name: str, workflow: str, wait: bool = True, **more: Any) -> Json:
    parameters = {
        "source": "database",
        "workflowId": {"__rl": True, "mode": "id", "value": workflow},
        "workflowInputs": {"mappingMode": "defineBelow", "value": {}},
        "mode": "once",
        "options": {"waitForSubWorkflow": wait},
    }
    return node(name, "executeWorkflow", 1.4, parameters, **more)


def wait_hook(limit: bool = False) -> Json:
    parameters: Json = {"resume": "webhook", "httpMethod": "POST", "options": {}}
    if limit:
        parameters |= {
            "limitWaitTime": True,
            "limitType": "afterTimeInterval",
            "resumeAmount": 5,
            "resumeUnit": "minutes",
        }
    return node("W", "wait", 1.1, parameters)


START = node("T", "manualTrigger", 1)
CALLED = node("S", "executeWorkflowTrigger", 1.2, {"inputSource": "passthrough"})
LAST_X = "$('S').isExecuted ? $('S').last().json.x : undefined"
# S sets x, H stands for a node that replaces the item, G reads x past it.
LOOP = flow(
    [
        START,
        if_node("First", "$json.skip"),
        noop("S"),
        noop("H"),
        if_node("G", f"({LAST_X}) > 2"),
        noop("E"),
    ],
    "T>First", "First>H", "First.1>S", "S>H", "H>G", "G>E", "G.1>S",
)  # fmt: skip
LOOP_STUBS = {
    "S": {"visits": [{"x": 1}, {"x": 2}, {"x": 3}]},
    "H": {"visits": [{"r": 1}, {"r": 2}], "mode": "replace"},
}
ENDLESS = flow([START, noop("A"), noop("B")], "T>A", "A>B", "B>A")


def names(run: EngineRun) -> list[str]:
    return [
        f"{entry.workflow}/{entry.node}" if entry.workflow else entry.node for entry in run.order
    ]


def output(run: EngineRun) -> Json:
    return dict(run.output[0][0])
