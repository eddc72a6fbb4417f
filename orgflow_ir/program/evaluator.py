"""Evaluates expressions by the rules of their operations.

Evaluated as JavaScript (`as_javascript`), a tree has the same value as its translation in Node.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from orgflow_ir.program.ecmascript_operators import LOOSE
from orgflow_ir.program.operators import Operators
from orgflow_ir.program.readings import read_value
from orgflow_ir.program.syntax import Apply, Constant, Feel, Path, Tree, Variable
from orgflow_ir.program.values import UNDEFINED, NoAnswer


def evaluate(tree: Tree, values: Mapping[Path, Any], *, operators: Operators | None = None) -> Any:
    """The value of a tree; `None` for null, undefined, or an error of the language.

    Args:
        tree: an expression.
        values: values of variables by path; a missing variable is undefined.
        operators: compute every operator by these rules instead of its own; a result that
            `PORTABLE` computes is the same in every language.

    Example:
        >>> evaluate(JuelParser("a == 1").parse(), {("a",): "1"})
        True
    """
    try:
        value = _Evaluation(values, operators).value(tree)
    except (NoAnswer, OverflowError):
        return None
    return None if value is UNDEFINED else value


def is_truthy(value: Any) -> bool:
    """Whether a value is truthy in JavaScript."""
    return LOOSE.rules.truth(value) is True


class _Evaluation:
    """One evaluation of a tree."""

    def __init__(self, values: Mapping[Path, Any], operators: Operators | None) -> None:
        self.values = values
        self.operators = operators

    def value(self, tree: Tree) -> Any:
        """The value of a node. Raises `NoAnswer` for an error of the language."""
        match tree:
            case Constant(value):
                return value
            case Variable():
                return self._read(tree)
            case Apply(operation):
                if self.operators is not None:
                    operation = self.operators.matching(operation)
                return operation.compute(tree, self.value)
            case Feel():
                return tree.compute(self.values)
            case _:
                assert_never(tree)

    def _read(self, variable: Variable) -> Any:
        if self.operators is None:
            reading = variable.reading
            return (reading.compute if reading else read_value)(variable, self.values)
        if variable.path not in self.values:
            raise NoAnswer
        return self.values[variable.path]
