"""JSON Schemas of the answers that a person or an agent may give to gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orgflow_ir.model.bindings import BINDINGS

_TEXT = {"type": "string", "pattern": r"\S"}
# `$` alone would let a line break at the end through in Python.
_VARIABLE = {"type": "string", "pattern": r"^[A-Za-z_][A-Za-z0-9_]*$(?![\s\S])"}


def _object_schema(properties: Mapping[str, Any], required: Sequence[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


_DOES = {
    "http": ("url",), "script": ("code", "resource"), "decision": ("decision",),
    "worker": ("target", "code"), "mail": ("to",), "call": ("process",),
}  # fmt: skip
"""Fields by the kind of a binding; one of them has to name the implementation."""


def _kind_schema(kind: str, fields: Sequence[str]) -> dict[str, Any]:
    named = [{"properties": {f: _TEXT}, "required": [f]} for f in fields]
    return {
        "if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]},
        "then": named[0] if len(named) == 1 else {"anyOf": named},
    }


BINDING: dict[str, Any] = {
    "type": "object",
    "properties": {"kind": {"enum": sorted(BINDINGS)}},
    "required": ["kind"],
    "allOf": [_kind_schema(kind, fields) for kind, fields in _DOES.items()],
}
"""The implementation of a task: a binding of one of the model's kinds, such as `{"kind": "script",
"language": "javascript", "code": "…"}`; the schema of models lists the fields of each kind."""

TIME = _object_schema(
    {"kind": {"enum": ["duration", "date", "cycle"]}, "value": _TEXT}, ["kind", "value"]
)
"""A time in ISO 8601: `{"kind": "duration", "value": "PT2H"}`."""

CONDITION = _object_schema({"text": _TEXT, "language": _TEXT}, ["text"])
"""A condition as code: `{"text": "amount > 1000"}`."""

LIST = {
    "oneOf": [
        _object_schema({"collection": _VARIABLE, "item": _VARIABLE}, ["collection"]),
        _object_schema({"count": {"type": "integer", "minimum": 1}}, ["count"]),
    ]
}
"""The name of a list, or a number of repetitions."""


def decision_schema(variable: str, values: Mapping[str, str], *, several: bool) -> dict[str, Any]:
    """The decision variable of a gateway, and the value for each flow: `{"variable":
    "approved", "values": {"flow_yes": "Yes", "flow_no": "No"}}`. If several branches may be taken
    together (`several`), each needs a condition: `{"conditions": {"f1": "amount > 9"}}`."""
    if several:
        return _object_schema(
            {"conditions": _object_schema(dict.fromkeys(values, _TEXT), [*values])}, ["conditions"]
        )
    return _object_schema(
        {
            "variable": {**_VARIABLE, "default": variable},
            "values": _object_schema(
                {flow: {**_TEXT, "default": value} for flow, value in values.items()}, [*values]
            ),
        },
        ["variable", "values"],
    )


def branch_schema(flows: Sequence[str], *, has_default: bool) -> dict[str, Any]:
    """Labels of flows, and the default flow if the gateway has none yet; each flow needs one of the
    two: `{"labels": {"f1": "Yes"}, "default": "f2"}`."""
    labels = _object_schema(dict.fromkeys(flows, _TEXT), [])
    if has_default:
        return _object_schema({"labels": {**labels, "required": list(flows)}}, ["labels"])
    return _object_schema(
        {"labels": {**labels, "default": {}}, "default": {"enum": list(flows)}}, []
    )
