"""Writes POWL, partially ordered workflow models."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.plugins import hookimpl
from orgflow_ir.plugins.contracts import Backend


@hookimpl
def orgflow_backends() -> Iterable[Backend]:
    """The POWL backend."""
    from orgflow.backends.powl.backend import PowlBackend

    return (PowlBackend(),)
