"""Emitting a model as a command does it, but without passes: legalisation, then the backend."""

from __future__ import annotations

from collections.abc import Mapping

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.targets import legalise
from orgflow_ir.targets.artifact import Artifact


def context(backend: Backend, options: Mapping[str, str] | None = None) -> PassContext:
    """A context that knows the target and its options, the first value of each by default."""
    spec = backend.target
    defaults = {name: values[0] for name, values in spec.options.items() if values}
    return PassContext(target=spec, options={**defaults, **(options or {})})


def emit(
    backend: Backend, model: Model, options: Mapping[str, str] | None = None
) -> tuple[tuple[Artifact, ...] | None, list[Diagnostic]]:
    """What a backend makes of a model (`None`: refused) and what was said on the way; what it
    validates as faulty counts as refused.

    Only legalisation stands before the backend here: no passes run.
    """
    ctx = context(backend, options)
    legal = legalise(model, backend.target, ctx, allow_lossy=False)
    if ctx.has_errors:
        return None, ctx.diagnostics
    artifacts = backend.emit(legal, ctx)
    if ctx.has_errors or not backend.validate(artifacts, ctx):
        return None, ctx.diagnostics
    return artifacts, ctx.diagnostics
