"""Functions of contexts (DMN 1.5, 10.3.4.10)."""

from __future__ import annotations

from orgflow_ir.program.feel.values import Value

Entries = dict[str, Value]


def get_value(context: Entries, key: str) -> Value:
    return context.get(key)


def get_value_at(context: Entries, keys: tuple[Value, ...]) -> Value:
    value: Value = context if keys else None
    for key in keys:
        if not isinstance(value, dict) or not isinstance(key, str):
            return None
        value = value.get(key)
    return value


def get_entries(context: Entries) -> Value:
    return tuple({"key": key, "value": value} for key, value in context.items())


def context_of(entries: tuple[Value, ...]) -> Value:
    result: Entries = {}
    for entry in entries:
        if not isinstance(entry, dict) or "value" not in entry:
            return None
        key = entry.get("key")
        if not isinstance(key, str) or key in result:
            return None
        result[key] = entry["value"]
    return result


def context_put(context: Entries, key: str, value: Value) -> Value:
    return {**context, key: value}


def context_put_at(context: Entries, keys: tuple[Value, ...], value: Value) -> Value:
    if not keys or any(not isinstance(key, str) for key in keys):
        return None
    first, *rest = keys
    if not rest:
        return {**context, first: value}
    inner = context.get(first)
    if not isinstance(inner, dict):
        return None
    changed = context_put_at(inner, tuple(rest), value)
    return None if changed is None else {**context, first: changed}


def context_merge(contexts: tuple[Value, ...]) -> Value:
    result: Entries = {}
    for context in contexts:
        if not isinstance(context, dict):
            return None
        result.update(context)
    return result
