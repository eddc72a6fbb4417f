"""Form Trigger: starts when a person submits a form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orgflow.backends.n8n.node_types.behaviour import trigger_behaviour
from orgflow.backends.n8n.node_types.node_type import NodeType, inbound_credential, no_port


def opened_at(path: str, title: str, fields: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """Parameters of a trigger whose page asks for the start data of a run."""
    parameters: dict[str, Any] = {"formTitle": title}
    if fields:
        parameters["formFields"] = {"values": list(fields)}
    options = {"appendAttribution": False, "buttonLabel": "Start", "path": path}
    return {**parameters, "responseMode": "onReceived", "options": options}


ANSWERED_VERSION = 2.1
"""The last version whose page may be answered by another node."""


def answered_at(
    path: str, title: str, description: str, fields: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Parameters of a trigger of `ANSWERED_VERSION`, whose page is answered by another node."""
    parameters: dict[str, Any] = {"formTitle": title, "path": path}
    if description:
        parameters["formDescription"] = description
    options = {"appendAttribution": False}
    return {
        **parameters,
        "formFields": {"values": list(fields)},
        "responseMode": "responseNode",
        "options": options,
    }


NODE = NodeType(
    name="formTrigger",
    credential=lambda parameters: inbound_credential(parameters.get("authentication")),
    label="Form Trigger",
    emitted=True,
    versions=((2.3,), (2.1, 2.5, 2.6)),
    start="message",
    inputs=no_port,
    behaviour=trigger_behaviour,
    required=(("formTitle", {}),),
    task=None,
)
