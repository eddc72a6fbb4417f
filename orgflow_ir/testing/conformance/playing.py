"""The contract of runners: a run on the target is a run of the model, with the same choices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from orgflow_ir.flow.token_game.replay import follow_execution
from orgflow_ir.flow.token_game.runs import Run, enumerate_runs
from orgflow_ir.flow.token_game.semantics import Game, Policy
from orgflow_ir.legalisation.legalise import legalise
from orgflow_ir.model import Model, Opaque, Process, Task
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.plugins.runners import Runner, RunResult
from orgflow_ir.targets import executable_processes
from orgflow_ir.testing.conformance.emission import build_context

MAX_RUNS = 8
"""Maximum number of runs played per small model."""


def run_problems(
    backend: Backend, models: Iterable[tuple[str, Model]], runner: Runner
) -> tuple[list[str], int]:
    """All problems with runs of the models that the target supports, and the number of runs played,
    without those that depend on when something happens (`unplayable`).

    Raises `RunnerError` if the engine is missing.
    """
    problems: list[str] = []
    played = 0
    for name, model in models:
        ctx = build_context(backend)
        legal = legalise(model, backend.target, ctx, allow_lossy=False)
        if ctx.has_errors:
            continue
        emitted = backend.emit(legal, ctx)
        if ctx.has_errors:
            continue
        meant = runner.meaning(model)
        game = Game(meant, Policy(once=True))
        for process in executable_processes(meant):
            runs = enumerate_runs(meant, process.id, max_runs=MAX_RUNS, game=game).runs
            if not runs:
                continue
            runner.load(emitted, process.id, build_context(backend))
            results = list(runner.play(runs))
            process_problems = list(_play_problems(game, process, runs, results, runner))
            played += sum(result.status != "unplayable" for result in results)
            problems += [f"{name}: {p}" for p in process_problems]
    if not played and not problems:
        problems.append("there is a runner, but no model that it can execute")
    return problems, played


def _play_problems(
    game: Game,
    process: Process,
    runs: tuple[Run, ...],
    results: Sequence[RunResult],
    runner: Runner,
) -> Iterator[str]:
    visible = runner.visible & {n.id for n in process.nodes}
    if len(results) != len(runs):
        yield f"{len(results)} results were returned for {len(runs)} runs"
        return
    reasons = [result.error for result in results if result.status == "unplayable"]
    if len(reasons) == len(runs):
        yield f"none of its {len(runs)} runs can be executed: {reasons[0]}"
        return
    for number, (run, result) in enumerate(zip(runs, results, strict=True), 1):
        if result.status == "unplayable" and result.error:
            continue  # it depends on when something happens
        problem = _judge_run(game, process, run, result, visible)
        if problem is not None:
            yield f"run {number}: {problem}"


def _judge_run(
    game: Game, process: Process, run: Run, result: RunResult, visible: frozenset[str]
) -> str | None:
    """The problem of one executed run, or `None`."""
    if result.status == "unplayable":
        return f"it cannot be executed: {result.error}"
    stopped = _first_stop(process, run)
    if stopped is not None:
        loud = result.status == "error" and (stopped.stops or "") in (result.error or "")
        return None if loud else f"it ended with {result.status} at a stub: {result.error}"
    wanted = "error" if run.outcome == "error" else "success"
    if result.status != wanted:
        return f"it ended with {result.status}, not {wanted}: {result.error}"
    seen = [e.element for e in result.executed if e.element in visible]
    names = {n.id: n.label for n in process.nodes}
    followed = follow_execution(game, process.id, run.start, seen, run.script, visible)
    if not followed.ok:
        did = " → ".join(f"`{names[e]}`" for e in seen) or "nothing"
        return f"the target did {did}, which is not a run of the model ({followed.reason})"
    if followed.outcome != run.outcome:
        return f"it ends {followed.outcome}, the model's run {run.outcome}"
    tasks = {n.id for n in process.nodes if isinstance(n, Task)} & visible
    # An interrupted task was begun: what an engine executes is what the model opens.
    should = Counter(
        s.element for s in run.steps if s.action in ("fire", "open") and s.element in tasks
    )
    if Counter(e for e in seen if e in tasks) != should:
        return "the executed tasks differ from those of the run"
    return None


def _first_stop(process: Process, run: Run) -> Opaque | None:
    """The first stub that a run comes to, where it has to stop and state the reason."""
    stubs = {n.id: n for n in process.nodes if isinstance(n, Opaque) and n.stops is not None}
    return next((stubs[s.element] for s in run.steps if s.element in stubs), None)
