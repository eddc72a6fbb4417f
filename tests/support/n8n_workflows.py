"""Small n8n workflows as values, for tests of the n8n frontend."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from orgflow.frontends.n8n.frontend import N8nFrontend

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.model import Flow, Model, Process
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext


def node(name: str, type_: str, version: float = 1, **more: Any) -> dict[str, Any]:
    """A node of n8n's base package (or of another, by its full type) with parameters `p`."""
    full = type_ if "." in type_ else f"n8n-nodes-base.{type_}"
    parameters = more.pop("p", {})
    found = {"name": name, "type": full, "typeVersion": version, "position": [0, 0]}
    return {**found, "parameters": parameters, **more}


START = node("Start", "manualTrigger")


def wires(text: str, kind: str = "main") -> dict[str, Any]:
    """`"A > B, A:1 > C:2"`: from output 0 of A to B, from output 1 of A to input 2 of C."""
    found: dict[str, Any] = {}
    for wire in filter(None, (w.strip() for w in text.split(","))):
        source, target = (side.strip() for side in wire.split(">"))
        source, _, output = source.partition(":")
        target, _, index = target.partition(":")
        outputs = found.setdefault(source, {}).setdefault(kind, [])
        while len(outputs) <= int(output or 0):
            outputs.append([])
        outputs[int(output or 0)].append({"node": target, "type": kind, "index": int(index or 0)})
    return found


def workflow(nodes: Iterable[dict[str, Any]], text: str = "", **more: Any) -> dict[str, Any]:
    """A workflow."""
    settings = {"executionOrder": "v1"}
    return {"name": "W", "nodes": list(nodes), "connections": wires(text), "settings": settings,
            **more}  # fmt: skip


def read(value: Any, *, diagram: bool = False) -> tuple[Model | None, list[Diagnostic]]:
    """What the frontend makes of a value, as a file."""
    ctx = PassContext(options={"diagram": diagram})
    source = SourceFile("w.json", json.dumps(value, indent=1).encode())
    return N8nFrontend().parse(source, ctx), ctx.diagnostics


def process(nodes: Iterable[dict[str, Any]], text: str = "", **more: Any) -> Process:
    """The process of a workflow that nothing is wrong with."""
    model, said = read(workflow(nodes, text, **more))
    assert model is not None
    assert [d.message for d in said] == []
    assert Model.from_json(model.to_json()) == model
    return model.processes[0]


def arrows(found: Process) -> list[str]:
    """`source > target (name)` of every flow; the default is marked with a slash."""
    return [arrow(flow) for flow in found.flows]


def arrow(flow: Flow) -> str:
    """A flow in words."""
    name = f" ({flow.name})" if flow.name else ""
    return f"{flow.source} {'/' if flow.default else ''}> {flow.target}{name}"


def constructs(found: Process) -> dict[str, str]:
    """Construct of each node by id."""
    return {n.id: n.construct for n in found.nodes}
