"""Processes as indented outlines: a line per step, keywords with a colon."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.plugins import hookimpl
from orgflow_ir.plugins.contracts import Frontend


@hookimpl
def orgflow_frontends() -> Iterable[Frontend]:
    """The frontend of outlines."""
    from orgflow.frontends.outline.frontend import OutlineFrontend

    return (OutlineFrontend(),)
