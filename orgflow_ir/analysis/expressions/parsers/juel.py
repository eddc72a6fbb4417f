"""JUEL, the unified expression language (Jakarta EL 3.0): `${…}` and `#{…}` in Java engines."""

from __future__ import annotations

from typing import ClassVar

from orgflow_ir.analysis.expressions.parsers.core import Parser, Token
from orgflow_ir.analysis.expressions.syntax import (
    Call,
    Comparison,
    ComparisonOperator,
    ConditionError,
    Constant,
    Empty,
    Logical,
    Meaning,
    Not,
    Span,
    Tree,
    Variable,
)

_VARIABLES = ("var", "vars", "variables")
_COMPARED: dict[str, ComparisonOperator] = {
    "eq": "==", "equals": "==", "ne": "!=", "notEquals": "!=", "lt": "<", "lessThan": "<",
    "lowerThan": "<", "lte": "<=", "lessThanOrEquals": "<=", "lowerThanOrEquals": "<=", "gt": ">",
    "greaterThan": ">", "gte": ">=", "greaterThanOrEquals": ">=",
}  # fmt: skip


class JuelParser(Parser):
    """Comparisons, logic and `empty` of JUEL; a single `=` is read as FEEL's."""

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
