"""The operators of a language: one class with its rules, of which the rows of operations are made.

A language implements every method of `OperatorRules`, or its class cannot be instantiated.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from orgflow_ir.program.syntax import (
    Apply,
    Arithmetic,
    ArithmeticOperator,
    Comparison,
    ComparisonOperator,
    Conditional,
    Found,
    KnownType,
    Logical,
    LogicalOperator,
    Negative,
    Not,
    Operation,
    Tree,
    as_javascript,
    kind_of,
)

EQUALITY: tuple[ComparisonOperator, ...] = ("==", "!=")
ORDER: tuple[ComparisonOperator, ...] = ("<", "<=", ">", ">=")
ARITHMETIC: tuple[ArithmeticOperator, ...] = ("+", "-", "*", "/", "%")

Value = Callable[[Tree], Any]
"""Evaluates an operand."""


class OperatorRules(ABC):
    """The rules of the operators of one language.

    Values are those of `orgflow_ir.program.values`. Methods for Python raise `NoAnswer` where the
    language ends with an error; those named `…_code` return a tree in operations of JavaScript.
    """

    name: ClassVar[str]

    # The meaning in Python.

    @abstractmethod
    def truth(self, value: Any) -> bool | None:
        """The value as an operand of logic; `None` is FEEL's third truth value."""

    @abstractmethod
    def equal(self, left: Any, right: Any) -> bool | None:
        """Whether values are equal; `None` if that is null."""

    @abstractmethod
    def ordered(self, sign: str, left: Any, right: Any) -> bool | None:
        """Whether an order holds between two values."""

    @abstractmethod
    def calculated(self, sign: str, left: Any, right: Any) -> Any:
        """The result of an arithmetic operator."""

    @abstractmethod
    def negative(self, value: Any) -> Any:
        """A number with the opposite sign."""

    # The form in JavaScript.

    @abstractmethod
    def truth_code(self, operand: Tree) -> Tree:
        """What decides in JavaScript as the operand does."""

    @abstractmethod
    def not_code(self, tree: Not) -> Tree:
        """A negation."""

    @abstractmethod
    def logical_code(self, tree: Logical) -> Tree:
        """A conjunction or disjunction."""

    @abstractmethod
    def equality_code(self, tree: Comparison) -> Tree:
        """An equality or inequality."""

    @abstractmethod
    def order_code(self, tree: Comparison) -> Tree:
        """An order."""

    @abstractmethod
    def arithmetic_code(self, tree: Arithmetic) -> Tree:
        """A calculation."""

    @abstractmethod
    def negative_code(self, tree: Negative) -> Tree:
        """A number with the opposite sign."""

    # What operands have to be.

    @abstractmethod
    def truth_requirements(self, operand: Tree) -> Iterable[Found]:
        """The requirements of an operand of logic."""

    @abstractmethod
    def equality_requirements(self, tree: Comparison) -> Iterable[Found]:
        """What two values have to be to be equal or not."""

    @abstractmethod
    def order_requirements(self, tree: Comparison) -> Iterable[Found]:
        """What two values have to be to be in an order."""

    @abstractmethod
    def arithmetic_requirements(self, tree: Arithmetic) -> Iterable[Found]:
        """What operands of a calculation have to be."""

    @abstractmethod
    def negative_requirements(self, tree: Negative) -> Iterable[Found]:
        """The requirements of a number with the opposite sign."""

    # Types.

    @abstractmethod
    def logical_type(self, tree: Logical) -> KnownType | None:
        """The type of the value of logic."""

    @abstractmethod
    def arithmetic_type(self, tree: Arithmetic) -> KnownType | None:
        """The type of the value of a calculation."""

    @abstractmethod
    def javascript(self) -> Operators:
        """The operators of JavaScript, in which the code is written."""

    # What all languages have in common, unless they define it themselves.

    def conditional_code(self, tree: Conditional) -> Tree:
        """A choice of two values."""
        condition = self.truth_code(tree.condition)
        branches = (as_javascript(branch) for branch in (tree.then, tree.otherwise))
        return self.javascript().choice(condition, *branches, span=tree.span)

    def compute_not(self, tree: Not, value: Value) -> Any:
        """The value of a negation."""
        truth = self.truth(value(tree.operand))
        return None if truth is None else not truth

    def compute_negative(self, tree: Negative, value: Value) -> Any:
        """The value of a number with the opposite sign."""
        return self.negative(value(tree.operand))

    def compute_logical(self, tree: Logical, value: Value) -> Any:
        """The value of a conjunction or disjunction, whose right operand may not be evaluated."""
        either = tree.operator == "or"
        truth = self.truth(value(tree.left))
        if truth is either:
            return truth
        other = self.truth(value(tree.right))
        return other if other is either or truth is not None else None

    def compute_equality(self, tree: Comparison, value: Value) -> Any:
        """The value of an equality or inequality."""
        equal = self.equal(value(tree.left), value(tree.right))
        return equal if equal is None or tree.operator == "==" else not equal

    def compute_order(self, tree: Comparison, value: Value) -> Any:
        """The value of an order."""
        left, right = value(tree.left), value(tree.right)
        return self.ordered(tree.operator, left, right)

    def compute_arithmetic(self, tree: Arithmetic, value: Value) -> Any:
        """The value of a calculation."""
        left, right = value(tree.left), value(tree.right)
        return self.calculated(tree.operator, left, right)

    def compute_choice(self, tree: Conditional, value: Value) -> Any:
        """The value of a choice."""
        return value(tree.then if self.truth(value(tree.condition)) else tree.otherwise)

    def all_truth_requirements(self, tree: Apply) -> Iterable[Found]:
        """The requirements of the operands of logic, or of the condition of a choice."""
        operands = tree.operands[:1] if isinstance(tree, Conditional) else tree.operands
        for operand in operands:
            yield from self.truth_requirements(operand)

    def guard(self, operand: Tree) -> Tree:
        """A condition whose truth value is the same in JavaScript."""
        return operand


def find_branch_type(tree: Conditional) -> KnownType | None:
    """The type of the value of a choice."""
    branches = {kind_of(tree.then), kind_of(tree.otherwise)}
    if branches == {"number", "whole"}:
        return "number"
    return branches.pop() if len(branches) == 1 else None


def find_number_type(tree: Arithmetic) -> KnownType | None:
    """The type of a number that is computed."""
    sides = {kind_of(side) for side in tree.operands}
    return "whole" if sides == {"whole"} and tree.operator != "/" else "number"


def find_sum_type(tree: Arithmetic) -> KnownType | None:
    """The type of a calculation in which `+` also adds texts."""
    sides = {kind_of(side) for side in tree.operands}
    if tree.operator == "+" and not sides <= {"number", "whole"}:
        return "text" if "text" in sides else None
    return find_number_type(tree)


def _find_negative_type(tree: Negative) -> KnownType | None:
    return "whole" if kind_of(tree.operand) == "whole" else "number"


def _is_truth(tree: Tree) -> KnownType | None:
    return "truth"


class Operators:
    """The rows of a language, by their signs: `operators.comparison["<"](left, right)`."""

    __slots__ = ("arithmetic", "choice", "comparison", "logic", "negation", "negative", "rules")

    def __init__(self, rules: OperatorRules) -> None:
        self.rules = rules
        self.comparison: Mapping[ComparisonOperator, Operation[Comparison]] = {
            **equality_rows(rules),
            **order_rows(rules),
        }
        self.logic: Mapping[LogicalOperator, Operation[Logical]] = {
            sign: Operation(
                f"{rules.name} {sign}",
                Logical,
                sign,
                type_of=rules.logical_type,
                compute=rules.compute_logical,
                javascript=rules.logical_code,
                requirements=rules.all_truth_requirements,
                guard=rules.guard,
            )
            for sign in _LOGIC
        }
        self.arithmetic: Mapping[ArithmeticOperator, Operation[Arithmetic]] = {
            sign: Operation(
                f"{rules.name} {sign}",
                Arithmetic,
                sign,
                type_of=rules.arithmetic_type,
                compute=rules.compute_arithmetic,
                javascript=rules.arithmetic_code,
                requirements=rules.arithmetic_requirements,
                guard=rules.guard,
            )
            for sign in ARITHMETIC
        }
        self.negation: Operation[Not] = Operation(
            f"{rules.name} not",
            Not,
            "not",
            type_of=_is_truth,
            compute=rules.compute_not,
            javascript=rules.not_code,
            requirements=rules.all_truth_requirements,
            guard=rules.guard,
        )
        self.negative: Operation[Negative] = Operation(
            f"{rules.name} negative",
            Negative,
            "negative",
            type_of=_find_negative_type,
            compute=rules.compute_negative,
            javascript=rules.negative_code,
            requirements=rules.negative_requirements,
            guard=rules.guard,
        )
        self.choice: Operation[Conditional] = Operation(
            f"{rules.name} choice",
            Conditional,
            "?",
            type_of=find_branch_type,
            compute=rules.compute_choice,
            javascript=rules.conditional_code,
            requirements=rules.all_truth_requirements,
            guard=rules.guard,
        )

    def matching(self, operation: Operation[Any]) -> Operation[Any]:
        """The row of this language with the sign of another row; a method is its own."""
        rows: dict[type[Apply], Mapping[Any, Operation[Any]]] = {
            Comparison: self.comparison,
            Logical: self.logic,
            Arithmetic: self.arithmetic,
            Not: {"not": self.negation},
            Negative: {"negative": self.negative},
            Conditional: {"?": self.choice},
        }
        return rows[operation.node][operation.sign] if operation.node in rows else operation


_LOGIC: tuple[LogicalOperator, ...] = ("and", "or")


def equality_rows(rules: OperatorRules) -> Mapping[ComparisonOperator, Operation[Comparison]]:
    """The rows of `==` and `!=`."""
    return {
        sign: Operation(
            f"{rules.name} {sign}",
            Comparison,
            sign,
            type_of=_is_truth,
            compute=rules.compute_equality,
            javascript=rules.equality_code,
            requirements=rules.equality_requirements,
            guard=rules.guard,
        )
        for sign in EQUALITY
    }


def order_rows(rules: OperatorRules) -> Mapping[ComparisonOperator, Operation[Comparison]]:
    """The rows of `<`, `<=`, `>` and `>=`."""
    return {
        sign: Operation(
            f"{rules.name} {sign}",
            Comparison,
            sign,
            type_of=_is_truth,
            compute=rules.compute_order,
            javascript=rules.order_code,
            requirements=rules.order_requirements,
            guard=rules.guard,
        )
        for sign in ORDER
    }
