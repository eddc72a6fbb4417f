"""What the workflows of `record_runs` are made of: nodes, wires, and called workflows."""

from __future__ import annotations

import itertools
from typing import Any

Json = dict[str, Any]


def node(name: str, kind: str, version: float, parameters: Json | None = None, **more: Any) -> Json:
    """A node of n8n's own; `flow` places it."""
    return {
        "name": name,
        "type": f"n8n-nodes-base.{kind}",
        "typeVersion": version,
        "parameters": parameters or {},
        **more,
    }


def flow(rows: list[Json], *wires: str) -> Json:
    """A workflow of `rows`, from left to right and top to bottom.

    A wire is `A>B`, `A.1>B` from output 1, `A>B:1` into input 1; `A>B>C` is two.
    """
    connections: Json = {}
    for text in wires:
        names = text.split(">")
        for source, target in itertools.pairwise(names):
            name, _, output = source.partition(":")[0].partition(".")
            end, _, slot = target.partition(".")[0].partition(":")
            outputs = connections.setdefault(name, {"main": []})["main"]
            while len(outputs) <= int(output or 0):
                outputs.append([])
            wire = {"node": end, "type": "main", "index": int(slot or 0)}
            outputs[int(output or 0)].append(wire)
    placed = [{**row, "position": [160 * x, 80 * x]} for x, row in enumerate(rows)]
    return {"nodes": placed, "connections": connections, "settings": {"executionOrder": "v1"}}


def hook(name: str = "T") -> Json:
    """The trigger of a main workflow."""
    parameters = {"httpMethod": "POST", "path": "p", "responseMode": "onReceived", "options": {}}
    return node(name, "webhook", 2.1, parameters)


def called() -> Json:
    """The trigger of a called workflow."""
    return node("S", "executeWorkflowTrigger", 1.2, {"inputSource": "passthrough"})


def noop(name: str, **more: Any) -> Json:
    return node(name, "noOp", 1, **more)


def code(name: str, text: str, **more: Any) -> Json:
    return node(name, "code", 2, {"jsCode": text}, **more)


def many(name: str, items: int, **more: Any) -> Json:
    """Hands on so many items, `i` = 0, 1, …"""
    text = f"return Array.from({{ length: {items} }}, (_, i) => ({{ json: {{ i }} }}));"
    return code(name, text, **more)


def field(name: str, key: str, expression: str, **more: Any) -> Json:
    """A Set node that adds one text field."""
    row = {"id": "1", "name": key, "value": "={{ " + expression + " }}", "type": "string"}
    parameters = {"assignments": {"assignments": [row]}, "includeOtherFields": True, "options": {}}
    return node(name, "set", 3.5, parameters, **more)


def condition(expression: str) -> Json:
    one = {
        "leftValue": "={{ " + expression + " }}",
        "rightValue": "",
        "operator": {"type": "boolean", "operation": "true", "singleValue": True},
    }
    options = {"caseSensitive": True, "leftValue": "", "typeValidation": "strict", "version": 2}
    return {"options": options, "combinator": "and", "conditions": [one]}


def if_(name: str, expression: str, kind: str = "if", **more: Any) -> Json:
    parameters = {"conditions": condition(expression), "options": {}}
    return node(name, kind, 2.3, parameters, **more)


def number_if(name: str, kind: str = "if", **more: Any) -> Json:
    """Fails on an item whose `i` is a text: strict types."""
    held = condition("$json.i")
    held["conditions"] = [
        {
            "leftValue": "={{ $json.i }}",
            "rightValue": 0,
            "operator": {"type": "number", "operation": "gt"},
        }
    ]
    return node(name, kind, 2.3, {"conditions": held, "options": {}}, **more)


def switch(name: str, outputs: int, read: str, every: bool = True, **more: Any) -> Json:
    """Sends an item out of each output that is in the list `read`."""
    rules = [
        {"conditions": condition(f"{read}.includes({output})"), "renameOutput": True,
         "outputKey": str(output)}
        for output in range(outputs)
    ]  # fmt: skip
    options = {"allMatchingOutputs": True} if every else {}
    parameters = {"mode": "rules", "rules": {"values": rules}, "options": options}
    return node(name, "switch", 3.4, parameters, **more)


def merge(name: str, inputs: int = 2, mode: str = "position", **more: Any) -> Json:
    """`append`, `choose`, `position`, `unpaired`, or `all` (every pair)."""
    parameters: Json = {"mode": "combine", "numberInputs": inputs}
    match mode:
        case "append":
            parameters["mode"] = "append"
        case "choose":
            parameters |= {"mode": "chooseBranch", "useDataOfInput": "1"}
        case "all":
            parameters |= {"combineBy": "combineAll", "options": {}}
        case _:
            options = {"includeUnpaired": True} if mode == "unpaired" else {}
            parameters |= {"combineBy": "combineByPosition", "options": options}
    return node(name, "merge", 3.2, parameters, **more)


def stop(name: str, **more: Any) -> Json:
    parameters = {"errorType": "errorMessage", "errorMessage": "stopped"}
    return node(name, "stopAndError", 1, parameters, **more)


def call(name: str, workflow: str, mode: str = "once", waits: bool = True, **more: Any) -> Json:
    parameters = {
        "source": "database",
        "workflowId": {"__rl": True, "mode": "id", "value": workflow},
        "workflowInputs": {"mappingMode": "defineBelow", "value": {}},
        "mode": mode,
        "options": {"waitForSubWorkflow": waits},
    }
    return node(name, "executeWorkflow", 1.4, parameters, **more)


def timer(name: str, seconds: float, **more: Any) -> Json:
    parameters = {"resume": "timeInterval", "amount": seconds, "unit": "seconds"}
    return node(name, "wait", 1.1, parameters, **more)


def wait_hook(name: str, limited: bool = False, suffix: str = "", **more: Any) -> Json:
    """Waits for a call; limited: for one second at most, which n8n checks once a minute."""
    options = {"webhookSuffix": suffix} if suffix else {}
    parameters: Json = {
        "resume": "webhook", "httpMethod": "POST", "responseMode": "onReceived", "options": options,
    }  # fmt: skip
    if limited:
        parameters |= {
            "limitWaitTime": True, "limitType": "afterTimeInterval",
            "resumeAmount": 1, "resumeUnit": "seconds",
        }  # fmt: skip
    return node(name, "wait", 1.1, parameters, **more)


def http(name: str, url: str, **more: Any) -> Json:
    return node(name, "httpRequest", 4.5, {"method": "GET", "url": url, "options": {}}, **more)


# Called workflows, each after those it calls.
CALLABLE: dict[str, Json] = {
    "plain": flow([called(), noop("A")], "S>A"),
    "three": flow([called(), many("A", 3)], "S>A"),
    "none": flow([called(), if_("A", "false", "filter")], "S>A"),
    "fork": flow([called(), noop("A"), many("B", 2)], "S>A", "S>B"),
    "ways": flow([called(), if_("A", "$json.i > 0")], "S>A"),
    "join": flow([called(), noop("A"), noop("B"), merge("M")], "S>A>M", "S>B>M:1"),
    "fails": flow([called(), stop("A")], "S>A"),
    "fails-on-1": flow(
        [called(), if_("G", "$json.i === 1"), stop("A"), noop("B")], "S>G>A", "G.1>B"
    ),
    "throws": flow([called(), code("A", "throw new Error('x');"), noop("B")], "S>A>B"),
    "goes-on": flow([called(), stop("A", onError="continueRegularOutput")], "S>A"),
    "sleeps": flow([called(), timer("W", 0.3), noop("A")], "S>W>A"),
    "asks": flow([called(), wait_hook("W"), noop("A")], "S>W>A"),
    "asks-for-1-s": flow([called(), wait_hook("W", True), noop("A")], "S>W>A"),
    "asks-then-fails": flow([called(), wait_hook("W"), stop("A")], "S>W>A"),
    "loops": flow(
        [called(), noop("A"), if_("G", "$runIndex < 2"), many("B", 2)], "S>A>G>A", "A>B"
    ),
    "asks-in-a-loop": flow(
        [called(), wait_hook("W"), if_("G", "$runIndex < 1"), many("B", 2)], "S>W>G>W", "W>B"
    ),
    "asks-two-ways": flow([called(), wait_hook("W"), if_("A", "$json.i > 0")], "S>W>A"),
    "outer": flow([called(), call("C", "plain"), noop("B")], "S>C>B"),
    "outer-each": flow([called(), many("A", 2), call("C", "three", "each")], "S>A>C"),
    "outer-fails": flow([called(), call("C", "fails"), noop("B")], "S>C>B"),
    "outer-catches": flow(
        [called(), call("C", "fails", onError="continueErrorOutput"), noop("B"), many("E", 2)],
        "S>C>B", "C.1>E",
    ),
    "outer-asks": flow([called(), call("C", "asks"), noop("B")], "S>C>B"),
    "outer-leaves": flow([called(), call("C", "three", waits=False), noop("B")], "S>C>B"),
    "outest": flow([called(), call("C", "outer"), call("D", "outer-each")], "S>C>D"),
}  # fmt: skip


def needed(*flows: Json) -> dict[str, Json]:
    """The callable workflows that `flows` reach, each after those it calls."""
    wanted: set[str] = set()
    todo = list(flows)
    while todo:
        for row in todo.pop()["nodes"]:
            if row["type"].endswith(".executeWorkflow"):
                name = row["parameters"]["workflowId"]["value"]
                if name not in wanted:
                    wanted.add(name)
                    todo.append(CALLABLE[name])
    return {name: flow for name, flow in CALLABLE.items() if name in wanted}
