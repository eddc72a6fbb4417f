"""How a process calls the support set: names and inputs for the nodes of its canvas.

Fields of the item lie below the values of a call, so every call gives all inputs that its workflow
reads; otherwise a field of a form could stand in for one of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from orgflow.backends.n8n.node_types.conditions import make_expression
from orgflow.backends.n8n.node_types.execute_workflow import call_with_parameters

EXECUTION: Final = "$execution.id"
"""JavaScript for the execution that claims."""

_NOTHING: Final = "({})"


def start_call(workflow: str, element: str, variables: str, instance: str) -> dict[str, Any]:
    """Parameters of the node that starts an instance at an element. `variables` and `instance`, the
    caller's id or an empty text, are JavaScript."""
    values = {
        "element": json.dumps(element),
        "variables": variables,
        "instance": instance,
        "execution": EXECUTION,
        "workflow": "$workflow.id",
    }
    return _call_node(workflow, values)


def claim_call(workflow: str, variables: str = _NOTHING) -> dict[str, Any]:
    """Parameters of the node that claims the task whose key is in the item; `variables` is
    JavaScript for what the person entered."""
    values = {
        "key": "$json.key",
        "execution": EXECUTION,
        "event": "''",
        "variables": variables,
        "takeover": "''",
        "attempts": "0",
    }
    return _call_node(workflow, values)


def take_call(workflow: str) -> dict[str, Any]:
    """Parameters of the node that claims the row with which the support set calls a process."""
    values = {
        "key": "$json.key",
        "execution": EXECUTION,
        "event": "$json.event",
        "variables": "$json.variables||{}",
        "takeover": "$json.takeover||''",
        "attempts": "$json.attempts||0",
    }
    return _call_node(workflow, values)


def complete_call(
    workflow: str,
    rows: str = "[]",
    *,
    token: str = "$json.token",
    variables: str = _NOTHING,
    end: bool = False,
    leave: str = "",
    levels: int = 1,
) -> dict[str, Any]:
    """Parameters of the node that ends a segment.

    Args:
        workflow: id of the support workflow.
        rows: JavaScript for the rows that it leaves open (`complete.build_complete`).
        token: JavaScript for the token that the claim returned.
        variables: JavaScript for the variables that it changed.
        end: whether its path ends here.
        leave: the event that ends the enclosing scope at once, if any.
        levels: how many scopes that event leaves.
    """
    values = {
        "token": token,
        "variables": variables,
        "rows": rows,
        "end": "true" if end else "false",
        "leave": json.dumps(leave),
        "levels": str(levels),
    }
    return _call_node(workflow, values)


def _call_node(workflow: str, values: Mapping[str, str]) -> dict[str, Any]:
    return call_with_parameters(
        workflow, {name: make_expression(code) for name, code in values.items()}
    )
