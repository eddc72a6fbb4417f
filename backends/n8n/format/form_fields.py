"""Fields of n8n's forms as their nodes have them: one shape for Wait, Form and Form Trigger.

A Wait keys an answer by the label of its field, newer forms by a name of its own; a blank number is
0 in both, so that a number that may be left blank is entered as a text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

Entry = Literal["text", "textarea", "number", "date", "dropdown", "checkbox"]


def field(
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


def wait_for_form(
    title: str, description: str, fields: Sequence[Mapping[str, Any]], suffix: str
) -> dict[str, Any]:
    """Parameters of a Wait until somebody sends a form. The suffix is static (N8N_PATTERNS.md: an
    expression there never matches) and its own for each Wait, so that a page that is sent twice
    never answers the next one."""
    parameters: dict[str, Any] = {"resume": "form", "formTitle": title}
    if description:
        parameters["formDescription"] = description
    if fields:
        parameters["formFields"] = {"values": list(fields)}
    return {
        **parameters,
        "responseMode": "onReceived",
        "options": {"appendAttribution": False, "webhookSuffix": suffix},
    }
