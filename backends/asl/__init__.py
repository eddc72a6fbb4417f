"""The backend for Amazon States Language (AWS Step Functions)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from orgflow_ir.plugins import hookimpl

if TYPE_CHECKING:
    from orgflow_ir.plugins.contracts import Backend


@hookimpl
def orgflow_backends() -> Iterable[Backend]:
    """The `asl` backend."""
    from orgflow.backends.asl.backend import AslBackend

    return (AslBackend(),)
