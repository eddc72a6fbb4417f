"""`NamedTuple`: `typing.NamedTuple` that a program starts faster with.

`typing` makes a named tuple by giving the compiler source code of its constructor and of each of
its annotations: 0.8 million instructions a class. Here constructors are copies of compiled ones
with other names, which takes a fifth of that. The class does the same, errors included.

Modules that the command line imports for each compile or check use it; it supports the syntax of
classes, without type variables.
"""

from __future__ import annotations

import sys
from types import FunctionType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
