"""Reads n8n workflows."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.plugins import hookimpl
from orgflow_ir.plugins.contracts import Frontend


@hookimpl
def orgflow_frontends() -> Iterable[Frontend]:
    """The n8n frontend."""
    from orgflow.frontends.n8n.frontend import N8nFrontend

    return (N8nFrontend(),)
