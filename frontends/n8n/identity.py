"""Which element a node stands for: orgflow's map and notes first, then node ids, then names.

A workflow that orgflow compiled carries the map from node names to element ids in a sticky note
and each element's id in the node's notes; people rename nodes, and n8n's editor gives new ids.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

MAP_PREFIX = "orgflow-map 1 "
"""First words of the line with the map (`orgflow.backends.n8n.workflow.MAP_PREFIX`)."""

_TAG = re.compile(r"^orgflow: (?P<element>.+?)(?: \((?P<role>stop|decide|branch|join|pass)\))?$")
_WORDS = re.compile(r"[a-z0-9]+")


@dataclass
class OrgflowMap:
    """What the map notes of a workflow say; `broken` are the node indexes of unreadable ones."""

    process: str | None = None
    nodes: dict[str, str] = field(default_factory=dict)
    broken: list[int] = field(default_factory=list)


def read_map(nodes: Iterable[tuple[int, Mapping[str, Any]]]) -> OrgflowMap:
    """The maps in sticky notes; where there are several, the first to name a node counts."""
    found = OrgflowMap()
    for index, node in nodes:
        parameters = node.get("parameters")
        content = parameters.get("content") if isinstance(parameters, Mapping) else None
        if not isinstance(content, str) or MAP_PREFIX not in content:
            continue
        start = content.index(MAP_PREFIX) + len(MAP_PREFIX)
        try:
            said, _ = json.JSONDecoder().raw_decode(content, start)
        except (json.JSONDecodeError, RecursionError):
            said = None
        named = said.get("nodes") if isinstance(said, dict) else None
        if not isinstance(said, dict) or not isinstance(named, dict):
            found.broken.append(index)
            continue
        if found.process is None and isinstance(said.get("process"), str):
            found.process = said["process"] or None
        for name, element in named.items():
            if isinstance(element, str) and element:
                found.nodes.setdefault(name, element)
    return found


def tag_of(notes: Any) -> tuple[str, str] | None:
    """Element and role (empty for the node that stands for it) from a node's notes."""
    if not isinstance(notes, str):
        return None
    for line in reversed(notes.splitlines()):
        match = _TAG.match(line.strip())
        if match is not None:
            return match["element"], match["role"] or ""
    return None


def words_of(notes: Any) -> str:
    """The notes without orgflow's line."""
    if not isinstance(notes, str):
        return ""
    lines = [line for line in notes.splitlines() if not _TAG.match(line.strip())]
    return "\n".join(lines).strip()


def slug(text: str, fallback: str) -> str:
    """Lower-case ASCII words joined by `_`."""
    plain = unicodedata.normalize("NFKD", text.casefold()).encode("ascii", "ignore").decode()
    return "_".join(_WORDS.findall(plain)[:8]) or fallback


class Ids:
    """Hands out ids, each once in a model."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """`wanted`, with a number behind it where it is taken."""
        id, number = wanted, self._next.get(wanted, 2)
        while id in self._taken:
            id, number = f"{wanted}__{number}", number + 1
        self._next[wanted] = number
        self._taken.add(id)
        return id

    def __contains__(self, id: str) -> bool:
        return id in self._taken


def identify(
    nodes: list[tuple[str, Mapping[str, Any]]], known: OrgflowMap, ids: Ids
) -> tuple[list[str], list[int]]:
    """An id for each node (given with its name), and the indexes of nodes whose own id is taken.

    Where a tagged node was copied, the copy has the same tag: the one that the map names, else
    the first, stands for the element.
    """
    found: dict[int, str] = {}
    tags = [tag_of(node.get("notes")) for _, node in nodes]

    def claim(index: int, wanted: str) -> None:
        if index not in found and wanted not in ids:
            found[index] = ids.take(wanted)

    for index, (name, _) in enumerate(nodes):
        tag = tags[index]
        if tag is not None and not tag[1] and known.nodes.get(name) == tag[0]:
            claim(index, tag[0])
    for index, tag in enumerate(tags):
        if tag is not None and not tag[1]:
            claim(index, tag[0])
    for index, (name, _) in enumerate(nodes):
        if tags[index] is None and name in known.nodes:
            claim(index, known.nodes[name])
    for index, tag in enumerate(tags):
        if tag is not None and tag[1]:
            found[index] = ids.take(f"{tag[0]}__{tag[1]}")
    repeated = []
    seen: set[str] = set()
    for index, (name, node) in enumerate(nodes):
        own = node.get("id")
        if isinstance(own, str) and own:
            if own in seen:
                repeated.append(index)
            elif index not in found:
                claim(index, own)
            seen.add(own)
        if index not in found:
            found[index] = ids.take(slug(name, "node"))
    return [found[i] for i in range(len(nodes))], repeated
