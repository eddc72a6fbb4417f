"""Tests whether operands have the types that a language demands, as JavaScript, and the messages
of runs that stop there."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from orgflow.backends.javascript.expression_code import condition_js, to_js

from orgflow_ir.model.element_names import join_listed
from orgflow_ir.program import methods, requirements
from orgflow_ir.program.demands import Demand
from orgflow_ir.program.evaluation_guards import Guards
from orgflow_ir.program.syntax import (
    MOST_INT,
    Apply,
    Arithmetic,
    Call,
    Constant,
    Operation,
    Path,
    Requirement,
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

_UNFIT: Final[Mapping[Requirement, str]] = {
    requirements.FLAG: '![true, false, null, "true", "false"].includes(v)',
    requirements.TRUTH: 'v != null && !["boolean", "string"].includes(typeof v)',
    requirements.TEXT: 'v != null && typeof v !== "string"',
    requirements.SCALAR: 'v != null && !["number", "string"].includes(typeof v)',
    requirements.FRACTION: (
        'v != null && typeof v !== "string" && (typeof v !== "number" || v % 1 === 0)'
    ),
    requirements.NUMERAL: _no_numeral(_NUMERAL),
    requirements.WHOLE_NUMERAL: _no_numeral(_WHOLE),
    requirements.NUMBER: 'typeof v !== "number"',
    requirements.SUMMAND: '!["number", "string"].includes(typeof v)',
    requirements.PRINTABLE: f"Object(v) === v || {_ODD}",
    requirements.ONLY_TEXT: 'typeof v !== "string"',
    requirements.BOOLEAN: 'typeof v !== "boolean"',
    requirements.THERE: "v == null",
    requirements.OBJECT: "v == null",
    requirements.NO_LIST: "Array.isArray(v)",
    requirements.MAP: "v != null && (Object(v) !== v || Array.isArray(v))",
    requirements.LIST: "v != null && !Array.isArray(v)",
    requirements.COLLECTION: "v != null && Object(v) !== v",
    requirements.MAP_THERE: "Object(v) !== v || Array.isArray(v)",
    requirements.LIST_THERE: "!Array.isArray(v)",
    requirements.COLLECTION_THERE: "Object(v) !== v",
    requirements.ITEM: "v === undefined",
    requirements.NO_NUMERAL: 'typeof v === "boolean" || (typeof v === "string" && /[0-9]/.test(v))',
    requirements.NO_TRUTH: 'typeof v === "boolean"',
    requirements.NO_SCALAR: '["boolean", "number"].includes(typeof v)',
    requirements.TRUTH_OR_NULL: 'v != null && typeof v !== "boolean"',
    requirements.NO_TEXT: 'typeof v === "string"',
    requirements.NO_ORDER: "v != null",
    requirements.DIVISOR: "!Number(v)",
    requirements.EXACT: (
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
_UNFIT_PAIR: Final[Mapping[Requirement, str]] = {
    requirements.EQUAL: (
        "((a, b) => a != null && b != null && typeof a !== typeof b && "
        f"({_OBJECT} || {_NO_NUMERAL}))"
    ),
    requirements.ORDERED: (
        f"((a, b) => a != null && b != null && ({_OBJECT} || (typeof a !== typeof b && "
        f'([typeof a, typeof b].includes("boolean") || {_NO_NUMERAL}))))'
    ),
    requirements.ALIKE: (
        "((a, b) => a != null && b != null && typeof a !== typeof b && "
        '[[a, b], [b, a]].some(([x, y]) => typeof x === "boolean" || '
        '(typeof x === "number" && typeof y === "string" && /[0-9]/.test(y))))'
    ),
    requirements.IDENTICAL: (
        "((a, b) => a != null && b != null && !(typeof a === typeof b && "
        '(typeof a === "boolean" || (a % 1 === 0 && b % 1 === 0 && '
        'Math.max(-a, a - 1, -b, b - 1) <= 128 && typeof a === "number"))))'
    ),
    requirements.JOINED: (
        '((...all) => all.some((v) => typeof v === "string") && '
        f"all.some((v) => Object(v) === v || {_ODD}))"
    ),
    requirements.INDEXED: "((a, b) => Object(a) === a ? !Array.isArray(a) : b === undefined)",
    requirements.SEQUENCE: (
        '((a, b) => b === undefined || (typeof a !== "string" && !Array.isArray(a)))'
    ),
    requirements.QUOTIENT: "((a, b) => Number.isInteger(a) && Number.isInteger(b) && a % b !== 0)",
    requirements.ONE_TYPE: (
        '((a, b) => typeof a !== typeof b || !["number", "string"].includes(typeof a))'
    ),
}
"""Functions of two values."""

_WITHOUT_TEST = set(requirements.REQUIREMENTS.values()) - {
    *_UNFIT,
    *_UNFIT_PAIR,
    requirements.COMPUTED,
}
if _WITHOUT_TEST:
    raise NotImplementedError(f"no test in JavaScript of {_WITHOUT_TEST}")

_COMPUTED = (
    '((a, b, r) => typeof r === "number" && (!Number.isFinite(r) || (Number.isInteger(r) && '
    f"Math.abs(r) > ([a, b].some((x) => Math.abs(x) > {MOST_INT} && x !== {-MOST_INT - 1}) "
    f"? Number.MAX_SAFE_INTEGER : {MOST_INT}))))"
)
"""A function of two values and of what JavaScript computes with them, which is true if Java has
another result."""

_COMPARED = (
    requirements.EQUAL, requirements.ORDERED, requirements.ONE_TYPE, requirements.ALIKE,
    requirements.IDENTICAL,
)  # fmt: skip
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
    requirement = demand.requirement
    if requirement is requirements.COMPUTED:
        assert isinstance(first, Arithmetic)
        parts = [to_js(one, variable) for one in (first.left, first.right)]
        return f"{_COMPUTED}({', '.join([*parts, *codes])})"
    if len(codes) == 2:
        return f"{_UNFIT_PAIR[requirement]}({', '.join(codes)})"
    test = _UNFIT[requirement]
    if requirement is requirements.FLAG and not strict:
        test = test.replace("null,", "null, undefined,")
    if strict:
        test = test.replace("v != null", "v !== null")
    (code,) = codes
    if not isinstance(first, Variable) and len(_V.findall(test)) > 1:
        return f"((v) => {test})({code})"
    found = _V.sub(lambda _: code, test)
    return f"({found})" if " || " in found else found


_REJECT_UNDEFINED = (
    requirements.FLAG, requirements.TRUTH, requirements.TEXT, requirements.SCALAR,
    requirements.NUMERAL, requirements.WHOLE_NUMERAL,
)  # fmt: skip


def rejects_undefined(requirement: Requirement) -> bool:
    """Whether a strict test of this requirement also is true if the operand is undefined."""
    return requirement in _REJECT_UNDEFINED


def unfit_call(call: Call, variable: Callable[[Path], str]) -> str:
    """JavaScript that is true if the receiver of a method does not have it, or an argument is not a
    text."""
    receiver, *others = call.operands
    value = to_js(receiver, variable)
    no_text = f'typeof {value} !== "string"'
    match call.operation:
        case methods.SIZE | methods.IS_EMPTY:
            return f"({no_text} && Object({value}) !== {value})"
        case methods.COUNT:
            return f"Object({value}) !== {value}"
        case methods.CONTAINS:
            return f"({no_text} && !Array.isArray({value}))"
    tests = [] if kind_of(receiver) == "text" else [no_text]
    for other in others:
        if isinstance(other, Constant) and not isinstance(other.value, str):
            tests = ["true"]
        elif kind_of(other) != "text":
            code = to_js(other, variable)
            null = f"{code} != null && " if call.operation == methods.SAME_LETTERS else ""
            tests.append(f'({null}typeof {code} !== "string")')
    test = " || ".join(tests)
    if call.operation == methods.HAS:
        test = f"!Array.isArray({value}) && ({test})"
    return f"({test})"


_KINDS: dict[Operation[Apply], str] = {
    methods.SIZE: "neither a text nor a list", methods.IS_EMPTY: "neither a text nor a list",
    methods.CONTAINS: "neither a text nor a list", methods.HAS: "neither a text nor a list",
    methods.COUNT: "neither a list nor an object",
}  # fmt: skip


def unfit_call_text(call: Call, label: str = "") -> str:
    """The message of a run that stops at a method that a value does not have."""
    receiver, *others = call.operands
    name, kinds = _name(receiver), _KINDS.get(call.operation, "not a text")
    reads = f", and “{label}” reads it as one" if label else ""
    if others and call.operation != methods.CONTAINS:
        kinds += ", or the argument of its method is not a text"
    text = f"{name} is {kinds}{reads}."
    return text[0].upper() + text[1:]


def unfit_text(demand: Demand, label: str = "") -> str:
    """The message of a run that stops at operands without the demanded type; `label` names the
    element that reads them."""
    names = [_name(one) for one in demand.operands]
    requirement = demand.requirement
    if requirement.operands == 2:
        shown = " and ".join(names)
        verb = "compares" if requirement in _COMPARED else "reads"
        fault = requirement.fault
        text = f"“{label}” {verb} {shown}, which {fault}." if label else f"{shown} {fault}."
    else:
        reader = f", and “{label}” {requirement.use}" if label else ""
        text = f"{names[0]} {requirement.fault}{reader}."
    return text[0].upper() + text[1:]


def _name(tree: Tree) -> str:
    """The name of an operand: a variable, or what is computed from variables."""
    if isinstance(tree, Variable):
        return f"“{'.'.join(tree.path)}”"
    names = [f"“{'.'.join(path)}”" for path in dict.fromkeys(variables(tree))]
    return f"a value computed from {join_listed(names)}" if names else "a constant"


def where(guards: Guards, test: str, variable: Callable[[Path], str]) -> str:
    """A test that is made only if an evaluation gets to its subject."""
    before = [
        condition_js(tree, variable) if truth else f"!({condition_js(tree, variable)})"
        for tree, truth in guards
    ]
    return f"({' && '.join((*before, test))})" if before else test
