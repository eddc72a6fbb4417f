"""Slack, as far as it sends a message and waits for the answer."""

from __future__ import annotations

from orgflow.backends.n8n.node_types import send_and_wait
from orgflow.backends.n8n.node_types.behaviour import Behaviour
from orgflow.backends.n8n.node_types.node_type import NodeType, Use


def _behaviour(use: Use) -> Behaviour | None:
    return send_and_wait.behaviour(use) if send_and_wait.asks(use.parameters) else None


# From version 2.4 on answers are keyed by names of fields, which 1.123 does not have.
NODE = NodeType(
    name="slack",
    label="Slack",
    emitted=True,
    once=True,
    credential=lambda parameters: (
        "slackOAuth2Api" if parameters.get("authentication") == "oAuth2" else "slackApi"
    ),
    versions=((2.3,), (2.3,)),
    behaviour=_behaviour,
    waits=send_and_wait.asks,
    required=(("message", {"operation": (send_and_wait.OPERATION,)}),),
    task="send",
)
