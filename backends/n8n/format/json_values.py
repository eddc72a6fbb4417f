"""JSON values of any type, read if they have the expected type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def mapping(value: object) -> Mapping[str, Any]:
    """An object of JSON; empty for anything else."""
    if type(value) is dict:  # nearly always, and much quicker than to ask for any mapping
        return value
    return value if isinstance(value, Mapping) else {}


def inside(value: Any, *keys: str) -> Any:
    """A value at a path of keys; `None` if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def rows(value: Any) -> list[Mapping[str, Any]]:
    """The objects in a list; empty for anything else."""
    return [r for r in value if isinstance(r, Mapping)] if isinstance(value, list) else []


def number(value: object) -> float | None:
    """A number in JSON; `None` for anything else, including true and false."""
    if type(value) is float:
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return None


def count(value: object) -> int | None:
    """A non-negative integer in JSON."""
    found = number(value)
    return int(found) if found is not None and found >= 0 and found == int(found) else None


def texts(value: Any) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every text in a value with its path, in order, without recursion."""
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while waiting:
        path, one = waiting.pop()
        if isinstance(one, str):
            yield path, one
        elif isinstance(one, dict):
            waiting += [
                ((*path, key), item)
                for key, item in reversed(one.items())
                if isinstance(item, _WITH_TEXT)
            ]
        elif isinstance(one, list):
            last = len(one) - 1
            waiting += [
                ((*path, last - at), item)
                for at, item in enumerate(reversed(one))
                if isinstance(item, _WITH_TEXT)
            ]


_WITH_TEXT = (str, dict, list)
