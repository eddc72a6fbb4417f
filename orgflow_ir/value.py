"""Base of all IR values: frozen, closed, compared by what they say."""

from collections.abc import Callable
from functools import cache
from typing import Any, ParamSpec, Self, TypeVar, cast

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


P = ParamSpec("P")
V = TypeVar("V", bound=BaseModel)


def trusted(cls: Callable[P, V], /, *_: P.args, **fields: P.kwargs) -> V:
    """`cls(**fields)` without validation, for frontends whose own code made every part.

    It does what `model_construct` does, but faster than validating: a compile then builds no
    validator, which takes longer than all else it does to a small model. Raises `TypeError` for a
    field that is missing or unknown; types are for mypy to check.
    """
    kind = cast(type[V], cls)
    template, required = _layout(kind)
    content = {**template, **fields}
    if len(content) != len(template) or not required <= fields.keys():
        wrong = sorted((required - fields.keys()) | (fields.keys() - template.keys()))
        raise TypeError(f"{kind.__name__} is made with wrong fields: {', '.join(wrong)}")
    value = object.__new__(kind)
    for name, part in (
        ("__dict__", content),
        ("__pydantic_fields_set__", set(fields)),
        ("__pydantic_extra__", None),
        ("__pydantic_private__", None),
    ):
        object.__setattr__(value, name, part)
    return value


@cache
def _layout(cls: type[BaseModel]) -> tuple[dict[str, Any], frozenset[str]]:
    """Every field in order with its default, and the fields that have none."""
    fields = cls.model_fields
    required = frozenset(name for name, field in fields.items() if field.is_required())
    return {n: None if n in required else f.get_default() for n, f in fields.items()}, required
