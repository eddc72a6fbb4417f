"""Send Email: sends, or sends and waits for an answer."""

from __future__ import annotations

from orgflow.backends.n8n.node_types import send_and_wait
from orgflow.backends.n8n.node_types.node_type import NodeType

NODE = NodeType(
    name="emailSend",
    label="Send Email",
    emitted=True,
    once=True,
    credential=lambda parameters: "smtp",
    gives_one=lambda parameters: parameters.get("operation", "send") == "send",
    versions=((2, 2.1), (2, 2.1)),
    inputs=lambda version, parameters: 1,
    outputs=lambda version, parameters: 1,
    behaviour=send_and_wait.send_behaviour,
    waits=send_and_wait.asks_people,
    required=(
        ("fromEmail", {"resource": ("email", None)}),
        ("toEmail", {"resource": ("email", None)}),
        ("subject", {"operation": (send_and_wait.OPERATION,)}),
        ("message", {"operation": (send_and_wait.OPERATION,)}),
    ),
    task="send",
)
