"""Writes procedural graphs as lines of text."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.plugins import hookimpl
from orgflow_ir.plugins.contracts import Backend


@hookimpl
def orgflow_backends() -> Iterable[Backend]:
    """The backend of procedural graphs."""
    from orgflow.backends.triples.backend import TriplesBackend

    return (TriplesBackend(),)
