"""Tests whether operands have the types that a language demands, as JavaScript, and the messages
of runs that stop there."""

from __future__ import annotations

import re
from collections.abc import Callable

from orgflow.backends.javascript.expression_code import condition_js, to_js
from orgflow.backends.javascript.operation_functions import fill_numbers, read_functions

from orgflow_ir.program import methods, requirements
from orgflow_ir.program.demands import Demand, name_operand
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
    Variable,
    kind_of,
)

_ONE_VALUE = "(v) => "
_NUMBERS = {"MOST_INT": MOST_INT, "LEAST_INT": -MOST_INT - 1}


def find_test(requirement: Requirement) -> str:
    """The function that tests one value `v`, or two values; for `computed`, also what JavaScript
    computes with them. Raises `NotImplementedError` for an unknown requirement."""
    first, *others = requirement.name.split()
    name = first + "".join(word.capitalize() for word in others)
    tests = read_functions("operand_tests")
    if name not in tests:
        raise NotImplementedError(f"no test in JavaScript of {requirement}")
    return fill_numbers(tests[name], _NUMBERS)


_COMPARED = (
    requirements.EQUAL, requirements.ORDERED, requirements.ONE_TYPE, requirements.ALIKE,
    requirements.IDENTICAL,
)  # fmt: skip
_V = r"\bv\b"


def print_unfit_test(
    demand: Demand, variable: Callable[[Path], str], *, strict: bool = False
) -> str:
    """JavaScript that is true if operands do not have the type that they should have.

    Args:
        demand: the operands and their type.
        variable: the code that reads a variable.
        strict: also true if the operand is undefined.
    """
    codes = [to_js(operand, variable) for operand in demand.operands]
    first = demand.operands[0]
    requirement = demand.requirement
    if requirement is requirements.COMPUTED:
        assert isinstance(first, Arithmetic)
        parts = [to_js(operand, variable) for operand in (first.left, first.right)]
        return f"({find_test(requirement)})({', '.join([*parts, *codes])})"
    if requirement is requirements.RESULT:
        return f"({find_test(requirement)})(() => {codes[0]})"
    if len(codes) == 2:
        return f"({find_test(requirement)})({', '.join(codes)})"
    test = find_test(requirement).removeprefix(_ONE_VALUE)
    if requirement is requirements.FLAG and not strict:
        test = test.replace("null,", "null, undefined,")
    if strict:
        test = test.replace("v != null", "v !== null")
    (code,) = codes
    if not isinstance(first, Variable) and len(re.findall(_V, test)) > 1:
        return f"((v) => {test})({code})"
    code_of_test = re.sub(_V, lambda _: code, test)
    return f"({code_of_test})" if " || " in code_of_test else code_of_test


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
    name, kinds = name_operand(receiver), _KINDS.get(call.operation, "not a text")
    reads = f", and “{label}” reads it as one" if label else ""
    if others and call.operation != methods.CONTAINS:
        kinds += ", or the argument of its method is not a text"
    text = f"{name} is {kinds}{reads}."
    return text[0].upper() + text[1:]


def unfit_text(demand: Demand, label: str = "") -> str:
    """The message of a run that stops at operands without the demanded type; `label` names the
    element that reads them."""
    names = [name_operand(operand) for operand in demand.operands]
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


def print_guarded_test(guards: Guards, test: str, variable: Callable[[Path], str]) -> str:
    """A test that is made only if an evaluation gets to its subject."""
    before = [
        condition_js(tree, variable) if truth else f"!({condition_js(tree, variable)})"
        for tree, truth in guards
    ]
    return f"({' && '.join((*before, test))})" if before else test
