"""The process IR as JSON, in."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.plugins import hookimpl
from orgflow_ir.plugins.contracts import Frontend


@hookimpl
def orgflow_frontends() -> Iterable[Frontend]:
    """The IR frontend."""
    from orgflow.frontends.ir.frontend import IrFrontend

    return (IrFrontend(),)
