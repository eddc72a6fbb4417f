"""The node types of n8n that orgflow emits or the engine model covers, one module each.

`find_type` finds one by its short name and then imports its module, so a compilation loads only the
types that it writes. A new type is a module with a `NODE` and a line below; if it is emitted or
shown to users, its parameters also need a schema in `format/schema/nodes`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Final

from orgflow.backends.n8n.node_types.node_type import NodeType

_MODULES: Final = {
    "aggregate": "aggregate",
    "code": "code",
    "crypto": "crypto",
    "dataTable": "data_table",
    "emailSend": "email_send",
    "errorTrigger": "error_trigger",
    "executeWorkflow": "execute_workflow",
    "executeWorkflowTrigger": "execute_workflow_trigger",
    "filter": "filter",
    "form": "form",
    "formTrigger": "form_trigger",
    "httpRequest": "http_request",
    "if": "if_",
    "limit": "limit",
    "manualTrigger": "manual_trigger",
    "merge": "merge",
    "microsoftTeams": "microsoft_teams",
    "n8nTrigger": "n8n_trigger",
    "noOp": "no_op",
    "respondToWebhook": "respond_to_webhook",
    "scheduleTrigger": "schedule_trigger",
    "set": "set_",
    "slack": "slack",
    "splitInBatches": "split_in_batches",
    "splitOut": "split_out",
    "start": "start",
    "stickyNote": "sticky_note",
    "stopAndError": "stop_and_error",
    "switch": "switch",
    "wait": "wait",
    "webhook": "webhook",
}
"""The short name of a type and its module in this folder."""


def find_type(short: str | None) -> NodeType | None:
    """The known data about the type `n8n-nodes-base.<short>`; `None` for any other type."""
    module = _MODULES.get(short or "")
    return _loaded_type(module) if module is not None else None


@cache
def _loaded_type(module: str) -> NodeType:
    kind = import_module(f"{__name__}.{module}").NODE
    assert isinstance(kind, NodeType)
    return kind


def calling_type() -> NodeType:
    """The type whose nodes call another workflow."""
    kind = find_type("executeWorkflow")
    assert kind is not None
    return kind


def all_types() -> tuple[NodeType, ...]:
    """All of them, in the order of their names."""
    return tuple(_loaded_type(module) for module in _MODULES.values())


@cache
def described_names() -> tuple[str, ...]:
    """Names of the types that orgflow writes or its schemas describe."""
    return tuple(kind.name for kind in all_types() if kind.described)


def type_label(short: str) -> str:
    """The name of a type in n8n's editor; the short name of an unknown one."""
    known = find_type(short)
    return known.label if known is not None else short
