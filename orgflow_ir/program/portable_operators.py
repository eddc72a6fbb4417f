"""Operators of no particular language, whose result is the same in every language. No value is
converted or missing; expressions that would need either have no result."""

from __future__ import annotations

from typing import Any, ClassVar

from orgflow_ir.program.ecmascript_operators import LOOSE
from orgflow_ir.program.java_operators import TypedRules
from orgflow_ir.program.operators import Operators, Value
from orgflow_ir.program.syntax import Arithmetic, Found, Negative, Tree, as_javascript
from orgflow_ir.program.values import (
    NoAnswer,
    calculate_numbers,
    compare_ordered,
    is_nothing,
    type_name,
)


class PortableRules(TypedRules):
    """As in Java with typed values except the following."""

    name: ClassVar[str] = "portable"

    def equal(self, left: Any, right: Any) -> bool | None:
        if is_nothing(left) or is_nothing(right):
            return is_nothing(left) and is_nothing(right)
        if type_name(left) != type_name(right) or type_name(left) == "object":
            raise NoAnswer
        return bool(left == right)

    def ordered(self, sign: str, left: Any, right: Any) -> bool | None:
        kinds = {type_name(left), type_name(right)}
        if len(kinds) > 1 or not kinds <= {"number", "text"}:
            raise NoAnswer
        return compare_ordered(sign, left, right)

    def calculated(self, sign: str, left: Any, right: Any) -> Any:
        if type_name(left) != "number" or type_name(right) != "number":
            raise NoAnswer
        if sign in ("/", "%") and right == 0:
            raise NoAnswer
        return calculate_numbers(sign, left, right)

    def compute_arithmetic(self, tree: Arithmetic, value: Value) -> Any:
        return self.calculated(tree.operator, value(tree.left), value(tree.right))

    def arithmetic_code(self, tree: Arithmetic) -> Tree:
        return LOOSE.arithmetic[tree.operator](*map(as_javascript, tree.operands), span=tree.span)

    def arithmetic_requirements(self, tree: Arithmetic) -> tuple[Found, ...]:
        return ()

    def negative_requirements(self, tree: Negative) -> tuple[Found, ...]:
        return ()


PORTABLE = Operators(PortableRules())
