"""Comparisons of XPath 1.0 (3.4), in which one value of a list has to match. Logic and arithmetic
are those of JavaScript."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from orgflow_ir.program.ecmascript_operators import EcmaScriptRules
from orgflow_ir.program.methods import define_method
from orgflow_ir.program.operators import equality_rows, order_rows
from orgflow_ir.program.syntax import Comparison, ComparisonOperator, Operation
from orgflow_ir.program.values import (
    is_nothing,
    js_number,
    js_text,
    to_primitive,
    type_name,
)

_NUMBER = re.compile(r"[ \t\r\n]*-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[ \t\r\n]*")
"""Texts that XPath converts to numbers."""


class XPathRules(EcmaScriptRules):
    """As in JavaScript but for comparisons."""

    name: ClassVar[str] = "xpath"

    def equal(self, left: Any, right: Any) -> bool | None:
        raise NotImplementedError("`==` and `!=` of lists may both hold")

    def compute_equality(self, tree: Comparison, value: Any) -> Any:
        left, right = value(tree.left), value(tree.right)
        if "truth" in (type_name(left), type_name(right)):
            return (bool(left) == bool(right)) is (tree.operator == "==")
        return self.ordered(tree.operator, left, right)

    def ordered(self, sign: str, left: Any, right: Any) -> bool | None:
        return any(
            self.matches(sign, entry, other)
            for entry in every_value(left)
            for other in every_value(right)
        )

    def matches(self, sign: str, left: Any, right: Any) -> bool:
        """Whether a comparison of two single values holds."""
        if sign not in ("==", "!="):
            return bool(super().ordered(sign, find_number(left), find_number(right)))
        if "number" in (type_name(left), type_name(right)):
            equal = find_number(left) == find_number(right)
        else:
            equal = js_text(to_primitive(left)) == js_text(to_primitive(right))
        return equal is (sign == "==")


def every_value(value: Any) -> Sequence[Any]:
    """The values of a list; another value is the only one, and null is none."""
    if isinstance(value, list | tuple):
        return value
    return () if is_nothing(value) else (value,)


def find_number(value: Any) -> float:
    """A value as a number; not a number (NaN) for a text that is none."""
    if not isinstance(value, str):
        return js_number(to_primitive(value))
    return float(value) if _NUMBER.fullmatch(value) else math.nan


def _compute_number(values: Sequence[Any]) -> float:
    return find_number(values[0]) if values else math.nan


def _compute_text(values: Sequence[Any]) -> str:
    return js_text(to_primitive(values[0])) if values and not is_nothing(values[0]) else ""


COUNT = define_method(
    "xpath count",
    checked="nothing",
    result="whole",
    compute=lambda tree, value: len(every_value(value(tree.operand))),
)
"""The number of values."""

NUMBER = define_method(
    "xpath number",
    checked="nothing",
    result="number",
    compute=lambda tree, value: _compute_number(every_value(value(tree.operand))),
)
"""The first value as a number."""

TEXT = define_method(
    "xpath text",
    checked="nothing",
    result="text",
    compute=lambda tree, value: _compute_text(every_value(value(tree.operand))),
)
"""The first value as a text."""

COMPARISON: Mapping[ComparisonOperator, Operation[Comparison]] = {
    **equality_rows(XPathRules()),
    **order_rows(XPathRules()),
}
