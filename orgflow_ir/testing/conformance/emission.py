"""Emitting a model as a command does it, but without passes: legalisation, then the backend."""

from __future__ import annotations

from collections.abc import Mapping

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.targets import legalise
from orgflow_ir.targets.artifact import Artifact, Emitted


def context(backend: Backend, options: Mapping[str, str] | None = None) -> PassContext:
    """A context that knows the target and its options, the first value of each by default."""
    spec = backend.target
    return PassContext(target=spec, options={**spec.default_options, **(options or {})})


def legal_and_emitted(
    backend: Backend, model: Model, options: Mapping[str, str] | None = None
) -> tuple[Model, Emitted | None, list[Diagnostic]]:
    """The model as the backend got it, what it made of it (`None`: refused), and what was said;
    what it validates as faulty counts as refused. Raises `TypeError` where it gave no `Emitted`.

    Only legalisation stands before the backend here: no passes run.
    """
    ctx = context(backend, options)
    legal = legalise(model, backend.target, ctx, allow_lossy=False)
    if ctx.has_errors:
        return legal, None, ctx.diagnostics
    made = backend.emit(legal, ctx)
    if not isinstance(made, Emitted):
        raise TypeError(f"`emit` gave {made!r}, not an `Emitted`")
    if ctx.has_errors or not backend.validate(made.artifacts, ctx):
        return legal, None, ctx.diagnostics
    return legal, made, ctx.diagnostics


def emit(
    backend: Backend, model: Model, options: Mapping[str, str] | None = None
) -> tuple[tuple[Artifact, ...] | None, list[Diagnostic]]:
    """The files that a backend makes of a model (`None`: refused) and what was said on the way, as
    in `legal_and_emitted`."""
    _, made, said = legal_and_emitted(backend, model, options)
    return (None if made is None else made.artifacts), said
