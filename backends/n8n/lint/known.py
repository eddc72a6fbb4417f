"""What is known of n8n's nodes: types, versions, parameters of the core nodes (n8n 2.41)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

_FILE = Path(__file__).parent / "schema" / "known-nodes.json"


@cache
def _table() -> Mapping[str, Any]:
    found = json.loads(_FILE.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def release() -> str:
    """The n8n that the table is about."""
    return str(_table()["n8n"])


def split_type(full: str) -> tuple[str, str]:
    """Package and name of a type."""
    package, _, short = full.rpartition(".")
    return package, short


def comes_with_n8n(full: str) -> bool:
    """Whether a type is of a package that n8n brings along."""
    return split_type(full)[0] in _table()["types"]


def versions(full: str) -> tuple[float, ...]:
    """The versions of a type that this n8n knows; nothing for a type it does not have.

    n8n makes a tool of every node that allows it, under the name with `Tool` behind it.
    """
    package, short = split_type(full)
    known: Mapping[str, list[float]] = _table()["types"].get(package, {})
    for name in (short, short.removesuffix("HitlTool"), short.removesuffix("Tool")):
        if name in known:
            return tuple(known[name])
    return ()


def versioned(full: str) -> bool:
    """Whether each version of a type is a program of its own, so that there is none for others."""
    package, short = split_type(full)
    return short in _table()["versioned"].get(package, ())


def newest(full: str) -> float:
    """The newest version of a type; 1 for one that is not known."""
    return max(versions(full), default=1.0)


def names(full: str) -> tuple[str, ...]:
    """The names of the types in the package of a type."""
    return tuple(_table()["types"].get(split_type(full)[0], {}))


def reads(short: str, version: float, parameter: str) -> bool:
    """Whether a node looks at a parameter in its version; so it is said of unknown nodes."""
    table = parameters(short)
    return table is None or version in table.get(parameter, ())


def parameters(short: str) -> Mapping[str, list[float]] | None:
    """The parameters of a core node and the versions that know them; `None` for other nodes."""
    found: Mapping[str, list[float]] | None = _table()["parameters"].get(short)
    return found
