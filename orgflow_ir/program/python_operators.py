"""The operators of Python: true is 1 and false is 0, numbers are never converted to texts, and `%`
has the sign of its right operand. Where Python 2 and 3 differ there is no result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from orgflow_ir.program import methods, requirements
from orgflow_ir.program.ecmascript_operators import (
    compare_loosely,
    compare_strictly,
    equals_any,
    negate_code,
)
from orgflow_ir.program.java_operators import JavaRules
from orgflow_ir.program.operators import Operators
from orgflow_ir.program.syntax import (
    Arithmetic,
    Comparison,
    Constant,
    Found,
    Tree,
    as_javascript,
    kind_of,
)
from orgflow_ir.program.values import (
    NoAnswer,
    calculate_numbers,
    compare_ordered,
    is_nothing,
    type_name,
)


class PythonRules(JavaRules):
    """As in Java except the following."""

    name: ClassVar[str] = "python"

    def equal(self, left: Any, right: Any) -> bool | None:
        if is_nothing(left) or is_nothing(right):
            return is_nothing(left) and is_nothing(right)
        return bool(left == right)

    def ordered(self, sign: str, left: Any, right: Any) -> bool | None:
        left, right = (int(side) if isinstance(side, bool) else side for side in (left, right))
        kinds = {type_name(left), type_name(right)}
        if len(kinds) > 1 or not kinds <= {"number", "text"}:
            raise NoAnswer
        return compare_ordered(sign, left, right)

    def calculated(self, sign: str, left: Any, right: Any) -> Any:
        if sign == "+" and isinstance(left, str) and isinstance(right, str):
            return left + right
        if type_name(left) != "number" or type_name(right) != "number":
            raise NoAnswer
        if sign in ("/", "%") and right == 0:
            raise NoAnswer
        return left % right if sign == "%" else calculate_numbers(sign, left, right)

    def compute_arithmetic(self, tree: Arithmetic, value: Any) -> Any:
        return self.calculated(tree.operator, value(tree.left), value(tree.right))

    def equality_code(self, tree: Comparison) -> Tree:
        left, right = map(as_javascript, tree.operands)
        code: Tree | None = None
        if not isinstance(left, Constant) and not isinstance(right, Constant):
            code = methods.PYTHON_EQUAL(left, right, span=tree.span)
        for side, other in ((left, right), (right, left)):
            if code is None and isinstance(other, Constant) and other.value in (0, 1):
                code = equals_any(side, (bool(other.value), int(other.value)), tree.span)
        if code is not None:
            return code if tree.operator == "==" else negate_code(code, tree.span)
        if Constant(None) in (left, right):
            return compare_loosely(tree.operator, left, right, tree.span)
        return compare_strictly(tree.operator, left, right, tree.span)

    def arithmetic_code(self, tree: Arithmetic) -> Tree:
        left, right = map(as_javascript, tree.operands)
        if tree.operator == "%":
            return methods.MODULO(left, right, span=tree.span)
        return self.javascript().arithmetic[tree.operator](left, right, span=tree.span)

    def order_requirements(self, tree: Comparison) -> Iterator[Found]:
        # Truth values are numbers, and only Python 2 has an order of anything else.
        kinds = [kind_of(side) for side in tree.operands]
        if kinds == [None, None]:
            yield requirements.ONE_TYPE, (tree.left, tree.right)
            return
        wanted = requirements.ONLY_TEXT if "text" in kinds else requirements.NUMBER
        yield from ((wanted, (side,)) for side in tree.operands if kind_of(side) is None)

    def equality_requirements(self, tree: Comparison) -> Iterable[Found]:
        return ()

    def arithmetic_requirements(self, tree: Arithmetic) -> Iterator[Found]:
        # No text is converted, and a division of whole numbers depends on the version.
        sign, left, right = tree.operator, tree.left, tree.right
        kinds = [kind_of(side) for side in tree.operands]
        if sign == "+" and kinds == [None, None]:
            yield requirements.ONE_TYPE, (left, right)
        else:
            wanted = requirements.ONLY_TEXT if "text" in kinds else requirements.NUMBER
            yield from ((wanted, (side,)) for side in tree.operands if kind_of(side) is None)
        if sign in ("/", "%") and not isinstance(right, Constant):
            yield requirements.DIVISOR, (right,)
        fraction = any(
            isinstance(side.value, float) for side in tree.operands if isinstance(side, Constant)
        )
        if sign == "/" and not fraction:
            yield requirements.QUOTIENT, (left, right)
        if sign in ("+", "-", "*") and kind_of(tree) != "text":
            yield requirements.EXACT, (tree,)


PYTHON = Operators(PythonRules())
