"""What `orgflow_ir.model.records` makes does what that of the standard library does."""

from __future__ import annotations

import copy
import dataclasses
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


# -- dataclasses -------------------------------------------------------------------------------


def declare(make: Any, **arguments: bool) -> Any:
    """The same class with a dataclass decorator of the standard library or of ours."""

    class Step:
        """A step."""

        name: str
        size: int = 1
        parts: list[str] = dataclasses.field(default_factory=list)
        note: str = dataclasses.field(default="", compare=False, repr=False)
        kind: typing.ClassVar[str] = "step"

        @property
        def text(self) -> str:
            return f"{self.name}{self.size}"

    Step.__qualname__ = "Step"
    return make(**arguments)(Step)


ARGUMENTS = (
    {}, {"frozen": True}, {"eq": False, "repr": False}, {"frozen": True, "eq": False},
    {"slots": True, "frozen": True}, {"kw_only": True},
)  # fmt: skip


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=str)
def test_a_dataclass_does_what_that_of_the_standard_library_does(arguments: Any) -> None:
    ours, theirs = (
        declare(make, **arguments) for make in (records.dataclass, dataclasses.dataclass)
    )

    def describe(kind: Any) -> list[object]:
        a, b = kind(name="a", parts=["x"]), kind(name="a", parts=["x"], note="n")
        other = dataclasses.replace(a, size=2)
        shown = [repr(a), repr(kind(name="c"))] if arguments.get("repr", True) else []
        return [
            vars(a) if not arguments.get("slots") else dataclasses.asdict(a),
            a == b, a == other, a != other, a == object(), other.text, *shown,
            [(f.name, f.compare, f.init) for f in dataclasses.fields(kind)],
            [(p.name, p.kind) for p in inspect.signature(kind).parameters.values()],
            kind(name="c").parts is not kind(name="c").parts,
            kind.__match_args__, kind.__doc__, kind.__hash__ is None,
        ]  # fmt: skip

    assert describe(ours) == describe(theirs)


@pytest.mark.parametrize("make", [records.dataclass, dataclasses.dataclass])
def test_a_frozen_dataclass_refuses_changes(make: Any) -> None:
    kind = declare(make, frozen=True)
    step = kind("a")
    for change in (lambda: setattr(step, "name", "b"), lambda: setattr(step, "other", 1)):
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field"):
            change()
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field"):
        del step.name
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field"):
        dataclasses.dataclass(frozen=True)(type("Below", (kind,), {}))("a").size = 2


@pytest.mark.parametrize("make", [records.dataclass, dataclasses.dataclass])
def test_wrong_arguments_of_a_dataclass(make: Any) -> None:
    kind = declare(make)
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'name'"):
        kind()
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'nothing'"):
        kind("a", nothing=1)
    with pytest.raises(TypeError, match=r"non-default argument 'b' follows default argument"):
        make(type("Wrong", (), {"__annotations__": {"a": "int", "b": "int"}, "a": 1}))


@records.dataclass(frozen=True)
class Hashed:
    name: str
    size: int


@dataclasses.dataclass(frozen=True)
class HashedThere:
    name: str
    size: int


@records.dataclass(frozen=True)
class HashedByOne:
    name: str


def test_hashes_are_those_of_the_standard_library() -> None:
    assert hash(Hashed("a", 1)) == hash(HashedThere("a", 1)) == hash(("a", 1))
    assert hash(HashedByOne("a")) == hash(("a",))
    assert pickle.loads(pickle.dumps(Hashed("a", 1))) == Hashed("a", 1)
    assert Hashed("a", 1) != HashedThere("a", 1)


def test_a_dataclass_finishes_itself_and_has_fields_of_its_base() -> None:
    @records.dataclass
    class Base:
        size: int

        def __post_init__(self) -> None:
            self.double = 2 * self.size

    @records.dataclass
    class Below(Base):
        name: str = "n"

    assert Below(2).double == 4
    assert repr(Below(2)).endswith("Below(size=2, name='n')")
