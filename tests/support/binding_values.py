"""Bindings in which every field is set, each text its own, so that it can be looked for."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from orgflow_ir.model.bindings import BINDINGS, AnyBinding, Field, Listener, Parameter


def one_of_each() -> list[AnyBinding]:
    """One binding of every kind, full."""
    return [filled(kind) for kind in BINDINGS]


def filled(kind: str) -> AnyBinding:
    """A binding of a kind whose fields hold the texts that `markers` gives."""
    return _filled(BINDINGS[kind], kind)


def markers(value: Any) -> list[str]:
    """The texts in a binding, those of its parts included."""
    if isinstance(value, str):
        return [value] if value.startswith("mark-") else []
    if isinstance(value, tuple):
        return [m for part in value for m in markers(part)]
    if isinstance(value, (*BINDINGS.values(), Parameter, Listener, Field)):
        return [m for name in _names(type(value)) for m in markers(getattr(value, name))]
    return []


def _names(cls: Any) -> list[str]:
    return [part.name for part in fields(cls)]


def _filled(cls: Any, path: str) -> Any:
    # The engine of a script is that of its file, which no part of a task states.
    parts = [p for p in fields(cls) if p.name != "kind" and (path, p.name) != ("script", "by")]
    return cls(**{p.name: _value(str(p.type), f"{path}-{p.name}") for p in parts})


def _value(hint: str, path: str) -> Any:
    if hint == "bool":
        return True
    if hint == "Pairs":
        return ((f"mark-{path}-key", f"mark-{path}"),)
    for part in (Parameter, Listener, Field):
        if hint == f"tuple[{part.__name__}, ...]":
            return (_filled(part, path),)
    assert hint.startswith("str"), hint
    return f"mark-{path}"
