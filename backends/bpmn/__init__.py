"""BPMN 2.0 XML, out."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.plugins import hookimpl
from orgflow_ir.plugins.contracts import Backend


@hookimpl
def orgflow_backends() -> Iterable[Backend]:
    """The BPMN backend."""
    from orgflow.backends.bpmn.backend import BpmnBackend

    return (BpmnBackend(),)
