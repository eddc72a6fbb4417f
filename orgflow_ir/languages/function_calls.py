"""The functions and methods of each language by their names and numbers of arguments, and the calls
of functions of lists.

A parser looks here for a name that is none of the methods that all languages have. `*` in the place
of a number stands for any number of arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from orgflow_ir.program import function_rows as rows
from orgflow_ir.program import lambdas
from orgflow_ir.program.syntax import (
    Apply,
    Arithmetic,
    Call,
    Conditional,
    ConditionError,
    Constant,
    FunctionRow,
    Negative,
    Span,
    Tree,
    Variable,
    kind_of,
)

Signature = tuple[str, int]

_JAVA_TEXTS: Final[Mapping[Signature, FunctionRow]] = {
    ("substring", 1): rows.JAVA_SUBSTRING, ("substring", 2): rows.JAVA_SUBSTRING,
    ("indexOf", 1): rows.INDEX_OF, ("lastIndexOf", 1): rows.LAST_INDEX_OF,
    ("replace", 2): rows.REPLACE_ALL,
}  # fmt: skip

METHODS: Final[Mapping[str, Mapping[Signature, FunctionRow]]] = {
    "javascript": {
        ("indexOf", 1): rows.INDEX_OF, ("lastIndexOf", 1): rows.LAST_INDEX_OF,
        ("substring", 1): rows.SUBSTRING, ("substring", 2): rows.SUBSTRING,
        ("slice", 0): rows.SLICE, ("slice", 1): rows.SLICE, ("slice", 2): rows.SLICE,
        ("split", 1): rows.SPLIT, ("charAt", 1): rows.CHAR_AT, ("at", 1): rows.ITEM_AT,
        ("replace", 2): rows.REPLACE_FIRST, ("replaceAll", 2): rows.REPLACE_ALL,
        ("repeat", 1): rows.REPEAT, ("padStart", 1): rows.PAD_START,
        ("padStart", 2): rows.PAD_START, ("padEnd", 1): rows.PAD_END, ("padEnd", 2): rows.PAD_END,
        ("join", 0): rows.JOIN, ("join", 1): rows.JOIN, ("toFixed", 0): rows.TO_FIXED,
        ("toFixed", 1): rows.TO_FIXED,
    },
    "groovy": {
        **_JAVA_TEXTS,
        ("split", 1): rows.SPLIT_JAVA, ("toInteger", 0): rows.JAVA_INT, ("sum", 0): rows.SUM_GROOVY,
        ("max", 0): rows.GREATEST_IN, ("min", 0): rows.LEAST_IN, ("join", 1): rows.JOIN,
        ("reverse", 0): rows.REVERSE, ("take", 1): rows.TAKE, ("drop", 1): rows.DROP,
    },
    "python": {
        ("upper", 0): rows.UPPER_PLAIN, ("lower", 0): rows.LOWER_PLAIN,
        ("strip", 0): rows.STRIP_PLAIN, ("startswith", 1): rows.STARTS, ("endswith", 1): rows.ENDS,
        ("replace", 2): rows.REPLACE_ALL, ("split", 1): rows.SPLIT_PYTHON,
        ("join", 1): rows.JOIN_PYTHON, ("find", 1): rows.INDEX_OF, ("count", 1): rows.COUNT_IN,
    },
    "java": _JAVA_TEXTS,
}  # fmt: skip
"""Methods of texts, lists and numbers."""

_OF_COMPUTED: Final[Mapping[Signature, FunctionRow]] = {
    ("toUpperCase", 0): rows.UPPER_PLAIN, ("toLowerCase", 0): rows.LOWER_PLAIN,
    ("trim", 0): rows.STRIP_PLAIN, ("startsWith", 1): rows.STARTS, ("endsWith", 1): rows.ENDS,
    ("size", 0): rows.COUNT_OF, ("length", 0): rows.COUNT_OF, ("contains", 1): rows.HAS_SAME,
    ("includes", 1): rows.HAS_SAME, ("isEmpty", 0): rows.HAS_NOTHING,
}  # fmt: skip
"""Methods that all languages have, of a value that may have any type."""

_PLACES: Final = {
    "abs": rows.ABSOLUTE, "floor": rows.FLOOR, "ceil": rows.CEILING, "trunc": rows.TRUNCATE,
    "round": rows.ROUND, "sign": rows.SIGN_OF, "sqrt": rows.ROOT,
}  # fmt: skip

FUNCTIONS: Final[Mapping[str, Mapping[Signature | tuple[str, str], FunctionRow]]] = {
    "javascript": {
        **{(f"Math.{name}", 1): row for name, row in _PLACES.items()},
        ("Math.pow", 2): rows.POWER_OF, ("Math.min", "*"): rows.LEAST,
        ("Math.max", "*"): rows.GREATEST, ("parseInt", 1): rows.PARSE_WHOLE,
        ("parseFloat", 1): rows.PARSE_FLOAT, ("Number.parseInt", 1): rows.PARSE_WHOLE,
        ("Number.parseFloat", 1): rows.PARSE_FLOAT, ("Number", 1): rows.TO_NUMBER,
        ("String", 1): rows.TO_TEXT,
    },
    "groovy": {
        ("Math.abs", 1): rows.ABSOLUTE, ("Math.round", 1): rows.ROUND,
        ("Math.min", 2): rows.LEAST_CLASS, ("Math.max", 2): rows.GREATEST_CLASS,
        ("Integer.parseInt", 1): rows.JAVA_INT, ("Integer.valueOf", 1): rows.JAVA_INT,
    },
    "python": {
        ("len", 1): rows.COUNT_OF, ("int", 1): rows.PYTHON_INT, ("float", 1): rows.PYTHON_FLOAT,
        ("round", 1): rows.ROUND_EVEN, ("round", 2): rows.ROUND_EVEN, ("abs", 1): rows.ABSOLUTE,
        ("sum", 1): rows.SUM, ("min", 1): rows.LEAST_IN, ("max", 1): rows.GREATEST_IN,
        ("min", "*"): rows.LEAST_VALUE, ("max", "*"): rows.GREATEST_VALUE,
        ("any", 1): rows.ANY_TRUE, ("all", 1): rows.ALL_TRUE,
    },
}  # fmt: skip
"""Functions that have no receiver but a class."""

LIST_METHODS: Final[Mapping[str, Mapping[str, str]]] = {
    "javascript": {
        "map": "map list", "filter": "filter list", "find": "find in list",
        "findIndex": "find position", "some": "some in list", "every": "every in list",
        "reduce": "reduce list",
    },
    "groovy": {
        "collect": "map list", "findAll": "filter list", "find": "find in list",
        "findIndexOf": "find position", "any": "some in list", "every": "every in list",
        "inject": "reduce list", "sum": "sum", "count": "count",
    },
}  # fmt: skip
"""Methods of lists that take a function."""


def call_method(library: str, receiver: Tree, name: str, given: list[Tree], span: Span) -> Tree:
    """The call of a method of a language. Raises `ConditionError` for one that it does not have."""
    row = METHODS.get(library, {}).get((name, len(given)))
    if row is None:
        row = _OF_COMPUTED.get((name, len(given)))
    if row is None:
        raise ConditionError(f"calls of `{name}` are not supported")
    return row(receiver, *given, span=span)


def has_any_type(receiver: Tree) -> bool:
    """Whether the receiver of a method is computed and may have any type."""
    if isinstance(receiver, Conditional):
        return kind_of(receiver) is None
    return isinstance(receiver, Call) and isinstance(receiver.operation, FunctionRow)


def call_function(library: str, name: str, given: list[Tree], span: Span) -> Tree:
    """The call of a function of a language. Raises as `call_method`."""
    known = FUNCTIONS.get(library, {})
    row = known.get((name, len(given))) or (known.get((name, "*")) if given else None)
    if (library, name, len(given)) == ("python", "str", 1):
        return rows.PYTHON_TEXT(given[0], *_list_leaves(given[0], inside=False), span=span)
    if library == "javascript" and name.endswith("parseInt") and len(given) == 2:
        if given[1] != Constant(10):
            raise ConditionError("only decimal numbers are supported")
        row, given = rows.PARSE_WHOLE, given[:1]
    if row is None:
        raise ConditionError(f"calls of `{name}` are not supported")
    return row(*given, span=span)


_WHOLE_IN_PYTHON = (rows.COUNT_OF, rows.PYTHON_INT, rows.INDEX_OF, rows.COUNT_IN)


def _list_leaves(tree: Tree, *, inside: bool) -> Iterator[Tree]:
    """What the type of a number in Python depends on: values that it is computed from, and a
    fraction where it is a float for sure, or a whole number in one version only."""
    match tree:
        case Constant(value):
            if isinstance(value, float):
                yield Constant(0.5)
        case Variable():
            if inside:
                yield tree
        case Arithmetic() if tree.operator == "/":
            yield Constant(0.5)
        case Arithmetic() | Negative() | Call(rows.FLOOR_DIVIDE | rows.ABSOLUTE):
            assert isinstance(tree, Apply)
            for operand in tree.operands:
                yield from _list_leaves(operand, inside=True)
        case Call(rows.SUM):
            yield tree.operand
        case Call(rows.ROUND_EVEN | rows.PYTHON_FLOAT):
            yield Constant(0.5)
        case Call(operation) if operation in _WHOLE_IN_PYTHON:
            return
        case Apply():
            for operand in tree.operands:
                yield from _list_leaves(operand, inside=True)


def call_list_method(
    library: str,
    name: str,
    receiver: Tree,
    parameters: tuple[str, ...],
    body: Tree,
    begin: Tree | None,
    span: Span,
) -> Tree:
    """The call of a method of lists with a function. Raises `ConditionError` for a method that the
    language does not have, and for a function of another number of parameters."""
    function = LIST_METHODS[library][name]
    expected = 2 if function == "reduce list" else 1
    if len(parameters) != expected:
        raise ConditionError(f"`{name}` takes a function of {expected} parameters here")
    if begin is not None and function != "reduce list":
        raise ConditionError(f"calls of `{name}` with several arguments are not supported")
    if function == "sum":
        return rows.SUM_GROOVY(
            lambdas.apply_function("map list", receiver, parameters, body, None, span), span=span
        )
    if function == "count":
        return rows.COUNT_OF(
            lambdas.apply_function("filter list", receiver, parameters, body, None, span),
            span=span,
        )
    return lambdas.apply_function(function, receiver, parameters, body, begin, span)


def is_test(library: str, name: str) -> bool:
    """Whether the function that a method of lists takes is a test."""
    function = LIST_METHODS[library][name]
    if function in ("sum", "count"):
        return function == "count"
    return lambdas.LIST_FUNCTIONS[function].test


def may_be_undefined(tree: Tree) -> bool:
    """Whether a value is null where JavaScript has undefined."""
    return isinstance(tree, Call) and tree.operation.name == "find in list"
