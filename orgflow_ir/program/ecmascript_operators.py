"""The operators of JavaScript (ECMA-262): those of its scripts, and those that every other language
is translated to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from orgflow_ir.program.operators import (
    OperatorRules,
    Operators,
    Value,
    equality_rows,
    find_sum_type,
)
from orgflow_ir.program.syntax import (
    NOWHERE,
    Arithmetic,
    Comparison,
    ComparisonOperator,
    Constant,
    Found,
    KnownType,
    Logical,
    Negative,
    Not,
    Operation,
    Scalar,
    Span,
    Tree,
    Variable,
    as_javascript,
    is_constant,
    keep_operation,
)
from orgflow_ir.program.values import (
    calculate_numbers,
    compare_ordered,
    equal_loosely,
    is_nothing,
    js_number,
    js_text,
    same_values,
    to_double,
    to_primitive,
    type_name,
)


class EcmaScriptRules(OperatorRules):
    """JavaScript with `==`: truthiness, and texts that are converted to numbers (7.2)."""

    name: ClassVar[str] = "js"

    def truth(self, value: Any) -> bool | None:
        if isinstance(value, bool):
            return value
        return isinstance(value, list | tuple | dict) or not (
            is_nothing(value) or value == "" or value == 0 or value != value
        )

    def equal(self, left: Any, right: Any) -> bool | None:
        return equal_loosely(left, right)

    def ordered(self, sign: str, left: Any, right: Any) -> bool | None:
        left, right = to_primitive(left), to_primitive(right)
        if not (isinstance(left, str) and isinstance(right, str)):
            left, right = js_number(left), js_number(right)
        return compare_ordered(sign, left, right)

    def calculated(self, sign: str, left: Any, right: Any) -> Any:
        left, right = to_primitive(left), to_primitive(right)
        if sign == "+" and (isinstance(left, str) or isinstance(right, str)):
            return js_text(left) + js_text(right)
        return calculate_numbers(sign, js_number(left), js_number(right))

    def negative(self, value: Any) -> Any:
        is_number = type_name(value) == "number"
        return -(to_double(value) if is_number else js_number(to_primitive(value)))

    def compute_logical(self, tree: Logical, value: Value) -> Any:
        left = value(tree.left)
        return left if self.truth(left) is (tree.operator == "or") else value(tree.right)

    def truth_code(self, operand: Tree) -> Tree:
        return as_javascript(operand)

    def not_code(self, tree: Not) -> Tree:
        return keep_operation(tree)

    def logical_code(self, tree: Logical) -> Tree:
        return keep_operation(tree)

    def equality_code(self, tree: Comparison) -> Tree:
        return keep_operation(tree)

    def order_code(self, tree: Comparison) -> Tree:
        return keep_operation(tree)

    def arithmetic_code(self, tree: Arithmetic) -> Tree:
        return keep_operation(tree)

    def negative_code(self, tree: Negative) -> Tree:
        return keep_operation(tree)

    def truth_requirements(self, operand: Tree) -> tuple[Found, ...]:
        return ()

    def equality_requirements(self, tree: Comparison) -> tuple[Found, ...]:
        return ()

    def order_requirements(self, tree: Comparison) -> tuple[Found, ...]:
        return ()

    def arithmetic_requirements(self, tree: Arithmetic) -> tuple[Found, ...]:
        return ()

    def negative_requirements(self, tree: Negative) -> tuple[Found, ...]:
        return ()

    def logical_type(self, tree: Logical) -> KnownType | None:
        return None  # the value of an operand

    def arithmetic_type(self, tree: Arithmetic) -> KnownType | None:
        return find_sum_type(tree)

    def javascript(self) -> Operators:
        return LOOSE


class StrictRules(EcmaScriptRules):
    """The operators `===` and `!==`, which convert nothing."""

    name: ClassVar[str] = "js strict"

    def equal(self, left: Any, right: Any) -> bool | None:
        if is_nothing(left) or is_nothing(right):
            return left is right
        return type_name(left) == type_name(right) and same_values(left, right)


LOOSE = Operators(EcmaScriptRules())
"""The operators of JavaScript."""

STRICT: Mapping[ComparisonOperator, Operation[Comparison]] = equality_rows(StrictRules())
"""`===` under `==`, and `!==` under `!=`."""


# Trees in operations of JavaScript.


def negate_code(operand: Tree, span: Span = NOWHERE) -> Not:
    """`!operand`."""
    return LOOSE.negation(operand, span=span)


def join_all(left: Tree, right: Tree, span: Span = NOWHERE) -> Logical:
    """`left && right`."""
    return LOOSE.logic["and"](left, right, span=span)


def join_any(left: Tree, right: Tree, span: Span = NOWHERE) -> Logical:
    """`left || right`."""
    return LOOSE.logic["or"](left, right, span=span)


def compare_loosely(
    sign: ComparisonOperator, left: Tree, right: Tree, span: Span = NOWHERE
) -> Comparison:
    """A comparison that converts, `left == right`."""
    return LOOSE.comparison[sign](left, right, span=span)


def compare_strictly(
    sign: ComparisonOperator, left: Tree, right: Tree, span: Span = NOWHERE
) -> Comparison:
    """A comparison without conversions: `left === right` for the sign `==`."""
    return STRICT[sign](left, right, span=span)


def is_null(tree: Tree, span: Span = NOWHERE) -> Comparison:
    """`tree == null`."""
    return compare_loosely("==", tree, Constant(None), span)


def is_there(tree: Tree, span: Span = NOWHERE) -> Comparison:
    """`tree != null`."""
    return compare_loosely("!=", tree, Constant(None), span)


def equals_any(tree: Tree, values: tuple[Scalar, ...], span: Span) -> Tree:
    """Whether a value is exactly one of several."""
    first, *rest = (compare_strictly("==", tree, Constant(value), span) for value in values)
    joined: Tree = first
    for other in rest:
        joined = join_any(joined, other, span)
    return joined


def holds_of_null(operator: ComparisonOperator, left: Tree, right: Tree) -> bool:
    """Whether an order may hold in JavaScript where a variable in it is null, that is 0 there."""
    numbers: list[float] = []
    for side in (left, right):
        inner = side.operand if isinstance(side, Negative) else side
        if isinstance(inner, Constant) and isinstance(inner.value, int | float):
            numbers.append(-inner.value if side is not inner else inner.value)
        elif isinstance(inner, Constant) and isinstance(inner.value, str):
            return any(char.isdigit() for char in inner.value) or not inner.value.strip()
        elif isinstance(side, Variable) or _is_multiple(side):
            numbers.append(0)
        else:
            return True
    first, second = numbers
    both = not any(map(is_constant, (left, right)))
    holds = {"<": first < second, "<=": first <= second, ">": first > second, ">=": first >= second}
    return both or holds[operator]


def _is_multiple(tree: Tree) -> bool:
    """Whether a value is a variable multiplied or divided by a constant: 0 if that is null."""
    if not isinstance(tree, Arithmetic) or tree.operator not in ("*", "/"):
        return False
    return (isinstance(tree.left, Variable) and isinstance(tree.right, Constant)) or (
        tree.operator == "*"
        and isinstance(tree.right, Variable)
        and isinstance(tree.left, Constant)
    )
