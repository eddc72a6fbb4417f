"""Base of all IR values: frozen, closed, compared by what they say."""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict

Extra = tuple[tuple[str, str], ...]
"""Namespaced data the IR does not model, kept verbatim: `("@{ns}attr", text)` for an attribute,
`("{ns}tag", xml)` for an element, whose XML declares every prefix it uses."""

_UNCOMPARED = frozenset({"loc", "origin", "source"})


class Value(BaseModel):
    """Base of everything in the IR: immutable, and unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return NotImplemented
        mine, its = self.__dict__, other.__dict__
        return all(mine[k] == its[k] for k in mine if k not in _UNCOMPARED)

    def __hash__(self) -> int:
        d = self.__dict__
        return hash((type(self), *(v for k, v in d.items() if k not in _UNCOMPARED)))

    def replace(self, **changes: Any) -> Self:
        """A copy with `changes`, validated (`model_copy(update=…)` would not validate)."""
        return type(self)(**{**self.__dict__, **changes})
