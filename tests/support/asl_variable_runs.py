"""State machines with their placeholders filled as people fill them, run on moto's interpreter and
held to the referee that follows the order in which tasks were done."""

from __future__ import annotations

import copy
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from asl_play import Compiled
from orgflow.backends.asl.compiled_process import CompiledProcess
from orgflow.backends.asl.engine import FUNCTION, Answer, MotoEngine, Played
from orgflow.backends.asl.format import all_states
from orgflow.backends.asl.variables import CONFLICT, NEVER_SET
from variable_replay import explain
from variable_scenarios import Scenario

from orgflow_ir.model import Task
from orgflow_ir.plugins import Registry

Payload = dict[str, Any]
Filling = Callable[[Mapping[str, Any], Payload], Any]


def _unless(row: Mapping[str, Any], other: Any) -> Any:
    return dict(row) if row else other


FILLINGS: dict[str, Filling] = {
    "fields": lambda row, token: dict(row),
    "keep": lambda row, token: {**token.get("vars", {}), **row},
    "token": lambda row, token: {**token, **row},
    "nothing": lambda row, token: _unless(row, None),
    "list": lambda row, token: _unless(row, [{"ok": "wrong"}, {}, {}]),
    "text": lambda row, token: _unless(row, "done"),
    "other": lambda row, token: {"status": "done", "data": {"ok": "no variable"}, **row},
}
"""What a state in place of a task hands on: the fields it sets, these with all variables or with
its whole input, and where it sets nothing: null, a list, a text."""


class FillingEngine(MotoEngine):
    """moto, whose functions see what they are called with."""

    payload: Payload

    def invoke(self, **call: Any) -> dict[str, Any]:
        """As the engine does it, with the payload kept for the effect."""
        self.local.payload = json.loads(call["Payload"])
        return super().invoke(**call)

    local = threading.local()


def compiled(scenario: Scenario, registry: Registry) -> Compiled:
    """The scenario, compiled as the command does it."""
    return Compiled(scenario.model, registry)


def process_of(made: Compiled) -> CompiledProcess:
    """What its only process was compiled to."""
    assert made.emitted is not None, [d.message for d in made.ctx.diagnostics]
    (found,) = made.emitted.compiled.values()
    assert isinstance(found, CompiledProcess)
    return found


def filled(process: CompiledProcess) -> dict[str, Any]:
    """The machine with a function in place of each task, as `Resource` names it."""
    result = copy.deepcopy(process.definition)
    tasks = {n.id for s in process.graph.scopes.values() for n in s.scope.nodes
             if isinstance(n, Task)}  # fmt: skip
    for name, state in all_states(result):
        info = process.graph.states[name]
        if info.role == "element" and info.element in tasks and state["Type"] == "Pass":
            state["Type"] = "Task"
            del state["Result"]
            state["Resource"] = FUNCTION + info.element.encode().hex()
    return result


def play(
    engine: FillingEngine, scenario: Scenario, made: Compiled, filling: str
) -> tuple[Played, list[tuple[str, str | None]]]:
    """A run, and its tasks in the order in which they were done."""
    process = process_of(made)
    tasks = {t for t, scope in process.graph.scope_of.items()
             if isinstance(scope.graph.nodes[t], Task)}  # fmt: skip
    order: list[tuple[str, str | None]] = []
    visits: Counter[str] = Counter()
    lock = threading.Lock()
    ways = list(FILLINGS)

    def effect(element: str) -> Answer:
        if element not in tasks:
            return Answer({})  # a message
        with lock:
            visit = visits[element]
            visits[element] += 1
            rows = scenario.sets.get(element, ())
            row = dict(rows[visit]) if visit < len(rows) else {}
            error = scenario.errors.get((element, visit))
            order.append((element, error))
            way = ways[(len(element) + visit) % len(ways)] if filling == "alternating" else filling
            if error is not None:
                return Answer(error=error)
            return Answer(FILLINGS[way](row, engine.local.payload))

    engine.load(filled(process))
    return engine.run(dict(scenario.start), effect, 60), order


def fault(
    scenario: Scenario, made: Compiled, played: Played, order: Sequence[tuple[str, str | None]]
) -> str:
    """In what a run is not what the referee says; nothing where it is."""
    if scenario.differ:
        told = played.error == CONFLICT and f"“{scenario.differ}”" in (played.cause or "")
        return "" if told else f"no stop for a conflict: {played.error}, {played.cause}"
    process = scenario.model.processes[0]
    replay, wrong = explain(process, scenario.sets, scenario.start, order)
    if wrong:
        return wrong
    if replay.never_set is not None:
        told = played.error == NEVER_SET and f"“{replay.never_set}”" in (played.cause or "")
        return "" if told else f"{replay.never_set} was never set: {played.error} {played.cause}"
    if replay.stuck is not None:
        return "" if played.status == "FAILED" else f"{replay.stuck}, and it ends well"
    if played.status != "SUCCEEDED":
        return f"{played.status}: {played.error}, {played.cause}"
    if not replay.over:
        return "it ends, and tasks are left to do"
    if scenario.last and scenario.last not in [task for task, _ in order]:
        return f"{scenario.last} was not visited"
    return ""


def verdicts(
    engine: FillingEngine,
    scenarios: Sequence[Scenario],
    registry: Registry,
    fillings: Sequence[str] = (*FILLINGS, "alternating"),
) -> Iterator[tuple[str, str, str]]:
    """Each scenario with each filling: both by name, and the fault."""
    for scenario in scenarios:
        made = compiled(scenario, registry)
        if made.emitted is None:
            errors = [d.message for d in made.ctx.diagnostics if d.severity.value == "error"]
            yield scenario.name, "refused", "; ".join(errors)
            continue
        reported = [*made.told("OF406"), *made.told("OF488")]
        for filling in fillings:
            played, order = play(engine, scenario, made, filling)
            wrong = fault(scenario, made, played, order)
            if wrong and reported:  # the command has said so
                yield scenario.name, "reported", "; ".join(d.message for d in reported)
            else:
                yield scenario.name, filling, wrong
