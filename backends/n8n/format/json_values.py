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
    if type(value) is int:
        return float(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return None


def count(value: object) -> int | None:
    """A non-negative integer in JSON."""
    amount = number(value)
    return int(amount) if amount is not None and amount >= 0 and amount == int(amount) else None


def texts(value: Any) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every text in a value with its path, in order, without recursion."""
    if isinstance(value, str):
        yield (), value
        return
    path: tuple[str | int, ...] = ()
    items = _list_items(value)
    outer: list[tuple[tuple[str | int, ...], Iterator[tuple[str | int, Any]]]] = []
    """The rest of the items of each enclosing value."""
    while True:
        for key, item in items:
            if isinstance(item, str):
                yield (*path, key), item
            elif isinstance(item, _WITH_ITEMS):
                outer.append((path, items))
                path, items = (*path, key), _list_items(item)
                break
        else:
            if not outer:
                return
            path, items = outer.pop()


_WITH_ITEMS = (dict, list)


def _list_items(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return iter(value.items())
    return enumerate(value) if isinstance(value, list) else iter(())
