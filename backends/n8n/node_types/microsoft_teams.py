"""Microsoft Teams, as far as it sends a message and waits for the answer."""

from __future__ import annotations

from orgflow.backends.n8n.node_types import send_and_wait
from orgflow.backends.n8n.node_types.behaviour import Behaviour
from orgflow.backends.n8n.node_types.node_type import NodeType, Use


def _behaviour(use: Use) -> Behaviour | None:
    return send_and_wait.behaviour(use) if send_and_wait.asks(use.parameters) else None


NODE = NodeType(
    name="microsoftTeams",
    label="Microsoft Teams",
    emitted=True,
    once=True,
    credential=lambda parameters: str(parameters.get("authentication", "microsoftTeamsOAuth2Api")),
    versions=((2,), (2,)),
    behaviour=_behaviour,
    waits=send_and_wait.asks,
    required=(("message", {"operation": (send_and_wait.OPERATION,)}),),
    task="send",
)
