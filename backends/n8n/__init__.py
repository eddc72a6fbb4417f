"""The n8n backend."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from orgflow_ir.plugins import hookimpl

if TYPE_CHECKING:
    from orgflow_ir.plugins.contracts import Backend


@hookimpl
def orgflow_backends() -> Iterable[Backend]:
    """The n8n backend."""
    from orgflow.backends.n8n.backend import N8nBackend

    return (N8nBackend(),)
