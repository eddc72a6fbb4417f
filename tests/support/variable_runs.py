"""Compiled workflows with their placeholders filled as people fill them, run on n8n's engine and
held to the oracle of process variables."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from orgflow.backends.n8n.backend import N8nBackend
from orgflow.backends.n8n.emit.compiled import CompiledProcess
from orgflow.backends.n8n.engine.local import EngineRun, LocalEngine, RunRequest
from orgflow.backends.n8n.format.identity import tag_of
from orgflow.backends.n8n.plan.actions import WebhookStart
from orgflow.backends.n8n.plan.target import N8N_TARGET
from played_models import ONE_EXECUTION
from variable_oracle import Outcome, play
from variable_scenarios import Scenario

from orgflow_ir.legalisation.legalise import legalise
from orgflow_ir.model import Task
from orgflow_ir.pipeline import PassContext

FILLINGS = ("keep", "replace", "drop", "many", "many new", "alternating")
"""What a filled task does with its item: it adds its fields to it, replaces it, hands on none
where it sets nothing, hands on three (also as a new node, without the placeholder's settings), or
one after the other."""

_WRONG = "a later item, which does not count"


class RefusedError(ValueError):
    """The command does not compile a scenario for n8n."""


def compiled(scenario: Scenario) -> CompiledProcess:
    """The scenario's process in one execution, compiled as the command does it: nodes of people are
    in the place of its tasks. Raises `RefusedError`."""
    ctx = PassContext(options=dict(ONE_EXECUTION))
    legal = legalise(scenario.model, N8N_TARGET, ctx, allow_lossy=False)
    if ctx.has_errors:
        raise RefusedError("; ".join(d.message for d in ctx.diagnostics))
    made = N8nBackend().emit(legal, ctx)
    assert made.artifacts, [d.message for d in ctx.diagnostics]
    (process,) = made.compiled.values()
    assert isinstance(process, CompiledProcess)
    return process


def filled(
    workflow: Mapping[str, Any],
    sets: Mapping[str, Sequence[Mapping[str, Any]]],
    filling: str,
    tasks: Iterable[str],
) -> dict[str, Any]:
    """A workflow with a Code node in place of each task."""
    result: dict[str, Any] = copy.deepcopy(dict(workflow))
    names = sorted({name for rows in sets.values() for row in rows for name in row})
    wanted = set(tasks)
    number = 0
    for row in result["nodes"]:
        tag = tag_of(row.get("notes"))
        if tag is None or tag[1] or tag[0] not in wanted:
            continue
        number += 1
        row["type"], row["typeVersion"] = "n8n-nodes-base.code", 2
        row["parameters"] = {"jsCode": _code(sets.get(tag[0], ()), names, filling, number)}
        if filling == "many new":
            row.pop("executeOnce", None)
            row.pop("alwaysOutputData", None)
    return result


def _code(
    rows: Sequence[Mapping[str, Any]], names: Sequence[str], filling: str, number: int
) -> str:
    others = dict.fromkeys(names, _WRONG)
    return f"""
const rows = {json.dumps(list(rows))};
const row = rows[$runIndex] ?? {{}};
const ways = ['keep', 'replace', 'drop', 'many'];
const filling = {json.dumps(filling)};
const way = filling === 'alternating' ? ways[({number} + $runIndex) % 4] : filling;
if (way === 'keep') return [{{ json: {{ ...$input.first().json, ...row }} }}];
if (way === 'replace') return [{{ json: {{ status: 'done', ...row }} }}];
if (way === 'drop') return Object.keys(row).length ? [{{ json: row }}] : [];
return [row, {json.dumps(others)}, {{}}].map((json) => ({{ json }}));
"""


class Verdict(NamedTuple):
    """How a run compares with the oracle; `fault` is empty where it is right."""

    scenario: str
    filling: str
    fault: str


def request(scenario: Scenario, process: CompiledProcess, filling: str) -> RunRequest:
    """The run of a scenario with its tasks filled."""
    tasks = [n.id for scope in scenario.model.scopes() for n in scope.nodes if isinstance(n, Task)]
    root = process.root
    trigger = next(n for n in root.plan.workflow_graph.nodes.values() if n.role == "trigger")
    start = dict(scenario.start)
    item = (
        {"headers": {"amount": 1}, "params": {}, "query": {}, "body": start}
        if isinstance(trigger.action, WebhookStart)
        else start
    )
    inner = {
        s.plan.scope.workflow_id: filled(s.workflow, scenario.sets, filling, tasks)
        for s in process.scopes
        if s.plan.scope.called
    }
    return RunRequest(
        filled(root.workflow, scenario.sets, filling, tasks),
        trigger.name,
        items=[{"json": item}],
        workflows=inner or None,
        limits={"nodes": 3_000, "ms": 30_000},
    )


def verdicts(
    engine: LocalEngine, made: Sequence[Scenario], fillings: Sequence[str] = FILLINGS
) -> Iterator[Verdict]:
    """Each scenario with each filling, judged."""
    cases = []
    for scenario in made:
        try:
            process = compiled(scenario)
        except RefusedError as error:
            yield Verdict(scenario.name, "refused", str(error))
        else:
            cases += [(scenario, process, filling) for filling in fillings]
    runs = engine.run_many(request(*case) for case in cases)
    for (scenario, process, filling), run in zip(cases, runs, strict=True):
        wanted = play(scenario.model.processes[0], scenario.sets, scenario.start)
        yield Verdict(scenario.name, filling, fault(scenario, process, run, wanted))


def fault(scenario: Scenario, process: CompiledProcess, run: EngineRun, wanted: Outcome) -> str:
    """In what a run is not what the oracle says; nothing where it is."""
    if scenario.differ:
        said = f'Parallel branches left different values in "{scenario.differ}"'
        return "" if said in (run.error or "") else f"no stop for a conflict: {run.error}"
    if wanted.never_set is not None:
        said = f"“{wanted.never_set}"
        stopped = run.status == "error" and said in (run.error or "")
        return "" if stopped else f"{wanted.never_set} was never set, and n8n says {run.error}"
    if wanted.stuck is not None:
        return "" if run.status != "success" else f"{wanted.stuck}, and n8n ends well"
    if run.status != "success":
        return f"{run.status}: {run.error}"
    visits = visited(process, run)
    if visits != wanted.visits:
        return f"visits {dict(visits)}, not {dict(wanted.visits)}"
    order = [n.node for n in run.order]
    last = next((name for name in reversed(order) if name in _named(process, scenario.last)), None)
    if scenario.last and last is None:
        return f"{scenario.last} was not visited"
    return ""


def visited(process: CompiledProcess, run: EngineRun) -> Counter[str]:
    """How often each task ran."""
    tasks = {
        (s.plan.scope.workflow_id if s.plan.scope.called else None, n.name): n.element
        for s in process.scopes
        for n in s.plan.workflow_graph.nodes.values()
        if n.role == "element" and isinstance(s.plan.graph.nodes.get(n.element), Task)
    }
    found = (tasks.get((n.workflow, n.node)) for n in run.order)
    return Counter(name for name in found if name is not None)


def _named(process: CompiledProcess, element: str) -> list[str]:
    return [
        n.name
        for s in process.scopes
        for n in s.plan.workflow_graph.nodes.values()
        if n.role == "element" and n.element == element
    ]
