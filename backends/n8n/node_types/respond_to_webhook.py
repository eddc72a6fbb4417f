"""Respond to Webhook: answers the call that started the run and passes its input on."""

from __future__ import annotations

from typing import Any

from orgflow.backends.n8n.node_types.behaviour import Behaviour
from orgflow.backends.n8n.node_types.node_type import NodeType, Parameters, Use, passes_items


def answer_parameters(status: int, body: str) -> dict[str, Any]:
    """Parameters that answer with a status and the object of an expression."""
    return {"respondWith": "json", "responseBody": body, "options": {"responseCode": status}}


def page_parameters(status: str, page: str) -> dict[str, Any]:
    """Parameters that answer with a page that no browser stores, and whose address, which may
    contain a key, no other page learns. Both are expressions."""
    headers = {
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
    }
    entries = [{"name": name, "value": value} for name, value in headers.items()]
    options = {"responseCode": status, "responseHeaders": {"entries": entries}}
    return {"respondWith": "text", "responseBody": page, "options": options}


def _count_outputs(version: float | None, parameters: Parameters) -> int | None:
    if version is None:
        return None
    if version < 1.4:  # the second output was always there in 1.3
        return 2 if version == 1.3 else 1
    return 2 if parameters.get("enableResponseOutput") is True else 1


def _node_behaviour(use: Use) -> Behaviour:
    answers = use.version > 1.3 and use.parameters.get("enableResponseOutput")
    if use.version == 1.3 or answers:
        return Behaviour(kind="choice", outputs=2, choices=lambda items, _: iter(((items, 1),)))
    return Behaviour(kind="pass")


NODE = NodeType(
    name="respondToWebhook",
    label="Respond to Webhook",
    emitted=True,
    versions=((1.4, 1.5), (1.4, 1.5)),
    outputs=_count_outputs,
    behaviour=_node_behaviour,
    effect=passes_items,
    required=(("redirectURL", {"respondWith": ("redirect",)}),),
    task="send",
)
