"""A workflow without traces of element ids, for comparing two compilations."""

from __future__ import annotations

import json
from typing import Any

_IDENTITY = {"id", "webhookId", "notes", "content"}


def workflow_shape(text: str) -> str:
    """A workflow without traces of element ids: node ids, notes, the identity map."""

    def without_ids(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: without_ids(v) for k, v in value.items() if k not in _IDENTITY}
        if isinstance(value, list):
            return [without_ids(v) for v in value]
        return value

    workflow = without_ids(json.loads(text))
    for node in workflow["nodes"]:
        if node["type"].endswith(".webhook"):
            node["parameters"].pop("path", None)
        node["parameters"].get("options", {}).pop("webhookSuffix", None)
        if node["type"].endswith(".stickyNote"):
            node["parameters"].pop("height", None)
            node["position"] = None
    workflow["nodes"].sort(key=lambda n: str(n["name"]))
    return json.dumps(workflow, sort_keys=True, ensure_ascii=False)
