"""Procedural graphs as text: triples such as `A -> B`, graph lines with ids, Mermaid flowcharts."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.plugins import hookimpl
from orgflow_ir.plugins.contracts import Frontend


@hookimpl
def orgflow_frontends() -> Iterable[Frontend]:
    """The frontends of procedural graphs: lines of text, and Mermaid flowcharts."""
    from orgflow.frontends.triples.frontend import TriplesFrontend
    from orgflow.frontends.triples.mermaid import MermaidFrontend

    return (TriplesFrontend(), MermaidFrontend())
