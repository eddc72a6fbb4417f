"""Parameters without what says nothing: ids that the editor makes, empty values, its own words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orgflow.backends.n8n.format.workflow_document import Node

_FLAGS = (
    "disabled", "executeOnce", "alwaysOutputData", "onError", "continueOnFail", "retryOnFail",
    "maxTries", "waitBetweenTries",
)  # fmt: skip
_DEFAULTS: Mapping[str, Any] = {
    "disabled": False, "executeOnce": False, "alwaysOutputData": False,
    "onError": "stopWorkflow", "continueOnFail": False, "retryOnFail": False,
}  # fmt: skip


def canonical(value: Any) -> Any:
    """A parameter without empty objects, lists and nulls (the editor writes or leaves them as it
    likes) and without the ids of conditions and assignments, which it makes again."""
    if isinstance(value, Mapping):
        kept = {k: canonical(v) for k, v in value.items()}
        if "operator" in kept or {"name", "type"} <= kept.keys():
            kept.pop("id", None)
        operator = kept.get("operator")
        if isinstance(operator, Mapping) and "operation" in operator:
            kept["operator"] = {k: v for k, v in operator.items() if k != "name"}
        return {k: v for k, v in kept.items() if v not in ({}, [], None)}
    if isinstance(value, list):
        return [canonical(v) for v in value]
    return value


def parameters_of(step: Node, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Canonical parameters of a step; a webhook path that is the webhook's id is the editor's."""
    found: dict[str, Any] = canonical(parameters)
    own = step.raw.get("webhookId")
    if own is not None and found.get("path") == own:
        del found["path"]
    return found


def flags(step: Node) -> dict[str, Any]:
    """The switches of a step that are not at their default, and the names of its credentials."""
    found = {
        name: step.raw[name]
        for name in _FLAGS
        if step.raw.get(name) is not None and step.raw[name] != _DEFAULTS.get(name)
    }
    credentials = step.raw.get("credentials")
    if isinstance(credentials, Mapping) and credentials:
        found["credentials"] = {
            kind: c.get("name", "") if isinstance(c, Mapping) else c
            for kind, c in credentials.items()
        }
    return found
