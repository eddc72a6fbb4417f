"""Execute Sub-workflow: runs another workflow, once or once per item, and may wait for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orgflow.backends.n8n.format.json_values import inside, mapping
from orgflow.backends.n8n.node_types.behaviour import Behaviour, unknown_behaviour
from orgflow.backends.n8n.node_types.node_type import (
    Effect,
    NodeType,
    Parameters,
    Use,
    is_expression,
)

INSTANCE = "_instance"
"""The field of the item with which a workflow hands its instance to one that it calls."""


def call_parameters(workflow: str, instance: str = "", *, waits: bool = True) -> dict[str, Any]:
    """Parameters of a node that calls a workflow once with all items, and waits for its end or
    passes its items on at once. `instance` is the expression that the called workflow gets on each
    item in `INSTANCE`."""
    value = {INSTANCE: instance} if instance else {}
    return {
        "source": "database",
        "workflowId": {"__rl": True, "mode": "id", "value": workflow},
        "workflowInputs": {"mappingMode": "defineBelow", "value": value},
        "mode": "once",
        "options": {"waitForSubWorkflow": waits},
    }


def call_with_parameters(
    workflow: str, values: Mapping[str, Any], *, each: bool = False, waits: bool = True
) -> dict[str, Any]:
    """Parameters of a node that calls a workflow, given by its id or an expression.

    Args:
        workflow: the id, or an expression that computes it.
        values: fields and expressions that replace the fields of the item; if there are none, the
            called workflow gets the item itself.
        each: whether the workflow is called for each item, or once with all of them.
        waits: whether the caller waits for its end.
    """
    inputs: dict[str, Any] = {"mappingMode": "defineBelow", "value": dict(values)}
    if values:
        inputs |= {
            "matchingColumns": [],
            "schema": [],
            "attemptToConvertTypes": False,
            "convertFieldsToString": False,
        }
    return {
        **call_parameters(workflow),
        "workflowInputs": inputs,
        "mode": "each" if each else "once",
        "options": {"waitForSubWorkflow": waits},
    }


def called_workflow(parameters: Parameters) -> str:
    """The id in the parameters of a node that calls a workflow by a plain id."""
    if parameters.get("source", "database") != "database":
        return ""
    value = parameters.get("workflowId")
    if isinstance(value, Mapping):
        value = value.get("value")
    return "" if value is None or is_expression(value) else str(value)


def waits_for_end(parameters: Parameters) -> bool:
    """Whether the caller continues only after the end of the called workflow."""
    return inside(parameters, "options", "waitForSubWorkflow") is not False


def _field_effect(version: float, parameters: Parameters) -> Effect:
    return "replace" if waits_for_end(parameters) else "pass"


def _node_behaviour(use: Use) -> Behaviour | None:
    to = called_workflow(use.parameters)
    if to not in use.known:
        return None
    waited = mapping(use.parameters.get("options")).get("waitForSubWorkflow", True)
    mode = use.parameters.get("mode", "once")
    if is_expression(waited) or is_expression(mode):
        return unknown_behaviour(1)
    # Nothing that the model decides by is in the instance.
    added = mapping(inside(use.parameters, "workflowInputs", "value")).keys() - {INSTANCE}
    return Behaviour(
        kind="call", calls=to, waited=bool(waited), each=mode == "each", passes=not added
    )


NODE = NodeType(
    name="executeWorkflow",
    label="Execute Workflow",
    once=True,
    versions=((1.3,), (1.3, 1.4)),
    behaviour=_node_behaviour,
    effect=_field_effect,
    waits=waits_for_end,
    calls=called_workflow,
    required=(("workflowId", {"source": ("database", None)}),),
    task=None,
)
