"""`NamedTuple` and `dataclass`: those of the standard library that a program starts faster with.

The standard library makes both by giving the compiler source code: of a constructor and of each
annotation for a named tuple, of up to eight methods for a dataclass. Here constructors are copies
of compiled ones with other names, and other methods are shared. Each does the same as the original,
errors included; a named tuple supports the syntax of classes, without type variables, a dataclass
neither `InitVar` nor `KW_ONLY`.

Which kind a class is (`tests/support/code_values.py` checks it):

- content of a model, which is read and written as JSON: `orgflow_ir.model.value.Value`;
- any other value: `NamedTuple`;
- a value that is compared by its class too, one of several kinds or with a base, and a leaf whose
  fields are its options: `dataclass(frozen=True)`;
- an object with state, compared by identity: `dataclass(eq=False)`.

`Value` stays beside `NamedTuple` because it leaves provenance out of equality and takes keywords
only; a named tuple takes a third of its time to define and to create:

<!-- benchmarks/value_kinds.py -->
| microseconds | define | create | equal | hash |
| --- | --- | --- | --- | --- |
| `Value` | 25 | 1.12 | 0.26 | 0.19 |
| `NamedTuple` | 7.41 | 0.26 | 0.03 | 0.04 |
| `typing.NamedTuple` | 111 | 0.26 | 0.03 | 0.04 |
| frozen `dataclass` | 196 | 0.80 | 0.12 | 0.10 |
| frozen `dataclasses.dataclass` | 617 | 0.61 | 0.12 | 0.10 |
| `dataclass(eq=False)` | 95 | 0.20 | 0.02 | 0.03 |
| `dataclasses.dataclass(eq=False)` | 200 | 0.20 | 0.02 | 0.03 |
<!-- end -->
"""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import FrozenInstanceError
from reprlib import recursive_repr
from types import FunctionType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from typing import NamedTuple as NamedTuple
else:
    try:
        from _collections import _tuplegetter as _make_getter
    except ImportError:  # another interpreter than CPython
        from operator import itemgetter

        def _make_getter(index, doc):
            return property(itemgetter(index), doc=doc)

    _new = tuple.__new__

    # The code of each is copied under other names of its parameters.
    # fmt: off
    _CONSTRUCTORS = (
        lambda _cls: _new(_cls, ()),
        lambda _cls, a: _new(_cls, (a,)),
        lambda _cls, a, b: _new(_cls, (a, b)),
        lambda _cls, a, b, c: _new(_cls, (a, b, c)),
        lambda _cls, a, b, c, d: _new(_cls, (a, b, c, d)),
        lambda _cls, a, b, c, d, e: _new(_cls, (a, b, c, d, e)),
        lambda _cls, a, b, c, d, e, f: _new(_cls, (a, b, c, d, e, f)),
        lambda _cls, a, b, c, d, e, f, g: _new(_cls, (a, b, c, d, e, f, g)),
        lambda _cls, a, b, c, d, e, f, g, h: _new(_cls, (a, b, c, d, e, f, g, h)),
        lambda _cls, a, b, c, d, e, f, g, h, i: _new(_cls, (a, b, c, d, e, f, g, h, i)),
        lambda _cls, a, b, c, d, e, f, g, h, i, j: _new(_cls, (a, b, c, d, e, f, g, h, i, j)),
    )
    # fmt: on

    def _make_constructor(name, fields, defaults):
        """`__new__` of a class of that name."""
        if len(fields) < len(_CONSTRUCTORS):
            code = _CONSTRUCTORS[len(fields)].__code__
        else:
            words = ", ".join(fields)
            code = eval(f"lambda _cls, {words}: _new(_cls, ({words},))").__code__
        code = code.replace(
            co_varnames=("_cls", *fields), co_name="__new__", co_qualname=f"{name}.__new__"
        )
        return FunctionType(code, globals(), "__new__", defaults)

    _UNKNOWN_FIELDS = TypeError if sys.version_info >= (3, 13) else ValueError
    """What `_replace` raises in the standard library."""

    class _Record(tuple):
        """What all named tuples share."""

        __slots__ = ()

        @classmethod
        def _make(cls, iterable):
            result = tuple.__new__(cls, iterable)
            if len(result) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(result)}")
            return result

        def _replace(self, /, **changes):
            result = self._make(map(changes.pop, self._fields, self))
            if changes:
                raise _UNKNOWN_FIELDS(f"Got unexpected field names: {list(changes)!r}")
            return result

        __replace__ = _replace

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            fields = zip(self._fields, self, strict=True)
            return f"{type(self).__name__}({', '.join(f'{n}={v!r}' for n, v in fields)})"

        def __getnewargs__(self):
            return tuple(self)

    class _Maker(type):
        """Makes a plain class of what is written as a subclass of `NamedTuple`."""

        def __new__(mcs, name, bases, namespace):
            if bases != (NamedTuple,):
                raise TypeError("a named tuple of this kind has no other bases")
            fields = tuple(namespace.setdefault("__annotations__", {}))
            defaults = {}
            for field in fields:
                if field.startswith("_"):
                    raise ValueError(f"Field names cannot start with an underscore: {field!r}")
                if field in namespace:
                    defaults[field] = namespace.pop(field)
                elif defaults:
                    raise TypeError(f"{name}.{field} without a default follows one that has one")
            for index, field in enumerate(fields):
                namespace[field] = _make_getter(index, f"Alias for field number {index}")
            namespace["__slots__"] = ()
            namespace["__match_args__"] = namespace["_fields"] = fields
            namespace["_field_defaults"] = defaults
            namespace["__new__"] = _make_constructor(name, fields, tuple(defaults.values()))
            namespace.setdefault("__doc__", f"{name}({', '.join(fields)})")
            return type(name, (_Record,), namespace)

    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {})

    def _decorate_class(cls=None, /, *, eq=True, repr=True, frozen=False, **rare):
        def make(cls):
            # A frozen class below another one, and rare arguments, are left to the original.
            if rare or (frozen and any(map(dataclasses.is_dataclass, cls.__bases__))):
                return dataclasses.dataclass(eq=eq, repr=repr, frozen=frozen, **rare)(cls)
            return _make_dataclass(cls, eq=eq, repr=repr, frozen=frozen)

        return make if cls is None else make(cls)

    dataclass = _decorate_class

    _HASH, _CHANGES = "__hash__", ("__setattr__", "__delattr__")

    def _make_dataclass(cls, *, eq, repr, frozen):
        if not cls.__doc__:  # or `dataclasses` imports `inspect` to write the signature
            cls.__doc__ = f"A `{cls.__name__}`."
        own = cls.__dict__.copy()
        dataclasses.dataclass(init=False, eq=False, repr=False)(cls)
        fields = dataclasses.fields(cls)
        methods = {"__repr__": _show_fields} if repr else {}
        methods |= _compile_methods(cls, fields, eq=eq, frozen=frozen)
        for name, method in methods.items():
            # A class that defines `__eq__` alone has a `__hash__` of `None`.
            if name not in own or (name == _HASH and own[name] is None):
                setattr(cls, name, method)
        if frozen:
            if not own.keys().isdisjoint(_CHANGES):
                raise TypeError(f"Cannot overwrite attribute __setattr__ in class {cls.__name__}")
            cls.__dataclass_params__.frozen = True
            cls.__setattr__, cls.__delattr__ = _refuse_changes(cls, {f.name for f in fields})
        return cls

    class _ByFactory:
        """Stands for the value of a field that is not given and made by a function."""

        def __repr__(self):
            return "<factory>"

    _BY_FACTORY = _ByFactory()

    def _compile_methods(cls, fields, *, eq, frozen):
        """The constructor and comparisons of a class, compiled at once and without the annotations
        that the standard library adds."""
        environment = {"_by_factory": _BY_FACTORY, "_set": object.__setattr__}
        parameters, lines = ["self"], []
        for field in fields:
            name, value = field.name, field.name
            if not field.init:
                continue
            if field.default_factory is not dataclasses.MISSING:
                environment[f"_make_{name}"] = field.default_factory
                value = f"_make_{name}() if {name} is _by_factory else {name}"
                parameters.append(f"{name}=_by_factory")
            elif field.default is not dataclasses.MISSING:
                environment[f"_default_{name}"] = field.default
                parameters.append(f"{name}=_default_{name}")
            elif "=" in parameters[-1]:
                raise TypeError(f"non-default argument {name!r} follows default argument")
            else:
                parameters.append(name)
            lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
        if hasattr(cls, "__post_init__"):
            lines.append("self.__post_init__()")
        text = f"def __init__({', '.join(parameters)}):\n " + "\n ".join(lines or ["pass"])
        if eq:
            compared = [field.name for field in fields if field.compare]
            mine, its = ("".join(f"{of}.{n}," for n in compared) for of in ("self", "other"))
            text += (
                "\ndef __eq__(self, other):\n if type(other) is not type(self):\n"
                f"  return NotImplemented\n return ({mine}) == ({its})\n"
                f"def __hash__(self):\n return hash(({mine}))"
            )
        exec(text, environment)
        methods = {
            name: environment[name] for name in ("__init__", "__eq__") if name in environment
        }
        for name, method in methods.items():
            method.__qualname__ = f"{cls.__qualname__}.{name}"
        return methods | ({"__hash__": environment["__hash__"] if frozen else None} if eq else {})

    @recursive_repr()
    def _show_fields(self):
        fields = (field.name for field in dataclasses.fields(self) if field.repr)
        parts = ", ".join(f"{name}={getattr(self, name)!r}" for name in fields)
        return f"{type(self).__qualname__}({parts})"

    def _refuse_changes(cls, names):
        def __setattr__(self, name, value):
            if type(self) is cls or name in names:
                raise FrozenInstanceError(f"cannot assign to field {name!r}")
            super(cls, self).__setattr__(name, value)

        def __delattr__(self, name):
            if type(self) is cls or name in names:
                raise FrozenInstanceError(f"cannot delete field {name!r}")
            super(cls, self).__delattr__(name)

        return __setattr__, __delattr__
