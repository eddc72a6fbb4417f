"""A process of one task, compiled for n8n, and what the variables are behind it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from orgflow.backends.n8n.backend import N8nBackend
from orgflow.backends.n8n.emit.compiled import CompiledProcess
from orgflow.backends.n8n.engine.local import EngineRun
from orgflow.backends.n8n.plan.target import N8N_TARGET
from orgflow.compilation.reading import load_model

from orgflow_ir.legalisation.legalise import legalise
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
    'xmlns:camunda="http://camunda.org/schema/1.0/bpmn" '
    'xmlns:flowable="http://flowable.org/bpmn" '
    'xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d"><process id="p" isExecutable="true">'
)


def one_task(task: str) -> str:
    """A process of a task `t` called Work, between its start and an end called Done."""
    return (
        f'{HEAD}<startEvent id="s"/><sequenceFlow id="f0" sourceRef="s" targetRef="t"/>{task}'
        '<sequenceFlow id="f1" sourceRef="t" targetRef="e"/><endEvent id="e" name="Done"/>'
        "</process></definitions>"
    )


def compiled(text: str, folder: Path, **options: str) -> tuple[CompiledProcess, PassContext]:
    path = folder / "model.bpmn"
    path.write_text(text, "utf-8")
    registry = Registry()
    ctx = PassContext(registry=registry, options=dict(options))
    model = load_model(str(path), registry, ctx)
    assert model is not None, ctx.diagnostics
    ctx.source = model
    legal = legalise(model, N8N_TARGET, ctx, allow_lossy=False)
    made = N8nBackend().emit(legal, ctx)
    assert made.artifacts, [d.message for d in ctx.diagnostics]
    (process,) = made.compiled.values()
    assert isinstance(process, CompiledProcess)
    return process, ctx


def variables(run: EngineRun) -> dict[str, Any] | str:
    """What the item holds at the end, or the error."""
    if run.status != "success":
        return run.error or run.status
    last = run.order[-1]
    assert last.node == "Done"
    assert last.items is not None
    return dict(last.items[0][0])
