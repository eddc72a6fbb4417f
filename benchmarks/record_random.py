"""Runs to record: the random workflows of `engine_model_random`, as a plain server can run them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine_model_random import Builder, case
from engine_model_script import Decision, Json
from orgflow.backends.n8n.engine.local import LocalEngine, RunRequest
from server_recording import Scenario

SIZES = (30, 46)
MOST_RUNS = 160
MOST_ITEMS = 60
MOST_STORED = 4


class ServerBuilder(Builder):
    """Without stubs: what they do is done by Code nodes; waits are short or answered."""

    def _stub(self, name: str, index: int) -> Json:
        rng = self.rng
        fails = [rng.random() < 0.3 for _ in range(4)]
        choice = ""
        if self.mode == "error-outputs":
            choice = "continueErrorOutput"
            self.kinds.add("errorOutput")
        elif self.mode == "regular":
            choice = "continueRegularOutput"
        elif rng.random() < 0.7 or self.mode == "retry":
            fails = [False, False, rng.random() < 0.2]
        table = str(fails).lower()
        text = f"if ({table}[$runIndex]) throw new Error('fault');\nreturn $input.all();"
        row = self._add(name, "code", 2, {"jsCode": text}, 1)
        self.outs[-1] = 2 if choice == "continueErrorOutput" else 1
        if choice:
            row["onError"] = choice
        return row

    def _wait(self, name: str, index: int) -> Json:
        kind = self.rng.choice(("timer", "timer", "answer", "limited"))
        self.decisions[(self.flow_id, name)] = Decision("wait", [[True]], kind)
        if kind == "timer":
            parameters: Json = {"resume": "timeInterval", "amount": 0.1, "unit": "seconds"}
            return self._add(name, "wait", 1.1, parameters, 1)
        options = {"webhookSuffix": f"w{index}"}
        parameters = {"resume": "webhook", "httpMethod": "POST", "options": options}
        if kind == "limited":
            parameters |= {
                "limitWaitTime": True, "limitType": "afterTimeInterval",
                "resumeAmount": 30, "resumeUnit": "minutes",
            }  # fmt: skip
        return self._add(name, "wait", 1.1, parameters, 1)


def random_runs(count: int, seed: int) -> Iterator[Scenario]:
    """`count` random workflows of 30-45 nodes that end; which do, n8n's local engine says."""
    found = 0
    with LocalEngine() as engine:
        while found < count:
            drawn = case(seed, ServerBuilder, SIZES)
            run = engine.run_many([_request(drawn.workflow, drawn.workflows, drawn.items)])
            if _fits(next(iter(run)), len(drawn.workflow["nodes"])):
                found += 1
                yield _scenario(seed, drawn.workflow, drawn.workflows, drawn.items, drawn.kinds)
            seed += 1


def _request(workflow: Json, workflows: dict[str, Json], items: int) -> RunRequest:
    limits = {"nodes": MOST_RUNS, "ms": 20_000}
    return RunRequest(workflow, "T", _items(items), workflows, limits=limits)


def _items(items: int) -> list[Json]:
    return [{"json": {"k": index}} for index in range(items)]


def _fits(run: Any, nodes: int) -> bool:
    stored = sum(not wait.in_process for wait in run.waits)
    most = max((max(entry.outputs, default=0) for entry in run.order), default=0)
    long = len(run.order) >= nodes // 3
    return run.status != "limit" and long and stored <= MOST_STORED and most <= MOST_ITEMS


def _scenario(
    seed: int, workflow: Json, workflows: dict[str, Json], items: int, kinds: set[str]
) -> Scenario:
    pinned = {**workflow, "pinData": {"T": _items(items)}}
    used = {
        row["parameters"]["workflowId"]["value"]
        for flow in (workflow, *workflows.values())
        for row in flow["nodes"]
        if row["type"].endswith(".executeWorkflow")
    }
    called = {name: flow for name, flow in workflows.items() if name in used}
    shown = ("random", *sorted(kinds & {"inclusive", "call waited", "call not waited"}))
    return Scenario(f"random {seed}", pinned, "T", None, called, {}, shown)
