"""POWL as JSON: the form that `orgflow_ir/schema/powl.schema.json` publishes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from orgflow.backends.powl.format import (
    MAX_DEPTH,
    Activity,
    Choice,
    Loop,
    PartialOrder,
    Powl,
    PowlError,
    Silent,
    partial_order,
)

from orgflow_ir.model.json_source_map import JsonDocument, JsonNode
from orgflow_ir.model.source import SourceLocation

_ALIASES = {
    "activity": "activity", "task": "activity", "transition": "activity",
    "silent": "silent", "tau": "silent", "skip": "silent",
    "choice": "choice", "xor": "choice",
    "loop": "loop",
    "partial-order": "partial-order", "partialorder": "partial-order", "po": "partial-order",
    "sequence": "sequence", "parallel": "parallel", "and": "parallel",
}  # fmt: skip
"""The names of types, without case, spaces and underscores."""


class JsonReader:
    """Reads one document. Raises `PowlError` with the place."""

    def __init__(self, document: JsonDocument) -> None:
        self._document = document

    def read(self) -> tuple[str, Powl]:
        """The name of the model, and the model."""
        root = self._document.root
        if isinstance(root.value, dict) and "model" in root.members:
            return self._read_text(root, "name"), self._read_node(
                root.members["model"], "$.model", 0
            )
        return "", self._read_node(root, "$", 0)

    def _node_location(self, node: JsonNode, path: str) -> SourceLocation:
        return self._document.loc(node, path)

    def _read_text(self, node: JsonNode, key: str) -> str:
        text_node = node.members.get(key)
        if text_node is None or text_node.value is None:
            return ""
        if not isinstance(text_node.value, str):
            raise PowlError(f"`{key}` is no text", self._node_location(text_node, key))
        return " ".join(text_node.value.split())

    def _read_node(self, node: JsonNode, path: str, depth: int) -> Powl:
        loc = self._node_location(node, path)
        if depth > MAX_DEPTH:
            raise PowlError(f"the model is nested more than {MAX_DEPTH} levels deep", loc)
        if node.value is None:
            return Silent()
        if isinstance(node.value, str):
            return Activity(" ".join(node.value.split()), loc=loc)
        if not isinstance(node.value, dict):
            raise PowlError("this is not an object with a `type`", loc)
        written = self._read_text(node, "type")
        kind = _ALIASES.get(written.lower().replace("_", "-").replace(" ", "-").strip("-"))
        kind = kind or _ALIASES.get(written.lower().replace("_", "").replace("-", ""))
        match kind:
            case "activity":
                return self._read_activity(node, loc)
            case "silent":
                return Silent()
            case "choice":
                return self._read_choice(node, path, depth, loc)
            case "loop":
                return self._read_loop(node, path, depth, loc)
            case "sequence" | "parallel":
                parts = self._read_children(node, path, depth, "children")
                row = [(n, n + 1) for n in range(len(parts) - 1)] if kind == "sequence" else []
                return partial_order(parts, row, loc)
            case "partial-order":
                return self._read_order(node, path, depth, loc)
            case _:
                raise PowlError(f"`{written or 'none'}` is not a POWL type", loc)

    def _read_choice(self, node: JsonNode, path: str, depth: int, loc: SourceLocation) -> Choice:
        parts = self._read_children(node, path, depth, "children")
        if not parts:
            raise PowlError("a choice has no children", loc)
        given = node.members["children"].items
        conditions = tuple(self._read_condition(item) for item in given)
        return Choice(tuple(parts), conditions, self._read_text(node, "name"))

    def _read_loop(self, node: JsonNode, path: str, depth: int, loc: SourceLocation) -> Loop:
        if "do" not in node.members:
            raise PowlError("a loop has no `do`", loc)
        do, redo = (
            self._read_node(node.members[key], f"{path}.{key}", depth + 1)
            if key in node.members else Silent()
            for key in ("do", "redo")
        )  # fmt: skip
        again, leave = self._read_text(node, "again"), self._read_text(node, "leave")
        return Loop(do, redo, again, leave, self._read_text(node, "name"))

    def _read_activity(self, node: JsonNode, loc: SourceLocation) -> Activity:
        label = self._read_text(node, "label") or self._read_text(node, "name")
        if not label:
            raise PowlError("an activity has no `label`", loc)
        lane = self._read_text(node, "lane") or self._read_text(node, "actor")
        return Activity(label, lane, self._read_text(node, "pool"), loc)

    def _read_condition(self, node: JsonNode) -> str:
        return self._read_text(node, "condition") if isinstance(node.value, dict) else ""

    def _read_children(self, node: JsonNode, path: str, depth: int, key: str) -> list[Powl]:
        held = node.members.get(key)
        if held is None or not isinstance(held.value, list):
            raise PowlError(f"the list `{key}` is missing", self._node_location(node, path))
        return [
            self._read_node(item, f"{path}.{key}[{n}]", depth + 1)
            for n, item in enumerate(held.items)
        ]

    def _read_order(
        self, node: JsonNode, path: str, depth: int, loc: SourceLocation
    ) -> PartialOrder:
        parts = self._read_children(node, path, depth, "nodes")
        names: dict[Any, int] = {}
        for number, item in enumerate(node.members["nodes"].items):
            name = item.members.get("id")
            if name is not None and isinstance(name.value, str | int):
                if name.value in names:
                    raise PowlError(
                        f"two nodes have the id `{name.value}`", self._node_location(name, path)
                    )
                names[name.value] = number
        edges: list[tuple[int, int]] = []
        held = node.members.get("order") or node.members.get("edges")
        for item in held.items if held is not None else ():
            chain = item.value if isinstance(item.value, list) else [item.value]
            steps = [self._find_number(step, names, len(parts), item, path) for step in chain]
            edges += list(pairwise(steps))
        return partial_order(parts, edges, loc)

    def _find_number(
        self, name: Any, names: dict[Any, int], count: int, node: JsonNode, path: str
    ) -> int:
        """The node that an order names by its id or, where it has none, by its number from 0."""
        hashable = isinstance(name, str | int) and not isinstance(name, bool)
        if hashable and name in names:
            return names[name]
        if hashable and isinstance(name, int) and not names and 0 <= name < count:
            return name
        raise PowlError(
            f"an order refers to `{name}`, which is not a node", self._node_location(node, path)
        )


def powl_schema() -> dict[str, Any]:
    """The JSON Schema of POWL files."""
    text = {"type": "string"}
    label = {"type": "string", "pattern": r"\S"}
    node = {"$ref": "#/$defs/node"}

    def kind_schema(
        name: str, properties: dict[str, Any], required: Sequence[str]
    ) -> dict[str, Any]:
        shared = {"type": {"const": name}, "id": {"type": ["string", "integer"]}, "condition": text}
        return {
            "type": "object",
            "properties": {**shared, **properties},
            "required": ["type", *required],
            "additionalProperties": False,
        }

    nodes = {"type": "array", "items": node}
    some = {**nodes, "minItems": 1}
    row = {"type": "array", "items": {"type": ["string", "integer"]}, "minItems": 2}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "orgflow POWL",
        "type": "object",
        "properties": {"powl": {"const": 1}, "name": text, "model": node},
        "required": ["powl", "model"],
        "additionalProperties": False,
        "$defs": {
            "node": {
                "oneOf": [
                    kind_schema(
                        "activity", {"label": label, "lane": text, "pool": text}, ["label"]
                    ),
                    kind_schema("silent", {}, []),
                    kind_schema("choice", {"children": some, "name": text}, ["children"]),
                    kind_schema(
                        "loop",
                        {"do": node, "redo": node, "again": text, "leave": text, "name": text},
                        ["do"],
                    ),
                    kind_schema("sequence", {"children": nodes}, ["children"]),
                    kind_schema("parallel", {"children": nodes}, ["children"]),
                    kind_schema(
                        "partial-order",
                        {"nodes": nodes, "order": {"type": "array", "items": row}},
                        ["nodes"],
                    ),
                ]
            }
        },
    }
