"""JUEL, the unified expression language (Jakarta EL 3.0): `${…}` and `#{…}` in Java engines."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

from orgflow_ir.languages.expression_parser import (
    JAVA_METHODS,
    Parser,
    Token,
    refuse_too_large,
)
from orgflow_ir.program import methods, readings
from orgflow_ir.program.ecmascript_operators import STRICT
from orgflow_ir.program.feel_operators import FEEL
from orgflow_ir.program.java_operators import EQUALS_METHOD
from orgflow_ir.program.juel_operators import JUEL, JUEL_NUMBER
from orgflow_ir.program.operators import Operators
from orgflow_ir.program.syntax import (
    Apply,
    Arithmetic,
    Comparison,
    ComparisonOperator,
    ConditionError,
    Constant,
    Method,
    Negative,
    Operation,
    Reading,
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

    methods: ClassVar[dict[str, tuple[Method, int]]] = JAVA_METHODS
    entries: ClassVar[Reading | None] = readings.JUEL_ENTRY
    operators: ClassVar[Operators] = JUEL
    library: ClassVar[str] = "java"
    signs: ClassVar[Mapping[str, Operation[Comparison]]] = {
        "==": JUEL.comparison["=="], "!=": JUEL.comparison["!="], "=": FEEL.comparison["=="],
        "<>": FEEL.comparison["!="], "===": STRICT["=="], "!==": STRICT["!="],
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
        there: Tree | None = None
        if given:
            there = JUEL.comparison["!="](given[0], Constant(None), span=span)
        match name, given:
            case ["get", [Variable() as value]]:
                return value
            case ["exists", [Variable()]] if there is not None:
                return there
            case ["getOrDefault", [Variable() as value, other]] if there is not None:
                return JUEL.choice(there, value, other, span=span)
            case (("empty" | "isEmpty"), [Variable() as value]):
                return methods.EMPTY(value, span=span)
            case (("notEmpty" | "isNotEmpty"), [Variable() as value]):
                return JUEL.negation(methods.EMPTY(value, span=span), span=span)
            case ["contains", [Variable() as value, other]] if there is not None:
                contains = methods.CONTAINS(value, other, span=span)
                return JUEL.logic["and"](there, contains, span=span)
            case [_, [Variable() as value, other]] if name in _COMPARED and there is not None:
                compared = JUEL.comparison[_COMPARED[name]](value, other, span=span)
                if name in ("ne", "notEquals"):
                    return compared
                return JUEL.logic["and"](there, compared, span=span)
        raise ConditionError(f"calls of `{first.text}:{name}` are not supported")


def check_tree(tree: Tree) -> Tree:
    """The tree. Raises `ConditionError` if it contains what always ends with an error in JUEL, or
    depends on the classes of numbers."""
    refuse_too_large(tree)
    for node in nodes(tree):
        if isinstance(node, Apply):
            _check_operation(node)
    return tree


def _check_operation(node: Apply) -> None:
    match node:
        case Comparison(operation, (Constant(left), Constant(right))) if (
            operation is JUEL.comparison[node.operator] and _is_unlike(left, right)
        ):
            raise ConditionError("a number is compared with a text that is none")
        case Apply(operation, (_, other)) if operation in (
            *EQUALS_METHOD.values(),
            methods.HAS,
        ) and _is_whole(other):
            # A number in the text is a `Long`, which equals no `Integer`.
            raise ConditionError("whether two numbers are equal depends on their classes")
        case Negative(JUEL.negative, (operand,)):
            _refuse_texts("-", operand)
        case Arithmetic(operation, (left, right)) if operation is JUEL.arithmetic[node.operator]:
            sign = node.operator
            _refuse_texts(sign, left)
            _refuse_texts(sign, right)
            if sign in ("/", "%") and isinstance(right, Constant) and not _to_float(right.value):
                raise ConditionError("it divides by zero")


def _refuse_texts(sign: str, operand: Tree) -> None:
    constant = isinstance(operand, Constant) and not _is_number(operand.value)
    if constant or kind_of(operand) == "truth":
        raise ConditionError(f"`{sign}` computes with numbers only")


def _is_whole(tree: Tree) -> bool:
    inner = tree.operand if isinstance(tree, Negative) else tree
    return isinstance(inner, Constant) and type(inner.value) is int


def _is_unlike(left: Scalar, right: Scalar) -> bool:
    """Whether JUEL ends with an error where it compares two constants."""
    kinds = [type(value) for value in (left, right)]
    other = right if kinds[0] in (int, float) else left
    number = int in kinds or float in kinds
    text = isinstance(other, str) and other and not JUEL_NUMBER.fullmatch(other)
    whole = int in kinds and isinstance(other, str) and any(c in other for c in ".eE")
    return number and bool(text or whole or isinstance(other, bool))


def _is_number(value: Scalar) -> bool:
    """Whether JUEL computes with a constant."""
    if isinstance(value, str) and value:
        return JUEL_NUMBER.fullmatch(value) is not None and math.isfinite(float(value))
    return not isinstance(value, bool)


def _to_float(value: Scalar) -> float:
    return float(value or 0)
