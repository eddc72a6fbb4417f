"""Flowcharts as Mermaid text, out."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.contracts import Backend
from orgflow_ir.plugins import hookimpl


@hookimpl
def orgflow_backends() -> Iterable[Backend]:
    """The Mermaid backend."""
    from orgflow.backends.mermaid.backend import MermaidBackend

    return (MermaidBackend(),)
