"""Slack, only for sending a message and waiting for the answer."""

from __future__ import annotations

from orgflow.backends.n8n.node_types.send_and_wait import asking_type

# From version 2.4 on answers are keyed by names of fields, which 1.123 does not have.
NODE = asking_type(
    "slack",
    "Slack",
    lambda parameters: (
        "slackOAuth2Api" if parameters.get("authentication") == "oAuth2" else "slackApi"
    ),
    ((2.3,), (2.3,)),
)
