"""Tests whether operands have the types that a language demands, as JSONata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from orgflow.backends.asl.jsonata.expression_code import (
    Variables,
    print_condition,
    print_constant,
    print_value,
)

from orgflow_ir.program import requirements
from orgflow_ir.program.demands import Demand, name_operand
from orgflow_ir.program.syntax import (
    MOST_INT,
    Apply,
    Arithmetic,
    ConditionError,
    Requirement,
    Tree,
    Variable,
)

_TYPE = "$type($v)"
_NUMERAL = r"/^([-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?)?$/"
_WHOLE = "/^([-+]?[0-9]+)?$/"
_ODD = f'({_TYPE} = "number" and $v != $floor($v) and $not($abs($v) >= 1e-3 and $abs($v) < 1e7))'
"""Numbers that Java writes with an exponent."""

_COLLECTION = f'{_TYPE} in ["array", "object"]'


def _other_than(*types: str) -> str:
    """Whether the value has none of these types."""
    return f"$not({_TYPE} in [{', '.join(map(print_constant, types))}])"


def _no_numeral(pattern: str) -> str:
    text = f"$not($contains($v, {pattern}))"
    return f'({_TYPE} = "string" ? {text} : {_other_than("null", "number")})'


_UNFIT: Final[Mapping[Requirement, str]] = {
    requirements.FLAG: '$not($v in [true, false, "true", "false"] or $v = null)',
    requirements.TRUTH: _other_than("null", "boolean", "string"),
    requirements.TEXT: _other_than("null", "string"),
    requirements.SCALAR: _other_than("null", "number", "string"),
    requirements.FRACTION: (
        f'({_other_than("null", "string", "number")} or ({_TYPE} = "number" and $v = $floor($v)))'
    ),
    requirements.NUMERAL: _no_numeral(_NUMERAL),
    requirements.WHOLE_NUMERAL: _no_numeral(_WHOLE),
    requirements.NUMBER: _other_than("number"),
    requirements.SUMMAND: _other_than("number", "string"),
    requirements.PRINTABLE: f"({_COLLECTION} or {_ODD})",
    requirements.ONLY_TEXT: _other_than("string"),
    requirements.BOOLEAN: _other_than("boolean"),
    requirements.THERE: "$v = null",
    requirements.OBJECT: "$v = null",
    requirements.NO_LIST: f'{_TYPE} = "array"',
    requirements.MAP: _other_than("null", "object"),
    requirements.LIST: _other_than("null", "array"),
    requirements.COLLECTION: _other_than("null", "array", "object"),
    requirements.MAP_THERE: _other_than("object"),
    requirements.LIST_THERE: _other_than("array"),
    requirements.COLLECTION_THERE: _other_than("array", "object"),
    requirements.NO_NUMERAL: (
        f'({_TYPE} = "boolean" or ({_TYPE} = "string" and $contains($v, /[0-9]/)))'
    ),
    requirements.NO_TRUTH: f'{_TYPE} = "boolean"',
    requirements.NO_SCALAR: f'{_TYPE} in ["boolean", "number"]',
    requirements.TRUTH_OR_NULL: _other_than("null", "boolean"),
    requirements.NO_TEXT: f'{_TYPE} = "string"',
    requirements.NO_ORDER: "$v != null",
    requirements.DIVISOR: f'({_TYPE} in ["array", "object"] or $v in [0, "", false] or $v = null)',
    requirements.EXACT: (
        f'({_TYPE} = "number" and $v = $floor($v) and $abs($v) > 9007199254740991)'
    ),
}
"""Tests of one value `$v`."""

_NULL = '$type($a) = "null" or $type($b) = "null"'
_SAME_TYPE = "$type($a) = $type($b)"
_IN_COLLECTIONS = '($type($a) in ["array", "object"] or $type($b) in ["array", "object"])'
_TRUTH_AMONG = '($type($a) = "boolean" or $type($b) = "boolean")'


def _no_numerals() -> str:
    """Whether one of two values is a number, and the other no text that JUEL converts to one."""
    tests = []
    for number, text in (("$a", "$b"), ("$b", "$a")):
        patterns = f"({number} = $floor({number}) ? $contains({text}, {_WHOLE})"
        patterns += f" : $contains({text}, {_NUMERAL}))"
        tests.append(
            f'($type({number}) = "number" ? ($type({text}) = "string" ? $not({patterns}) : true)'
            " : false)"
        )
    return f"({' or '.join(tests)})"


def _is_small(name: str) -> str:
    return f"({name} = $floor({name}) and {name} >= -128 and {name} <= 127)"


def _is_whole(name: str) -> str:
    return f'($type({name}) = "number" ? {name} = $floor({name}) : false)'


_SOME_ODD = (
    "($odd := function($v) { " + f"{_COLLECTION} or {_ODD}" + " }; "
    '($type($a) = "string" or $type($b) = "string") and ($odd($a) or $odd($b)))'
)
_DIGITS = '($type({0}) = "number" and $type({1}) = "string" ? $contains({1}, /[0-9]/) : false)'

_UNFIT_PAIR: Final[Mapping[Requirement, str]] = {
    requirements.EQUAL: (
        f"({_NULL} or {_SAME_TYPE} ? false : {_IN_COLLECTIONS} or {_no_numerals()})"
    ),
    requirements.ORDERED: (
        f"({_NULL} ? false : {_IN_COLLECTIONS} ? true : {_SAME_TYPE} ? false"
        f" : {_TRUTH_AMONG} or {_no_numerals()})"
    ),
    requirements.ALIKE: (
        f"({_NULL} or {_SAME_TYPE} ? false : {_TRUTH_AMONG}"
        f" or {_DIGITS.format('$a', '$b')} or {_DIGITS.format('$b', '$a')})"
    ),
    requirements.IDENTICAL: (
        f'({_NULL} ? false : $not({_SAME_TYPE}) ? true : $type($a) = "boolean" ? false'
        f' : $type($a) = "number" ? $not({_is_small("$a")} and {_is_small("$b")}) : true)'
    ),
    requirements.JOINED: _SOME_ODD,
    requirements.INDEXED: '($type($a) = "object" ? true : $type($a) = "array" ? false : $b = null)',
    requirements.SEQUENCE: '($b = null or $not($type($a) in ["string", "array"]))',
    requirements.QUOTIENT: (
        f"({_is_whole('$a')} and {_is_whole('$b')} ? ($b = 0 or $a % $b != 0) : false)"
    ),
    requirements.ONE_TYPE: f'($not({_SAME_TYPE}) or $not($type($a) in ["number", "string"]))',
}
"""Tests of two values `$a` and `$b`."""

_BEYOND_INT = (
    f'($type({{0}}) = "number" ? $abs({{0}}) > {MOST_INT} and {{0}} != {-MOST_INT - 1} : false)'
)
_COMPUTED = (
    f'($type($r) = "number" ? $r = $floor($r) and $abs($r) > ({_BEYOND_INT.format("$a")} or '
    f"{_BEYOND_INT.format('$b')} ? 9007199254740991 : {MOST_INT}) : false)"
)
"""Whether Java has another result `$r` of two values."""

NOT_TESTED: Final = frozenset((requirements.ITEM, requirements.COMPUTED, requirements.RESULT))
"""Requirements that are tested in another way, that an entry exists, and three values, and that of
functions which JSONata does not have."""


def print_unfit(demand: Demand, reader: Variables) -> str:
    """JSONata that is true if operands do not have the type that they should have.

    Args:
        demand: the operands and their type.
        reader: the code that reads a variable.

    Raises `ConditionError` for operands without a form in JSONata.
    """
    requirement, operands = demand.requirement, demand.operands
    first = operands[0]
    if requirement is requirements.ITEM:
        if not isinstance(first, Variable):
            raise ConditionError("JSONata does not tell whether a computed value exists")
        return f"$not({reader.exists(first.path)})"
    if requirement is requirements.RESULT:
        assert isinstance(first, Apply)
        raise ConditionError(f"JSONata has no exact `{first.operation.name}`")
    codes = [_print_operand(operand, reader) for operand in operands]
    if requirement is requirements.COMPUTED:
        if not isinstance(first, Arithmetic):
            raise ConditionError("a result is not computed here")
        left, right = (_print_operand(side, reader) for side in first.operands)
        return f"($a := {left}; $b := {right}; $r := {codes[0]}; {_COMPUTED})"
    if len(codes) == 2:
        return f"($a := {codes[0]}; $b := {codes[1]}; {_UNFIT_PAIR[requirement]})"
    return f"($v := {codes[0]}; {_UNFIT[requirement]})"


def _print_operand(operand: Tree, reader: Variables) -> str:
    """The code of an operand, in which a variable is not yet read as a condition."""
    if isinstance(operand, Variable):
        return reader.read(operand.path)
    return print_value(operand, reader)


def print_check(demand: Demand, reader: Variables) -> str:
    """JSONata that ends an execution with an error if operands are evaluated that do not meet a
    demand. Arguments and errors are those of `print_unfit`."""
    tests = [
        print_condition(tree, reader) if truth else f"$not({print_condition(tree, reader)})"
        for tree, truth in demand.guards
    ]
    unfit = print_unfit(demand, reader)
    # Guards are nested: a test is evaluated only where those before it hold.
    code = f"({unfit} ? $error({print_constant(describe_fault(demand))}) : null)"
    for test in reversed(tests):
        code = f"({test} ? {code} : null)"
    return code


def describe_fault(demand: Demand) -> str:
    """The message of an execution that stops at operands without the demanded type."""
    shown = " and ".join(map(name_operand, demand.operands))
    text = f"{shown} {demand.requirement.fault}."
    return text[0].upper() + text[1:]


def _check_table() -> None:
    """Raises `NotImplementedError` if a requirement has no test."""
    missing = set(requirements.REQUIREMENTS.values()) - {*_UNFIT, *_UNFIT_PAIR, *NOT_TESTED}
    if missing:
        raise NotImplementedError(f"no test in JSONata of {missing}")


_check_table()
