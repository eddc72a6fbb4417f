"""Form: a page of a form that a person fills in while the run waits."""

from __future__ import annotations

from orgflow.backends.n8n.node_types.behaviour import Behaviour
from orgflow.backends.n8n.node_types.node_type import Effect, NodeType, Parameters, Use


def _node_behaviour(use: Use) -> Behaviour:
    limited = bool(use.parameters.get("limitWaitTime"))
    return Behaviour(kind="wait", in_process=False, answered=True, limited=limited)


def _field_effect(version: float, parameters: Parameters) -> Effect:
    return "unknown" if parameters.get("limitWaitTime") is True else "replace"


NODE = NodeType(
    name="form",
    label="Form",
    versions=((2.3,), (2.5,)),
    behaviour=_node_behaviour,
    effect=_field_effect,
    waits=lambda parameters: True,
    task="user",
)
