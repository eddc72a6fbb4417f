"""Tests whether operands have the types that a language demands, as JavaScript, and the messages
of runs that stop there."""

from __future__ import annotations

import re
from collections.abc import Callable

from orgflow.backends.n8n.emit.javascript import condition_js

from orgflow_ir.analysis.demands import Demand, Demanded
from orgflow_ir.analysis.expressions.syntax import Call, Path, Variable
from orgflow_ir.analysis.variables import Guards

_NUMERAL = r"/^([-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?)?$/i"
_WHOLE = "/^([-+]?[0-9]+)?$/"


def _no_numeral(pattern: str) -> str:
    return f'(typeof v === "string" ? !{pattern}.test(v) : v != null && typeof v !== "number")'


_UNFIT: dict[Demanded, str] = {
    "flag": '![true, false, null, "true", "false"].includes(v)',
    "truth": 'v != null && !["boolean", "string"].includes(typeof v)',
    "text": 'v != null && typeof v !== "string"',
    "scalar": 'v != null && !["number", "string"].includes(typeof v)',
    "numeral": _no_numeral(_NUMERAL),
    "whole numeral": _no_numeral(_WHOLE),
    "number": 'typeof v !== "number"',
    "summand": '!["number", "string"].includes(typeof v)',
    "printable": "Object(v) === v",
    "only text": 'typeof v !== "string"',
    "there": "v == null",
    "object": "v == null",
    "no list": "Array.isArray(v)",
}
"""Tests of one value `v`."""

_NO_NUMERAL = (
    '[[a, b], [b, a]].some(([x, y]) => typeof x === "number" && !(typeof y === "string" && '
    f"(Number.isInteger(x) ? {_WHOLE} : {_NUMERAL}).test(y)))"
)
_OBJECT = '[a, b].some((x) => typeof x === "object")'
_UNFIT_PAIR: dict[Demanded, str] = {
    "equal": (
        "((a, b) => a != null && b != null && typeof a !== typeof b && "
        f"({_OBJECT} || {_NO_NUMERAL}))"
    ),
    "ordered": (
        f"((a, b) => a != null && b != null && ({_OBJECT} || (typeof a !== typeof b && "
        f'([typeof a, typeof b].includes("boolean") || {_NO_NUMERAL}))))'
    ),
    "one type": '((a, b) => typeof a !== typeof b || !["number", "string"].includes(typeof a))',
}
"""Functions of two values."""

_MESSAGES: dict[Demanded, tuple[str, str]] = {
    "flag": ("is neither true nor false", "asks whether it is true"),
    "truth": ("is not a Boolean", "reads it as one"),
    "text": ("is not a text", "compares it with a text"),
    "scalar": ("is neither a text nor a number", "compares it with a text"),
    "numeral": ("is not a number", "reads it as one"),
    "whole numeral": ("is neither a number nor the text of a whole number", "reads it as one"),
    "number": ("is not a number", "reads it as one"),
    "summand": ("is neither a number nor a text", "adds to it"),
    "printable": ("is a list or an object", "adds it to a text"),
    "only text": ("is not a text", "compares it with a text"),
    "there": ("has no value", "asks whether it equals another"),
    "object": ("has no value", "reads a part of it"),
    "no list": ("is a list", "reads a part of it"),
}
_PAIR_MESSAGES: dict[Demanded, str] = {
    "equal": "have types that cannot be compared",
    "ordered": "have types that cannot be compared",
    "one type": "are neither two numbers nor two texts",
}
_V = re.compile(r"\bv\b")


def unfit(demand: Demand, variable: Callable[[Path], str], *, strict: bool = False) -> str:
    """JavaScript that is true if operands do not have the type that they should have.

    Args:
        demand: the operands and their type.
        variable: the code that reads a variable.
        strict: also true if the operand is undefined.
    """
    codes = [variable(one.path) for one in demand.operands]
    if len(codes) == 2:
        return f"{_UNFIT_PAIR[demand.kind]}({', '.join(codes)})"
    test = _UNFIT[demand.kind]
    if demand.kind == "flag" and not strict:
        test = test.replace("null,", "null, undefined,")
    if strict:
        test = test.replace("v != null", "v !== null")
    return _V.sub(lambda _: codes[0], test)


def rejects_undefined(kind: Demanded) -> bool:
    """Whether a strict test of this type also is true if the operand is undefined."""
    return kind in ("flag", "truth", "text", "scalar", "numeral", "whole numeral")


def unfit_call(call: Call, variable: Callable[[Path], str]) -> str:
    """JavaScript that is true if the receiver of a method, a variable, does not have it."""
    receiver = call.arguments[0]
    assert isinstance(receiver, Variable)
    value = variable(receiver.path)
    if call.function in ("size", "is empty"):
        return f'(typeof {value} !== "string" && Object({value}) !== {value})'
    no_list = f" && !Array.isArray({value})" if call.function == "contains" else ""
    return f'(typeof {value} !== "string"{no_list})'


def unfit_text(demand: Demand, label: str = "") -> str:
    """The message of a run that stops at operands without the demanded type; `label` names the
    element that reads them."""
    names = [f"“{'.'.join(one.path)}”" for one in demand.operands]
    if len(names) == 2:
        said = _PAIR_MESSAGES[demand.kind]
        shown = " and ".join(names)
        return f"“{label}” compares {shown}, which {said}." if label else f"{shown} {said}."
    fault, use = _MESSAGES[demand.kind]
    return f"{names[0]} {fault}, and “{label}” {use}." if label else f"{names[0]} {fault}."


def where(guards: Guards, test: str, variable: Callable[[Path], str]) -> str:
    """A test that is made only if an evaluation gets to its subject."""
    before = [
        condition_js(tree, variable) if truth else f"!({condition_js(tree, variable)})"
        for tree, truth in guards
    ]
    return f"({' && '.join((*before, test))})" if before else test
