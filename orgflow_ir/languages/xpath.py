"""XPath 1.0, limited to BPMN conditions: paths from a data object, comparisons."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import ClassVar, cast

from orgflow_ir.languages.expression_parser import Kind, Parser, Token
from orgflow_ir.program import methods, readings, xpath_operators
from orgflow_ir.program.ecmascript_operators import LOOSE
from orgflow_ir.program.operators import Operators
from orgflow_ir.program.syntax import (
    ArithmeticOperator,
    Call,
    Comparison,
    ConditionError,
    Constant,
    Negative,
    Operation,
    Span,
    Tree,
    Variable,
    kind_of,
)

_TOKEN = re.compile(
    r"\s*(?:(?P<num>\d+(?:\.\d+)?)|(?P<str>\"[^\"\\]*\"|'[^'\\]*')"
    r"|(?P<name>(?:[^\W\d][\w-]*:)?[^\W\d][\w-]*)|(?P<op>!=|<=|>=|[-+*<>=(),/$]))"
)
_OBJECTS = ("getDataObject", "getDataInput", "getProcessProperty", "getVariable")
"""Functions by which BPMN names what a path begins at (BPMN 2.0.2, 10.4.3)."""


_ARITHMETIC = ("+", "-", "*", "%", "div")


class XPathParser(Parser):
    """`/order/amount > 5`, `$order/amount`, `bpmn:getDataObject('order')/amount`: each step of a
    path is a field. A path refers to a single element, not a set."""

    words: ClassVar[dict[str, str]] = {"and": "&&", "or": "||", "mod": "%", "div": "div"}
    operators: ClassVar[Operators] = LOOSE
    signs: ClassVar[Mapping[str, Operation[Comparison]]] = {
        "=": xpath_operators.COMPARISON["=="], "!=": xpath_operators.COMPARISON["!="],
    }  # fmt: skip

    @classmethod
    def _tokens(cls, text: str, start: int, end: int) -> list[Token]:
        tokens: list[Token] = []
        body, at = text[:end].rstrip(), start
        while at < len(body):
            match = _TOKEN.match(body, at)
            if match is None:
                raise ConditionError(f"`{body[at : at + 12].strip()}` is not supported")
            at = match.end()
            kind = cast(Kind, match.lastgroup)
            value, span = match.group(kind), Span(*match.span(kind))
            operand = not tokens or (tokens[-1].kind == "op" and tokens[-1].text != ")")
            if kind == "name" and value in cls.words and not operand:
                kind, value = "op", cls.words[value]
            tokens.append(Token(kind, value, span))
            if len(tokens) > 1_000:
                raise ConditionError("it is too long")
        return tokens

    def product(self) -> Tree:
        """`a * b`; the slash separates the steps of a path."""
        return self.arithmetic(self.unary, "*", "%")

    def primary(self) -> Tree:
        """A constant, a path, a function, or an expression in parentheses."""
        token = self.take()
        if token[:2] == ("op", "/"):
            return self.steps([self.step()], token.span.start)
        if token[:2] == ("op", "$"):
            return self.steps([self.step()], token.span.start)
        if token.kind != "name":
            self.at -= 1
            return super().primary()
        if not self.ahead("("):
            return self.steps([token.text], token.span.start)
        self.take()
        name = token.text.rpartition(":")[2]
        if name in _OBJECTS:
            kind, text, _ = self.take()
            if kind != "str":
                raise ConditionError("a quoted name is expected")
            self.expect(")")
            return self.steps([text[1:-1]], token.span.start)
        given = self.arguments()
        span = Span(token.span.start, self.tokens[self.at - 1].span.end)
        match name, given:
            case (("true" | "false"), []):
                return Constant(name == "true", span)
            case ["not", [value]]:
                return self.operators.negation(value, span=span)
            case ["boolean", [value]]:
                return value
            case ["string", [value]]:
                return _convert_to_text(value)
            case ["number", [value]]:
                return _convert_to_number(value)
            case ["count", [Variable() as value]]:
                return Call(xpath_operators.COUNT, (value,), span)
            case ["contains", [value, other]]:
                return Call(
                    methods.CONTAINS, (_convert_to_text(value), _convert_to_text(other)), span
                )
            case ["starts-with", [value, other]]:
                return Call(
                    methods.STARTS_WITH, (_convert_to_text(value), _convert_to_text(other)), span
                )
        raise ConditionError(f"calls of `{name}` are not supported")

    def arithmetic(self, operand: Callable[[], Tree], *signs: ArithmeticOperator) -> Tree:
        """As in the base class, of values converted to numbers."""
        return super().arithmetic(lambda: self.operand(operand), *signs)

    def operand(self, operand: Callable[[], Tree]) -> Tree:
        """A value, as a number if an arithmetic operator precedes or follows it."""
        before = self.tokens[self.at - 1] if self.at else None
        follows = before is not None and before.kind == "op" and before.text in _ARITHMETIC
        value = operand()
        return _convert_to_number(value) if follows or self.ahead(*_ARITHMETIC) else value

    def unary(self) -> Tree:
        """As in the base class, of a value converted to a number."""
        tree = super().unary()
        if isinstance(tree, Negative):
            return tree.operation(_convert_to_number(tree.operand), span=tree.span)
        return tree

    def negation(self) -> Tree:
        """`not` is a function here."""
        return self.comparison()

    def comparison(self) -> Tree:
        """A comparison of values, or of one value in each list."""
        tree = super().comparison()
        if isinstance(tree, Comparison):
            return xpath_operators.COMPARISON[tree.operator](*tree.operands, span=tree.span)
        return tree

    def step(self) -> str:
        """One step of a path: the name of a child element."""
        kind, text, _ = self.take()
        if kind != "name":
            raise ConditionError("a name is expected in a path")
        return text.rpartition(":")[2]

    def steps(self, parts: list[str], start: int) -> Tree:
        """The rest of a path."""
        while self.ahead("/"):
            self.take()
            parts.append(self.step())
        tree = self.named(parts[0], parts, Span(start, self.tokens[self.at - 1].span.end))
        if len(parts) > 1 and isinstance(tree, Variable):
            return Variable(
                tree.path, tree.span, readings.FEEL_PATH
            )  # as in FEEL, a list has no parts here
        return tree


def _convert_to_number(tree: Tree) -> Tree:
    return (
        tree
        if kind_of(tree) in ("number", "whole")
        else Call(xpath_operators.NUMBER, (tree,), tree.span)
    )


def _convert_to_text(tree: Tree) -> Tree:
    return tree if kind_of(tree) == "text" else Call(xpath_operators.TEXT, (tree,), tree.span)
