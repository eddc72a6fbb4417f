"""The types of FEEL (DMN 1.5, 10.3.2.9 and table 44), as values that parser and evaluator share."""

from __future__ import annotations

from typing import Any, Literal

from orgflow_ir.model.records import dataclass

SimpleName = Literal[
    "Any", "Null", "number", "string", "boolean", "date", "time", "date and time",
    "days and time duration", "years and months duration", "context", "list", "range", "function",
]  # fmt: skip


@dataclass(frozen=True)
class SimpleType:
    """A type without parameters, or `list`, `context` … with unspecified parameters."""

    name: SimpleName


@dataclass(frozen=True)
class ListType:
    """`list<element>`."""

    element: Type


@dataclass(frozen=True)
class RangeType:
    """`range<element>`."""

    element: Type


@dataclass(frozen=True)
class ContextType:
    """`context<name: type, …>`; a value may have more entries."""

    entries: tuple[tuple[str, Type], ...]


@dataclass(frozen=True)
class FunctionType:
    """`function<parameter, …> -> result`."""

    parameters: tuple[Type, ...]
    result: Type


@dataclass(frozen=True)
class ConstrainedType:
    """A type restricted by unary tests (`UnaryTests`): an item definition with allowed values."""

    base: Type
    allowed: Any


Type = SimpleType | ListType | RangeType | ContextType | FunctionType | ConstrainedType

ANY = SimpleType("Any")

_SPELLINGS: tuple[tuple[str, SimpleName], ...] = (
    ("Any", "Any"), ("any", "Any"), ("Null", "Null"), ("number", "number"), ("string", "string"),
    ("boolean", "boolean"), ("date", "date"), ("time", "time"), ("date and time", "date and time"),
    ("dateTime", "date and time"), ("days and time duration", "days and time duration"),
    ("dayTimeDuration", "days and time duration"),
    ("years and months duration", "years and months duration"),
    ("yearMonthDuration", "years and months duration"),
    ("context", "context"), ("list", "list"), ("range", "range"), ("function", "function"),
)  # fmt: skip

SIMPLE_NAMES: dict[str, SimpleType] = {text: SimpleType(name) for text, name in _SPELLINGS}
"""Names of built-in types, including the spellings of DMN 1.1."""


_WRITTEN_AS_TEXTS = frozenset(
    ("date", "time", "date and time", "days and time duration", "years and months duration")
)


def find_converted_type(of: Type) -> Type:
    """The type to which a value that JSON has as texts is converted where `of` is stated; `ANY` if
    JSON has its values themselves."""
    match of:
        case ConstrainedType(base, _):
            return find_converted_type(base)
        case ListType(element):
            inner = find_converted_type(element)
            return ListType(inner) if inner != ANY else ANY
        case SimpleType(name) if name in _WRITTEN_AS_TEXTS:
            return of
    return ANY
