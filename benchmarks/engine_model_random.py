"""Random n8n workflows for `engine_model_fuzz`, each with the script of `engine_model_script`."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any

from engine_model_script import Case, Decision, Json, Key


class Builder:
    """Makes one workflow of a case.

    Edges forward are drawn at random; edges back leave decisions only, which go forward once their
    table is used up, so that most runs end.
    """

    def __init__(self, rng: random.Random, flow_id: str | None, size: int, callable_: list[str]):
        self.rng = rng
        self.flow_id = flow_id
        self.size = size
        self.callable = callable_
        self.nodes: list[Json] = []
        self.connections: Json = {}
        self.decisions: dict[Key, Decision] = {}
        self.stubs: dict[str, Json] = {}
        self.answers: dict[str, list[Any]] = {}
        self.kinds: set[str] = set()
        self.outs: list[int] = []
        self.back: dict[int, int] = {}
        # Items that look like errors are data: modes keep them from nodes that act on them.
        self.mode = rng.choice(("error-outputs", "regular", "plain", "retry"))

    def build(self, density: float, loops: float) -> Json:
        rng = self.rng
        start = "manualTrigger" if self.flow_id is None else "executeWorkflowTrigger"
        parameters = {} if self.flow_id is None else {"inputSource": "passthrough"}
        self._add("T", start, 1 if self.flow_id is None else 1.2, parameters, 1)
        while len(self.nodes) < self.size:
            self._node(len(self.nodes))
        for target in range(1, self.size):
            self._wire_in(target)
        for _ in range(int(density * self.size)):
            source = rng.randrange(self.size - 1)
            self._connect(source, self._output(source), rng.randrange(source + 1, self.size))
        for source in [index for index in self.back if rng.random() < loops]:
            target = rng.randrange(1, source + 1)
            slot = rng.randrange(self._inputs(target)) if rng.random() < 0.7 else 0
            self._connect(source, self.back[source], target, slot)
        if rng.random() < 0.5:
            rng.shuffle(self.nodes)
        workflow: Json = {
            "nodes": self.nodes,
            "connections": self.connections,
            "settings": {"executionOrder": "v1"},
        }
        return workflow

    def _add(self, name: str, kind: str, version: float, parameters: Json, outs: int) -> Json:
        row: Json = {
            "name": name,
            "type": f"n8n-nodes-base.{kind}",
            "typeVersion": version,
            "position": [self.rng.randrange(4) * 100, self.rng.randrange(6) * 100],
            "parameters": parameters,
        }
        self.nodes.append(row)
        self.outs.append(outs)
        return row

    def _node(self, index: int) -> None:
        rng = self.rng
        name = str(index) if rng.random() < 0.06 else f"N{index}"
        kinds = {
            "noop": 26, "if": 17, "switch": 10, "filter": 3, "code": 4, "merge": 22, "stub": 6,
            "wait": 4, "batches": 2, "stop": 1, "call": 5 if self.callable else 0,
        }  # fmt: skip
        kind = rng.choices(list(kinds), list(kinds.values()))[0]
        row = getattr(self, f"_{kind}")(name, index)
        self.kinds.add(kind)
        self._options(row, kind)

    def _options(self, row: Json, kind: str) -> None:
        rng = self.rng
        if rng.random() < 0.03 and kind != "call":
            row["disabled"] = True
            self.kinds.add("disabled")
        if rng.random() < 0.06:
            row["executeOnce"] = True
            self.kinds.add("executeOnce")
        if rng.random() < 0.04 and self.mode != "error-outputs":
            row["alwaysOutputData"] = True
            self.kinds.add("alwaysOutputData")
        chosen = row.get("onError")
        if chosen is None and self.mode == "error-outputs" and rng.random() < 0.08:
            row["onError"] = chosen = "continueErrorOutput"
            self.kinds.add("errorOutput")
            self.outs[-1] += 1
        decision = self.decisions.get((self.flow_id, row["name"]))
        if decision is not None and chosen is not None:
            decision.on_error = chosen

    def _noop(self, name: str, index: int) -> Json:
        return self._add(name, "noOp", 1, {}, 1)

    def _rows(self, values: list[Any]) -> list[list[Any]]:
        width = self.rng.randrange(1, 4)
        rows = range(self.rng.randrange(1, 5))
        return [[self.rng.choice(values) for _ in range(width)] for _ in rows]

    def _decision(self, name: str, kind: str, values: list[Any], last: Any, outs: int) -> Decision:
        decision = Decision(kind, self._rows(values), last, outs)
        self.decisions[(self.flow_id, name)] = decision
        return decision

    def _if(self, name: str, index: int) -> Json:
        back = self.rng.randrange(2)
        self.back[index] = back
        decision = self._decision(name, "if", [0, 1], 1 - back, 2)
        return self._add(name, "if", 2.3, conditions(f"({decision.text()}) === 0"), 2)

    def _filter(self, name: str, index: int) -> Json:
        decision = self._decision(name, "filter", [0, 0, 1], 0, 2)
        return self._add(name, "filter", 2.3, conditions(f"({decision.text()}) === 0"), 1)

    def _switch(self, name: str, index: int) -> Json:
        rng = self.rng
        outs = rng.randrange(2, 5)
        self.back[index] = back = rng.randrange(outs)
        forward = [output for output in range(outs) if output != back]
        style = rng.choice(("expression", "first", "all", "all"))
        if style == "expression":
            decision = self._decision(name, "switch", list(range(outs)), forward[0], outs)
            text = "={{ " + decision.text() + " }}"
            parameters: Json = {"mode": "expression", "numberOutputs": outs, "output": text}
            return self._add(name, "switch", 3.4, parameters, outs)
        extra = rng.random() < 0.5
        rules = outs - extra
        none = outs - 1 if extra else -1  # no rule holds
        if style == "first":
            values: list[Any] = [*range(rules), none]
        else:
            values = [sorted(rng.sample(range(rules), rng.randrange(1, rules + 1))) for _ in "abc"]
            values.append([none] if extra else [])
            forward = [output for output in forward if output < rules] or [max(none, 0)]
            self.kinds.add("inclusive split")
        last: Any = forward[0] if style == "first" else [forward[0]]
        decision = self._decision(name, "switch", values, last, outs)
        read = f"[{decision.text()}].flat()"
        options: Json = {"fallbackOutput": "extra"} if extra else {}
        if style == "all":
            options["allMatchingOutputs"] = True
        rows = [
            {**conditions(f"{read}.includes({rule})"), "renameOutput": True, "outputKey": str(rule)}
            for rule in range(rules)
        ]
        parameters = {"mode": "rules", "rules": {"values": rows}, "options": options}
        return self._add(name, "switch", 3.4, parameters, outs)

    def _code(self, name: str, index: int) -> Json:
        decision = self._decision(name, "code", [0, 1, 1, 2, 3], 1, 1)
        decision.rows = [row[:1] for row in decision.rows]
        text = f"const rows = {json.dumps([row[0] for row in decision.rows])};\n"
        text += "const n = rows[$runIndex] ?? 1;\n"
        text += "return Array.from({ length: n }, (_, i) => ({ json: { i } }));"
        return self._add(name, "code", 2, {"jsCode": text}, 1)

    def _merge(self, name: str, index: int) -> Json:
        rng = self.rng
        inputs = rng.choice((2, 2, 2, 3, 3, 4, 5))
        row = self._add(name, "merge", 3.2, {}, 1)
        row["_inputs"] = inputs
        draw = rng.random()
        if draw < 0.06:
            row["typeVersion"], row["_inputs"] = 2.1, 2
            modes = (
                {"mode": "append"},
                {"mode": "chooseBranch", "chooseBranchMode": "waitForBoth", "output": "input2"},
                {"mode": "combine", "combinationMode": "mergeByPosition", "options": {}},
                {"mode": "combine", "combinationMode": "multiplex", "options": {}},
            )
            row["parameters"] = dict(rng.choice(modes))
        elif draw < 0.1:
            row["typeVersion"], row["_inputs"] = 1, 2
            names = ("append", "passThrough", "multiplex", "mergeByIndex")
            row["parameters"] = {"mode": rng.choice(names), "join": rng.choice(("inner", "outer"))}
        elif draw < 0.35:
            self.kinds.add("append")
            row["parameters"] = {"mode": "append", "numberInputs": inputs}
        elif draw < 0.45:
            used = str(rng.randrange(1, inputs + 1))
            row["parameters"] = {
                "mode": "chooseBranch", "numberInputs": inputs, "useDataOfInput": used
            }  # fmt: skip
        elif draw < 0.48:
            row["parameters"] = {"mode": "combine", "combineBy": "combineAll", "options": {}}
            row["_inputs"] = 2
        else:
            unpaired = rng.random() < 0.5
            if unpaired:
                self.kinds.add("inclusive")
            row["parameters"] = {
                "mode": "combine", "combineBy": "combineByPosition", "numberInputs": inputs,
                "options": {"includeUnpaired": True} if unpaired else {},
            }  # fmt: skip
        return row

    def _stub(self, name: str, index: int) -> Json:
        rng = self.rng
        errors = [rng.random() < 0.3 for _ in range(4)]
        decision = Decision("stub", [errors], None)
        row = self._add(name, "noOp", 1, {}, 1)
        if self.mode == "error-outputs":
            row["onError"] = "continueErrorOutput"
            self.kinds.add("errorOutput")
            self.outs[-1] = 2
        elif self.mode == "regular":
            row["onError"] = "continueRegularOutput"
        elif self.mode == "retry" and self.flow_id is None:
            decision.rows = [[False]]
        elif rng.random() < 0.7:
            decision.rows = [[False, False, rng.random() < 0.2]]
        self.decisions[(self.flow_id, name)] = decision
        place = name if self.flow_id is None else f"{self.flow_id}/{name}"
        errors = decision.rows[0]
        self.stubs[place] = {"errors": ["fault" if fails else None for fails in errors]}
        return row

    def _wait(self, name: str, index: int) -> Json:
        rng = self.rng
        kind = rng.choice(("short", "long", "answer", "limited", "form"))
        if kind in ("short", "long"):
            amount = 5 if kind == "short" else 500
            parameters: Json = {"resume": "timeInterval", "amount": amount, "unit": "seconds"}
            answers: list[bool] = []
        else:
            fields = {"values": [{"fieldLabel": "ok", "fieldName": "ok"}]}
            parameters = {"resume": "webhook", "httpMethod": "POST", "options": {}}
            if kind == "form":
                parameters = {"resume": "form", "formTitle": "t", "formFields": fields}
            if kind == "limited":
                parameters |= {
                    "limitWaitTime": True, "limitType": "afterTimeInterval",
                    "resumeAmount": 5, "resumeUnit": "minutes",
                }  # fmt: skip
            sure = 0.5 if kind == "limited" else 0.97 if self.flow_id is None else 1.0
            answers = [rng.random() < sure for _ in range(3)]
            place = name if self.flow_id is None else f"{self.flow_id}/{name}"
            self.answers[place] = [{} if answered else None for answered in answers]
        self.decisions[(self.flow_id, name)] = Decision("wait", [answers], kind)
        return self._add(name, "wait", 1.1, parameters, 1)

    def _batches(self, name: str, index: int) -> Json:
        size = self.rng.randrange(1, 3)
        self.back[index] = 1
        return self._add(name, "splitInBatches", 3, {"batchSize": size, "options": {}}, 2)

    def _stop(self, name: str, index: int) -> Json:
        parameters = {"errorType": "errorMessage", "errorMessage": "stopped"}
        row = self._add(name, "stopAndError", 1, parameters, 1)
        draw = self.rng.random()
        if draw < 0.4 and self.mode != "error-outputs":
            row["onError"] = "continueRegularOutput"
        return row

    def _call(self, name: str, index: int) -> Json:
        rng = self.rng
        waits = rng.random() < 0.75
        parameters = {
            "source": "database",
            "workflowId": {"__rl": True, "mode": "id", "value": rng.choice(self.callable)},
            "workflowInputs": {"mappingMode": "defineBelow", "value": {}},
            "mode": rng.choice(("once", "once", "each")),
            "options": {"waitForSubWorkflow": waits},
        }
        row = self._add(name, "executeWorkflow", 1.4, parameters, 1)
        self.kinds.add("call waited" if waits else "call not waited")
        if self.mode == "retry":
            row["retryOnFail"] = True
            self.kinds.add("retry")
            row["maxTries"] = rng.randrange(2, 4)
        elif self.mode == "regular" and rng.random() < 0.7:
            row["onError"] = "continueRegularOutput"
        return row

    def _inputs(self, target: int) -> int:
        return int(self.nodes[target].get("_inputs", 1))

    def _output(self, source: int) -> int:
        outs = self.outs[source]
        if source in self.back and outs > 1 and self.rng.random() < 0.6:
            back = self.back[source]
            return self.rng.choice([output for output in range(outs) if output != back])
        return self.rng.randrange(outs)

    def _wire_in(self, target: int) -> None:
        rng = self.rng
        inputs = self._inputs(target)
        for slot in range(inputs):
            if inputs > 1 and rng.random() < 0.05:
                continue
            source = max(0, target - 1 - int(rng.expovariate(0.45)))
            self._connect(source, self._output(source), target, slot)
            if inputs > 1 and rng.random() < 0.06:
                source = rng.randrange(target)
                self._connect(source, self._output(source), target, slot)
        if inputs == 1 and rng.random() < 0.02:
            source = rng.randrange(target)
            self._connect(source, self._output(source), target, 1)
            self.kinds.add("second input")

    def _connect(self, source: int, output: int, target: int, slot: int | None = None) -> None:
        if slot is None:
            slot = self.rng.randrange(self._inputs(target))
        name = self.nodes[source]["name"]
        outputs = self.connections.setdefault(name, {"main": []})["main"]
        while len(outputs) <= output:
            outputs.append([])
        wire = {"node": self.nodes[target]["name"], "type": "main", "index": slot}
        outputs[output].append(wire)
        if self.rng.random() < 0.01:
            outputs[output].append(dict(wire))
            self.kinds.add("duplicate wire")


def conditions(expression: str) -> Json:
    """Parameters of an If, a Filter or a Switch rule that holds where `expression` is true."""
    condition = {
        "leftValue": "={{ " + expression + " }}",
        "rightValue": "",
        "operator": {"type": "boolean", "operation": "true", "singleValue": True},
    }
    options = {"caseSensitive": True, "leftValue": "", "typeValidation": "strict", "version": 2}
    held = {"options": options, "combinator": "and", "conditions": [condition]}
    return {"conditions": held, "options": {}}


def case(seed: int, make: type[Builder] = Builder, sizes: tuple[int, int] = (8, 61)) -> Case:
    """The case of a seed; `sizes`: the fewest nodes of its main workflow, and one more than most.

    Another builder makes the same graphs where it draws as this one does.
    """
    rng = random.Random(seed)
    called: dict[str, Json] = {}
    builders: list[Builder] = []
    callable_: list[str] = []
    if rng.random() < 0.4:
        for index in range(rng.randrange(1, 3)):
            child = make(rng, f"sub{index}", rng.randrange(2, 9), list(callable_))
            builders.append(child)
    mode = rng.choice(("error-outputs", "regular", "plain", "retry"))
    for child in builders:
        assert child.flow_id is not None
        child.mode, child.callable = mode, list(callable_)
        called[child.flow_id] = child.build(0.1, 0.4)
        callable_.append(child.flow_id)
    main = make(rng, None, rng.randrange(*sizes), callable_)
    main.mode = mode
    workflow = main.build(rng.choice((0.05, 0.12, 0.2)), rng.choice((0.1, 0.4, 0.8)))
    builders.append(main)
    for row in [*workflow["nodes"], *(row for flow in called.values() for row in flow["nodes"])]:
        row.pop("_inputs", None)
    decisions: dict[Key, Decision] = {}
    stubs: dict[str, Json] = {}
    answers: dict[str, list[Any]] = {}
    kinds: set[str] = set()
    for builder in builders:
        decisions |= builder.decisions
        stubs |= builder.stubs
        answers |= builder.answers
        kinds |= builder.kinds
    items = rng.choice((1, 1, 1, 2, 3))
    return Case(seed, workflow, called, items, decisions, stubs, answers, kinds)


def wires_of(workflow: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The connections of a workflow as pairs of names."""
    return [
        (source, wire["node"])
        for source, kinds in workflow["connections"].items()
        for output in kinds["main"]
        for wire in output
    ]
