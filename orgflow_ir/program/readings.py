"""The ways in which languages read a path of names: the table of readings.

In JUEL, an entry of null is null; in JUEL and Groovy, one beyond the end of a list is. In Python,
names have to exist as well, in MVEL those after a point (`PropertyAccessor.getBeanProperty`).
Groovy and Python have positions in texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from orgflow_ir.program import requirements
from orgflow_ir.program.syntax import Found, Path, Reading, Requirement, Variable
from orgflow_ir.program.values import UNDEFINED, NoAnswer

ENGINE_OBJECTS: Final = frozenset({"this", "environment", "execution", "variables"})
"""Names of engine objects that are in scope in addition to the variables."""

OBJECT_NAMES: Final = frozenset(
    {"__proto__", "constructor", "prototype", "toString", "valueOf", "hasOwnProperty"}
)
"""Properties that every JavaScript object has."""


def read_value(variable: Variable, values: Mapping[Path, Any]) -> Any:
    """The value of a variable, undefined if it has none."""
    return values.get(variable.path, UNDEFINED)


def _read_entry(variable: Variable, values: Mapping[Path, Any]) -> Any:
    path = variable.path
    if len(path) - 1 in variable.got and path not in values and path[-1].isdigit():
        raise NoAnswer  # a list has no such position
    return read_value(variable, values)


def _read_flag(variable: Variable, values: Mapping[Path, Any]) -> Any:
    from orgflow_ir.program.juel_operators import JuelRules  # defines the only user of the row

    return JuelRules().truth(read_value(variable, values))


def _of_member(variable: Variable) -> Iterator[Found]:
    yield requirements.OBJECT, (Variable(variable.path[:-1], variable.span),)


def _of_parts(variable: Variable) -> Iterator[Found]:
    for size in range(1, len(variable.path)):
        yield requirements.NO_LIST, (Variable(variable.path[:size], variable.span),)


_THERE: Final = {
    requirements.MAP: requirements.MAP_THERE,
    requirements.LIST: requirements.LIST_THERE,
    requirements.COLLECTION: requirements.COLLECTION_THERE,
}


def _of_entries(
    *,
    nothing_in_nothing: bool = False,
    numbers_as_names: bool = False,
    exists: str = "",
    position: Requirement | None = None,
) -> Callable[[Variable], Iterator[Found]]:
    """What the steps of a path require of the values that they are read from.

    Args:
        nothing_in_nothing: an entry of null is null.
        numbers_as_names: a number after a point may be a position in a list.
        exists: steps whose entry has to exist, besides those in brackets that `get` reads:
            `names` those not read by `get`, `positions` those in brackets, or both.
        position: what a value and its entry at a position in brackets have to be, if not a list.
    """
    plain = requirements.COLLECTION if numbers_as_names else requirements.MAP

    def find_requirements(variable: Variable) -> Iterator[Found]:
        path = variable.path
        for at in range(1, len(path)):
            counted, got = at in variable.counted, at in variable.got
            needed = requirements.MAP
            if counted:
                needed = requirements.LIST
            elif path[at].isdigit() and not got:
                needed = plain
            whole = Variable(path[:at], variable.span)
            part = Variable(path[: at + 1], variable.span)
            if counted and not got and position is not None:
                yield position, (whole, part)
                continue
            yield needed if nothing_in_nothing and not got else _THERE[needed], (whole,)
            if (not got and "names" in exists) or (counted and (got or "positions" in exists)):
                yield requirements.ITEM, (part,)

    return find_requirements


def _define_reading(
    name: str,
    find_requirements: Callable[[Variable], Iterator[Found]],
    compute: Callable[[Variable, Mapping[Path, Any]], Any] = _read_entry,
    *,
    is_entry: bool = True,
) -> Reading:
    return Reading(name, compute=compute, requirements=find_requirements, may_miss=is_entry)


_juel_entries = _of_entries(nothing_in_nothing=True, numbers_as_names=True)


def _of_flag(variable: Variable) -> Iterator[Found]:
    yield from _juel_entries(variable)
    yield requirements.FLAG, (variable,)


MEMBER = _define_reading("member", _of_member, read_value, is_entry=False)
"""In JavaScript, where it is an error that there is nothing to read the last name of."""

FEEL_PATH = _define_reading("feel path", _of_parts, read_value, is_entry=False)
"""In FEEL, where a part of a list is the list of the parts of its entries."""

JUEL_ENTRY = _define_reading("juel entry", _juel_entries)
GROOVY_ENTRY = _define_reading("groovy entry", _of_entries(position=requirements.INDEXED))
JAVA_ENTRY = _define_reading("java entry", _of_entries(exists="positions"))
MVEL_ENTRY = _define_reading("mvel entry", _of_entries(exists="names, positions"))
PYTHON_ENTRY = _define_reading(
    "python entry", _of_entries(exists="names", position=requirements.SEQUENCE)
)
"""Names are keys of maps, and numbers positions in lists."""

FLAG = _define_reading("juel flag", _of_flag, _read_flag, is_entry=False)
"""A variable that is a whole condition in JUEL, or a result of one."""


def is_entry(variable: Variable) -> bool:
    """Whether a variable is read by the rules of entries."""
    return variable.reading is not None and variable.reading.may_miss


def may_be_undefined(variable: Variable) -> bool:
    """Whether JavaScript has undefined where the language has null."""
    return is_entry(variable)
