"""JSON Schema of the visible parameters of a node with given values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from orgflow.backends.n8n.catalogue.display import (
    SILENT,
    Place,
    Property,
    add_defaults,
    is_list,
    is_visible,
    list_members,
    list_visible,
)

from orgflow_ir.model.records import NamedTuple

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string", "pattern": "^(?!=)"}
"""A constant: n8n computes a text that begins with `=`."""

_WORDS = re.compile(r"<[^>]*>")
LOCATED = ("resourceLocator", "workflowSelector", "agentSelector")
_MOST_WORDS = 160


def parameter_schema(
    properties: Sequence[Property], given: Mapping[str, Any], version: float
) -> Schema:
    """The schema of the parameters of a node; see `Catalogue.schema`."""
    root = add_defaults(properties, given, version)
    return _Level(version, root).object(properties, given, None)


def required_blanks(
    properties: Sequence[Property], given: Mapping[str, Any], version: float
) -> Iterator[tuple[str, Property]]:
    """Paths of the visible required parameters that have neither value nor default."""
    root = add_defaults(properties, given, version)
    yield from _Level(version, root).blanks(properties, given, None, "")


def at_path(
    properties: Sequence[Property], given: Mapping[str, Any], version: float, path: str
) -> Property | None:
    """The visible parameter at a path of names joined by dots; intermediate groups are single.
    `None` if nothing is visible there, or only a list."""
    root = add_defaults(properties, given, version)
    name, _, rest = path.partition(".")
    entry = _find_property(list_visible(properties, given, version), name)
    if entry is None or not rest:
        return entry
    if is_list(entry):
        return None
    values = _as_mapping(given.get(name))
    if entry.get("type") == "collection":
        return _find_property(
            list_visible(list_members(entry), values, version, root, defaults=False), rest
        )
    if entry.get("type") == "fixedCollection":
        group_name, _, last = rest.partition(".")
        group = next((g for g in list_members(entry) if g["name"] == group_name), None)
        if group is None or not is_visible(group, Place(root, root, version)):
            return None
        inner = _as_mapping(values.get(group_name))
        return _find_property(list_visible(group.get("values") or (), inner, version, root), last)
    return None


def _find_property(entries: Iterable[Property], name: str) -> Property | None:
    matching = (e for e in entries if e["name"] == name and e.get("type") not in SILENT)
    return next(matching, None)


class _Level(NamedTuple):
    """What all levels of one node share."""

    version: float
    root: Mapping[str, Any]

    def object(
        self,
        properties: Sequence[Property],
        given: Mapping[str, Any],
        parent: str | None,
    ) -> Schema:
        """An object with the parameters that show at one level, and no other."""
        shown: dict[str, Schema] = {}
        required = []
        for entry in self._visible_properties(properties, given, parent):
            if entry.get("type") in SILENT:
                continue
            shown[entry["name"]] = self.value(entry, given.get(entry["name"]), given)
            if parent != "collection" and _is_required(entry):
                required.append(entry["name"])
        return {
            "type": "object",
            "properties": shown,
            "required": list(dict.fromkeys(required)),
            "additionalProperties": False,
        }

    def value(self, entry: Property, given: Any, beside: Mapping[str, Any]) -> Schema:
        """The schema of one parameter, with what a person reads in the editor."""
        schema = self._type_schema(entry, given, beside)
        words = [entry.get("displayName"), entry.get("description"), entry.get("hint")]
        text = ". ".join(plain_text(w) for w in words if isinstance(w, str) and w)
        if text:
            schema["description"] = text[:_MOST_WORDS]
        return schema

    def _type_schema(self, entry: Property, given: Any, beside: Mapping[str, Any]) -> Schema:
        kind = entry.get("type")
        more = entry.get("typeOptions") or {}
        match kind:
            case "boolean":
                return {"type": "boolean"}
            case "number":
                number: Schema = {"type": "number"}
                if isinstance(more.get("minValue"), int | float):
                    number["minimum"] = more["minValue"]
                if isinstance(more.get("maxValue"), int | float):
                    number["maximum"] = more["maxValue"]
                return _list_schema(number, entry)
            case "options":
                return _list_schema(self._choice_schema(entry, beside), entry)
            case "multiOptions":
                return {"type": "array", "items": self._choice_schema(entry, beside)}
            case "collection":
                return self._collection_schema(entry, given)
            case "fixedCollection":
                return self._group_schema(entry, _as_mapping(given))
            case "resourceMapper":
                return _MAPPER | {}
            case "filter":
                return _FILTER | {}
            case "assignmentCollection":
                return _ASSIGNMENTS | {}
            case "json":
                return {"anyOf": [_TEXT, {"type": "object"}, {"type": "array"}]}
            case _ if kind in LOCATED:
                return _locator_schema(entry)
        return _list_schema(dict(_TEXT), entry)

    def _choice_schema(self, entry: Property, beside: Mapping[str, Any]) -> Schema:
        """One of the options that show; any text where only the account knows them."""
        if "loadOptionsMethod" in (entry.get("typeOptions") or {}) or "loadOptions" in (
            entry.get("typeOptions") or {}
        ):
            return {"anyOf": [_TEXT, {"type": "number"}]}
        place = Place({**self.root, **beside}, self.root, self.version)
        values = [o["value"] for o in list_members(entry) if "value" in o and is_visible(o, place)]
        return {"enum": values} if values else dict(_TEXT)

    def _collection_schema(self, entry: Property, given: Any) -> Schema:
        if not is_list(entry):
            return self.object(list_members(entry), _as_mapping(given), "collection")
        each = [
            self.object(list_members(entry), _as_mapping(v), "collection") for v in _as_list(given)
        ]
        return _items_schema(each, self.object(list_members(entry), {}, "collection"))

    def _group_schema(self, entry: Property, given: Mapping[str, Any]) -> Schema:
        """A `fixedCollection`: by the name of the group its parameters, or a list of them."""
        shown: dict[str, Schema] = {}
        place = Place(self.root, self.root, self.version)
        for group in list_members(entry):
            if not is_visible(group, place):
                continue
            values = group.get("values") or ()
            inner = given.get(group["name"])
            if is_list(entry):
                each = [
                    self.object(values, _as_mapping(v), "fixedCollection") for v in _as_list(inner)
                ]
                shown[group["name"]] = _items_schema(
                    each, self.object(values, {}, "fixedCollection")
                )
            else:
                shown[group["name"]] = self.object(values, _as_mapping(inner), "fixedCollection")
        return {"type": "object", "properties": shown, "additionalProperties": False}

    def _visible_properties(
        self, properties: Sequence[Property], given: Mapping[str, Any], parent: str | None
    ) -> Iterator[Property]:
        root = None if parent is None else self.root
        return list_visible(properties, given, self.version, root, defaults=parent != "collection")

    def blanks(
        self,
        properties: Sequence[Property],
        given: Mapping[str, Any],
        parent: str | None,
        before: str,
    ) -> Iterator[tuple[str, Property]]:
        """See `required_blanks`."""
        for entry in self._visible_properties(properties, given, parent):
            name, path = entry["name"], f"{before}{entry['name']}"
            value = given.get(name)
            if entry.get("type") in SILENT:
                continue
            if parent != "collection" and _is_required(entry) and _is_empty(value):
                yield path, entry
            elif entry.get("type") == "collection" and isinstance(value, Mapping):
                yield from self.blanks(list_members(entry), value, "collection", f"{path}.")
            elif entry.get("type") == "fixedCollection" and isinstance(value, Mapping):
                for group in list_members(entry):
                    inner = value.get(group["name"])
                    if isinstance(inner, Mapping):
                        values = group.get("values") or ()
                        there = f"{path}.{group['name']}."
                        yield from self.blanks(values, inner, "fixedCollection", there)


def _is_required(entry: Property) -> bool:
    """Whether n8n does not run the node before somebody gives a value: it has no default."""
    default = entry.get("default")
    if entry.get("type") in LOCATED and isinstance(default, Mapping):
        default = default.get("value")
    least = (entry.get("typeOptions") or {}).get("minRequiredFields") or 0
    return (entry.get("required") is True or least > 0) and default in (None, "", [], {})


def _is_empty(value: Any) -> bool:
    if isinstance(value, Mapping) and value.get("__rl"):
        value = value.get("value")
    return value in (None, "", [], {})


def _list_schema(item: Schema, entry: Property) -> Schema:
    return {"type": "array", "items": item} if is_list(entry) else item


def _items_schema(each: list[Schema], other: Schema) -> Schema:
    """A list whose items show each what their own values say."""
    schema: Schema = {"type": "array", "items": other}
    if any(schema_of_item != other for schema_of_item in each):
        schema["prefixItems"] = each
    return schema


def _locator_schema(entry: Property) -> Schema:
    """How n8n finds something in an account: by an id, an address, or from a list."""
    modes = [m["name"] for m in entry.get("modes") or () if isinstance(m, Mapping)] or ["id"]
    return {
        "type": "object",
        "properties": {
            "__rl": {"const": True},
            "mode": {"enum": modes},
            "value": {"anyOf": [{**_TEXT, "minLength": 1}, {"type": "number"}]},
        },
        "required": ["__rl", "mode", "value"],
        "additionalProperties": False,
    }


_SCALAR: Schema = {"anyOf": [_TEXT, {"type": ["number", "boolean", "null"]}]}
_MAPPER: Schema = {
    "type": "object",
    "properties": {
        "mappingMode": {"enum": ["defineBelow", "autoMapInputData"]},
        "value": {"anyOf": [{"type": "null"}, {"type": "object", "additionalProperties": _SCALAR}]},
        "matchingColumns": {"type": "array", "items": _TEXT},
        "schema": {"type": "array"},
    },
    "required": ["mappingMode"],
    "additionalProperties": False,
}
_FILTER: Schema = {
    "type": "object",
    "properties": {
        "combinator": {"enum": ["and", "or"]},
        "options": {"type": "object"},
        "conditions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": _TEXT,
                    "leftValue": _SCALAR,
                    "rightValue": _SCALAR,
                    "operator": {
                        "type": "object",
                        "properties": {
                            "type": _TEXT, "operation": _TEXT,
                            "singleValue": {"type": "boolean"},
                        },
                        "required": ["type", "operation"],
                    },
                },
                "required": ["leftValue", "operator"],
            },
        },
    },
    "required": ["conditions"],
    "additionalProperties": False,
}  # fmt: skip
_ASSIGNMENTS: Schema = {
    "type": "object",
    "properties": {
        "assignments": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": _TEXT, "name": {**_TEXT, "minLength": 1}, "value": _SCALAR,
                    "type": {"enum": ["string", "number", "boolean", "array", "object"]},
                },
                "required": ["name", "value", "type"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["assignments"],
    "additionalProperties": False,
}  # fmt: skip


def plain_text(text: str) -> str:
    """Text of a description without markup, on one line."""
    return " ".join(_WORDS.sub("", text).replace("\u00a0", " ").split()).rstrip(".")


def _as_mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
