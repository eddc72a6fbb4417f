"""The workflows that a workflow calls by id, and its copy with other ids."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.format.document import short_type
from orgflow.backends.n8n.format.json_values import mapping

Json = dict[str, Any]

_TOOL: Final = "@n8n/n8n-nodes-langchain.toolWorkflow"
"""A sub-node by which an agent calls a workflow; it has the same parameter as the node type."""
# What the editor remembers of a workflow that was chosen in a list: another server's.
_REMEMBERED: Final = ("cachedResultName", "cachedResultUrl")


def called_workflows(workflow: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Id and place (a node's name, or a setting) of each workflow that is called by a plain id."""
    for row in workflow.get("nodes", ()):
        value = _called_id(row)
        if value:
            yield value, f"`{row.get('name')}`"
    failing = (workflow.get("settings") or {}).get("errorWorkflow")
    if isinstance(failing, str) and failing and failing != "DEFAULT":
        yield failing, "the setting errorWorkflow"


def rewrite_calls(workflow: Mapping[str, Any], new: Callable[[str], str]) -> Json:
    """A copy that calls `new(id)` instead of `id`."""
    copied: Json = copy.deepcopy(dict(workflow))
    for row in copied.get("nodes", ()):
        old = _called_id(row)
        if not old or new(old) == old:
            continue
        reference = row["parameters"]["workflowId"]
        if isinstance(reference, dict):
            reference["value"] = new(old)
            for key in _REMEMBERED:
                reference.pop(key, None)
        else:
            row["parameters"]["workflowId"] = new(old)
    settings = copied.get("settings")
    if isinstance(settings, dict) and isinstance(settings.get("errorWorkflow"), str):
        failing = settings["errorWorkflow"]
        if failing and failing != "DEFAULT":
            settings["errorWorkflow"] = new(failing)
    return copied


def _called_id(row: Mapping[str, Any]) -> str:
    """The id in a node that calls a workflow; empty for an expression and for a whole workflow."""
    kind = (
        node_types.calling_type()
        if row.get("type") == _TOOL
        else node_types.find_type(short_type(row))
    )
    return kind.calls(mapping(row.get("parameters"))) if kind is not None else ""
