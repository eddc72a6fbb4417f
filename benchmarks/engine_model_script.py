"""A random workflow's script: what is decided in it, for the engine and for the model alike.

A decision is a table of values by run index and item index; the same table is written into the
node's expression or stub and read by `Script.decide`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from orgflow.backends.n8n.engine.local import RunRequest
from orgflow.backends.n8n.engine_model import (
    FAILS,
    RUNS,
    Counts,
    Emits,
    Opens,
    Outcome,
    Phase,
    Place,
    Resumes,
    Stays,
)

Json = dict[str, Any]
Key = tuple[str | None, str]


@dataclass
class Decision:
    """What is scripted for one node: values by run and item, else `last`."""

    kind: str
    rows: list[list[Any]]
    last: Any
    outputs: int = 1
    on_error: str = ""
    extra: bool = False

    def value(self, run: int, item: int) -> Any:
        if run >= len(self.rows):
            return self.last
        row = self.rows[run]
        return row[item % len(row)]

    def text(self) -> str:
        """The same as JavaScript, without two closing braces in a row."""
        width = len(self.rows[0]) if self.rows else 1
        rows = json.dumps(self.rows)
        return f"({rows}[$runIndex] ?? [])[$itemIndex % {width}] ?? {json.dumps(self.last)}"


@dataclass
class Case:
    """One workflow with its sub-workflows and script."""

    seed: int
    workflow: Json
    workflows: dict[str, Json]
    items: int
    decisions: dict[Key, Decision]
    stubs: dict[str, Json]
    answers: dict[str, list[Any]]
    kinds: set[str] = field(default_factory=set)

    def request(self, limit: int) -> RunRequest:
        return RunRequest(
            workflow=self.workflow,
            trigger="T",
            items=[{"json": {"k": index}} for index in range(self.items)],
            workflows=self.workflows,
            stubs=self.stubs,
            answers=self.answers,
            limits={"nodes": limit, "ms": 30_000},
        )

    def script(self) -> Script:
        return Script(self)


class Script:
    """Decides as the case says; for one run."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.visits: dict[Key, int] = {}
        self.answered: dict[Key, int] = {}

    def decide(self, place: Place, run: int) -> Outcome:
        key = (place.workflow, place.node)
        decision = self.case.decisions.get(key)
        if place.phase is Phase.SLEEPING:
            return Resumes(None)
        if place.phase is Phase.PARKED:
            return self._answer(key, decision)
        if place.kind == "disabled" or decision is None or not any(place.inputs):
            return RUNS
        if decision.kind == "wait":
            return Opens(decision.last == "short")
        if decision.kind == "stub":
            return self._stub(key, decision, place.inputs[0])
        return Emits(emitted(decision, run, place.inputs[0]))

    def _answer(self, key: Key, decision: Decision | None) -> Outcome:
        assert decision is not None
        if decision.last == "long":
            return Resumes(None)
        visit = self.answered.get(key, 0)
        self.answered[key] = visit + 1
        answer = decision.rows[0][visit] if visit < len(decision.rows[0]) else True
        if answer:
            return Resumes(1)
        return Resumes(None) if decision.last == "limited" else Stays()

    def _stub(self, key: Key, decision: Decision, items: int) -> Outcome:
        visit = self.visits.get(key, 0)
        self.visits[key] = visit + 1
        fails = visit < len(decision.rows[0]) and decision.rows[0][visit]
        if not fails:
            return RUNS
        if decision.on_error == "continueErrorOutput":
            return Emits((0, items))
        return Emits((items,)) if decision.on_error == "continueRegularOutput" else FAILS


def emitted(decision: Decision, run: int, items: int) -> Counts:
    """The items on each output of a deciding node in its run `run`."""
    counts = [0] * decision.outputs
    if decision.kind == "code":
        return (decision.value(run, 0),)
    for item in range(items):
        value = decision.value(run, item)
        for output in value if isinstance(value, list) else [value]:
            if output >= 0:
                counts[output] += 1
    if decision.on_error == "continueErrorOutput":
        declared = decision.outputs - (decision.kind == "filter")
        return (*counts[:declared], 0)
    return tuple(counts)
