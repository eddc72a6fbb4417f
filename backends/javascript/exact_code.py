"""Programs over exact values as JavaScript: inline, or with the runtime.

`ROWS` states for each operation and each kind of node how it is printed; an unknown one is a
`KeyError`. A program is printed inline if each of its nodes has an inline form for what is known of
its operands (`feel_code`), else as calls of the runtime (`feel_runtime_code`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from orgflow.backends.javascript.code_values import ExactRow, ExactRows, Untranslated
from orgflow.backends.javascript.feel_code import Direct, list_helpers
from orgflow.backends.javascript.feel_runtime_code import Printer as RuntimePrinter
from orgflow.backends.javascript.feel_runtime_code import compare_code
from orgflow.backends.javascript.literals import js_string

from orgflow_ir.program.feel.values import without_constraints
from orgflow_ir.program.feel_operators import FEEL
from orgflow_ir.program.structures import (
    AtLiteral,
    Coerced,
    ContextLiteral,
    DecisionTable,
    Filter,
    For,
    FunctionCall,
    FunctionDefinition,
    In,
    InstanceOf,
    Path,
    Quantified,
    RangeLiteral,
    parts,
)
from orgflow_ir.program.syntax import (
    Apply,
    Comparison,
    Conditional,
    Exact,
    Operation,
    Tree,
    Variable,
)
from orgflow_ir.program.syntax import Path as VariablePath

_NAME = re.compile(r"[A-Za-z_$][\w$]*")


def print_exact(
    tree: Exact, variable: Callable[[VariablePath], str], *, condition: bool = False
) -> str:
    """Code for the value of a program as JSON, or for whether it is true. Raises `Unsupported`."""
    names = {path[0] for path in tree.paths}

    def read(name: str) -> str | None:
        return variable((name,)) if name in names else None

    inline = print_inline(tree.body, read, condition=condition)
    if inline is not None:
        return inline
    code = print_with_runtime(tree.body, read)
    return f"({code} === true)" if condition else code


def print_inline(
    tree: Tree, variable: Callable[[str], str | None], *, condition: bool = False
) -> str | None:
    """JavaScript without the runtime whose value is that of an expression, as JSON; `None` if
    there is none.

    Args:
        tree: an expression.
        variable: the code that reads a variable as JSON, or `None` for an unknown name.
        condition: the value is whether that of the expression is true.
    """
    reads = (variable(part.name) for part in parts(tree) if isinstance(part, Variable))
    taken = frozenset(word for code in reads if code for word in _NAME.findall(code))
    printer = Direct(ROWS, variable, taken)
    try:
        code = printer.truth(tree, True, {}) if condition else printer.json(tree, {})
    except Untranslated:
        return None
    written = list(list_helpers(code))
    if written:
        code = "\n".join(["(() => {", *written, f"return {code};", "})()"])
    # No string holds two closing braces (`js_string`), so a space between two changes nothing.
    while "}}" in code:
        code = code.replace("}}", "} }")
    return code


def print_with_runtime(tree: Tree, variable: Callable[[str], str | None]) -> str:
    """JavaScript whose value is that of an expression, as JSON: one expression, which may be
    between `{{` and `}}`.

    Args:
        tree: an expression.
        variable: the code that reads a variable as JSON, or `None` for an unknown name.

    Raises:
        Unsupported: the expression contains something that is not translated.
    """
    printer = RuntimePrinter(ROWS)
    code = printer.tree(tree)
    entries = []
    for name in dict.fromkeys(p.name for p in parts(tree) if isinstance(p, Variable)):
        read = variable(name)
        if read is not None:
            entries.append(f"[{js_string(name)}, input({read})]")
    body = f"const s = scope([{', '.join(entries)}], null);\nreturn output({code});"
    return f"(() => {{\n{printer.program(body)}\n}})()"


def make_runtime_printer() -> RuntimePrinter:
    """A printer of one piece of code with the runtime."""
    return RuntimePrinter(ROWS)


# -- the table -------------------------------------------------------------------------------------

RuntimeCode = Callable[[RuntimePrinter, Apply], str]


def _call_runtime(form: str) -> RuntimeCode:
    """A form with the codes of operands in the places `{}`."""
    return lambda printer, tree: form.format(*map(printer.tree, tree.operands))


def _compare_values(operation: Operation[Comparison]) -> ExactRow:
    def print_call(printer: RuntimePrinter, tree: Apply) -> str:
        return compare_code(operation, printer.tree(tree.left), printer.tree(tree.right))

    return ExactRow(None, Direct.test_comparison, print_call)


def _choose_branch(printer: RuntimePrinter, tree: Conditional) -> str:
    branches = f"{printer.tree(tree.then)} : {printer.tree(tree.otherwise)}"
    return f"({printer.tree(tree.condition)} === true ? {branches})"


def _test_ends(printer: RuntimePrinter, tree: Apply) -> str:
    value, low, high = tree.operands
    bounds = f'cmp(">=", v, {printer.tree(low)}), cmp("<=", v, {printer.tree(high)})'
    return f"((v) => both({bounds}))({printer.tree(value)})"


def _list_items(printer: RuntimePrinter, tree: Apply) -> str:
    return f"[{', '.join(map(printer.tree, tree.operands))}]"


ROWS: Final[ExactRows] = {
    **{operation.name: _compare_values(operation) for operation in FEEL.comparison.values()},
    "feel +": ExactRow(Direct.print_sum, None, _call_runtime('calc("+", {}, {})')),
    **{
        f"feel {sign}": ExactRow(
            Direct.print_arithmetic, None, _call_runtime(f'calc("{sign}", {{}}, {{}})')
        )
        for sign in ("-", "*", "/", "**")
    },
    "feel negative": ExactRow(Direct.print_negative, None, _call_runtime("neg({})")),
    "feel and": ExactRow(None, Direct.test_logic, _call_runtime("both({}, {})")),
    "feel or": ExactRow(None, Direct.test_logic, _call_runtime("either({}, {})")),
    "feel choice": ExactRow(Direct.print_choice, Direct.test_choice, _choose_branch),
    "between": ExactRow(None, Direct.test_between, _test_ends),
    "exact list": ExactRow(Direct.print_list, None, _list_items),
    AtLiteral: ExactRow(None, None, RuntimePrinter.at_literal),
    Path: ExactRow(
        Direct.print_path,
        None,
        lambda printer, tree: f"path({printer.tree(tree.base)}, {js_string(tree.name)})",
    ),
    Filter: ExactRow(
        Direct.print_filter,
        None,
        lambda printer, tree: (
            f"filter({printer.tree(tree.base)}, {printer.later(tree.condition)}, s)"
        ),
    ),
    In: ExactRow(
        None,
        Direct.test_in,
        lambda printer, tree: f"({printer.tests(tree.tests)})({printer.tree(tree.value)}, s)",
    ),
    InstanceOf: ExactRow(
        None,
        None,
        lambda printer, tree: (
            f"instanceOf({printer.tree(tree.value)}, "
            f"{printer.type(without_constraints(tree.type))})"
        ),
    ),
    For: ExactRow(Direct.print_loop, None, RuntimePrinter.loop),
    Quantified: ExactRow(None, Direct.test_quantified, RuntimePrinter.quantified),
    FunctionDefinition: ExactRow(None, None, RuntimePrinter.definition),
    FunctionCall: ExactRow(Direct.print_call, Direct.test_call, RuntimePrinter.call),
    ContextLiteral: ExactRow(Direct.print_context, None, RuntimePrinter.context),
    RangeLiteral: ExactRow(None, None, RuntimePrinter.range),
    Coerced: ExactRow(
        None,
        None,
        lambda printer, tree: f"coerce({printer.tree(tree.value)}, {printer.type(tree.type)})",
    ),
    DecisionTable: ExactRow(None, None, lambda printer, tree: f"decide({printer.table(tree)}, s)"),
}
"""How each operation and each kind of node of a program over exact values is printed."""
