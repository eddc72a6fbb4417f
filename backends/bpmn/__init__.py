"""BPMN 2.0 XML, out."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.contracts import Backend
from orgflow_ir.plugins import hookimpl


@hookimpl
def orgflow_backends() -> Iterable[Backend]:
    """The BPMN backend."""
    from orgflow.backends.bpmn.backend import BpmnBackend

    return (BpmnBackend(),)
