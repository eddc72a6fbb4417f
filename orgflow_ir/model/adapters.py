"""pydantic's validators and serialisers of classes, built when first needed."""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar, cast

from orgflow_ir.lazy_modules import LazyModule

if TYPE_CHECKING:
    import pydantic
    from pydantic import TypeAdapter
else:  # pydantic is loaded where JSON is read
    pydantic = LazyModule("pydantic")

T = TypeVar("T")

_building = RLock()
_adapters: dict[type, TypeAdapter[Any]] = {}


def build_adapter(kind: type[T]) -> pydantic.TypeAdapter[T]:
    """The validator and serialiser of a class, built once by whichever thread asks first."""
    adapter = _adapters.get(kind)
    if adapter is None:
        with _building:
            adapter = _adapters.get(kind)
            if adapter is None:
                adapter = _adapters[kind] = pydantic.TypeAdapter(kind)
    return cast("TypeAdapter[T]", adapter)
