"""From a run of the model to the answers of the environment of its state machine, visit by
visit."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from orgflow.backends.asl.collections import is_multi_instance
from orgflow.backends.asl.engine import Answer
from orgflow.backends.asl.graph import ScopeGraph, branch_fields
from orgflow.backends.asl.times import timer_seconds

from orgflow_ir.flow.token_game.stub_data import Unplayable, data_stimuli, stub_data
from orgflow_ir.model import Event, SubProcess, Task
from orgflow_ir.model.records import dataclass

if TYPE_CHECKING:
    from orgflow.backends.asl.compiled_process import CompiledProcess

    from orgflow_ir.flow.token_game.runs import Run


@dataclass
class StubData:
    """The execution's input, and the answers of stubs and callbacks by element, one per visit."""

    input: dict[str, Any] = field(default_factory=dict)
    results: dict[str, list[Answer]] = field(default_factory=dict)


def stub_data_of(compiled: CompiledProcess, run: Run) -> StubData:
    """The script of one run. Raises `Unplayable`."""
    graph = compiled.graph
    decisions = list(graph.decisions.values())
    result = StubData()
    before = {g: graph.variables.setters_of(g) for g in graph.decisions}
    for setter, rows in stub_data(data_stimuli(decisions, run, before)).items():
        for row in rows:
            for decision in decisions:
                if decision.setter == setter and decision.several and decision.variable in row:
                    chosen = set(row[decision.variable])
                    fields = branch_fields(decision)
                    row[decision.variable] = {
                        fields[b.flow.id]: b.value in chosen
                        for b in decision.branches
                        if b.flow.id in fields
                    }
        if setter in graph.places:
            result.results[setter] = [Answer(row) for row in rows]
        else:
            for row in rows:
                result.input.update(row)
    if run.start in compiled.starts:
        result.input["start"] = compiled.starts[run.start]
    for scope in graph.scopes.values():
        _add_outside(scope, compiled, run, result)
    return result


def _add_outside(scope: ScopeGraph, compiled: CompiledProcess, run: Run, result: StubData) -> None:
    """What comes from outside: the event that came first, errors that are caught, lists."""
    for node in scope.scope.nodes:
        visits = run.script.get(node.id, ())
        if is_multi_instance(node):
            assert isinstance(node, Task | SubProcess)
            assert node.loop is not None
            result.input[str(node.loop.collection)] = ["item"]
        if node.id in compiled.races:
            result.results[node.id] = [_first_event(scope, compiled, node.id, v) for v in visits]
        elif isinstance(node, Task) and visits:
            caught = [e for e in scope.scope.nodes if isinstance(e, Event)]
            caught = [e for e in caught if e.attached_to == node.id]
            if caught:
                _add_attempts(scope, compiled, node.id, caught, visits, result)


def _first_event(
    scope: ScopeGraph, compiled: CompiledProcess, gateway: str, taken: tuple[str, ...]
) -> Answer:
    values = compiled.races[gateway]
    target = next((f.target for f in scope.graph.flows_out(gateway) if f.id in taken), None)
    if target is None:
        raise Unplayable(f"nothing comes at `{gateway}`")
    event = scope.graph.nodes[target]
    others = [scope.graph.nodes[t] for t in values]
    if isinstance(event, Event) and timer_seconds(event) and _is_first(event, others):
        return Answer(error="States.Timeout")
    return Answer({"event": values[target]})


def _is_first(event: Event, others: list[Any]) -> bool:
    lengths = [s for e in others if isinstance(e, Event) and (s := timer_seconds(e))]
    return timer_seconds(event) == min(lengths)


def _add_attempts(
    scope: ScopeGraph,
    compiled: CompiledProcess,
    task: str,
    caught: list[Event],
    visits: tuple[tuple[str, ...], ...],
    result: StubData,
) -> None:
    done = result.results.get(task, [])
    rows: list[Answer] = []
    for taken in visits:
        error = None
        for event in caught:
            if taken and taken == tuple(f.id for f in scope.graph.flows_out(event.id)):
                error = compiled.catches[event.id]
        if error is not None:
            rows.append(Answer(error="orgflow.Failed" if error == "States.ALL" else error))
        else:  # what the run's decisions need is counted by visits that are done
            rows.append(done.pop(0) if done else Answer({}))
    result.results[task] = rows
