"""Writes the JSON Schema of a model: `python -m orgflow_ir.model.publish_schema`."""

from __future__ import annotations

import json
from pathlib import Path

from orgflow_ir.model.codec import json_schema
from orgflow_ir.model.elements import Model

SCHEMA = Path(__file__).parents[1] / "schema" / "model.schema.json"


def model_schema() -> str:
    """The JSON Schema (draft 2020-12) of `Model.to_json`, as text."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    schema.update(json_schema(Model, mode="serialization"))
    return json.dumps(schema, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    SCHEMA.parent.mkdir(exist_ok=True)
    SCHEMA.write_text(model_schema(), encoding="utf-8")
