"""HTTP Request: calls an address; the answer replaces the item."""

from __future__ import annotations

from orgflow.backends.n8n.format.json_values import inside
from orgflow.backends.n8n.node_types.node_type import Effect, NodeType, Parameters


def _field_effect(version: float, parameters: Parameters) -> Effect:
    return "replace"


def _needed_credential(parameters: Parameters) -> str:
    names = {"genericCredentialType": "genericAuthType"}
    return str(parameters.get(names.get(str(parameters.get("authentication")), "")) or "")


NODE = NodeType(
    name="httpRequest",
    label="HTTP Request",
    emitted=True,
    once=True,
    credential=_needed_credential,
    gives_one=lambda parameters: (
        inside(parameters, "options", "response", "response", "fullResponse") is True
    ),
    versions=((4.3,), (4.3, 4.4, 4.5)),
    effect=_field_effect,
    required=(
        ("url", {}),
        ("nodeCredentialType", {"authentication": ("predefinedCredentialType",)}),
        ("genericAuthType", {"authentication": ("genericCredentialType",)}),
    ),
)
