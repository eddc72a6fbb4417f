"""The published JSON Schemas of what the command line prints; `make golden` writes them anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.reporters import JSON_VERSION

FOLDER = Path(__file__).resolve().parent.parent / "orgflow_ir" / "schema"

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_COUNT = {"type": "integer", "minimum": 0}


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    """An object with exactly these fields."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def diagnostics_schema() -> dict[str, Any]:
    """The envelope that `--format json` prints; the parts come from the types themselves."""
    diagnostic = Diagnostic.model_json_schema(ref_template="#/$defs/{model}")
    definitions = diagnostic.pop("$defs")
    return {
        "$schema": _DIALECT,
        "title": "orgflow diagnostics",
        **_closed(
            {
                "format": {"const": "orgflow-diagnostics"},
                "version": {"const": JSON_VERSION},
                "summary": _closed({"error": _COUNT, "warning": _COUNT, "info": _COUNT}),
                "diagnostics": _list({"$ref": "#/$defs/Diagnostic"}),
            }
        ),
        "$defs": {"Diagnostic": diagnostic, **definitions},
    }


SCHEMAS = {
    "diagnostics.schema.json": diagnostics_schema,
}


def main() -> None:
    """Write all of them."""
    FOLDER.mkdir(exist_ok=True)
    for name, build in SCHEMAS.items():
        text = json.dumps(build(), indent=1, ensure_ascii=False) + "\n"
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
