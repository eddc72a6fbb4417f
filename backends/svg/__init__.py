"""Writes pictures of models as SVG."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.plugins import hookimpl
from orgflow_ir.plugins.contracts import Backend


@hookimpl
def orgflow_backends() -> Iterable[Backend]:
    """The SVG backend."""
    from orgflow.backends.svg.backend import SvgBackend

    return (SvgBackend(),)
