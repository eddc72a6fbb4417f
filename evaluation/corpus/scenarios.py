"""Scenarios: runs of a model as the tasks that people do one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.token_game.runs import enumerate_runs
from orgflow_ir.model import Model, Process, Scope, SubProcess, Task
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.targets import executable_processes

MAX_REPEATS = 2
"""So often a task is told in one scenario; more passes of a loop say nothing new."""


class Done(NamedTuple):
    """A task in a scenario.

    Attributes:
        element: its id in the model.
        name: its name in the model.
        actor: the lane or the pool it is in; empty where the model names none.
    """

    element: str
    name: str
    actor: str


class Scenario(NamedTuple):
    """One run: its process and its tasks."""

    process: str
    id: str
    tasks: tuple[Done, ...]


class Source(NamedTuple):
    """A process with its scenarios, and what the truth says of it."""

    key: str
    name: str
    description: str
    scenarios: tuple[Scenario, ...]


def list_sources(
    models: Sequence[tuple[str, Model]], scenarios: int, fewest: int = 4
) -> list[Source]:
    """The processes of models with up to so many scenarios each.

    Args:
        models: each with a key that its processes are called by.
        scenarios: of a process; runs are chosen so that they take as many flows as they can, and
            repeated where there are fewer.
        fewest: tasks of a run; a process with shorter ones only is left out.
    """
    sources: list[Source] = []
    for key, model in models:
        processes = [p for p in executable_processes(model) if _collect_names(p)]
        for number, process in enumerate(processes, 1):
            name = key if len(processes) == 1 else f"{key}.{number}"
            runs = enumerate_runs(model, process.id, max_runs=max(scenarios, 8)).runs
            histories = [
                t
                for t in (_list_done_tasks(process, run.steps) for run in runs)
                if len(t) >= fewest
            ]
            histories = list(dict.fromkeys(histories))
            if not histories:
                continue
            histories = [histories[i % len(histories)] for i in range(scenarios)]
            sources.append(
                Source(
                    name, process.name or model.name or "", process.doc or "",
                    tuple(Scenario(name, f"{name}-{i}", t) for i, t in enumerate(histories, 1)),
                )
            )  # fmt: skip
    return sources


def _collect_names(process: Process) -> dict[str, str]:
    """The names of tasks that have one, those of sub-processes too."""
    names: dict[str, str] = {}
    scopes: list[Scope] = [process]
    while scopes:
        for node in scopes.pop().nodes:
            if isinstance(node, SubProcess):
                scopes.append(node)
            elif isinstance(node, Task) and node.name:
                names[node.id] = " ".join(node.name.split())
    return names


def _list_done_tasks(process: Process, steps: Sequence[Step]) -> tuple[Done, ...]:
    names = _collect_names(process)
    lanes = {member: lane.name or "" for lane in process.lanes for member in lane.members}
    seen: dict[str, int] = {}
    done: list[Done] = []
    for step in steps:
        element = step.element
        if step.action == "open" or element not in names:
            continue
        seen[element] = seen.get(element, 0) + 1
        if seen[element] <= MAX_REPEATS:
            done.append(Done(element, names[element], lanes.get(element, "")))
    return tuple(done)
