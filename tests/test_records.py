"""`NamedTuple` of `orgflow_ir.model.records` does what `typing.NamedTuple` does."""

from __future__ import annotations

import copy
import inspect
import pickle
import types
import typing
from collections.abc import Callable
from typing import Any

import pytest

from orgflow_ir.model import records


class Place(records.NamedTuple):
    """Where something is."""

    file: str
    line: int = 1
    column: int | None = None

    @property
    def text(self) -> str:
        return f"{self.file}:{self.line}"

    def __str__(self) -> str:
        return self.text


class PlaceOfTyping(typing.NamedTuple):
    """Where something is."""

    file: str
    line: int = 1
    column: int | None = None

    @property
    def text(self) -> str:
        return f"{self.file}:{self.line}"

    def __str__(self) -> str:
        return self.text


class Nothing(records.NamedTuple):
    pass


class Of(records.NamedTuple):
    value: object


class Many(records.NamedTuple):
    a: int
    b: int
    c: int
    d: int
    e: int
    f: int
    g: int
    h: int
    i: int
    j: int
    k: int
    m: int = 12


class Below(Place):
    """A class below one has no fields of its own."""

    __slots__ = ()

    def text_of(self) -> str:
        return super().text


def parameters(kind: type) -> list[tuple[str, object, object]]:
    return [(p.name, p.default, p.kind) for p in inspect.signature(kind).parameters.values()]


def message(act: Callable[[], object]) -> tuple[type[BaseException], str]:
    with pytest.raises((TypeError, ValueError, AttributeError)) as raised:
        act()
    return raised.type, str(raised.value).replace("PlaceOfTyping", "Place")


@pytest.mark.parametrize(
    "use",
    [
        lambda kind: tuple(kind("a")),
        lambda kind: tuple(kind("a", 2, 3)),
        lambda kind: tuple(kind(line=4, file="b")),
        lambda kind: kind("a", 2).text,
        lambda kind: str(kind("a", 2)),
        lambda kind: repr(kind("a")).replace("PlaceOfTyping", "Place"),
        lambda kind: kind("a").column,
        lambda kind: kind("a")._asdict(),
        lambda kind: tuple(kind("a")._replace(line=7)),
        lambda kind: tuple(kind._make(["x", 2, 3])),
        lambda kind: (kind._fields, kind._field_defaults, kind.__match_args__, kind.__slots__),
        lambda kind: (kind.__doc__, kind.__module__),
        lambda kind: kind("a") == ("a", 1, None) and hash(kind("a")) == hash(("a", 1, None)),
        lambda kind: parameters(kind),
        lambda kind: kind.__new__.__qualname__.replace("PlaceOfTyping", "Place"),
        lambda kind: typing.get_type_hints(kind),
        lambda kind: type(kind) is type,
        lambda kind: pickle.loads(pickle.dumps(kind("a"))) == ("a", 1, None),
        lambda kind: copy.deepcopy(kind("a", 2)) == ("a", 2, None),
        lambda kind: hasattr(kind("a"), "__dict__"),
        lambda kind: inspect.getdoc(kind.line),
    ],
)  # fmt: skip
def test_it_does_the_same(use: Callable[[Any], object]) -> None:
    assert use(Place) == use(PlaceOfTyping)


@pytest.mark.parametrize(
    "use",
    [
        lambda kind: kind(),
        lambda kind: kind("a", 1, 2, 3),
        lambda kind: kind("a", size=3),
        lambda kind: kind("a", file="b"),
        lambda kind: kind._make("a"),
        lambda kind: kind("a")._replace(size=1),
        lambda kind: setattr(kind("a"), "line", 2),
        lambda kind: setattr(kind("a"), "size", 2),
    ],
)
def test_its_errors_are_the_same(use: Callable[[Any], object]) -> None:
    assert message(lambda: use(Place)) == message(lambda: use(PlaceOfTyping))


def test_any_number_of_fields() -> None:
    assert Nothing() == ()
    assert repr(Nothing()) == "Nothing()"
    assert tuple(Of(3)) == (3,)
    assert Of.__doc__ == "Of(value)"
    many = Many(*range(11))
    assert tuple(many) == (*range(11), 12)
    assert many.k == 10
    assert many._replace(a=5).a == 5
    with pytest.raises(TypeError, match=r"Many.__new__\(\) missing 1 required .*'k'"):
        Many(*range(10))


def test_it_can_be_derived_from() -> None:
    below = Below("a", 3)
    assert (below.text_of(), below._replace(line=4).text) == ("a:3", "a:4")
    assert isinstance(below, Place)


def test_what_is_no_named_tuple() -> None:
    with pytest.raises(TypeError, match="no other bases"):
        types.new_class("Two", (records.NamedTuple, dict))
    with pytest.raises(ValueError, match="cannot start with an underscore"):
        type(records.NamedTuple)(
            "Hidden", (records.NamedTuple,), {"__annotations__": {"_a": "int"}}
        )
    with pytest.raises(TypeError, match=r"X\.b without a default"):
        type(records.NamedTuple)(
            "X", (records.NamedTuple,), {"__annotations__": {"a": "int", "b": "int"}, "a": 1}
        )
