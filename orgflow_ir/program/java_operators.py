"""The operators of Java, Groovy and MVEL, whose equality converts nothing, and the texts that Java
has for values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

from orgflow_ir.program import methods, requirements
from orgflow_ir.program.ecmascript_operators import (
    LOOSE,
    compare_loosely,
    compare_strictly,
    negate_code,
)
from orgflow_ir.program.java_text import is_double, java_text
from orgflow_ir.program.methods import define_method
from orgflow_ir.program.operators import (
    OperatorRules,
    Operators,
    Value,
    equality_rows,
    find_sum_type,
)
from orgflow_ir.program.syntax import (
    Arithmetic,
    Call,
    Comparison,
    ComparisonOperator,
    Conditional,
    Constant,
    Found,
    KnownType,
    Logical,
    Negative,
    Not,
    Operation,
    Requirement,
    Tree,
    Variable,
    as_javascript,
    is_open,
    kind_of,
)
from orgflow_ir.program.values import (
    NoAnswer,
    calculate_numbers,
    compare_ordered,
    equal_if_typed,
    is_nothing,
    or_null,
    scalar_text,
    type_name,
)


def equal_by_value(tree: Comparison) -> Tree:
    """An equality that converts nothing, in JavaScript."""
    left, right = map(as_javascript, tree.operands)
    if not isinstance(left, Constant) and not isinstance(right, Constant):
        same = methods.SAME(left, right, span=tree.span)
        return same if tree.operator == "==" else negate_code(same, tree.span)
    if Constant(None) in (left, right):
        return compare_loosely(tree.operator, left, right, tree.span)
    return compare_strictly(tree.operator, left, right, tree.span)


class JavaRules(OperatorRules):
    """Texts are equal by content, and numbers by value. Groovy agrees with it on the subset read
    here."""

    name: ClassVar[str] = "java"

    def truth(self, value: Any) -> bool | None:
        return bool(value)

    def equal(self, left: Any, right: Any) -> bool | None:
        return equal_if_typed(left, right)

    def ordered(self, sign: str, left: Any, right: Any) -> bool | None:
        kinds = {type_name(left), type_name(right)}
        if len(kinds) > 1 or not kinds <= {"number", "text", "truth"}:
            raise NoAnswer
        return compare_ordered(sign, left, right)

    def calculated(self, sign: str, left: Any, right: Any) -> Any:
        if sign == "+" and (isinstance(left, str) or isinstance(right, str)):
            return scalar_text(left) + scalar_text(right)
        if type_name(left) != "number" or type_name(right) != "number":
            raise NoAnswer
        if sign in ("/", "%") and right == 0:
            raise NoAnswer
        return calculate_numbers(sign, left, right)

    def negative(self, value: Any) -> Any:
        if type_name(value) != "number":
            raise NoAnswer
        return -value

    def compute_arithmetic(self, tree: Arithmetic, value: Value) -> Any:
        if tree.operator == "+" and kind_of(tree) == "text":
            return "".join(_compute_summand(side, value) for side in tree.operands)
        return super().compute_arithmetic(tree, value)

    def truth_code(self, operand: Tree) -> Tree:
        return as_javascript(operand)

    def not_code(self, tree: Not) -> Tree:
        return LOOSE.negation(self.truth_code(tree.operand), span=tree.span)

    def logical_code(self, tree: Logical) -> Tree:
        return LOOSE.logic[tree.operator](*map(self.truth_code, tree.operands), span=tree.span)

    def equality_code(self, tree: Comparison) -> Tree:
        return equal_by_value(tree)

    def order_code(self, tree: Comparison) -> Tree:
        left, right = map(as_javascript, tree.operands)
        return compare_loosely(tree.operator, left, right, tree.span)

    def arithmetic_code(self, tree: Arithmetic) -> Tree:
        change = as_javascript
        if tree.operator == "+" and kind_of(tree) == "text":
            change = _summand_code
        return LOOSE.arithmetic[tree.operator](*map(change, tree.operands), span=tree.span)

    def negative_code(self, tree: Negative) -> Tree:
        return LOOSE.negative(as_javascript(tree.operand), span=tree.span)

    def truth_requirements(self, operand: Tree) -> Iterable[Found]:
        return ()

    def equality_requirements(self, tree: Comparison) -> Iterable[Found]:
        return ()

    def order_requirements(self, tree: Comparison) -> Iterable[Found]:
        variable = [side for side in tree.operands if not isinstance(side, Constant)]
        if len(variable) == 2 and kind_of(tree.left) is None and kind_of(tree.right) is None:
            yield requirements.ONE_TYPE, (tree.left, tree.right)
            return
        for side, other in ((tree.left, tree.right), (tree.right, tree.left)):
            if side in variable:
                yield _order_requirement(other), (side,)

    def arithmetic_requirements(self, tree: Arithmetic) -> Iterable[Found]:
        if tree.operator == "+":
            yield from _addition_requirements(tree.left, tree.right)
        else:
            for side in tree.operands:
                if is_open(side, "number"):
                    yield requirements.NUMBER, (side,)
        if tree.operator in ("/", "%") and not isinstance(tree.right, Constant):
            yield requirements.DIVISOR, (tree.right,)
        if kind_of(tree) != "text":
            yield requirements.COMPUTED, (tree,)

    def negative_requirements(self, tree: Negative) -> Iterable[Found]:
        if is_open(tree.operand, "number"):
            yield requirements.NUMBER, (tree.operand,)

    def logical_type(self, tree: Logical) -> KnownType | None:
        return "truth"

    def arithmetic_type(self, tree: Arithmetic) -> KnownType | None:
        return find_sum_type(tree)

    def javascript(self) -> Operators:
        return LOOSE


def _addition_requirements(left: Tree, right: Tree) -> Iterator[Found]:
    for side, other in ((left, right), (right, left)):
        if not isinstance(side, Constant):
            text = kind_of(other) == "text"
            yield requirements.PRINTABLE if text else requirements.SUMMAND, (side,)
    if kind_of(left) is None and kind_of(right) is None:
        yield requirements.JOINED, (left, right)


def _summand_code(tree: Tree) -> Tree:
    """A value that is added to a text: the text that Java has for a computed number."""
    if isinstance(tree, Variable) and tree.reading is not None and tree.reading.may_miss:
        return methods.OR_NULL(tree, span=tree.span)  # not the text “undefined”
    computed = isinstance(tree, Arithmetic | Negative) and kind_of(tree) != "text"
    return as_java_text(tree) if computed else as_javascript(tree)


class EqualsMethodRules(JavaRules):
    """The method `equals`, which null does not have."""

    name: ClassVar[str] = "java equals"

    def equal(self, left: Any, right: Any) -> bool | None:
        if is_nothing(left):
            raise NoAnswer
        return equal_if_typed(left, right)

    def equality_requirements(self, tree: Comparison) -> Iterator[Found]:
        if isinstance(tree.left, Variable):
            yield requirements.THERE, (tree.left,)


class TypedRules(JavaRules):
    """Java and MVEL in conditions: only truth values are operands of logic, and values of different
    types have no result: MVEL converts some of them, and Java does not compile."""

    name: ClassVar[str] = "typed"

    def truth(self, value: Any) -> bool | None:
        if not isinstance(value, bool):
            raise NoAnswer
        return value

    def truth_requirements(self, operand: Tree) -> Iterator[Found]:
        if is_open(operand, "truth"):
            yield requirements.BOOLEAN, (operand,)

    def equality_requirements(self, tree: Comparison) -> Iterable[Found]:
        return _equality_requirements(tree, requirements.ALIKE, _alike_requirement)


class IdentityRules(TypedRules):
    """Java's `==`, which compares texts and large numbers by identity. It has a result only where
    that is equality."""

    name: ClassVar[str] = "java identity"

    def equality_requirements(self, tree: Comparison) -> Iterable[Found]:
        return _equality_requirements(tree, requirements.IDENTICAL, _identity_requirement)


def _equality_requirements(tree: Comparison, both: Requirement, of_other: Any) -> Iterator[Found]:
    """What two values have to be to be equal in Java and MVEL."""
    variable = [side for side in tree.operands if not isinstance(side, Constant)]
    if len(variable) == 2 and kind_of(tree.left) is None and kind_of(tree.right) is None:
        yield both, (tree.left, tree.right)
        return
    for side, other in ((tree.left, tree.right), (tree.right, tree.left)):
        if side in variable and other != Constant(None):
            yield of_other(other), (side,)


def _order_requirement(other: Tree) -> Requirement:
    """What has an order with another operand in Java, Groovy and MVEL."""
    kind = kind_of(other)
    if other == Constant(None) or kind == "truth":
        return requirements.NO_ORDER
    return requirements.ONLY_TEXT if kind == "text" else requirements.NUMBER


def _identity_requirement(other: Tree) -> Requirement:
    """What can be compared with an operand by `==` in Java."""
    kind = kind_of(other)
    if kind == "text":
        return requirements.NO_TEXT
    return requirements.BOOLEAN if kind == "truth" else requirements.NUMBER


def _alike_requirement(other: Tree) -> Requirement:
    """What MVEL compares with an operand without a conversion."""
    kind = kind_of(other)
    if kind == "text":
        digits = not isinstance(other, Constant) or any(map(str.isdigit, str(other.value)))
        return requirements.NO_SCALAR if digits else requirements.NO_TRUTH
    return requirements.TRUTH_OR_NULL if kind == "truth" else requirements.NO_NUMERAL


JAVA = Operators(JavaRules())
TYPED = Operators(TypedRules())
EQUALS_METHOD: Mapping[ComparisonOperator, Operation[Comparison]] = equality_rows(
    EqualsMethodRules()
)
IDENTITY: Mapping[ComparisonOperator, Operation[Comparison]] = equality_rows(IdentityRules())


# Texts of values.

_FRACTION = Constant(0.5)
"""Any number with a fraction."""


def as_java_text(tree: Tree) -> Tree:
    """The text of a value, or a value whose text is the same in Java and JavaScript, in operations
    of JavaScript."""
    if isinstance(tree, Constant):
        return Constant(java_text(tree.value, isinstance(tree.value, float)), tree.span)
    if isinstance(tree, Conditional):
        chosen = as_javascript(tree)
        assert isinstance(chosen, Conditional)
        branches = as_java_text(tree.then), as_java_text(tree.otherwise)
        return Conditional(chosen.operation, (chosen.condition, *branches), chosen.span)
    if kind_of(tree) in ("text", "truth", "whole"):
        return as_javascript(tree)
    value = as_javascript(tree)
    if isinstance(tree, Arithmetic | Negative):
        operands = tuple(map(as_javascript, computed_from(tree)))
        return COMPUTED_TEXT(value, *operands, span=tree.span)
    return JAVA_TEXT(value, span=tree.span)


def computed_from(tree: Tree) -> Iterator[Tree]:
    """The values that a number is computed from, without those that are always whole: it is a
    double in Java if one of them is."""
    if isinstance(tree, Negative):
        yield from computed_from(tree.operand)
    elif isinstance(tree, Arithmetic):
        if tree.operator == "/" and tree.operation is not JAVA.arithmetic["/"]:
            yield _FRACTION
        yield from computed_from(tree.left)
        yield from computed_from(tree.right)
    elif isinstance(tree, Constant) and isinstance(tree.value, float):
        yield _FRACTION
    elif kind_of(tree) not in ("whole", "truth") and tree != Constant(None):
        yield tree


def compute_java_text(tree: Tree, value: Value) -> str:
    """The text of a value in Java."""
    if isinstance(tree, Conditional):
        decided = tree.operation(tree.condition, Constant(True), Constant(False), span=tree.span)
        return compute_java_text(tree.then if value(decided) else tree.otherwise, value)
    double = False
    if isinstance(tree, Arithmetic | Negative):
        double = any(is_double(value(operand)) for operand in computed_from(tree))
    elif isinstance(tree, Constant):
        double = isinstance(tree.value, float)
    return java_text(or_null(value(tree)), double)


def _compute_summand(tree: Tree, value: Value) -> str:
    """The text of a value that is added to a text."""
    if isinstance(tree, Arithmetic | Negative) and kind_of(tree) != "text":
        return compute_java_text(tree, value)
    return scalar_text(or_null(value(tree)))


def _compute_computed_text(tree: Call, value: Value) -> str:
    number, *operands = tree.operands
    double = any(is_double(value(operand)) for operand in operands)
    return java_text(value(number), double)


TEXT = define_method(
    "text",
    result="text",
    compute=lambda tree, value: "".join(compute_java_text(o, value) for o in tree.operands),
    javascript=lambda tree: Call(
        tree.operation, tuple(map(as_java_text, tree.operands)), tree.span
    ),
)
"""The texts of values one after the other, in which null is empty."""

JAVA_TEXT = define_method(
    "java text",
    compute=lambda tree, value: compute_java_text(tree.operand, value),
)
"""The text that Java has for a value."""

COMPUTED_TEXT = define_method("computed text", compute=_compute_computed_text)
"""The text of a number computed from the other operands: Java writes 3.0 if one of them has a
fraction."""

TEXTS = (TEXT, JAVA_TEXT, COMPUTED_TEXT)
"""Methods whose value is the text of values."""
