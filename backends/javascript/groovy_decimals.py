"""Arithmetic of Groovy with exact decimals, as JavaScript; see `orgflow_ir`'s `decimals`."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from orgflow.backends.javascript.operation_functions import fill_numbers, read_functions

from orgflow_ir.program import methods
from orgflow_ir.program.decimals import MORE_DIGITS, PLACES
from orgflow_ir.program.syntax import (
    MOST_INT,
    Arithmetic,
    Call,
    Constant,
    Negative,
    Tree,
)


def groovy_arithmetic(tree: Tree, printed: Callable[[Tree], str]) -> str:
    """Code for an arithmetic expression; `printed` is the code for its operands."""
    return f"({_find_calculator()})((d, unsure) => {_print_operation(tree, printed)})"


def _print_operation(tree: Tree, printed: Callable[[Tree], str]) -> str:
    match tree:
        case Arithmetic():
            left, right = (_print_operation(side, printed) for side in tree.operands)
            return f'd("{tree.operator}", {left}, {right})'
        case Negative():
            return f'd("-", 0, {_print_operation(tree.operand, printed)})'
        case Constant(float() as number):
            sign, digits, power = Decimal(repr(number)).as_tuple()
            assert isinstance(power, int)
            return f"[{'-' * sign}{''.join(map(str, digits))}n, {-power}]"
        case Call(methods.UNSURE, (operand,)):
            return f"unsure({printed(operand)})"
        case _:
            return printed(tree)


_NUMBERS = {
    "MORE_DIGITS": MORE_DIGITS, "PLACES": PLACES, "MOST_INT": MOST_INT, "LEAST_INT": -MOST_INT - 1,
}  # fmt: skip


def _find_calculator() -> str:
    return fill_numbers(read_functions("decimals")["groovyDecimals"], _NUMBERS)
