"""Webhook: starts when its address is called; the posted data are under `body`."""

from __future__ import annotations

from typing import Any

from orgflow.backends.n8n.node_types.behaviour import trigger_behaviour
from orgflow.backends.n8n.node_types.node_type import (
    NodeType,
    Parameters,
    inbound_credential,
    no_port,
)


def posted_to(path: str) -> dict[str, Any]:
    """Parameters of a trigger that answers a POST immediately."""
    return {"httpMethod": "POST", "path": path, "responseMode": "onReceived", "options": {}}


def protected_address(path: str) -> dict[str, Any]:
    """Parameters of a trigger that takes a POST with the header of a credential, and whose answer
    is that of a later node."""
    return {
        "httpMethod": "POST",
        "path": path,
        "authentication": "headerAuth",
        "responseMode": "responseNode",
        "options": {},
    }


def open_page(path: str) -> dict[str, Any]:
    """Parameters of a trigger that anybody may request with GET, and whose answer is that of a
    later node."""
    return {"httpMethod": "GET", "path": path, "responseMode": "responseNode", "options": {}}


def _count_outputs(version: float | None, parameters: Parameters) -> int | None:
    methods = parameters.get("httpMethod")  # one output a method where several are allowed
    return len(methods) if isinstance(methods, list) else 1


NODE = NodeType(
    name="webhook",
    credential=lambda parameters: inbound_credential(parameters.get("authentication")),
    label="Webhook",
    emitted=True,
    versions=((2.1,), (2.1,)),
    start="message",
    inputs=no_port,
    outputs=_count_outputs,
    behaviour=trigger_behaviour,
    task=None,
)
