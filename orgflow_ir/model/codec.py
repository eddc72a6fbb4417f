"""Converts values from and to JSON with pydantic's validators and serialisers, built when first
needed.

pydantic is imported only here and in `adapters`, and only inside functions, because most commands
do not need it.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

from orgflow_ir.model.adapters import build_adapter
from orgflow_ir.model.value import Value

if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Literal


V = TypeVar("V", bound=Value)


def from_json(kind: type[V], text: str | bytes) -> V:
    """A value from its JSON. Raises `pydantic.ValidationError` (a `ValueError`)."""
    return build_adapter(kind).validate_json(text)


def to_json(
    value: Value,
    *,
    indent: int | None = None,
    exclude_none: bool = False,
    exclude_defaults: bool = False,
    exclude: Collection[str] = (),
) -> str:
    """A value as JSON text; non-ASCII characters stay as they are.

    Args:
        indent: spaces per level; None puts everything on one line.
        exclude_none: omits fields that are None, at every level.
        exclude_defaults: omits fields at their defaults, at every level.
        exclude: fields of the value itself to omit.
    """
    text = build_adapter(type(value)).dump_json(
        value,
        indent=indent,
        exclude_none=exclude_none,
        exclude_defaults=exclude_defaults,
        exclude=set(exclude),
    )
    return text.decode()


def to_data(value: Value, *, exclude_none: bool = False) -> dict[str, Any]:
    """A value as dicts and lists of JSON values, as pydantic dumps it.

    Implemented here because building pydantic's serialiser takes longer than a `check`.
    """
    fields = type(value).__dataclass_fields__  # type: ignore[attr-defined]  # of a dataclass
    data = {}
    for name, part in value.__dict__.items():
        about = fields[name].metadata
        if about.get("exclude") or (part is None and exclude_none):
            continue
        if (left_out := about.get("exclude_if")) is not None and left_out(part):
            continue
        data[name] = _part_to_data(part, exclude_none)
    return data


def _part_to_data(part: Any, exclude_none: bool) -> Any:
    match part:
        case Value():
            return to_data(part, exclude_none=exclude_none)
        case Enum():
            return part.value
        case tuple() | list():
            return [_part_to_data(item, exclude_none) for item in part]
        case dict():
            return {key: _part_to_data(item, exclude_none) for key, item in part.items()
                    if item is not None or not exclude_none}  # fmt: skip
        case str() | int() | float() | None:
            return part
    raise TypeError(f"{type(part).__name__} cannot be represented in JSON")


def json_schema(
    kind: type[Value],
    *,
    mode: Literal["validation", "serialization"] = "validation",
) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a class."""
    return build_adapter(kind).json_schema(mode=mode)
