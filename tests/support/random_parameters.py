"""Random values of parameters that keep to a schema which changes with them."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

Schema = dict[str, Any]


def random_values(
    schema_of: Callable[[Mapping[str, Any]], Schema], given: Mapping[str, Any], rng: random.Random
) -> dict[str, Any]:
    """Values that keep to the schema that `schema_of` gives for them."""
    values = dict(given)
    for _ in range(4):
        schema = schema_of(values)
        values = {name: v for name, v in values.items() if name in schema["properties"]}
        names = [n for n in schema["properties"] if n not in values]
        rng.shuffle(names)
        for name in names[: rng.randint(1, 6)]:
            values[name] = _value(schema["properties"][name], rng, 0)
    for _ in range(8):  # what was set last may have hidden what was set first
        kept = _kept(values, schema_of(values))
        if kept == values:
            return values
        values = kept
    return dict(given)


def _kept(value: Any, schema: Schema) -> Any:
    """A value without the members that its schema does not have, or not with that value."""
    if isinstance(value, dict) and "properties" in schema:
        inner = schema["properties"]
        return {
            name: _kept(v, inner[name])
            for name, v in value.items()
            if name in inner and ("enum" not in inner[name] or v in inner[name]["enum"])
        }
    if isinstance(value, list) and "items" in schema:
        each = schema.get("prefixItems", ())
        return [
            _kept(v, each[i] if i < len(each) else schema["items"]) for i, v in enumerate(value)
        ]
    return value


def _value(schema: Schema, rng: random.Random, depth: int) -> Any:
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return rng.choice(schema["enum"])
    if "anyOf" in schema:
        return _value(schema["anyOf"][0], rng, depth)
    kind = schema.get("type")
    if kind == "boolean":
        return rng.random() < 0.5
    if kind == "number":
        return max(schema.get("minimum", 1), min(schema.get("maximum", 9), rng.randint(1, 9)))
    if kind == "array":
        return [_value(schema.get("items", {}), rng, depth + 1) for _ in range(rng.randint(1, 2))]
    if kind == "object":
        names = list(schema.get("properties", ()))
        chosen = set(schema.get("required", ()))
        chosen |= set(rng.sample(names, min(len(names), rng.randint(0, 3 - min(depth, 3)))))
        return {n: _value(schema["properties"][n], rng, depth + 1) for n in names if n in chosen}
    return rng.choice(("a", "word", "two words"))
