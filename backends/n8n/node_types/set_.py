"""Edit Fields: writes fields of the item."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from orgflow.backends.n8n.format.document import node_uuid
from orgflow.backends.n8n.format.json_values import inside, rows
from orgflow.backends.n8n.node_types.behaviour import hands_on
from orgflow.backends.n8n.node_types.node_type import Effect, NodeType, Parameters


def assign_parameters(fields: Sequence[tuple[str, Any, str]], seed: str) -> dict[str, Any]:
    """Parameters that write (name, value, type) each and keep other fields."""
    return {
        "assignments": {
            "assignments": [
                {"id": node_uuid(f"{seed}/{name}"), "name": name, "value": value, "type": kind}
                for name, value, kind in fields
            ]
        },
        "includeOtherFields": True,
        "options": {},
    }


def write_parameters(
    json_output: str, *, keep: bool = True, literal_names: bool = False
) -> dict[str, Any]:
    """Parameters that write the fields of an object, an expression, and keep other fields or not.
    With `literal_names`, a full stop in a name does not form a path.

    In JSON mode, a value keeps its type; in the list of fields, undefined would become null.
    """
    return {
        "mode": "raw",
        "jsonOutput": json_output,
        "includeOtherFields": keep,
        "options": {"dotNotation": False} if literal_names else {},
    }


def written_fields(
    version: float, parameters: Parameters
) -> Mapping[str, Mapping[str, Any]] | None:
    """Fields that a node writes, with their rows; `None` if they are unknown."""
    if parameters.get("mode", "manual") not in ("manual", "keyValue"):
        return None
    if version >= 3.3:
        listed = rows(inside(parameters, "assignments", "assignments"))
    elif version >= 3:
        listed = rows(inside(parameters, "fields", "values"))
    else:
        values = parameters.get("values")
        groups = values.values() if isinstance(values, Mapping) else ()
        listed = [row for group in groups for row in rows(group)]
    names: dict[str, Mapping[str, Any]] = {}
    for row in listed:
        name = row.get("name")
        if not isinstance(name, str) or name.startswith("="):
            return None
        names[re.split(r"[.\[]", name)[0]] = row
    return names


def keeps_others(version: float, parameters: Parameters) -> bool:
    """Whether a node keeps the fields that it does not write."""
    if version >= 3.3:
        if parameters.get("includeOtherFields") is not True:
            return False
        return bool(parameters.get("include", "all") == "all")
    if version >= 3:
        return bool(parameters.get("include", "all") == "all")
    return parameters.get("keepOnlySet") is not True


def _field_effect(version: float, parameters: Parameters) -> Effect:
    return "write" if written_fields(version, parameters) is not None else "unknown"


NODE = NodeType(
    name="set",
    label="Edit Fields",
    emitted=True,
    versions=((3.4,), (3.4, 3.5)),
    behaviour=hands_on,
    effect=_field_effect,
    reliable=True,
)
