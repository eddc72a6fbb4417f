"""Models that are legal for n8n as they are, compiled without passes."""

from __future__ import annotations

from typing import Any

from orgflow.backends.n8n.backend import N8nBackend

from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets import Emitted


def emitted(model: Model, ctx: PassContext | None = None) -> Emitted:
    """What the backend makes of a legal model; it has to be correct."""
    ctx = ctx or PassContext()
    made = N8nBackend().emit(model, ctx)
    assert made.artifacts, [d.message for d in ctx.diagnostics]
    return made


def workflows(model: Model, ctx: PassContext | None = None) -> list[dict[str, Any]]:
    """The workflow of each process of a legal model, in file form."""
    return [dict(one.root.workflow) for one in emitted(model, ctx).compiled.values()]
