"""The files of several models: what they name or call is one workflow, with one contract."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from orgflow.backends.n8n.emit.compiled import CompiledProcess, CompiledScope
from orgflow.backends.n8n.emit.model_compilation import (
    build_process,
    check_workflows,
    emit_files,
    list_named_work,
)
from orgflow.backends.n8n.emit.together import compile_together
from orgflow.backends.n8n.plan.named_work import (
    list_conflicts,
    list_uses,
    report_conflicts,
    write_contract,
)
from orgflow.backends.n8n.plan.passes import plan_added_process

from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.artifact import Emitted, SourceMap


def link_files(models: Sequence[tuple[Model, Emitted]], ctx: PassContext) -> tuple[Emitted, ...]:
    """The files of several models: what they name or call is one workflow, with one contract."""
    compiled = [list(emitted.compiled.values()) for _, emitted in models]
    remade: list[CompiledProcess] = []
    if any(len(model) > 1 for model in compiled):
        compiled, remade = compile_together(compiled, ctx)
    remade += link_named_work(compiled, ctx)
    if not check_workflows(remade, ctx):
        return tuple(Emitted((), SourceMap(model, tuple)) for model, _ in models)
    names: dict[str, CompiledScope] = {}
    outputs = [
        emit_files(model, rest, ctx, names, listed=False)
        for (model, _), rest in zip(models, compiled, strict=True)
    ]
    if outputs and (work := (*list_named_work(names, ""),)):
        outputs[0] = dataclasses.replace(outputs[0], beside=(*outputs[0].beside, *work))
    return tuple(outputs)


def link_named_work(
    outputs: Sequence[list[CompiledProcess]], ctx: PassContext
) -> list[CompiledProcess]:
    """One workflow for each name that several models use, with the contract of all callers; it is
    in the output of the first of these models, and removed from the others. The regenerated
    outputs."""
    callers = [
        list_uses(scope.plan for compiled in model for scope in compiled.scopes)
        for model in outputs
    ]
    models: dict[str, list[int]] = {}
    for at, uses_of_model in enumerate(callers):
        for work in uses_of_model:
            if work.shared:
                models.setdefault(work.key, []).append(at)
    remade = []
    for key, places in models.items():
        if len(places) < 2:
            continue
        here = [next((w, u) for w, u in callers[at].items() if w.key == key) for at in places]
        work = here[0][0]
        known = {c.name for _, called in here for c in list_conflicts(called)}
        called = [use for _, some in here for use in some]
        report_conflicts(work, called, ctx, known)
        scope = called[0].plan.scope
        added = work.scope(scope.model, scope.process, write_contract(called))
        shared_process = build_process(plan_added_process(added, ctx), "", ctx)
        for number, at in enumerate(places):
            index = next(
                i for i, p in enumerate(outputs[at]) if p.process.id == shared_process.process.id
            )
            outputs[at][index : index + 1] = [shared_process] if number == 0 else []
        remade.append(shared_process)
    return remade
