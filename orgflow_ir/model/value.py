"""`Value`: base of everything in the IR, frozen keyword-only dataclasses.

The command line creates thousands of values that its own code has read, and validates none of them,
because importing pydantic takes longer than all other work on a small model. Creating and copying a
value therefore checks only the names of its fields; `Value.validate` checks the types of values
from outside. `orgflow_ir.model.codec` reads and writes values as JSON.
"""

from __future__ import annotations

from dataclasses import MISSING, FrozenInstanceError, dataclass, field
from itertools import compress, repeat
from operator import is_not, itemgetter
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, dataclass_transform

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    import pydantic
    from pydantic import ConfigDict, GetCoreSchemaHandler
    from pydantic_core import CoreSchema, core_schema

    from orgflow_ir.model import adapters
else:  # pydantic is loaded where JSON is read
    adapters = LazyModule("orgflow_ir.model.adapters")
    pydantic = LazyModule("pydantic")
    core_schema = LazyModule("pydantic_core.core_schema")

Extra = tuple[tuple[str, str], ...]
"""Namespaced data that the IR does not model, kept verbatim: `("@{ns}attr", text)` for an
attribute, `("{ns}tag", xml)` for an element, whose XML declares every prefix it uses."""


class MinLength(NamedTuple):
    """Annotation of a text with a minimum number of characters."""

    length: int

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        del source, handler
        return core_schema.str_schema(min_length=self.length)


class Within(NamedTuple):
    """Annotation of a number with a minimum and a maximum."""

    least: float
    most: float

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        del source, handler
        return core_schema.float_schema(ge=self.least, le=self.most, allow_inf_nan=False)


class TaggedBy(NamedTuple):
    """Annotation of a union: the field that determines the class of a value."""

    field: str

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return handler.generate_schema(Annotated[source, pydantic.Discriminator(self.field)])


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class Value:
    """Base of everything in the IR: immutable, constructed with keywords, compared by its fields.

    A subclass is a dataclass without a decorator; its fields are annotations with or without a
    default, and `field(default=..., compare=False)` leaves one out of equality and hash. Defaults
    are immutable values, so there are no default factories.

    Raises `TypeError` for a field that is missing or unknown. mypy checks types; `validate` checks
    them if a value comes from outside.

    Example:
        task = Task(id="pack", name="Pack")
        task.replace(name="Pack order")
    """

    __pydantic_config__: ClassVar[ConfigDict] = {
        "extra": "forbid",
        "revalidate_instances": "always",
    }

    _defaults: ClassVar[dict[str, Any]] = {}
    """Every field in order with its default; None for those without."""
    _required: ClassVar[frozenset[str]] = frozenset()
    _names: ClassVar[tuple[str, ...]] = ()
    """The fields that take part in equality."""
    _compared: ClassVar[Callable[[dict[str, Any]], Any]]
    """Returns the parts of an instance's `__dict__` that equality and hash use."""

    def __init_subclass__(cls) -> None:
        # Generated methods would be compiled for each class at every start of the program.
        if cls.__doc__ is None:  # or `dataclass` imports `inspect` to write the signature
            cls.__doc__ = ""
        dataclass(init=False, repr=False, eq=False, match_args=False, kw_only=True)(cls)
        defaults: dict[str, Any] = {}
        required, compared = [], []
        for name, part in cls.__dataclass_fields__.items():  # type: ignore[attr-defined]  # made just now
            if part.default_factory is not MISSING or not part.init:
                raise TypeError(f"{cls.__name__}.{name}: a field of a value needs a plain default")
            if part.default is MISSING:
                required.append(name)
                defaults[name] = None
            else:
                defaults[name] = part.default
            if part.compare:
                compared.append(name)
        cls._defaults, cls._required = defaults, frozenset(required)
        cls._names, cls._compared = tuple(compared), itemgetter(*compared)

    def __init__(self, **fields: Any) -> None:
        defaults = self._defaults
        content = {**defaults, **fields}
        if len(content) != len(defaults) or not fields.keys() >= self._required:
            wrong = (self._required - fields.keys()) | (fields.keys() - defaults.keys())
            raise TypeError(
                f"{type(self).__name__} has missing or unknown fields: {', '.join(sorted(wrong))}"
            )
        _set_fields(self, content)

    def content(self) -> dict[str, Any]:
        """The fields that equality uses, in order: all except provenance."""
        names = self._names
        return dict(zip(names, map(self.__dict__.__getitem__, names), strict=True))

    def stated(self) -> dict[str, Any]:
        """The fields of `content` that are not `None`."""
        names, values = self._names, type(self)._compared(self.__dict__)
        if len(names) == 1:  # of one field, `itemgetter` gives the value alone
            values = (values,)
        return dict(compress(zip(names, values, strict=True), map(is_not, values, repeat(None))))

    def replace(self, **changes: Any) -> Self:
        """A copy with other fields, not validated. Raises `TypeError` for an unknown field."""
        return type(self)(**{**self.__dict__, **changes})

    @classmethod
    def validate(cls, data: object) -> Self:
        """A value of this class from a mapping or a value, all parts of which are validated.

        Parts are converted as pydantic does: a list becomes a tuple, a mapping a value.

        Raises `pydantic.ValidationError` (a `ValueError`).
        """
        return adapters.build_adapter(cls).validate_python(data)

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r} of {type(self).__name__}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r} of {type(self).__name__}")

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return NotImplemented
        compared = type(self)._compared
        return bool(compared(self.__dict__) == compared(other.__dict__))

    def __hash__(self) -> int:
        kind = type(self)
        return hash((kind, kind._compared(self.__dict__)))

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({parts})"


_set_fields = Value.__dict__["__dict__"].__set__
"""Past `Value.__setattr__`; `object.__setattr__` would look up the name first."""
