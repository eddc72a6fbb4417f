"""The element of a node: by orgflow's map and notes first, then node ids, then names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from orgflow.backends.n8n.format.identity import OrgflowMap
from orgflow.backends.n8n.format.workflow_document import Node

_WORDS = re.compile(r"[a-z0-9]+")


def slug_text(text: str, fallback: str) -> str:
    """Lower-case ASCII words joined by `_`."""
    plain = unicodedata.normalize("NFKD", text.casefold()).encode("ascii", "ignore").decode()
    return "_".join(_WORDS.findall(plain)[:8]) or fallback


class Ids:
    """Assigns ids, each once in a model."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """`wanted`, with a number appended if it is taken."""
        id, number = wanted, self._next.get(wanted, 2)
        while id in self._taken:
            id, number = f"{wanted}__{number}", number + 1
        self._next[wanted] = number
        self._taken.add(id)
        return id

    def __contains__(self, id: str) -> bool:
        return id in self._taken


def identify_nodes(
    nodes: Sequence[Node], known: OrgflowMap, ids: Ids
) -> tuple[list[str], list[int]]:
    """An id for each node, and the indexes of nodes whose own id is taken.

    If a tagged node was copied, the copy has the same tag: the one in the map, otherwise the first,
    represents the element.
    """
    taken = _claim_tagged(nodes, known, ids)
    repeated = []
    seen: set[str] = set()
    for index, node in enumerate(nodes):
        own = node.n8n_id
        if own in seen:
            repeated.append(index)
        elif own and index not in taken and own not in ids:
            taken[index] = ids.take(own)
        if own:
            seen.add(own)
        if index not in taken:
            taken[index] = ids.take(slug_text(node.name, "node"))
    return [taken[index] for index in range(len(nodes))], repeated


def _claim_tagged(nodes: Sequence[Node], known: OrgflowMap, ids: Ids) -> dict[int, str]:
    """Ids by the indexes of nodes whose element is in their notes or in the map."""
    taken: dict[int, str] = {}
    claims: list[tuple[int, int, str]] = []
    for index, node in enumerate(nodes):
        tag, named = node.tag, known.nodes.get(node.name)
        element, role = tag or (named or "", "")
        if element and not role:
            claims.append((2 if tag is None else element != named, index, element))
    for _, index, element in sorted(claims):
        if index not in taken and element not in ids:
            taken[index] = ids.take(element)
    for index, node in enumerate(nodes):
        if node.tag is not None and node.tag[1]:
            taken[index] = ids.take(f"{node.tag[0]}__{node.tag[1]}")
    return taken
