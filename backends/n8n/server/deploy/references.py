"""Which workflows a workflow calls by id, and its copy that calls them by other ids."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

Json = dict[str, Any]

_CALLERS: Final = ("n8n-nodes-base.executeWorkflow", "@n8n/n8n-nodes-langchain.toolWorkflow")
# What the editor remembers of a workflow that was chosen in a list: another server's.
_REMEMBERED: Final = ("cachedResultName", "cachedResultUrl")


def called(workflow: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Id and place (a node's name, or a setting) of each workflow that is called by a plain id."""
    for row in workflow.get("nodes", ()):
        value = _value(row)
        if value:
            yield value, f"`{row.get('name')}`"
    failing = (workflow.get("settings") or {}).get("errorWorkflow")
    if isinstance(failing, str) and failing and failing != "DEFAULT":
        yield failing, "the setting errorWorkflow"


def rewritten(workflow: Mapping[str, Any], new: Callable[[str], str]) -> Json:
    """A copy that calls `new(id)` where it called `id`."""
    found: Json = copy.deepcopy(dict(workflow))
    for row in found.get("nodes", ()):
        old = _value(row)
        if not old or new(old) == old:
            continue
        reference = row["parameters"]["workflowId"]
        if isinstance(reference, dict):
            reference["value"] = new(old)
            for key in _REMEMBERED:
                reference.pop(key, None)
        else:
            row["parameters"]["workflowId"] = new(old)
    settings = found.get("settings")
    if isinstance(settings, dict) and isinstance(settings.get("errorWorkflow"), str):
        failing = settings["errorWorkflow"]
        if failing and failing != "DEFAULT":
            settings["errorWorkflow"] = new(failing)
    return found


def _value(row: Mapping[str, Any]) -> str:
    """The id in a node that calls a workflow; empty for an expression and for a whole workflow."""
    parameters = row.get("parameters")
    if row.get("type") not in _CALLERS or not isinstance(parameters, Mapping):
        return ""
    if parameters.get("source", "database") != "database":
        return ""
    reference = parameters.get("workflowId")
    value = reference.get("value") if isinstance(reference, Mapping) else reference
    return value if isinstance(value, str) and not value.startswith("=") else ""
