"""Calls of functions of lists as JavaScript: an expression becomes a function of its parameters.

The function has no value (`undefined`) for an entry for which an operand is not what the language
demands, as the function of the list then has none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from orgflow.backends.javascript.expression_code import condition_js, print_code, to_js
from orgflow.backends.javascript.literals import js_string
from orgflow.backends.javascript.operand_checks import (
    print_guarded_test,
    print_unfit_test,
    unfit_call,
)
from orgflow.backends.javascript.operation_functions import list_function_text

from orgflow_ir.program.demands import demands
from orgflow_ir.program.evaluation_guards import list_method_calls
from orgflow_ir.program.lambdas import AppliedFunction
from orgflow_ir.program.syntax import Apply, FunctionRow, Path

if TYPE_CHECKING:
    from orgflow.backends.javascript.expression_code import ReadVariable


def name_function(row: FunctionRow) -> str:
    """The name in JavaScript of the function of a row."""
    first, *others = row.name.split()
    return first + "".join(word.capitalize() for word in others)


def print_function(tree: Apply, variable: ReadVariable) -> str:
    """The call of a function of a row, with a function of an expression after its list."""
    operation = tree.operation
    assert isinstance(operation, FunctionRow)
    codes = [print_code(operand, variable) for operand in tree.operands]
    if isinstance(operation, AppliedFunction):
        kept = 1 + operation.begins
        function = _print_lambda(operation, codes[kept:])
        codes = [codes[0], function, *codes[1:kept]]
    return f"({list_function_text(name_function(operation))})({', '.join(codes)})"


def _print_lambda(operation: AppliedFunction, outer: list[str]) -> str:
    function = operation.function
    number = len(function.parameters)
    while any(re.search(rf"\bp\d+_{number}\b", code) for code in outer):
        number += 1  # a parameter of a function around this one has the name
    names = {name: f"p{at}_{number}" for at, name in enumerate(function.parameters)}
    given = dict(zip(function.outer, outer, strict=True))

    def read_path(path: Path) -> str:
        code = names.get(path[0]) or given[path[0]]
        for step in path[1:]:
            key = step if step.isdigit() else js_string(step)
            code = f"({code} ?? {{}})[{key}]"
        return code

    tests = [
        print_guarded_test(d.guards, print_unfit_test(d, read_path), read_path)
        for d in demands([function.body], in_turn=False)
    ]
    tests += [
        print_guarded_test(guards, unfit_call(call, read_path), read_path)
        for guards, call in list_method_calls([function.body], in_turn=False)
    ]
    write = condition_js if function.is_test else to_js
    value = write(function.body, read_path)
    if function.is_test:
        value = f"Boolean({value})"
    if tests:
        value = f"{' || '.join(tests)} ? undefined : {value}"
    return f"({', '.join(names.values())}) => ({value})"
