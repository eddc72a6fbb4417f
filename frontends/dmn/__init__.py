"""DMN: decision tables and expressions that processes refer to."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.plugins import hookimpl
from orgflow_ir.plugins.contracts import Frontend


@hookimpl
def orgflow_frontends() -> Iterable[Frontend]:
    """The DMN frontend."""
    from orgflow.frontends.dmn.frontend import DmnFrontend

    return (DmnFrontend(),)
