"""The operation of many nodes that sends a message and waits for a person's answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from orgflow.backends.n8n.node_types.behaviour import Behaviour, hands_on
from orgflow.backends.n8n.node_types.node_type import NodeType, Parameters, Use

OPERATION: Final = "sendAndWait"

ANSWER, ANSWERED_AT = "data", "respondedAt"
"""The field of the output item of such a node, and its content besides the answers."""


def asks_people(parameters: Parameters) -> bool:
    """Whether a node with these parameters sends something and waits for the answer."""
    return bool(parameters.get("operation") == OPERATION)


def asking_type(
    name: str,
    label: str,
    credential: Callable[[Parameters], str],
    versions: tuple[tuple[float, ...], tuple[float, ...]],
) -> NodeType:
    """A node type of which only this operation is known; arguments as for `NodeType`."""
    return NodeType(
        name=name,
        label=label,
        emitted=True,
        once=True,
        credential=credential,
        versions=versions,
        behaviour=lambda use: send_behaviour(use) if asks_people(use.parameters) else None,
        waits=asks_people,
        required=(("message", {"operation": (OPERATION,)}),),
        task="send",
    )


def send_behaviour(use: Use) -> Behaviour:
    """The behaviour of a node that sends, or sends and waits."""
    if not asks_people(use.parameters):
        return hands_on(use)
    options = use.parameters.get("options")
    limited = isinstance(options, dict) and "limitWaitTime" in options
    return Behaviour(kind="wait", in_process=False, answered=True, limited=limited)
