"""The process IR as JSON, out."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.plugins import hookimpl
from orgflow_ir.plugins.contracts import Backend


@hookimpl
def orgflow_backends() -> Iterable[Backend]:
    """The IR backend."""
    from orgflow.backends.ir.backend import IrBackend

    return (IrBackend(),)
