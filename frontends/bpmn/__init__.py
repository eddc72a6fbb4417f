"""BPMN 2.0 XML, in."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.plugins import hookimpl
from orgflow_ir.plugins.contracts import Frontend


@hookimpl
def orgflow_frontends() -> Iterable[Frontend]:
    """The BPMN frontend."""
    from orgflow.frontends.bpmn.frontend import BpmnFrontend

    return (BpmnFrontend(),)
