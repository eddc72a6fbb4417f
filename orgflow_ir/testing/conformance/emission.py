"""Emits a model like a command, but without passes: legalisation, then the backend."""

from __future__ import annotations

from collections.abc import Mapping

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.legalisation.legalise import legalise
from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.value_texts import show_value
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.targets.artifact import Artifact, Emitted


def build_context(backend: Backend, options: Mapping[str, str] | None = None) -> PassContext:
    """A context with the target and its options, the first value of each by default."""
    spec = backend.target
    return PassContext(target=spec, options={**spec.default_options, **(options or {})})


def legal_and_emitted(
    backend: Backend, model: Model, options: Mapping[str, str] | None = None
) -> tuple[Model, Emitted | None, list[Diagnostic]]:
    """The model as passed to the backend, its output (`None` if refused), and the diagnostics;
    output that its validation rejects counts as refused. Raises `TypeError` if the backend did not
    return an `Emitted`.

    Only legalisation runs before the backend; no passes run.
    """
    ctx = build_context(backend, options)
    legal = legalise(model, backend.target, ctx, allow_lossy=False)
    if ctx.has_errors:
        return legal, None, ctx.diagnostics
    emitted = backend.emit(legal, ctx)
    if not isinstance(emitted, Emitted):
        raise TypeError(f"`emit` returned {show_value(emitted)}, not an `Emitted`")
    if ctx.has_errors or not backend.validate(emitted.artifacts, ctx):
        return legal, None, ctx.diagnostics
    return legal, emitted, ctx.diagnostics


def emit(
    backend: Backend, model: Model, options: Mapping[str, str] | None = None
) -> tuple[tuple[Artifact, ...] | None, list[Diagnostic]]:
    """The files that a backend emits for a model (`None` if refused) and the diagnostics, as in
    `legal_and_emitted`."""
    _, emitted, diagnostics = legal_and_emitted(backend, model, options)
    return (None if emitted is None else emitted.artifacts), diagnostics
