"""Where the workflows are in a file: at the top, in a list, or in what an API or export put
around them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from orgflow.frontends.n8n.keeping import key, text

from orgflow_ir.model.json_source_map import JsonNode, json_path
from orgflow_ir.model.value import Extra

Path = tuple[str | int, ...]
WRAPPERS = ("workflow", "workflows", "workflowData", "data")
"""Keys that workflows stand under: templates and the cloud's export, lists of workflows,
executions, the API's lists. Under `data` an execution has something else."""

_DEPTH = 4


class Found(NamedTuple):
    """A workflow and where it is."""

    path: Path
    item: JsonNode


def is_workflow(value: Any) -> bool:
    """An object with the keys of a workflow, whatever stands under them."""
    return isinstance(value, Mapping) and ("nodes" in value or "connections" in value)


def find(root: JsonNode) -> list[Found]:
    """Every workflow of a file, in order."""
    found: list[Found] = []
    _find((), root, found, _DEPTH)
    return found


def _find(path: Path, item: JsonNode, found: list[Found], depth: int) -> None:
    if is_workflow(item.value):
        found.append(Found(path, item))
    elif isinstance(item.value, list) and depth:
        for index, entry in enumerate(item.items):
            _find((*path, index), entry, found, depth - 1)
    elif isinstance(item.value, Mapping) and depth:
        for name in WRAPPERS:
            if name in item.members:
                _find((*path, name), item.members[name], found, depth - 1)


def around(root: JsonNode, found: list[Found]) -> Extra:
    """What stands in the file beside the workflows: an entry for each value, by its JSON path."""
    inner = {f.path for f in found}
    outer = {path[:n] for path in inner for n in range(len(path))}
    kept: list[tuple[str, str]] = []
    stack: list[tuple[Path, JsonNode]] = [((), root)]
    while stack:
        path, item = stack.pop()
        if path in inner:
            continue
        if path not in outer:
            kept.append((key(json_path(path)), text(item.value)))
            continue
        children: list[tuple[Path, JsonNode]] = [((*path, n), v) for n, v in item.members.items()]
        children += [((*path, i), v) for i, v in enumerate(item.items)]
        stack.extend(reversed(children))
    return tuple(kept)
