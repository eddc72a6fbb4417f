"""How a workflow says which element each node stands for: the map in a sticky note, and notes.

A workflow that orgflow compiled carries the map from node names to element ids in a sticky note
and each element's id in the node's notes; people rename nodes, and n8n's editor gives new ids.
In the sticky note the map is a link reference definition, which Markdown does not show; workflows
of earlier versions have it as code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

MAP_PREFIX: Final = "orgflow-map 1 "
"""First words of the line that carries the identity map in its sticky note."""

HIDDEN: Final = "[orgflow]: # ("
"""What lines of sticky notes begin with that the editor does not show."""

_OWN: Final = (HIDDEN, "`orgflow-", "**For orgflow**:")
_MAP_LINE: Final = re.compile(rf"^(?:`|{re.escape(HIDDEN)})?{MAP_PREFIX}", re.MULTILINE)

_TAG: Final = (
    r"^orgflow: (?P<element>.+?)"
    r"(?: \((?P<role>stop|decide|branch|join|pass|data|before|latest|guard|caught|check|round)\))?$"
)


@dataclass(eq=False, repr=False)
class OrgflowMap:
    """What the map notes of a workflow say; `broken` are the node indexes of unreadable ones,
    `model` is the hash of the model that it was compiled from."""

    process: str | None = None
    model: str = ""
    nodes: dict[str, str] = field(default_factory=dict)
    broken: list[int] = field(default_factory=list)


def hidden(text: str) -> str:
    """A line of a sticky note that the editor does not show; parentheses, which would end it, are
    written as JSON has them in strings."""
    return f"{HIDDEN}{text.replace('(', chr(92) + 'u0028').replace(')', chr(92) + 'u0029')})"


def map_line(said: Mapping[str, Any]) -> str:
    """The line of a sticky note with a map: process, hash of the model, element by node name."""
    return hidden(MAP_PREFIX + json.dumps(said, ensure_ascii=False, separators=(",", ":")))


def map_place(content: object) -> int | None:
    """Where the JSON of the map begins in the text of a sticky note; None where there is no map."""
    found = _MAP_LINE.search(content) if isinstance(content, str) else None
    return found.end() if found is not None else None


def own_lines(content: str) -> list[str]:
    """The lines of a sticky note that are there for orgflow alone."""
    return [line for line in content.split("\n") if line.startswith(_OWN)]


def readable(content: str) -> str:
    """The text of a sticky note without what is there for orgflow alone."""
    return "\n".join(line for line in content.split("\n") if not line.startswith(_OWN)).strip()


def read_map(nodes: Iterable[tuple[int, Mapping[str, Any]]]) -> OrgflowMap:
    """The maps in sticky notes; where there are several, the first to name a node counts."""
    found = OrgflowMap()
    for index, node in nodes:
        parameters = node.get("parameters")
        content = parameters.get("content") if isinstance(parameters, Mapping) else None
        start = map_place(content)
        if start is None:
            continue
        try:
            said, _ = json.JSONDecoder().raw_decode(str(content), start)
        except (json.JSONDecodeError, RecursionError):
            said = None
        named = said.get("nodes") if isinstance(said, dict) else None
        if not isinstance(said, dict) or not isinstance(named, dict):
            found.broken.append(index)
            continue
        if found.process is None and isinstance(said.get("process"), str):
            found.process = said["process"] or None
        if not found.model and isinstance(said.get("model"), str):
            found.model = said["model"]
        for name, element in named.items():
            if isinstance(element, str) and element:
                found.nodes.setdefault(name, element)
    return found


def tag_of(notes: Any) -> tuple[str, str] | None:
    """Element and role (empty for the node that stands for it) from a node's notes."""
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
    """The line of a node's notes that names its element, and its role where it only helps."""
    return f"orgflow: {element}" + (f" ({role})" if role else "")


def folded(name: str) -> str:
    """A name without differences of case and blanks."""
    return " ".join(name.casefold().split())
