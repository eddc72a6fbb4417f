"""Storage of data that the IR does not model: JSON text under keys in n8n's namespace."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from orgflow.backends.n8n.format.workflow_document import Path

from orgflow_ir.model.bindings import Worker
from orgflow_ir.model.json_source_map import JsonNode, json_path
from orgflow_ir.model.value import Extra

N8N = "urn:orgflow:n8n"
"""Namespace of kept data: `{urn:orgflow:n8n}position` contains the value of the node's
`position`."""

BINDING = "n8n"
"""`by` of workers that are n8n nodes."""


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def compact_json(value: Any) -> str:
    """Compact JSON, keys in the order of the file."""
    return _ENCODER.encode(value)


def extension_key(name: str) -> str:
    """`{urn:orgflow:n8n}position` for `position`."""
    return f"{{{N8N}}}{name}"


def keep_entries(value: Mapping[str, Any], but: Collection[str] = ()) -> Extra:
    """Every entry of a JSON object except those named, as extension data."""
    return tuple(
        (extension_key(name), compact_json(v)) for name, v in value.items() if name not in but
    )


def read_binding(node: Mapping[str, Any], script: str | None = None) -> Worker:
    """The node that performs a task: `target` is `type@version`, each parameter its JSON text."""
    parameters = node.get("parameters")
    kept = parameters.items() if isinstance(parameters, Mapping) else ()
    target = None
    if _is_word(node.get("type")):
        target = str(node["type"])
        if "typeVersion" in node:
            target += f"@{compact_json(node['typeVersion'])}"
    return Worker(
        by=BINDING,
        target=target,
        code=script,
        parameters=tuple((name, compact_json(v)) for name, v in kept),
    )


def kept_node(node: Mapping[str, Any], *, bound: bool) -> Extra:
    """The parts of a node that are neither in the element's name nor (`bound`) in its binding;
    `absent` lists parts that these imply and the file lacks."""
    but = ["name"] if _is_word(node.get("name")) else []
    absent = [] if "name" in node else ["name"]
    if bound:
        but += ["type", "typeVersion"] if _is_word(node.get("type")) else []
        but += ["parameters"] if isinstance(node.get("parameters"), Mapping) else []
        absent += [] if "parameters" in node else ["parameters"]
    extra = keep_entries(node, but)
    return (*extra, (extension_key("absent"), compact_json(absent))) if absent else extra


def _is_word(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def keep_surroundings(root: JsonNode, workflows: Collection[Path]) -> Extra:
    """The content of the file besides the workflows: one entry for each value, by its JSON path."""
    inner = set(workflows)
    outer = {path[:n] for path in inner for n in range(len(path))}
    kept: list[tuple[str, str]] = []
    stack: list[tuple[Path, JsonNode]] = [((), root)]
    while stack:
        path, item = stack.pop()
        if path in inner:
            continue
        if path not in outer:
            kept.append((extension_key(json_path(path)), compact_json(item.value)))
            continue
        children: list[tuple[Path, JsonNode]] = [((*path, n), v) for n, v in item.members.items()]
        children += [((*path, i), v) for i, v in enumerate(item.items)]
        stack.extend(reversed(children))
    return tuple(kept)
