"""A workflow without traces of element ids, for comparing two compilations."""

from __future__ import annotations

import json
from typing import Any

from orgflow.backends.n8n.format.identity import tag_of

_IDENTITY = {"id", "webhookId", "notes", "content"}


def _name_elements(workflow: dict[str, Any]) -> dict[str, Any]:
    """The workflow with names of nodes in place of the ids of their elements in expressions."""
    text = json.dumps(workflow, ensure_ascii=False)
    for node in workflow["nodes"]:
        tag = tag_of(node.get("notes"))
        if tag is not None and not tag[1]:
            text = text.replace(
                json.dumps(f'"{tag[0]}"')[1:-1], json.dumps(f'"{node["name"]}"')[1:-1]
            )
    named: dict[str, Any] = json.loads(text)
    return named


def workflow_shape(text: str) -> str:
    """A workflow without traces of element ids: node ids, notes, the identity map."""

    def without_ids(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: without_ids(v) for k, v in value.items() if k not in _IDENTITY}
        if isinstance(value, list):
            return [without_ids(v) for v in value]
        return value

    workflow = without_ids(_name_elements(json.loads(text)))
    for node in workflow["nodes"]:
        if node["type"].endswith(".webhook"):
            node["parameters"].pop("path", None)
        node["parameters"].get("options", {}).pop("webhookSuffix", None)
        if node["type"].endswith(".stickyNote"):
            node["parameters"].pop("height", None)
            node["position"] = None
    workflow["nodes"].sort(key=lambda n: str(n["name"]))
    return json.dumps(workflow, sort_keys=True, ensure_ascii=False)
