"""The files of several models: what they name or call is one workflow, with one contract."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from orgflow.backends.n8n.emit.emitter import CompiledProcess, CompiledScope
from orgflow.backends.n8n.emit.model_compilation import (
    check_workflows,
    digest_of_process,
    emit_files,
    list_named_work,
)
from orgflow.backends.n8n.emit.named_work import linked
from orgflow.backends.n8n.emit.together import compile_together
from orgflow.backends.n8n.emit.workflow import build
from orgflow.backends.n8n.plan.target_options import version_of

from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.artifact import Emitted, SourceMap


def link_files(models: Sequence[tuple[Model, Emitted]], ctx: PassContext) -> tuple[Emitted, ...]:
    """The files of several models: what they name or call is one workflow, with one contract."""
    compiled = [list(emitted.compiled.values()) for _, emitted in models]
    remade: list[CompiledProcess] = []
    if any(len(model) > 1 for model in compiled):
        compiled, remade = compile_together(compiled, ctx)
    for work_compiled in (named := linked(compiled, ctx)):
        build(work_compiled.root, digest_of_process(work_compiled, ""), version_of(ctx))
    remade += named
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
