"""Models compiled to n8n and held against the token game: on n8n's engine, and by `verify`."""

from __future__ import annotations

from collections.abc import Mapping

from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.backends.n8n.verify.verify import verify_process
from orgflow.compiler import compile_model
from orgflow.evaluation.replay import replay_model

from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.targets import Emitted

ONE_EXECUTION = {"waits": "execution"}
"""The options of processes that are not kept in rows."""


def compiled(
    model: Model, registry: Registry, options: Mapping[str, str] | None = None
) -> tuple[Emitted | None, list[str]]:
    ctx = PassContext(registry=registry)
    made = compile_model(model, registry.backends["n8n"], ctx, options=options)
    return made, [f"{d.code} {d.message}" for d in ctx.diagnostics if d.severity == "error"]


def faults(
    model: Model,
    made: Emitted,
    runner: LocalRunner,
    registry: Registry,
    options: Mapping[str, str] | None = None,
) -> list[str]:
    """What the engine did otherwise, and what is not proved. Of processes in rows nothing is: they
    are played on the model of rows."""
    report = replay_model(model, made, runner, PassContext(), max_runs=40)
    wrong = [
        f"{r.verdict}: {r.divergence} ({r.run.choices})"
        for r in report.runs
        if r.verdict != "equal"
    ]
    assert report.runs, report.unfinished
    for process in model.processes:
        workflow = made.compiled[process.id].root.workflow
        ctx = PassContext(registry=registry, options=dict(options or {}))
        found = verify_process(model, process, workflow, ctx)
        if found.verdict.value != "proved":
            wrong.append(f"{found.verdict}: {found.difference or found.bound}")
    return wrong
