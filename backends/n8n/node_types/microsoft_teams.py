"""Microsoft Teams, only for sending a message and waiting for the answer."""

from __future__ import annotations

from orgflow.backends.n8n.node_types.send_and_wait import asking_type

NODE = asking_type(
    "microsoftTeams",
    "Microsoft Teams",
    lambda parameters: str(parameters.get("authentication", "microsoftTeamsOAuth2Api")),
    ((2,), (2,)),
)
