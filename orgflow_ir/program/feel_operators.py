"""The operators of FEEL: three-valued logic; operands of different types give null, and so do
operands of `and`, `or`, `not` that are not truth values. There is one null, which equals only
itself (DMN 1.3, 10.3.2.13).

Their meaning in Python is that of exact values (`orgflow_ir.program.feel`); numbers of JSON are
decimals as soon as they are computed with.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, ClassVar

from orgflow_ir.program import methods
from orgflow_ir.program.ecmascript_operators import (
    LOOSE,
    compare_loosely,
    compare_strictly,
    holds_of_null,
    is_null,
    is_there,
    join_all,
    join_any,
    negate_code,
)
from orgflow_ir.program.exact import (
    Limit,
    find_limit,
    is_decided_by_doubles,
    list_terms,
    sign_of,
)
from orgflow_ir.program.methods import define_method
from orgflow_ir.program.operators import OperatorRules, Operators, Value, find_sum_type
from orgflow_ir.program.syntax import (
    OPPOSITE,
    Apply,
    Arithmetic,
    Call,
    Comparison,
    ComparisonOperator,
    Constant,
    Found,
    KnownType,
    Logical,
    Negative,
    Not,
    Operation,
    Span,
    Tree,
    Variable,
    as_javascript,
    is_constant,
    keep_operation,
    known_js_type,
    no_requirements,
    same_tree,
)
from orgflow_ir.program.values import UNDEFINED, or_null, type_name


class FeelRules(OperatorRules):
    """The rules of FEEL."""

    name: ClassVar[str] = "feel"

    def truth(self, value: Any) -> bool | None:
        return value if isinstance(value, bool) else None

    def equal(self, left: Any, right: Any) -> bool | None:
        from orgflow_ir.program.feel.relations import equal_values  # of evaluation only

        return equal_values(*_align_numbers(left, right))

    def ordered(self, sign: str, left: Any, right: Any) -> bool | None:
        from orgflow_ir.program.feel.relations import compare_values  # of evaluation only

        return compare_values(sign, *_align_numbers(left, right))

    def calculated(self, sign: str, left: Any, right: Any) -> Any:
        from orgflow_ir.program.feel.arithmetic import calculate_values  # of evaluation only

        return calculate_values(sign, _as_decimal(left), _as_decimal(right))

    def negative(self, value: Any) -> Any:
        from orgflow_ir.program.feel.arithmetic import negate_value  # of evaluation only

        return negate_value(_as_decimal(value))

    def truth_code(self, operand: Tree) -> Tree:
        if isinstance(operand, Variable) and operand.type != "truth":
            return compare_strictly("==", operand, Constant(True), operand.span)
        return as_javascript(operand)

    def not_code(self, tree: Not) -> Tree:
        return has_truth(tree, True)

    def logical_code(self, tree: Logical) -> Tree:
        return has_truth(tree, True)

    def equality_code(self, tree: Comparison) -> Tree:
        return has_truth(tree, True)

    def order_code(self, tree: Comparison) -> Tree:
        return has_truth(tree, True)

    def arithmetic_code(self, tree: Arithmetic) -> Tree:
        return LOOSE.arithmetic[tree.operator](*map(as_javascript, tree.operands), span=tree.span)

    def negative_code(self, tree: Negative) -> Tree:
        return LOOSE.negative(as_javascript(tree.operand), span=tree.span)

    def truth_requirements(self, operand: Tree) -> Iterable[Found]:
        return ()

    def equality_requirements(self, tree: Comparison) -> Iterable[Found]:
        return ()

    def order_requirements(self, tree: Comparison) -> Iterable[Found]:
        return ()

    def arithmetic_requirements(self, tree: Arithmetic) -> Iterable[Found]:
        return ()

    def negative_requirements(self, tree: Negative) -> Iterable[Found]:
        return ()

    def logical_type(self, tree: Logical) -> KnownType | None:
        return "truth"

    def arithmetic_type(self, tree: Arithmetic) -> KnownType | None:
        return find_sum_type(tree)

    def javascript(self) -> Operators:
        return LOOSE


def _as_decimal(value: Any) -> Any:
    """A value as exact values have it: a number of JSON as the shortest decimal."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        number = Decimal(repr(value))
        return number if number.is_finite() else None
    return None if value is UNDEFINED else value


def _align_numbers(left: Any, right: Any) -> tuple[Any, Any]:
    """Two values of which numbers are both decimals, or both numbers of JSON."""
    left, right = or_null(left), or_null(right)
    if isinstance(left, Decimal) or isinstance(right, Decimal):
        return _as_decimal(left), _as_decimal(right)
    return left, right


FEEL = Operators(FeelRules())

POWER: Operation[Arithmetic] = Operation(
    "feel **",
    Arithmetic,
    "**",
    type_of=FEEL.rules.arithmetic_type,
    compute=FEEL.rules.compute_arithmetic,
    javascript=keep_operation,
    requirements=no_requirements,
    guard=same_tree,
)
"""The only operator that no other language has."""


def exact_comparison(tree: Comparison) -> Comparison | None:
    """A comparison of a variable, computed with a constant, that doubles decide as the decimal
    numbers of FEEL do; `None` if there is none (`exact.find_limit`)."""
    limit = find_limit(tree)
    if not isinstance(limit, Limit):
        return limit
    computed, right = tree.left, tree.right
    place = (computed if isinstance(right, Arithmetic) else right).span
    value: Tree = Constant(limit.value, place)
    if limit.value < 0:
        value = FEEL.negative(Constant(-limit.value, place), span=place)
    return FEEL.comparison[limit.operator](limit.variable, value, span=tree.span)


def is_feel_comparison(tree: Tree) -> bool:
    """Whether a tree compares by the rules of FEEL."""
    return isinstance(tree, Comparison) and tree.operation is FEEL.comparison[tree.operator]


# The form in JavaScript.


def has_truth(tree: Tree, wanted: bool) -> Tree:
    """Whether an expression of FEEL, which may also be null, has this truth value."""
    operation = tree.operation if isinstance(tree, Apply) else None
    if isinstance(tree, Constant):
        return Constant(tree.value is wanted, tree.span)
    if isinstance(tree, Apply):
        if operation is FEEL.negation:
            return has_truth(tree.operand, not wanted)
        if isinstance(tree, Logical) and operation is FEEL.logic[tree.operator]:
            return _join_code(tree, wanted)
        if isinstance(tree, Comparison) and is_feel_comparison(tree):
            return _compare_code(tree, wanted)
        if isinstance(tree, Not | Logical | Comparison) or operation is methods.EMPTY:
            code = as_javascript(tree)
            return code if wanted else negate_code(code, tree.span)
    if isinstance(tree, Variable) and tree.type == "truth" and wanted:
        return tree
    return compare_strictly("==", as_javascript(tree), Constant(wanted), tree.span)


def _join_code(tree: Logical, wanted: bool) -> Tree:
    either = (tree.operator == "or") is wanted
    join = join_any if either else join_all
    return join(has_truth(tree.left, wanted), has_truth(tree.right, wanted), tree.span)


def _compare_code(tree: Comparison, wanted: bool) -> Tree:
    operator = tree.operator
    if operator == "!=" or (operator != "==" and not wanted):
        operator = OPPOSITE[operator]
        wanted = not wanted if operator == "==" else wanted
    if operator == "==":
        return _equality_code(tree.left, tree.right, wanted, tree.span)
    return _order_code(operator, tree.left, tree.right, tree.span)


def _equality_code(left: Tree, right: Tree, wanted: bool, span: Span) -> Tree:
    """Values of different types are neither equal nor different, but null differs from all."""
    if isinstance(left, Constant) and not isinstance(right, Constant):
        left, right = right, left
    left_code, right_code = as_javascript(left), as_javascript(right)
    sign: ComparisonOperator = "==" if wanted else "!="
    known = known_js_type(right_code)
    if Constant(None) in (left, right):
        nothing = _is_feel_null(left_code if right == Constant(None) else right_code)
        return nothing if wanted else negate_code(nothing, span)
    if isinstance(left_code, Arithmetic) or isinstance(right_code, Arithmetic):
        both = _computed_code("==", left, right, span, strict=True)
        for part in reversed([*_list_operands(left_code), *_list_operands(right_code)]):
            both = join_all(_is_type(part, "number"), both, span)
        return both if wanted else negate_code(both, span)
    first_type = left_code.type if isinstance(left_code, Variable) else None
    second_type = right_code.type if isinstance(right_code, Variable) else None
    if first_type == "truth" and right_code == Constant(True) and wanted:
        return left_code
    if first_type and second_type and known_js_type(left_code) == known:
        return compare_loosely(sign, left_code, right_code, span)  # null, undefined
    if second_type:
        known = None
    if known is None:
        return _equal_untyped(left_code, right_code, wanted, span)
    equality = compare_strictly(sign, left_code, right_code, span)
    if wanted or known_js_type(left_code) == known:
        return equality
    differs = join_all(_is_type(left_code, known), equality, span)
    return join_any(_is_feel_null(left_code), differs, span)


def _equal_untyped(left_code: Tree, right_code: Tree, wanted: bool, span: Span) -> Tree:
    """Whether two values of any types are equal, or different although of one type."""
    same = methods.SAME(left_code, right_code, span=span)
    if wanted:
        return same
    types, lists = (
        compare_strictly("==", test(left_code, span=span), test(right_code, span=span), span)
        for test in (methods.TYPE, methods.IS_LIST)
    )
    of_one_type: Tree = join_all(types, lists, span)
    for part in (right_code, left_code):
        of_one_type = join_any(_is_feel_null(part), of_one_type, span)
    return join_all(of_one_type, negate_code(same, span), span)


def _is_feel_null(tree: Tree) -> Tree:
    """Whether a value is null in FEEL, where a part of a list is the list of the parts of its
    entries."""
    code: Tree = is_null(tree, tree.span)
    if isinstance(tree, Variable):
        for size in range(len(tree.path) - 1, 0, -1):
            lists = methods.IS_LIST(Variable(tree.path[:size], tree.span), span=tree.span)
            code = join_all(code, negate_code(lists, tree.span), tree.span)
    return code


def _order_code(operator: ComparisonOperator, left: Tree, right: Tree, span: Span) -> Tree:
    """Only two numbers, or two texts, are in an order. Texts are ordered by code points, which
    matters if none is a constant."""
    left_code, right_code = as_javascript(left), as_javascript(right)
    types = {known_js_type(left_code), known_js_type(right_code)}
    code = _computed_code(operator, left, right, span, strict=False)
    if isinstance(left_code, Arithmetic) or isinstance(right_code, Arithmetic):
        types = {"number"}
    texts = types <= {None, "string"} and not any(
        isinstance(s, Constant) for s in (left_code, right_code)
    )
    if types == {None} or texts:
        order = COMPARED(left_code, right_code, span=span)
        return compare_loosely(operator, order, Constant(0), span)
    kinds_known = types - {None}
    kind = kinds_known.pop()
    if kinds_known or kind not in ("number", "string"):
        return Constant(False, span)
    operands = [*_list_operands(left_code), *_list_operands(right_code)]
    if any(known_js_type(part) not in (None, kind) for part in operands):
        return Constant(False, span)
    null_holds = _is_summed(code) or holds_of_null(operator, left_code, right_code)
    for part in reversed(operands):
        if known_js_type(part) is None:
            code = join_all(_is_type(part, kind), code, span)
        elif null_holds:
            code = join_all(is_there(part, span), code, span)
    return code


def _is_summed(tree: Tree) -> bool:
    total = tree.left if isinstance(tree, Comparison) else None
    return isinstance(total, Call) and total.operation is SUM


def _computed_code(
    operator: ComparisonOperator, left: Tree, right: Tree, span: Span, *, strict: bool
) -> Tree:
    """A comparison that doubles decide, or one of a sum whose sign is exact."""
    compared = compare_strictly if strict else compare_loosely
    left_code, right_code = as_javascript(left), as_javascript(right)
    if not isinstance(left_code, Arithmetic) and not isinstance(right_code, Arithmetic):
        return compared(operator, left_code, right_code, span)
    tree = FEEL.comparison[operator](left, right, span=span)
    if is_decided_by_doubles(tree):
        return compared(operator, left_code, right_code, span)
    exact = exact_comparison(tree)
    if exact is not None:
        left_code, right_code = map(as_javascript, exact.operands)
        return compared(exact.operator, left_code, right_code, span)
    products = list_terms(tree)
    if products is not None:
        total = SUM(*(methods.LIST(*product) for product in products), span=span)
        return compared(operator, total, Constant(0), span)
    return compared(operator, left_code, right_code, span)


def _list_operands(tree: Tree) -> list[Tree]:
    """The operands of arithmetic operations, else the tree itself, without constants."""
    if isinstance(tree, Arithmetic):
        return [*_list_operands(tree.left), *_list_operands(tree.right)]
    return [] if is_constant(tree) else [tree]


def _is_type(tree: Tree, kind: str) -> Tree:
    return compare_strictly("==", methods.TYPE(tree, span=tree.span), Constant(kind), tree.span)


# Functions.


def _three_valued_code(tree: Call) -> Tree:
    truths = [has_truth(tree.operand, wanted) for wanted in (True, False)]
    other = LOOSE.choice(truths[1], Constant(False), Constant(None), span=tree.span)
    return LOOSE.choice(truths[0], Constant(True), other, span=tree.span)


def _compute_compared(tree: Call, value: Value) -> float:
    left, right = value(tree.left), value(tree.right)
    if type_name(left) != type_name(right) or type_name(left) not in ("number", "text"):
        return math.nan
    return int(left > right) - int(left < right)


def _compute_item(tree: Call, value: Value) -> Any:
    of, place = value(tree.left), tree.right
    assert isinstance(place, Constant)
    assert isinstance(place.value, int)
    every = of if isinstance(of, list | tuple) else [of]
    return every[place.value - 1] if 0 < place.value <= len(every) else None


def _find_part(of: Any, key: str) -> Any:
    if isinstance(of, list | tuple):
        return [_find_part(entry, key) for entry in of]
    return of.get(key) if isinstance(of, dict) else None


def _compute_part(tree: Call, value: Value) -> Any:
    key = tree.right
    assert isinstance(key, Constant)
    assert isinstance(key.value, str)
    return _find_part(value(tree.left), key.value)


THREE_VALUED = define_method(
    "three-valued",
    compute=lambda tree, value: value(tree.operand),
    javascript=_three_valued_code,
    checked="nothing",
)
"""The value of an expression that may be true, false or null."""

COMPARED = define_method("compared", compute=_compute_compared)
"""A number below, equal to or above 0 as the first of two values is to the second; not a number if
they have no order."""

SUM = define_method(
    "sum", compute=lambda tree, value: sign_of([value(operand) for operand in tree.operands])
)
"""The sum of the products in lists of decimal numbers, of which the sign is exact."""

ITEM = define_method("item", compute=_compute_item, checked="nothing")
"""`list[n]`, counted from 1, where any value is a list of itself."""

PART = define_method("part", compute=_compute_part)
"""The entry of a context under a constant name, or of each context in a list."""


def _compute_between(tree: Call, value: Value) -> bool | None:
    from orgflow_ir.program.feel.relations import compare_values, conjoin_truths

    inner, low, high = map(value, tree.operands)
    return conjoin_truths(compare_values(">=", inner, low), compare_values("<=", inner, high))


BETWEEN = define_method("between", result="truth", compute=_compute_between, checked="nothing")
"""`value between low and high`, over exact values."""

EXACT_LIST = define_method(
    "exact list", compute=lambda tree, value: tuple(map(value, tree.operands)), checked="nothing"
)
"""`[a, b]`, over exact values."""
