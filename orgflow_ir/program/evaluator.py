"""Evaluates programs by the rules of their operations.

Evaluated as JavaScript (`as_javascript`), a tree has the same value as its translation in Node.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from orgflow_ir.program.ecmascript_operators import LOOSE
from orgflow_ir.program.node_evaluation import Evaluation
from orgflow_ir.program.operators import Operators
from orgflow_ir.program.readings import read_value
from orgflow_ir.program.syntax import Apply, Exact, Path, Structure, Tree, Variable
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
        return evaluate_strictly(tree, values, operators=operators)
    except (NoAnswer, OverflowError):
        return None


def evaluate_strictly(
    tree: Tree, values: Mapping[Path, Any], *, operators: Operators | None = None
) -> Any:
    """As `evaluate`. Raises `NoAnswer` or `OverflowError` for an error of the language."""
    value = _JsonEvaluation(values, operators).value(tree)
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return None if value is UNDEFINED else value


def evaluate_in(tree: Tree, values: Mapping[Path, Any]) -> Any:
    """The value of a tree, also undefined. Raises `NoAnswer` for an error of the language."""
    return _JsonEvaluation(values, None).value(tree)


def is_truthy(value: Any) -> bool:
    """Whether a value is truthy in JavaScript."""
    return LOOSE.rules.truth(value) is True


class _JsonEvaluation(Evaluation):
    """An evaluation over values of JSON by path."""

    __slots__ = ("operators", "values")

    def __init__(self, values: Mapping[Path, Any], operators: Operators | None) -> None:
        self.values = values
        self.operators = operators

    def compute(self, tree: Apply) -> Any:
        if self.operators is None:
            return tree.operation.compute(tree, self.value)
        return self.operators.matching(tree.operation).compute(tree, self.value)

    def read(self, variable: Variable) -> Any:
        if self.operators is None:
            reading = variable.reading
            return (reading.compute if reading else read_value)(variable, self.values)
        if variable.path not in self.values:
            raise NoAnswer
        return self.values[variable.path]

    def compute_exact(self, tree: Exact) -> Any:
        from orgflow_ir.program.structure_evaluation import compute_exact  # in few models

        return compute_exact(tree, self.values)

    def compute_structure(self, tree: Structure) -> Any:
        raise TypeError(f"{type(tree).__name__} is a node of programs over exact values only")
