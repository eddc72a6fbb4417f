"""The corresponding nodes of base, edited workflow and new output: trios under one key.

The evidence is that of `verify` and `diff`: unchanged ids, the element in a node's notes, the map
in the sticky note, names, neighbours. Two compilations share ids, which are derived from elements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from orgflow.backends.n8n.format.identity import folded_name
from orgflow.backends.n8n.format.matching import (
    ByNeighbours,
    Evidence,
    Matcher,
    Matching,
    Side,
    by_unique,
    match_nodes,
)
from orgflow.backends.n8n.format.workflow_document import Node, WorkflowDocument

from orgflow_ir.model.records import NamedTuple

_ID = 8
"""Number of characters of an id that a base keeps."""


class Trio(NamedTuple):
    """One node in its compiled, edited and current form; `None` if a version does not have it."""

    key: str
    base: Node | None
    theirs: Node | None
    ours: Node | None


class Pairs(NamedTuple):
    """All trios in the order of the new output, followed by nodes of other versions only; and the
    keys by the names of each version."""

    trios: tuple[Trio, ...]
    base: dict[str, str]
    theirs: dict[str, str]
    ours: dict[str, str]


def pair_nodes(base: WorkflowDocument, theirs: WorkflowDocument, ours: WorkflowDocument) -> Pairs:
    """Match the nodes of three versions, including sticky notes."""
    # Sticky notes are matched among themselves: they have no wires, but names.
    to_ours = {**_match_nodes(base, ours, _COMPILED), **_pair_notes(base, ours)}
    to_theirs = {**_match_nodes(base, theirs, _EDITED), **_pair_notes(base, theirs)}
    trios: list[Trio] = []
    nodes = [{node.key: node for node in side.nodes} for side in (base, theirs, ours)]
    mine = {name: key for key, name in to_ours.items()}
    its = {name: key for key, name in to_theirs.items()}
    alone = _pair_alike(theirs, ours, set(its), set(mine))
    for name, node in nodes[2].items():
        was = mine.get(name)
        other = to_theirs.get(was) if was is not None else alone.get(name)
        trios.append(
            Trio(
                f"o:{name}",
                nodes[0][was] if was is not None else None,
                nodes[1][other] if other is not None else None,
                node,
            )
        )
    for name, node in nodes[0].items():
        if name not in to_ours:
            other = to_theirs.get(name)
            partner = nodes[1][other] if other is not None else None
            trios.append(Trio(f"b:{name}", node, partner, None))
    taken = {trio.theirs.key for trio in trios if trio.theirs is not None}
    trios += [Trio(f"t:{n}", None, node, None) for n, node in nodes[1].items() if n not in taken]
    return Pairs(
        tuple(trios),
        {trio.base.key: trio.key for trio in trios if trio.base is not None},
        {trio.theirs.key: trio.key for trio in trios if trio.theirs is not None},
        {trio.ours.key: trio.key for trio in trios if trio.ours is not None},
    )


def _match_nodes(
    old: WorkflowDocument, new: WorkflowDocument, by: tuple[Evidence[str], ...]
) -> dict[str, str]:
    mine, its = (
        Side(flow.steps, [w for w in flow.wires if w.kind == "main"], flow.map)
        for flow in (old, new)
    )
    matching: Matching[str] = match_nodes(mine, its, by)
    return matching.pairs


# -- evidence --------------------------------------------------------------------------------------


def _short_id(_: Side[str], node: Node) -> Hashable | None:
    return node.n8n_id[:_ID] or None


def _untagged_name(matcher: Matcher[str]) -> None:
    """A name that stayed, where the element in the notes stayed as well, or the node has none: the
    node that a person put in the place of a placeholder, "keep the name"."""
    tags = Counter(node.tag for node in matcher.new.steps.values() if node.tag is not None)
    for name, node in matcher.old.steps.items():
        other = matcher.new.steps.get(name)
        if other is None:
            continue
        replaced = other.tag is None and (node.tag is None or not tags[node.tag])
        if other.tag == node.tag or replaced:
            matcher.claim(name, name, "name")


def _same_name(matcher: Matcher[str]) -> None:
    for name, node in matcher.old.steps.items():
        other = matcher.new.steps.get(name)
        if other is not None and (other.type == node.type or other.tag is None):
            matcher.claim(name, name, "name")


def _mapped_element(side: Side[str], node: Node) -> Hashable | None:
    """The element that the notes name, else the map, which goes by the names of its day."""
    element = side.map.nodes.get(node.name)
    return node.tag or ((element, "") if element else None)


_KINDS = {"if": "choice", "switch": "choice", "merge": "merge", "stopAndError": "stop"}


def _node_kind(node: Node) -> Hashable:
    """What may stand in the place of what."""
    return node.trigger, _KINDS.get(node.short, "step")


_BY_SHORT_ID = by_unique("id", _short_id)
_BY_TAG = by_unique("notes", lambda _, node: node.tag)
_BY_ELEMENT = by_unique("map", _mapped_element)

_COMPILED: tuple[Evidence[str], ...] = (_BY_SHORT_ID, _BY_TAG, _same_name)
_EDITED: tuple[Evidence[str], ...] = (
    _BY_SHORT_ID,
    _untagged_name,
    _BY_TAG,
    _BY_ELEMENT,
    _same_name,
    ByNeighbours[str](_node_kind),
)


def _pair_notes(old: WorkflowDocument, new: WorkflowDocument) -> dict[str, str]:
    """Sticky notes by id, by name, by text."""
    pairs: dict[str, str] = {}
    taken: set[str] = set()
    left = [node for node in old.nodes if node.sticky]
    for evidence in (
        lambda node: node.n8n_id[:_ID] or None,
        lambda node: node.name,
        lambda node: str(node.parameters.get("content", "")) or None,
    ):
        others = {
            evidence(n): n.key for n in reversed(new.nodes) if n.sticky and n.key not in taken
        }
        for node in list(left):
            value = evidence(node)
            other = others.pop(value, None) if value is not None else None
            if other is not None:
                pairs[node.key] = other
                taken.add(other)
                left.remove(node)
    return pairs


def _pair_alike(
    theirs: WorkflowDocument, ours: WorkflowDocument, known: set[str], mine: set[str]
) -> dict[str, str]:
    """Nodes that a person added and the model has now, too, under one name; by ours."""
    free = {
        (folded_name(node.name), node.trigger): node.key
        for node in theirs.steps.values()
        if node.key not in known
    }
    pairs: dict[str, str] = {}
    for node in ours.steps.values():
        if node.key not in mine and node.tag is not None and not node.tag[1]:
            other = free.pop((folded_name(node.name), node.trigger), None)
            if other is not None:
                pairs[node.key] = other
    return pairs
