"""The mapping from nodes to elements in a workflow: the map in a sticky note, and notes.

A workflow that orgflow compiled contains the map from node names to element ids in a sticky note
and each element's id in the node's notes, since people rename nodes, and n8n's editor assigns new
ids. In the sticky note the map is a link reference definition, which Markdown does not show;
workflows of earlier versions have it as code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, Final

from orgflow_ir.lazy_patterns import lazy_pattern
from orgflow_ir.model.records import dataclass

MAP_PREFIX: Final = "orgflow-map 1 "
"""The beginning of the line with the identity map in its sticky note."""

HIDDEN: Final = "[orgflow]: # ("
"""Beginnings of lines in sticky notes that the editor does not show."""

WORK_PREFIX: Final = "work-"
"""How the process of a workflow begins that does work which models only name."""

CALLED_PROCESS_PREFIX: Final = f"{WORK_PREFIX}process-"
"""How that of a called process begins that was not found."""

_OWN: Final = (HIDDEN, "`orgflow-", "**For orgflow**:")
_MAP_LINE: Final = lazy_pattern(rf"^(?:`|{re.escape(HIDDEN)})?{MAP_PREFIX}", re.MULTILINE)

_TAG: Final = (
    r"^orgflow: (?P<element>.+?)"
    r"(?: \((?P<role>stop|decide|branch|join|pass|data|before|latest|guard|caught|check|round"
    r"|begin|begins|open|await|message|claim|page|refuse|arrive|split|end|continue|take|taken|variables|segment)\))?$"
)


@dataclass(eq=False, repr=False)
class OrgflowMap:
    """The content of a workflow's map notes; `broken` are the node indexes of unreadable ones,
    `model` is the hash of its source model, and `returns` are the variables that a process hands
    back to callers in other files; `None` if it is not for callers in several files. `options` are
    those of the compilation that differ from the defaults; `None` if none are stated."""

    process: str | None = None
    model: str = ""
    nodes: dict[str, str] = field(default_factory=dict)
    broken: list[int] = field(default_factory=list)
    returns: tuple[str, ...] | None = None
    options: dict[str, str] | None = None


def hidden_line(text: str) -> str:
    """A line of a sticky note that the editor does not show; parentheses, which would end it, are
    escaped as in JSON strings."""
    return f"{HIDDEN}{text.replace('(', chr(92) + 'u0028').replace(')', chr(92) + 'u0029')})"


def map_line(content: Mapping[str, Any]) -> str:
    """The line of a sticky note with a map: process, hash of the model, element by node name."""
    return hidden_line(MAP_PREFIX + json.dumps(content, ensure_ascii=False, separators=(",", ":")))


def map_place(content: object) -> int | None:
    """The position of the map's JSON in the text of a sticky note; None if there is no map."""
    if not isinstance(content, str) or (at := content.find(MAP_PREFIX)) < 0:
        return None
    match = _MAP_LINE.search(content, content.rfind("\n", 0, at) + 1)
    return match.end() if match is not None else None


def own_lines(content: str) -> list[str]:
    """The lines of a sticky note that only orgflow reads."""
    return [line for line in content.split("\n") if line.startswith(_OWN)]


def readable_text(content: str) -> str:
    """The text of a sticky note without the lines that only orgflow reads."""
    return "\n".join(line for line in content.split("\n") if not line.startswith(_OWN)).strip()


def read_map(nodes: Iterable[tuple[int, Mapping[str, Any]]]) -> OrgflowMap:
    """The maps in sticky notes; if there are several, the first to name a node counts."""
    node_map = OrgflowMap()
    for index, node in nodes:
        parameters = node.get("parameters")
        content = parameters.get("content") if isinstance(parameters, Mapping) else None
        start = map_place(content)
        if start is None:
            continue
        map_data = _decode_map(str(content), start)
        if map_data is None:
            node_map.broken.append(index)
        else:
            _add_map(node_map, map_data)
    return node_map


def _decode_map(content: str, start: int) -> Mapping[str, Any] | None:
    """The object of a map; `None` for what is none."""
    try:
        map_data, _ = json.JSONDecoder().raw_decode(content, start)
    except (json.JSONDecodeError, RecursionError):
        return None
    is_map = isinstance(map_data, dict) and isinstance(map_data.get("nodes"), dict)
    return map_data if is_map else None


def _add_map(node_map: OrgflowMap, map_data: Mapping[str, Any]) -> None:
    """What a map states and no earlier one did."""
    if node_map.process is None and isinstance(map_data.get("process"), str):
        node_map.process = map_data["process"] or None
    if not node_map.model and isinstance(map_data.get("model"), str):
        node_map.model = map_data["model"]
    returns = map_data.get("returns")
    if node_map.returns is None and isinstance(returns, list):
        node_map.returns = tuple(returned for returned in returns if isinstance(returned, str))
    options = map_data.get("options")
    if node_map.options is None and isinstance(options, dict):
        node_map.options = {str(key): str(value) for key, value in options.items()}
    for name, element in map_data["nodes"].items():
        if isinstance(element, str) and element:
            node_map.nodes.setdefault(name, element)


def tag_of(notes: Any) -> tuple[str, str] | None:
    """Element and role (empty for the node that represents it) from a node's notes."""
    if not isinstance(notes, str):
        return None
    for line in reversed(notes.splitlines()):
        match = re.match(_TAG, line.strip())
        if match is not None:
            return match["element"], match["role"] or ""
    return None


def words_of(notes: Any) -> str:
    """The notes without orgflow's line."""
    if not isinstance(notes, str):
        return ""
    lines = [line for line in notes.splitlines() if not re.match(_TAG, line.strip())]
    return "\n".join(lines).strip()


def tag_line(element: str, role: str) -> str:
    """The line of a node's notes that names its element, and its role if it is auxiliary."""
    return f"orgflow: {element}" + (f" ({role})" if role else "")


def folded_name(name: str) -> str:
    """A name with case and spaces normalised."""
    return " ".join(name.casefold().split())
