"""Fields of n8n's forms in the form of their nodes: one structure for Wait, Form and Form Trigger.

A Wait keys an answer by the label of its field, newer forms by a separate name; a blank number is 0
in both, so an optional number is entered as text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from orgflow.backends.n8n.format.expression_parts import value_code
from orgflow.backends.n8n.format.json_values import inside, rows

Entry = Literal["text", "textarea", "number", "date", "dropdown", "checkbox"]


def form_field(
    label: str,
    entry: Entry,
    *,
    options: Sequence[str] = (),
    required: bool = False,
    default: str | None = None,
    placeholder: str = "",
) -> dict[str, Any]:
    """One field of a form."""
    row: dict[str, Any] = {"fieldLabel": label, "fieldType": entry}
    if options:
        row["fieldOptions"] = {"values": [{"option": option} for option in options]}
    if placeholder:
        row["placeholder"] = placeholder
    if default:
        row["defaultValue"] = default
    if required:
        row["requiredField"] = True
    return row


def hidden_field(name: str, value: str) -> dict[str, Any]:
    """A field that the page returns unchanged."""
    return {"fieldType": "hiddenField", "fieldName": name, "fieldValue": value}


def hidden_fields(parameters: Mapping[str, Any]) -> dict[str, str]:
    """JavaScript for the content of the hidden fields of a form, by name."""
    field_rows = rows(inside(parameters, "formFields", "values"))
    return {
        str(row.get("fieldName")): _field_code(str(row.get("fieldValue")))
        for row in field_rows
        if row.get("fieldType") == "hiddenField"
    }


def _field_code(text: str) -> str:
    code = value_code(text)
    return code.strip() if code is not None else json.dumps(text)


def wait_for_form(
    title: str, description: str, fields: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Parameters of a Wait for a form. It has no suffix: the page of a submitted form leads to the
    next form of the execution only if that has the plain address."""
    parameters: dict[str, Any] = {"resume": "form", "formTitle": title}
    if description:
        parameters["formDescription"] = description
    if fields:
        parameters["formFields"] = {"values": list(fields)}
    return {
        **parameters,
        "responseMode": "onReceived",
        "options": {"appendAttribution": False},
    }
