"""Pictures of models as SVG, out."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.contracts import Backend
from orgflow_ir.plugins import hookimpl


@hookimpl
def orgflow_backends() -> Iterable[Backend]:
    """The SVG backend."""
    from orgflow.backends.svg.backend import SvgBackend

    return (SvgBackend(),)
