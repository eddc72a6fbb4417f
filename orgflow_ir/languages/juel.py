"""JUEL, the unified expression language (Jakarta EL 3.0): `${…}` and `#{…}` in Java engines."""

from __future__ import annotations

import math
from typing import ClassVar

from orgflow_ir.languages.expression_parser import (
    JAVA_METHODS,
    Parser,
    Token,
    refuse_too_large,
)
from orgflow_ir.program.syntax import (
    JUEL_NUMBER,
    Arithmetic,
    Call,
    Comparison,
    ComparisonOperator,
    Conditional,
    ConditionError,
    Constant,
    Empty,
    EntryRules,
    Function,
    Logical,
    Meaning,
    Negative,
    Not,
    Scalar,
    Span,
    Tree,
    Variable,
    kind_of,
    nodes,
)

_VARIABLES = ("var", "vars", "variables")
_COMPARED: dict[str, ComparisonOperator] = {
    "eq": "==", "equals": "==", "ne": "!=", "notEquals": "!=", "lt": "<", "lessThan": "<",
    "lowerThan": "<", "lte": "<=", "lessThanOrEquals": "<=", "lowerThanOrEquals": "<=", "gt": ">",
    "greaterThan": ">", "gte": ">=", "greaterThanOrEquals": ">=",
}  # fmt: skip


class JuelParser(Parser):
    """Comparisons, logic and `empty` of JUEL; a single `=` is read as FEEL's."""

    methods: ClassVar[dict[str, tuple[Function, int]]] = JAVA_METHODS
    entries: ClassVar[EntryRules | None] = "juel"
    meaning: ClassVar[Meaning] = "juel"
    signs: ClassVar[dict[str, tuple[ComparisonOperator, Meaning]]] = {
        "==": ("==", "juel"), "!=": ("!=", "juel"), "=": ("==", "feel"), "<>": ("!=", "feel"),
        "===": ("==", "strict"), "!==": ("!=", "strict"),
    }  # fmt: skip

    def variable(self, first: Token) -> Tree:
        """A path, or one of Flowable's functions for variables: `var:lowerThan(amount, 10)`."""
        if first.text not in _VARIABLES or not self.ahead(":"):
            return super().variable(first)
        self.take()
        kind, name, _ = self.take()
        if kind == "op":  # some of their names are operators elsewhere
            name = next((word for word, sign in self.words.items() if sign == name), name)
        self.expect("(")
        given = self.arguments()
        span = Span(first.span.start, self.tokens[self.at - 1].span.end)
        if given and isinstance(given[0], Constant) and isinstance(given[0].value, str):
            given[0] = Variable((given[0].value,), given[0].span)
        there = Comparison("!=", given[0], Constant(None), "juel", span) if given else None
        match name, given:
            case "get", [Variable() as value]:
                return value
            case "exists", [Variable()] if there is not None:
                return there
            case "getOrDefault", [Variable() as value, other] if there is not None:
                return Conditional(there, value, other, "juel", span)
            case (("empty" | "isEmpty"), [Variable() as value]):
                return Empty(value, span)
            case (("notEmpty" | "isNotEmpty"), [Variable() as value]):
                return Not(Empty(value, span), "juel", span)
            case "contains", [Variable() as value, other] if there is not None:
                return Logical("and", there, Call("contains", (value, other), span), "juel", span)
            case _, [Variable() as value, other] if name in _COMPARED and there is not None:
                found = Comparison(_COMPARED[name], value, other, "juel", span)
                return found if name in ("ne", "notEquals") else Logical(
                    "and", there, found, "juel", span
                )  # fmt: skip
        raise ConditionError(f"calls of `{first.text}:{name}` are not supported")


def checked(tree: Tree) -> Tree:
    """The tree. Raises `ConditionError` if it contains what always ends with an error in JUEL, or
    depends on the classes of numbers."""
    refuse_too_large(tree)
    for node in nodes(tree):
        match node:
            case Comparison(_, Constant(one), Constant(two), "juel") if _is_unlike(one, two):
                raise ConditionError("a number is compared with a text that is none")
            case Comparison(_, _, other, "equals") | Call("has", (_, other)) if _is_whole(other):
                # A number in the text is a `Long`, which equals no `Integer`.
                raise ConditionError("whether two numbers are equal depends on their classes")
            case Negative(operand, "juel"):
                _refuse_texts("-", operand)
            case Arithmetic(sign, left, right, "juel"):
                _refuse_texts(sign, left)
                _refuse_texts(sign, right)
                if sign in ("/", "%") and isinstance(right, Constant) and not _float(right.value):
                    raise ConditionError("it divides by zero")
    return tree


def _refuse_texts(sign: str, operand: Tree) -> None:
    constant = isinstance(operand, Constant) and not _is_number(operand.value)
    if constant or kind_of(operand) == "truth":
        raise ConditionError(f"`{sign}` computes with numbers only")


def _is_whole(tree: Tree) -> bool:
    inner = tree.operand if isinstance(tree, Negative) else tree
    return isinstance(inner, Constant) and type(inner.value) is int


def _is_unlike(one: Scalar, two: Scalar) -> bool:
    """Whether JUEL ends with an error where it compares two constants."""
    kinds = [type(value) for value in (one, two)]
    other = two if kinds[0] in (int, float) else one
    number = int in kinds or float in kinds
    text = isinstance(other, str) and other and not JUEL_NUMBER.fullmatch(other)
    whole = int in kinds and isinstance(other, str) and any(c in other for c in ".eE")
    return number and bool(text or whole or isinstance(other, bool))


def _is_number(value: Scalar) -> bool:
    """Whether JUEL computes with a constant."""
    if isinstance(value, str) and value:
        return JUEL_NUMBER.fullmatch(value) is not None and math.isfinite(float(value))
    return not isinstance(value, bool)


def _float(value: Scalar) -> float:
    return float(value or 0)
