"""Writes flowcharts as Mermaid text."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.plugins import hookimpl
from orgflow_ir.plugins.contracts import Backend


@hookimpl
def orgflow_backends() -> Iterable[Backend]:
    """The Mermaid backend."""
    from orgflow.backends.mermaid.backend import MermaidBackend

    return (MermaidBackend(),)
