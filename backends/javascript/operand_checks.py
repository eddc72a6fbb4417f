"""Tests whether operands have the types that a language demands, as JavaScript, and the messages
of runs that stop there."""

from __future__ import annotations

import re
from collections.abc import Callable

from orgflow.backends.javascript.expression_code import condition_js, to_js

from orgflow_ir.model.element_names import listed
from orgflow_ir.program.demands import Demand, Demanded
from orgflow_ir.program.evaluation_guards import Guards
from orgflow_ir.program.syntax import (
    MOST_INT,
    Arithmetic,
    Call,
    Constant,
    Function,
    Path,
    Tree,
    Variable,
    kind_of,
    variables,
)

_NUMERAL = r"/^([-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?)?$/i"
_WHOLE = "/^([-+]?[0-9]+)?$/"


def _no_numeral(pattern: str) -> str:
    return f'(typeof v === "string" ? !{pattern}.test(v) : v != null && typeof v !== "number")'


_ODD = '(typeof v === "number" && v % 1 !== 0 && !(Math.abs(v) >= 1e-3 && Math.abs(v) < 1e7))'
"""Numbers that Java writes with an exponent."""

_UNFIT: dict[Demanded, str] = {
    "flag": '![true, false, null, "true", "false"].includes(v)',
    "truth": 'v != null && !["boolean", "string"].includes(typeof v)',
    "text": 'v != null && typeof v !== "string"',
    "scalar": 'v != null && !["number", "string"].includes(typeof v)',
    "fraction": 'v != null && typeof v !== "string" && (typeof v !== "number" || v % 1 === 0)',
    "numeral": _no_numeral(_NUMERAL),
    "whole numeral": _no_numeral(_WHOLE),
    "number": 'typeof v !== "number"',
    "summand": '!["number", "string"].includes(typeof v)',
    "printable": f"Object(v) === v || {_ODD}",
    "only text": 'typeof v !== "string"',
    "boolean": 'typeof v !== "boolean"',
    "there": "v == null",
    "object": "v == null",
    "no list": "Array.isArray(v)",
    "map": "v != null && (Object(v) !== v || Array.isArray(v))",
    "list": "v != null && !Array.isArray(v)",
    "collection": "v != null && Object(v) !== v",
    "map there": "Object(v) !== v || Array.isArray(v)",
    "list there": "!Array.isArray(v)",
    "collection there": "Object(v) !== v",
    "item": "v === undefined",
    "no numeral": 'typeof v === "boolean" || (typeof v === "string" && /[0-9]/.test(v))',
    "no truth": 'typeof v === "boolean"',
    "no scalar": '["boolean", "number"].includes(typeof v)',
    "truth or null": 'v != null && typeof v !== "boolean"',
    "no text": 'typeof v === "string"',
    "no order": "v != null",
    "divisor": "!Number(v)",
    "exact": (
        'typeof v === "number" && (!Number.isFinite(v) || '
        "(Number.isInteger(v) && !Number.isSafeInteger(v)))"
    ),
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
    "alike": (
        "((a, b) => a != null && b != null && typeof a !== typeof b && "
        '[[a, b], [b, a]].some(([x, y]) => typeof x === "boolean" || '
        '(typeof x === "number" && typeof y === "string" && /[0-9]/.test(y))))'
    ),
    "identical": (
        "((a, b) => a != null && b != null && !(typeof a === typeof b && "
        '(typeof a === "boolean" || (a % 1 === 0 && b % 1 === 0 && '
        'Math.max(-a, a - 1, -b, b - 1) <= 128 && typeof a === "number"))))'
    ),
    "joined": (
        '((...all) => all.some((v) => typeof v === "string") && '
        f"all.some((v) => Object(v) === v || {_ODD}))"
    ),
    "indexed": "((a, b) => Object(a) === a ? !Array.isArray(a) : b === undefined)",
    "sequence": '((a, b) => b === undefined || (typeof a !== "string" && !Array.isArray(a)))',
    "quotient": "((a, b) => Number.isInteger(a) && Number.isInteger(b) && a % b !== 0)",
    "one type": '((a, b) => typeof a !== typeof b || !["number", "string"].includes(typeof a))',
}
"""Functions of two values."""

_COMPUTED = (
    '((a, b, r) => typeof r === "number" && (!Number.isFinite(r) || (Number.isInteger(r) && '
    f"Math.abs(r) > ([a, b].some((x) => Math.abs(x) > {MOST_INT} && x !== {-MOST_INT - 1}) "
    f"? Number.MAX_SAFE_INTEGER : {MOST_INT}))))"
)
"""A function of two values and of what JavaScript computes with them, which is true if Java has
another result."""

_MESSAGES: dict[Demanded, tuple[str, str]] = {
    "flag": ("is neither true nor false", "asks whether it is true"),
    "truth": ("is not a Boolean", "reads it as one"),
    "text": ("is not a text", "compares it with a text"),
    "scalar": ("is neither a text nor a number", "compares it with a text"),
    "numeral": ("is not a number", "reads it as one"),
    "whole numeral": ("is neither a number nor the text of a whole number", "reads it as one"),
    "fraction": (
        "is neither a text nor a number with a fraction",
        "compares it with such a number",
    ),
    "number": ("is not a number", "reads it as one"),
    "summand": ("is neither a number nor a text", "adds to it"),
    "printable": (
        "is a list, an object, or a number that Java writes with an exponent",
        "adds it to a text",
    ),
    "only text": ("is not a text", "compares it with a text"),
    "boolean": ("is neither true nor false", "reads it as a truth value"),
    "there": ("has no value", "asks whether it equals another"),
    "object": ("has no value", "reads a part of it"),
    "no list": ("is a list", "reads a part of it"),
    "map": ("is not an object", "reads an entry of it"),
    "list": ("is not a list", "reads an entry of it"),
    "collection": ("is neither a list nor an object", "reads an entry of it"),
    "map there": ("has no value or is not an object", "reads an entry of it"),
    "list there": ("has no value or is not a list", "reads an entry of it"),
    "collection there": (
        "has no value, or is neither a list nor an object",
        "reads an entry of it",
    ),
    "item": ("is no entry of its list or object", "reads it"),
    "no numeral": ("is the text of a number or a truth value", "compares it with a number"),
    "no truth": ("is a truth value", "compares it with a text"),
    "no scalar": ("is a number or a truth value", "compares it with a text"),
    "truth or null": ("is neither true nor false", "compares it with a truth value"),
    "no text": ("is a text", "compares it with `==`, which compares identity in Java"),
    "no order": ("has no order with a truth value or null", "compares them"),
    "divisor": ("is zero or has no value", "divides by it"),
    "computed": ("has a result that depends on its type in Java", "reads it"),
    "exact": ("has no exact result", "reads it"),
}
_PAIR_MESSAGES: dict[Demanded, str] = {
    "equal": "have types that cannot be compared",
    "ordered": "have types that cannot be compared",
    "one type": "are neither two numbers nor two texts",
    "alike": "have types that cannot be compared",
    "identical": "are not identical in Java whenever they are equal",
    "joined": "are added to a text that is another one in Java",
    "indexed": "are a value and a position that it does not have",
    "sequence": "are a value and a position that it does not have",
    "quotient": "have a quotient that depends on the version of Python",
}
_COMPARED = ("equal", "ordered", "one type", "alike", "identical")
_V = re.compile(r"\bv\b")


def unfit(demand: Demand, variable: Callable[[Path], str], *, strict: bool = False) -> str:
    """JavaScript that is true if operands do not have the type that they should have.

    Args:
        demand: the operands and their type.
        variable: the code that reads a variable.
        strict: also true if the operand is undefined.
    """
    codes = [to_js(one, variable) for one in demand.operands]
    first = demand.operands[0]
    if demand.kind == "computed":
        assert isinstance(first, Arithmetic)
        parts = [to_js(one, variable) for one in (first.left, first.right)]
        return f"{_COMPUTED}({', '.join([*parts, *codes])})"
    if len(codes) == 2:
        return f"{_UNFIT_PAIR[demand.kind]}({', '.join(codes)})"
    test = _UNFIT[demand.kind]
    if demand.kind == "flag" and not strict:
        test = test.replace("null,", "null, undefined,")
    if strict:
        test = test.replace("v != null", "v !== null")
    (code,) = codes
    if not isinstance(first, Variable) and len(_V.findall(test)) > 1:
        return f"((v) => {test})({code})"
    found = _V.sub(lambda _: code, test)
    return f"({found})" if " || " in found else found


def rejects_undefined(kind: Demanded) -> bool:
    """Whether a strict test of this type also is true if the operand is undefined."""
    return kind in ("flag", "truth", "text", "scalar", "numeral", "whole numeral")


def unfit_call(call: Call, variable: Callable[[Path], str]) -> str:
    """JavaScript that is true if the receiver of a method does not have it, or an argument is not a
    text."""
    receiver, *others = call.arguments
    value = to_js(receiver, variable)
    no_text = f'typeof {value} !== "string"'
    match call.function:
        case "size" | "is empty":
            return f"({no_text} && Object({value}) !== {value})"
        case "count":
            return f"Object({value}) !== {value}"
        case "contains":
            return f"({no_text} && !Array.isArray({value}))"
    tests = [] if kind_of(receiver) == "text" else [no_text]
    for other in others:
        if isinstance(other, Constant) and not isinstance(other.value, str):
            tests = ["true"]
        elif kind_of(other) != "text":
            code = to_js(other, variable)
            null = f"{code} != null && " if call.function == "same letters" else ""
            tests.append(f'({null}typeof {code} !== "string")')
    test = " || ".join(tests)
    if call.function == "has":
        test = f"!Array.isArray({value}) && ({test})"
    return f"({test})"


_KINDS: dict[Function, str] = {
    "size": "neither a text nor a list", "is empty": "neither a text nor a list",
    "contains": "neither a text nor a list", "has": "neither a text nor a list",
    "count": "neither a list nor an object",
}  # fmt: skip


def unfit_call_text(call: Call, label: str = "") -> str:
    """The message of a run that stops at a method that a value does not have."""
    receiver, *others = call.arguments
    name, kinds = _name(receiver), _KINDS.get(call.function, "not a text")
    reads = f", and “{label}” reads it as one" if label else ""
    if others and call.function != "contains":
        kinds += ", or the argument of its method is not a text"
    text = f"{name} is {kinds}{reads}."
    return text[0].upper() + text[1:]


def unfit_text(demand: Demand, label: str = "") -> str:
    """The message of a run that stops at operands without the demanded type; `label` names the
    element that reads them."""
    names = [_name(one) for one in demand.operands]
    if len(names) == 2:
        said = _PAIR_MESSAGES[demand.kind]
        shown = " and ".join(names)
        verb = "compares" if demand.kind in _COMPARED else "reads"
        text = f"“{label}” {verb} {shown}, which {said}." if label else f"{shown} {said}."
    else:
        fault, use = _MESSAGES[demand.kind]
        text = f"{names[0]} {fault}, and “{label}” {use}." if label else f"{names[0]} {fault}."
    return text[0].upper() + text[1:]


def _name(tree: Tree) -> str:
    """The name of an operand: a variable, or what is computed from variables."""
    if isinstance(tree, Variable):
        return f"“{'.'.join(tree.path)}”"
    names = [f"“{'.'.join(path)}”" for path in dict.fromkeys(variables(tree))]
    return f"a value computed from {listed(names)}" if names else "a constant"


def where(guards: Guards, test: str, variable: Callable[[Path], str]) -> str:
    """A test that is made only if an evaluation gets to its subject."""
    before = [
        condition_js(tree, variable) if truth else f"!({condition_js(tree, variable)})"
        for tree, truth in guards
    ]
    return f"({' && '.join((*before, test))})" if before else test
