"""The operators of JUEL (Jakarta Expression Language 3.0, 1.7 to 1.9): operands are converted to
numbers if one is a number, otherwise to truth values or texts; null is neither less nor greater
than anything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar

from orgflow_ir.program import methods, requirements
from orgflow_ir.program.ecmascript_operators import (
    LOOSE,
    compare_loosely,
    compare_strictly,
    equals_any,
    holds_of_null,
    is_null,
    is_there,
    join_all,
    negate_code,
)
from orgflow_ir.program.operators import OperatorRules, Operators, find_number_type
from orgflow_ir.program.syntax import (
    Arithmetic,
    Call,
    Comparison,
    Conditional,
    Constant,
    Found,
    KnownType,
    Logical,
    Negative,
    Not,
    Requirement,
    Scalar,
    Span,
    Tree,
    Variable,
    as_javascript,
    is_open,
    kind_of,
    known_js_type,
    nodes,
)
from orgflow_ir.program.values import (
    NoAnswer,
    calculate_numbers,
    compare_ordered,
    equal_values,
    is_nothing,
    scalar_text,
    type_name,
)

_MOST_EXACT = 2**53
"""Doubles have all whole numbers up to this one."""

JUEL_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
"""Texts that JUEL converts to numbers."""

_WHOLE_NUMBER = re.compile(r"[-+]?[0-9]+")
"""Texts that JUEL converts to whole numbers."""


class JuelRules(OperatorRules):
    """The rules of JUEL."""

    name: ClassVar[str] = "juel"

    def truth(self, value: Any) -> bool | None:
        if isinstance(value, bool):
            return value
        if is_nothing(value) or value == "":
            return False
        if isinstance(value, str):
            return value.lower() == "true"
        raise NoAnswer

    def equal(self, left: Any, right: Any) -> bool | None:
        return equal_converted(left, right)

    def ordered(self, sign: str, left: Any, right: Any) -> bool | None:
        if is_nothing(left) or is_nothing(right):
            return is_nothing(left) and is_nothing(right) and sign in ("<=", ">=")
        if "number" in (type_name(left), type_name(right)):
            left, right = _both_numbers(left, right)
        elif "text" in (type_name(left), type_name(right)):
            left, right = scalar_text(left), scalar_text(right)
        elif not isinstance(left, bool) or not isinstance(right, bool):
            raise NoAnswer
        return compare_ordered(sign, left, right)

    def calculated(self, sign: str, left: Any, right: Any) -> Any:
        left, right = to_number(left), to_number(right)
        if sign == "%" and right == 0:
            raise NoAnswer
        result = calculate_numbers(sign, left, right)
        whole = isinstance(left, int) and isinstance(right, int)
        if sign in ("+", "-", "*") and whole and abs(result) >= _MOST_EXACT:
            raise NoAnswer
        return result

    def negative(self, value: Any) -> Any:
        return -to_number(value)

    def guard(self, operand: Tree) -> Tree:
        # The text "false" is not true.
        if kind_of(operand) in (None, "text"):
            return methods.IS_TRUE(operand, span=operand.span)
        return operand

    def truth_code(self, operand: Tree) -> Tree:
        if isinstance(operand, Variable) and operand.type == "truth":
            return operand
        if kind_of(operand) in (None, "text"):
            return methods.IS_TRUE(as_javascript(operand), span=operand.span)
        return as_javascript(operand)

    def not_code(self, tree: Not) -> Tree:
        return LOOSE.negation(self.truth_code(tree.operand), span=tree.span)

    def logical_code(self, tree: Logical) -> Tree:
        return LOOSE.logic[tree.operator](*map(self.truth_code, tree.operands), span=tree.span)

    def equality_code(self, tree: Comparison) -> Tree:
        left, right = map(as_javascript, tree.operands)
        variables = [side for side in (left, right) if isinstance(side, Variable) and side.type]
        if len(variables) == 2 and len({known_js_type(side) for side in variables}) == 1:
            return compare_loosely(tree.operator, left, right, tree.span)
        code: Tree | None = None
        for side, other in ((left, right), (right, left)):
            if not isinstance(side, Constant) and isinstance(other, Constant):
                code = _equal_to_constant(side, other.value, tree.span)
        constant = isinstance(left, Constant) or isinstance(right, Constant)
        kinds = {kind_of(side) for side in tree.operands}
        if not constant and not kinds & {"number", "whole"} and (len(kinds) > 1 or kinds == {None}):
            code = methods.JUEL_EQUAL(left, right, span=tree.span)
        if code is not None:
            return code if tree.operator == "==" else negate_code(code, tree.span)
        return compare_loosely(tree.operator, left, right, tree.span)

    def order_code(self, tree: Comparison) -> Tree:
        left, right = map(as_javascript, tree.operands)
        order = compare_loosely(tree.operator, left, right, tree.span)
        if Constant(None) in (left, right):  # null is only as much as null
            null = is_null(right if left == Constant(None) else left, tree.span)
            return null if tree.operator in ("<=", ">=") else Constant(False, tree.span)
        may_be_null = [
            code
            for code, side in ((left, tree.left), (right, tree.right))
            if isinstance(side, Variable) or kind_of(side) is None
        ]
        if not may_be_null or not holds_of_null(tree.operator, left, right):
            return order
        there = [is_there(code, tree.span) for code in may_be_null]
        guard: Tree = there[0]
        if len(there) == 2:  # null is as much as null there
            guard = compare_loosely("==", there[0], there[1], tree.span)
        return join_all(guard, order, tree.span)

    def arithmetic_code(self, tree: Arithmetic) -> Tree:
        left, right = map(_as_number, tree.operands)
        if tree.operator == "+" and _may_be_text(left, right):
            # Only with minus JavaScript takes texts for the numbers that they are.
            negative = LOOSE.negative(as_javascript(right), span=right.span)
            return LOOSE.arithmetic["-"](as_javascript(left), negative, span=tree.span)
        operands = (as_javascript(left), as_javascript(right))
        return LOOSE.arithmetic[tree.operator](*operands, span=tree.span)

    def negative_code(self, tree: Negative) -> Tree:
        return LOOSE.negative(as_javascript(_as_number(tree.operand)), span=tree.span)

    def truth_requirements(self, operand: Tree) -> Iterator[Found]:
        if is_open(operand, "truth"):
            yield requirements.TRUTH, (operand,)

    def equality_requirements(self, tree: Comparison) -> Iterator[Found]:
        yield from _comparison_requirements(tree, requirements.EQUAL)

    def order_requirements(self, tree: Comparison) -> Iterator[Found]:
        yield from _comparison_requirements(tree, requirements.ORDERED)

    def arithmetic_requirements(self, tree: Arithmetic) -> Iterator[Found]:
        for side in tree.operands:
            if not isinstance(side, Constant) and is_open(side, "number"):
                yield requirements.NUMERAL, (side,)
        if tree.operator in ("/", "%") and not isinstance(tree.right, Constant):
            yield requirements.DIVISOR, (tree.right,)
        # Numbers without a fraction are `long` there, others are doubles.
        if tree.operator in ("+", "-", "*") and not any(map(_has_fraction, nodes(tree))):
            yield requirements.EXACT, (tree,)

    def negative_requirements(self, tree: Negative) -> Iterator[Found]:
        if is_open(tree.operand, "number"):
            yield requirements.NUMERAL, (tree.operand,)

    def logical_type(self, tree: Logical) -> KnownType | None:
        return "truth"

    def arithmetic_type(self, tree: Arithmetic) -> KnownType | None:
        return find_number_type(tree)

    def javascript(self) -> Operators:
        return LOOSE


# Values.


def equal_converted(left: Any, right: Any) -> bool:
    """Whether two values are equal, one of them converted to the type of the other."""
    if is_nothing(left) or is_nothing(right):
        return is_nothing(left) and is_nothing(right)
    kinds = (type_name(left), type_name(right))
    if "number" in kinds:
        first, second = _both_numbers(left, right)
        return bool(first == second)
    if "truth" in kinds:
        rules = JuelRules()
        return rules.truth(left) == rules.truth(right)
    if "text" in kinds:
        return scalar_text(left) == scalar_text(right)
    return equal_values(left, right)


def to_number(value: Any) -> Any:
    """A value as a number. Raises `NoAnswer` for a text that is none, and for other values."""
    if type_name(value) == "number":
        return value
    if is_nothing(value) or value == "":
        return 0
    if isinstance(value, str) and JUEL_NUMBER.fullmatch(value) is not None:
        return float(value) if any(char in value for char in ".eE") else int(value)
    raise NoAnswer


def _both_numbers(left: Any, right: Any) -> tuple[Any, Any]:
    """Two values to be compared as numbers: beside a whole number, only the text of one is
    converted (1.8.1)."""
    for number, text in ((left, right), (right, left)):
        whole = isinstance(number, int) and not isinstance(number, bool)
        if whole and isinstance(text, str) and text and _WHOLE_NUMBER.fullmatch(text) is None:
            raise NoAnswer
    return to_number(left), to_number(right)


# JavaScript.


def _equal_to_constant(tree: Tree, value: Scalar, span: Span) -> Tree | None:
    """Whether a value is equal to a truth value or a text that says one."""
    if isinstance(tree, Variable) and tree.type == "truth" and isinstance(value, bool):
        return tree if value else compare_strictly("==", tree, Constant(False), span)
    if value is True:
        return methods.IS_TRUE(tree, span=span)
    if value is False:
        return join_all(is_there(tree, span), negate_code(methods.IS_TRUE(tree), span), span)
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return equals_any(tree, (value.lower() == "true", value), span)
    return None


def _as_number(tree: Tree) -> Tree:
    """An operand of arithmetic: the text of a number is that number, and an entry that does not
    exist is null, which is 0."""
    if isinstance(tree, Variable) and tree.reading is not None and tree.reading.may_miss:
        return methods.OR_NULL(tree, span=tree.span)
    if not isinstance(tree, Constant) or not isinstance(tree.value, str):
        return tree
    if tree.value == "":
        return Constant(0, tree.span)
    if JUEL_NUMBER.fullmatch(tree.value) is None:
        return tree
    whole = _WHOLE_NUMBER.fullmatch(tree.value) is not None
    return Constant(int(tree.value) if whole else float(tree.value), tree.span)


def _may_be_text(left: Tree, right: Tree) -> bool:
    """Whether one of two values may be a text that is a number, and none is another text."""
    sides = (left, right)
    if any(isinstance(side.value, str) for side in sides if isinstance(side, Constant)):
        return False
    if all(known_js_type(side) == "number" for side in sides):
        return False
    return any(isinstance(side, Variable | Call | Conditional) for side in sides)


# Requirements.


def _comparison_requirements(tree: Comparison, both: Requirement) -> Iterator[Found]:
    variable = [side for side in tree.operands if not isinstance(side, Constant)]
    kinds = {"number" if kind == "whole" else kind for kind in map(kind_of, tree.operands)}
    if not variable or (len(kinds) == 1 and kinds != {None}):
        return
    open_pair = kinds <= {None, "text"} or any(map(_may_be_whole, tree.operands))
    if len(variable) == 2 and open_pair:
        yield both, (tree.left, tree.right)
        return
    for side, other in ((tree.left, tree.right), (tree.right, tree.left)):
        needed = _find_comparable(other, is_equality=both is requirements.EQUAL)
        if side in variable and needed is not None:
            yield needed, (side,)


def _may_be_whole(tree: Tree) -> bool:
    """Whether a computed number may be whole or not."""
    if not isinstance(tree, Arithmetic | Negative) or kind_of(tree) == "whole":
        return False
    return not any(_has_fraction(node) for node in nodes(tree))


def _has_fraction(tree: Tree) -> bool:
    divides = isinstance(tree, Arithmetic) and tree.operator == "/"
    return divides or (isinstance(tree, Constant) and isinstance(tree.value, float))


def _find_comparable(other: Tree, *, is_equality: bool) -> Requirement | None:
    """What is comparable with another operand."""
    truth = requirements.TRUTH if is_equality else requirements.NO_ORDER
    inner = other.operand if isinstance(other, Negative) else other
    if not isinstance(inner, Constant):
        by_type: dict[KnownType | None, Requirement] = {
            "number": requirements.NUMERAL,
            "whole": requirements.WHOLE_NUMERAL,
            "truth": truth,
        }
        return by_type.get(kind_of(inner))
    value = inner.value
    if value is None:
        return None
    if isinstance(value, bool):
        return truth
    if not isinstance(value, str):
        return requirements.WHOLE_NUMERAL if isinstance(value, int) else requirements.NUMERAL
    if value == "" or _WHOLE_NUMBER.fullmatch(value):
        return requirements.SCALAR
    if JUEL_NUMBER.fullmatch(value):
        return requirements.FRACTION
    says_truth = value.lower() in ("true", "false")
    return requirements.TRUTH if is_equality and says_truth else requirements.TEXT


JUEL = Operators(JuelRules())
