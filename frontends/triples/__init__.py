"""Procedural graphs as lines of text: triples such as `A -> B`, and graph lines with ids."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.plugins import hookimpl
from orgflow_ir.plugins.contracts import Frontend


@hookimpl
def orgflow_frontends() -> Iterable[Frontend]:
    """The frontend of procedural graphs."""
    from orgflow.frontends.triples.frontend import TriplesFrontend

    return (TriplesFrontend(),)
