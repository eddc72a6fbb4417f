"""The JSON reporter: diagnostics for programs and agents."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, ClassVar, TextIO

from orgflow_ir.diagnostics.diagnostic import Diagnostic
from orgflow_ir.diagnostics.ordering import count_severities, order_diagnostics
from orgflow_ir.model.codec import to_data
from orgflow_ir.model.printable import escape_json
from orgflow_ir.model.records import dataclass
from orgflow_ir.plugins.contracts import Reporter

JSON_VERSION = 1
"""Version of the JSON envelope; increased when a field changes its meaning or is removed."""


def diagnostics_data(diagnostics: Iterable[Diagnostic]) -> dict[str, Any]:
    """The fields `summary` and `diagnostics`, for every envelope that has them."""
    items = order_diagnostics(diagnostics)
    return {
        "summary": count_severities(items),
        "diagnostics": [to_data(d, exclude_none=True) for d in items],
    }


@dataclass(frozen=True)
class JsonReporter(Reporter):
    """One versioned object for programs and agents (`schema/diagnostics.schema.json`).

    `more` contains optional fields: `notes`, lines about the work, and `language_model`, the
    estimated and actual use by a command.
    """

    name: ClassVar[str] = "json"
    more: Mapping[str, Any] = field(default_factory=dict)

    def report(self, diagnostics: Iterable[Diagnostic], out: TextIO) -> None:
        envelope = {
            "format": "orgflow-diagnostics",
            "version": JSON_VERSION,
            **diagnostics_data(diagnostics),
            **self.more,
        }
        out.write(escape_json(json.dumps(envelope, ensure_ascii=False, indent=1)) + "\n")
