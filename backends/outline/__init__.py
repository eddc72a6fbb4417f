"""Writes processes as indented outlines."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.plugins import hookimpl
from orgflow_ir.plugins.contracts import Backend


@hookimpl
def orgflow_backends() -> Iterable[Backend]:
    """The backend of outlines."""
    from orgflow.backends.outline.backend import OutlineBackend

    return (OutlineBackend(),)
