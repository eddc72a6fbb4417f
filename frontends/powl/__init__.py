"""POWL: partially ordered workflow models, as JSON and as Python code."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.plugins import hookimpl
from orgflow_ir.plugins.contracts import Frontend


@hookimpl
def orgflow_frontends() -> Iterable[Frontend]:
    """The POWL frontend."""
    from orgflow.frontends.powl.frontend import PowlFrontend

    return (PowlFrontend(),)
