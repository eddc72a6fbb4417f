"""pydantic's validators and serialisers of classes, built when first needed."""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")

_building = RLock()
_adapters: dict[type, TypeAdapter[Any]] = {}


def build_adapter(kind: type[T]) -> TypeAdapter[T]:
    """The validator and serialiser of a class, built once by whichever thread asks first."""
    adapter = _adapters.get(kind)
    if adapter is None:
        with _building:
            adapter = _adapters.get(kind)
            if adapter is None:
                from pydantic import TypeAdapter

                adapter = _adapters[kind] = TypeAdapter(kind)
    return cast("TypeAdapter[T]", adapter)
