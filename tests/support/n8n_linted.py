"""Small n8n workflows with a fault, and what `lint` reports of them."""

from __future__ import annotations

import json
from typing import Any

from orgflow.backends.n8n.backend import N8nBackend

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext

Json = dict[str, Any]

VERSIONS = {
    "manualTrigger": 1, "webhook": 2.1, "scheduleTrigger": 1.3, "executeWorkflowTrigger": 1.2,
    "errorTrigger": 1, "if": 2.3, "filter": 2.3, "switch": 3.4, "merge": 3.2, "set": 3.4,
    "noOp": 1, "wait": 1.1, "code": 2, "stopAndError": 1, "httpRequest": 4.3, "form": 2.3,
    "executeWorkflow": 1.2, "splitInBatches": 3, "splitOut": 1, "emailSend": 2.1,
}  # fmt: skip


def node(name: str, kind: str = "noOp", p: Json | None = None, **more: Any) -> Json:
    """A node of n8n's base package with parameters `p`; `more` are other keys of it."""
    return {
        "name": name,
        "type": f"n8n-nodes-base.{kind}",
        "typeVersion": VERSIONS.get(kind, 1),
        "position": None,
        "parameters": p or {},
        **more,
    }


def flow(nodes: list[Json | str], text: str, **more: Any) -> Json:
    """A workflow: a name stands for a NoOp, `text` is `A > B, A:1 > M:2` (outputs and inputs).

    The nodes lie below each other, so branches run in the order in which they are listed.
    """
    made = [node(n) if isinstance(n, str) else dict(n) for n in nodes]
    for place, one in enumerate(made):
        if one["position"] is None:
            one["position"] = [0, 100 * place]
    connections: Json = {}
    for wire in filter(None, (w.strip() for w in text.split(","))):
        source, target = (side.strip() for side in wire.split(">"))
        source, _, output = source.partition(":")
        target, _, slot = target.partition(":")
        outputs = connections.setdefault(source, {"main": []})["main"]
        while len(outputs) <= int(output or 0):
            outputs.append([])
        outputs[int(output or 0)].append({"node": target, "type": "main", "index": int(slot or 0)})
    found: Json = {"name": "w", "nodes": made, "connections": connections}
    found["settings"] = {"executionOrder": "v1"}
    return {**found, **more}


T = node("T", "manualTrigger")


def condition(left: Any, kind: str = "boolean", operation: str = "true", right: Any = "") -> Json:
    """One strict condition."""
    operator: Json = {"type": kind, "operation": operation}
    if operation in ("true", "false", "exists", "notExists", "empty", "notEmpty"):
        operator["singleValue"] = True
    return conditions([{"leftValue": left, "rightValue": right, "operator": operator}])


def conditions(listed: list[Json], combinator: str = "and") -> Json:
    """The parameter `conditions`."""
    options = {"caseSensitive": True, "leftValue": "", "typeValidation": "strict", "version": 2}
    return {"options": options, "combinator": combinator, "conditions": listed}


def if_(name: str, left: Any = "={{ true }}", *rest: Any, **more: Any) -> Json:
    """An If with one condition."""
    return node(name, "if", {"conditions": condition(left, *rest), "options": {}}, **more)


def merge(name: str, mode: str, inputs: int = 2, **more: Any) -> Json:
    """A Merge; `mode` is `append`, `choose`, `position` or `unpaired`."""
    parameters: Json = {"mode": "append"}
    if mode == "choose":
        parameters = {"mode": "chooseBranch", "useDataOfInput": "1"}
    elif mode != "append":
        parameters = {"mode": "combine", "combineBy": "combineByPosition"}
        parameters["options"] = {"includeUnpaired": True} if mode == "unpaired" else {}
    if inputs != 2:
        parameters["numberInputs"] = inputs
    return node(name, "merge", parameters, **more)


def set_(name: str, more: Json | None = None, **fields: Any) -> Json:
    """A Set that adds fields; their types are those of the values."""
    kinds = {str: "string", int: "number", bool: "boolean"}
    listed = [
        {"id": key, "name": key, "type": kinds[type(value)], "value": value}
        for key, value in fields.items()
    ]
    parameters = {"assignments": {"assignments": listed}, "includeOtherFields": True, "options": {}}
    return node(name, "set", parameters, **(more or {}))


def reads_of(name: str, expression: str) -> Json:
    """A Set whose field `got` is an expression."""
    return set_(name, got="={{ " + expression + " }}")


def switch(name: str, *lefts: str, **options: Any) -> Json:
    """A Switch with a condition a rule."""
    values = [{"conditions": condition(left)} for left in lefts]
    return node(name, "switch", {"mode": "rules", "rules": {"values": values}, "options": options})


def wait(name: str, limited: bool = False) -> Json:
    """A Wait for a call."""
    parameters: Json = {
        "resume": "webhook", "httpMethod": "POST", "options": {"webhookSuffix": name.lower()},
    }  # fmt: skip
    if limited:
        parameters |= {
            "limitWaitTime": True, "limitType": "afterTimeInterval", "resumeAmount": 5,
            "resumeUnit": "minutes",
        }  # fmt: skip
    return node(name, "wait", parameters)


def call(name: str, workflow: str, **more: Any) -> Json:
    """A call of another workflow."""
    return node(
        name,
        "executeWorkflow",
        {
            "source": "database",
            "workflowId": {"__rl": True, "mode": "id", "value": workflow},
            "workflowInputs": {"mappingMode": "defineBelow", "value": {}},
            "mode": "once",
            "options": {"waitForSubWorkflow": True},
        },
        **more,
    )


def text(value: Any) -> bytes:
    """A file."""
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def linted(value: Any, name: str = "w.json") -> list[Diagnostic]:
    """What the backend says of a file with this value (or these bytes)."""
    ctx = PassContext()
    data = value if isinstance(value, bytes) else text(value)
    N8nBackend().lint(SourceFile(name, data), ctx)
    return ctx.diagnostics


def codes(value: Any) -> list[str]:
    """The codes of these, each once, sorted."""
    return sorted({d.code for d in linted(value)})
