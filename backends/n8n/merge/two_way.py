"""The probable compiled form of an edited workflow without its base.

A node that names an element was compiled; the original content of a placeholder is known. If both
sides differ in the same place, the changed side is unknown: a conflict.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.format.document import short_type
from orgflow.backends.n8n.format.identity import map_place, readable_text
from orgflow.backends.n8n.format.json_values import inside, mapping, rows
from orgflow.backends.n8n.format.references import follow_renames
from orgflow.backends.n8n.format.workflow_document import Node, WorkflowDocument
from orgflow.backends.n8n.merge.content import (
    ADDRESSED,
    is_form,
    is_placeholder,
    same_body,
    same_type,
)
from orgflow.backends.n8n.merge.pairing import pair_nodes

Json = dict[str, Any]

_NOTHING: Mapping[str, Any] = {"nodes": [], "connections": {}}


def presumed_base(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> Json:
    """A workflow that replaces the base of `theirs` in a merge with `ours`."""
    edited, new = WorkflowDocument(theirs), WorkflowDocument(ours)
    # The new compile stands in for the base: what a person did looks alike against both.
    pairs = pair_nodes(new, edited, WorkflowDocument(_NOTHING))
    names: dict[str, str] = {}
    nodes: list[Json] = []
    now = {t.theirs.key: t.base.key for t in pairs.trios if t.theirs and t.base}
    for trio in pairs.trios:
        node, other = trio.theirs, trio.base
        if node is None:
            continue
        if other is not None:
            row = _presume_node(node, other, edited, now)
        elif node.tag is not None or node.name in edited.map.nodes:
            row = _presume_removed(node)
        elif node.sticky and map_place(text := node.parameters.get("content")):
            if readable_text(str(text)):
                continue
            row = dict(node.raw)  # the map alone, as an earlier version wrote it
        else:
            continue  # a person added it
        names[node.key] = row["name"]
        nodes.append(row)
    return {
        **{k: v for k, v in ours.items() if k not in ("nodes", "connections", "settings")},
        "settings": {},
        "nodes": nodes,
        "connections": _presume_connections(edited, names),
    }


_NAMED = ("resume", "formTitle", "options", "operation", "resource", "responseType", "subject")
"""Parameters of a step's form that are derived from the model."""


def _presume_node(
    theirs: Node, ours: Node, edited: WorkflowDocument, now: Mapping[str, str]
) -> Json:
    mine = ours.raw
    if theirs.sticky:
        return {**mine, "parameters": {**ours.parameters, "content": ""}}
    its: Json = {**theirs.raw, "parameters": follow_renames(theirs.parameters, dict(now))}
    row: Json = {key: mine[key] for key in ("id", "type", "typeVersion", "position") if key in mine}
    row["name"] = theirs.name if theirs.name in edited.map.nodes else ours.name
    if ours.short in ADDRESSED and theirs.short in ADDRESSED:
        path = mapping(its.get("parameters")).get("path")
        mine = {**mine, "parameters": {**ours.parameters, "path": path}}
    taken: Mapping[str, Any]
    asks = is_form(mine)
    if (
        asks and is_form(its) and same_type(its, mine)
    ):  # what follows from the model's names; people change the rest
        kept = mapping(its.get("parameters"))
        presumed = {key: kept[key] for key in _NAMED if key in kept}
        taken = {**{key: mine.get(key) for key in ("type", "typeVersion")}, "parameters": presumed}
    elif same_body(its, mine) or (
        (is_placeholder(mine) or asks) and not (is_placeholder(its) or is_form(its))
    ):
        taken = mine
    elif is_placeholder(its) or _in_another_order(its, mine):
        taken = its
    else:
        taken = {"type": mine.get("type"), "typeVersion": mine.get("typeVersion"), "parameters": {}}
    row |= {key: taken.get(key) for key in ("type", "typeVersion", "parameters")}
    shared = theirs.raw.keys() & mine.keys() - row.keys() - {"notes"}
    return {**row, **{key: mine[key] for key in sorted(shared)}}


def _in_another_order(its: Json, mine: Mapping[str, Any]) -> bool:
    """Whether two Switch nodes have the same rules: the layout gives the order of outputs."""
    parameters = [mapping(node.get("parameters")) for node in (its, mine)]
    rules = [rows(inside(version, "rules", "values")) for version in parameters]
    rest = [
        {key: value for key, value in version.items() if key != "rules"} for version in parameters
    ]
    return (
        short_type(its) == "switch"
        and same_body({**its, "parameters": rest[0]}, {**mine, "parameters": rest[1]})
        and len(rules[0]) == len(rules[1])
        and all(rule in rules[1] for rule in rules[0])
    )


def _presume_removed(theirs: Node) -> Json:
    """A node whose element the model has no more: as it was compiled, if it looks like that."""
    role = theirs.tag[1] if theirs.tag is not None else ""
    kind = node_types.find_type(theirs.short)
    written = kind is not None and kind.emitted and theirs.short not in ("set", "code")
    if role or is_placeholder(theirs.raw) or (written and theirs.tag is not None):
        return dict(theirs.raw)
    return {**theirs.raw, "type": "n8n-nodes-base.noOp", "typeVersion": 1, "parameters": {}}


def _presume_connections(edited: WorkflowDocument, names: Mapping[str, str]) -> Json:
    """The wires without the nodes that a person added: what is before and after them, joined."""
    connections: Json = {}

    def add_wire(source: str, output: int, target: str, index: int) -> None:
        outputs = connections.setdefault(names[source], {"main": []})["main"]
        outputs.extend([] for _ in range(output + 1 - len(outputs)))
        end = {"node": names[target], "type": "main", "index": index}
        if end not in outputs[output]:
            outputs[output].append(end)

    main = [wire for wire in edited.wires if wire.kind == "main"]
    onward: dict[str, list[Any]] = {}
    for wire in main:
        onward.setdefault(wire.source, []).append(wire)
    for wire in main:
        if wire.source not in names:
            continue
        seen: set[str] = set()
        todo = [wire]
        while todo:
            node = todo.pop(0)
            if node.target in names:
                add_wire(wire.source, wire.output, node.target, node.input)
            elif node.target not in seen:
                seen.add(node.target)
                todo += onward.get(node.target, ())
    return connections
