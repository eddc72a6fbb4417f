"""Base of all IR values: frozen, closed, compared by what they say, validated by pydantic.

The command line makes thousands of values from what its own code read and validates none of them,
and importing pydantic takes longer than all else it does to a small model. So `Value` is no
`BaseModel`: it has the same methods, and builds pydantic's validator when one is first needed.
"""

from collections.abc import Callable, Mapping
from functools import cache
from threading import RLock
from types import MappingProxyType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    NamedTuple,
    ParamSpec,
    Self,
    TypeVar,
    cast,
    dataclass_transform,
)

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, TypeAdapter
    from pydantic_core import CoreSchema

Extra = tuple[tuple[str, str], ...]
"""Namespaced data the IR does not model, kept verbatim: `("@{ns}attr", text)` for an attribute,
`("{ns}tag", xml)` for an element, whose XML declares every prefix it uses."""


class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Final = _Required()
"""What `model_fields` says of a field without a default."""


class MinLength(NamedTuple):
    """Annotation of a text: at least this many characters."""

    length: int

    def __get_pydantic_core_schema__(self, source: Any, handler: "GetCoreSchemaHandler") -> Any:
        return {**handler(source), "min_length": self.length}


class TaggedBy(NamedTuple):
    """Annotation of a union: the field that says which of its classes a value is of."""

    field: str

    def __get_pydantic_core_schema__(self, source: Any, handler: "GetCoreSchemaHandler") -> Any:
        from typing import Annotated

        from pydantic import Discriminator

        return handler.generate_schema(Annotated[source, Discriminator(self.field)])


@dataclass_transform(kw_only_default=True, frozen_default=True)
class ValueType(type):
    """Collects the fields of a value class from its annotations, those of its bases first."""

    model_fields: Mapping[str, Any]

    def __new__(mcs, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> "ValueType":
        fields: dict[str, Any] = {}
        for base in reversed(bases):
            fields |= getattr(base, "model_fields", {})
        for field, annotation in space.get("__annotations__", {}).items():
            if field[0] != "_" and "ClassVar" not in str(annotation):
                fields[field] = space.pop(field, REQUIRED)
        space["model_fields"] = MappingProxyType(fields)
        space.setdefault("__slots__", ())
        return super().__new__(mcs, name, bases, space)


class Value(metaclass=ValueType):
    """Base of everything in the IR: immutable, and unknown fields are refused.

    The methods are those of `pydantic.BaseModel`, with its arguments and its errors
    (`pydantic.ValidationError`, a `ValueError`). `model_fields` maps each field to its default.
    """

    # The names by which pydantic-core fills an instance that it validated.
    __slots__ = (
        "__dict__",
        "__pydantic_extra__",
        "__pydantic_fields_set__",
        "__pydantic_private__",
    )

    uncompared: ClassVar[frozenset[str]] = frozenset({"loc", "origin"})
    """Fields that equality and hashing leave out: where a value comes from, not what it says."""

    __pydantic_root_model__: ClassVar[bool] = False
    model_config: ClassVar[dict[str, Any]] = {"frozen": True, "extra": "forbid"}

    def __init__(self, **fields: Any) -> None:
        _adapter(type(self)).validator.validate_python(fields, self_instance=self)

    @property
    def model_fields_set(self) -> set[str]:
        """The fields that were given, not left at their defaults."""
        return cast(set[str], object.__getattribute__(self, "__pydantic_fields_set__"))

    @classmethod
    def model_construct(cls, **fields: Any) -> Self:
        """A value made of `fields` and defaults, not validated."""
        return trusted(cls, **fields)

    @classmethod
    def model_validate(cls, data: Any) -> Self:
        """A value from a mapping (or a value of this class, as it is)."""
        return cast(Self, _adapter(cls).validate_python(data))

    @classmethod
    def model_validate_json(cls, text: str | bytes) -> Self:
        """A value from its JSON."""
        return cast(Self, _adapter(cls).validate_json(text))

    @classmethod
    def model_json_schema(cls, **how: Any) -> dict[str, Any]:
        """JSON Schema (2020-12), as `pydantic.TypeAdapter.json_schema` gives it."""
        return _adapter(cls).json_schema(**how)

    def model_dump(self, **how: Any) -> dict[str, Any]:
        """The fields as a dict, values in it as dicts too; see pydantic for `how`."""
        return cast(dict[str, Any], _adapter(type(self)).dump_python(self, **how))

    def model_dump_json(self, **how: Any) -> str:
        """The fields as JSON; see pydantic for `how`."""
        return _adapter(type(self)).dump_json(self, **how).decode()

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self:
        """A copy with `update`, not validated."""
        return trusted(type(self), **{**self.__dict__, **(update or {})})

    def changed(self, **changes: Any) -> Self:
        """A copy with `changes`, not validated: for code that made every part of them."""
        return trusted(type(self), **{**self.__dict__, **changes})

    def replace(self, **changes: Any) -> Self:
        """A copy with `changes`, validated."""
        return type(self)(**{**self.__dict__, **changes})

    def __setattr__(self, name: str, value: Any) -> None:
        _refuse(self, name, value)

    def __delattr__(self, name: str) -> None:
        _refuse(self, name, None)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return NotImplemented
        mine, its = self.__dict__, other.__dict__
        left_out = self.uncompared
        return all(mine[k] == its[k] for k in mine if k not in left_out)

    def __hash__(self) -> int:
        left_out = self.uncompared
        said = (v for k, v in self.__dict__.items() if k not in left_out)
        return hash((type(self), *said))

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({said})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (type(self), dict(self.__dict__))

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: "GetCoreSchemaHandler"
    ) -> "CoreSchema":
        return _core_schema(cls, handler)


P = ParamSpec("P")
V = TypeVar("V", bound=Value)


def trusted(cls: Callable[P, V], /, *_: P.args, **fields: P.kwargs) -> V:
    """`cls(**fields)` without validation, for frontends whose own code made every part.

    A compile then builds no validator, which takes longer than all else it does to a small model.
    Raises `TypeError` for a field that is missing or unknown; types are for mypy to check.
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


def _unpickled(cls: type[V], fields: dict[str, Any]) -> V:
    return trusted(cls, **fields)


@cache
def _layout(cls: type[Value]) -> tuple[dict[str, Any], frozenset[str]]:
    """Every field in order with its default, and the fields that have none."""
    required = frozenset(name for name, default in cls.model_fields.items() if default is REQUIRED)
    return {n: None if n in required else d for n, d in cls.model_fields.items()}, required


def _refuse(value: Value, name: str, new: Any) -> None:
    from pydantic_core import ValidationError

    raise ValidationError.from_exception_data(
        type(value).__name__, [{"type": "frozen_instance", "loc": (name,), "input": new}]
    )


@cache
def _adapter(cls: type[Value]) -> "TypeAdapter[Any]":
    """Validator and serialiser of a class; made once."""
    from pydantic import TypeAdapter

    with _building:
        return TypeAdapter(cls)


_building = RLock()
_under_way: set[str] = set()
"""The classes whose schemas are being made, by the thread that holds the lock."""


def _core_schema(cls: type[Value], handler: "GetCoreSchemaHandler") -> "CoreSchema":
    """The schema pydantic makes for a `BaseModel` of the same fields; a class that contains itself
    refers to itself by name."""
    from typing import get_type_hints

    from pydantic_core import core_schema

    ref = f"{cls.__module__}.{cls.__qualname__}:{id(cls)}"
    if ref in _under_way:
        return core_schema.definition_reference_schema(ref)
    _under_way.add(ref)
    try:
        hints = get_type_hints(cls, include_extras=True)
        fields = {}
        for name, default in cls.model_fields.items():
            schema = handler.generate_schema(hints[name])
            if default is not REQUIRED:
                schema = core_schema.with_default_schema(schema, default=default)
            fields[name] = core_schema.model_field(schema)
    finally:
        _under_way.discard(ref)
    return core_schema.model_schema(
        cls,
        core_schema.model_fields_schema(fields, model_name=cls.__name__, extra_behavior="forbid"),
        frozen=True,
        ref=ref,
        config=core_schema.CoreConfig(title=cls.__name__, extra_fields_behavior="forbid"),
    )
