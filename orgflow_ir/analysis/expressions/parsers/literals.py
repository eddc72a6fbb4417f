"""Literals of lists, maps and templates in scripts."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from orgflow_ir.analysis.expressions.parsers.core import (
    OBJECT_NAMES,
    TOKEN,
    Parser,
    refuse_too_large,
    refuse_zero_in,
)
from orgflow_ir.analysis.expressions.parsers.java import JavaParser, MvelParser
from orgflow_ir.analysis.expressions.parsers.javascript import (
    GroovyParser,
    JavaScriptParser,
    PythonParser,
    template,
)
from orgflow_ir.analysis.expressions.syntax import (
    Arithmetic,
    Call,
    Comparison,
    Conditional,
    ConditionError,
    Constant,
    Empty,
    Function,
    Logical,
    Not,
    Scalar,
    Span,
    Tree,
    nodes,
)


class _Literals(Parser):
    """A parser that also reads lists and maps: `braces` encloses maps in braces, otherwise in
    brackets; `bare` allows keys without quotes."""

    braces: ClassVar[bool] = True
    bare: ClassVar[bool] = False

    def primary(self) -> Tree:
        """As in the base class, or a list or map."""
        if self.ahead("["):
            start = self.take().span.start
            return self.asked(self.collection(start, "]", maps=not self.braces))
        if self.braces and self.ahead("{"):
            start = self.take().span.start
            return self.asked(self.collection(start, "}", maps=True))
        return super().primary()

    def collection(self, start: int, closing: str, *, maps: bool) -> Tree:
        """A list or map, its opening sign taken."""
        self.nest()
        found: list[Tree] = []
        named = closing == "}"
        if maps and not named and self.ahead(":"):  # Groovy's empty map
            self.take()
            named = True
        while not self.ahead(closing):
            if maps and (name := self.name_of_entry(closing)) is not None:
                if found and not named:
                    raise ConditionError("an entry with a name is not supported here")
                named = True
                found.append(name)
            elif named:
                raise ConditionError("an entry without a name is not supported here")
            found.append(self.choice())
            if not self.ahead(","):
                break
            self.take()
        self.expect(closing)
        self.depth -= 1
        span = Span(start, self.tokens[self.at - 1].span.end)
        function: Function = "map" if named else "list"
        return Call(function, tuple(found), span)

    def name_of_entry(self, closing: str) -> Constant | None:
        """The key of an entry and its colon, taken; `None` where none comes next. In JavaScript
        `{total}` is short for `{total: total}`."""
        if self.at + 1 >= len(self.tokens):
            return None
        token, sign = self.tokens[self.at], self.tokens[self.at + 1]
        short = self.bare and self.braces and sign.text in (",", closing) and token.kind == "name"
        if sign[:2] != ("op", ":") and not short:
            return None
        key: Tree = Constant(token.text, token.span)
        if token.kind == "str":
            key = self.quoted(token.text, token.span)
        elif token.kind != "name" or not self.bare:
            raise ConditionError(f"the key `{token.text}` is not supported")
        if not isinstance(key, Constant) or key.value in OBJECT_NAMES:
            raise ConditionError(f"the key `{token.text}` is not supported")
        if not short:
            self.at += 2
        return key


class JavaScriptValues(_Literals, JavaScriptParser):
    """Values in JavaScript scripts, with templates in backticks."""

    token: ClassVar[re.Pattern[str]] = re.compile(
        TOKEN.pattern.replace(r"|'(?:", r"|`(?:[^`\\]|\\.)*`|'(?:", 1).replace("?:]))", "?:{}]))")
    )
    bare = True

    def quoted(self, text: str, span: Span) -> Tree:
        """The value of a text in quotes or backticks."""
        if text[0] == "`":
            return template(text, span, type(self), names=False)
        return super().quoted(text, span)


class GroovyValues(_Literals, GroovyParser):
    """Values in Groovy scripts, where empty lists and maps are false, `&&` and `||` give truth
    values, and a number is never equal to a text."""

    braces = False
    bare = True

    def parse(self) -> Tree:
        """As in the base class."""
        return checked_in_groovy(super().parse())


_TRUTHS = frozenset(
    ("is empty", "contains", "has", "starts with", "ends with", "same letters", "truth")
)


def groovy_truth(tree: Tree) -> Tree:
    """Whether a value counts as true in Groovy."""
    known = isinstance(tree, Comparison | Not | Logical | Empty) or (
        isinstance(tree, Call) and tree.function in _TRUTHS
    )
    if known or (isinstance(tree, Constant) and isinstance(tree.value, bool)):
        return tree
    return Call("truth", (tree,), tree.span)


def checked_in_groovy(tree: Tree) -> Tree:
    """As `in_groovy`. Raises `ConditionError` also for a division by zero, and for numbers that
    JavaScript would round."""
    refuse_zero_in(tree)
    refuse_too_large(tree)
    return in_groovy(tree)


def in_groovy(tree: Tree) -> Tree:
    """The tree with what is true and equal in Groovy. Raises `ConditionError` for what depends on
    types that are not known."""
    match tree:
        case Not(operand, meaning, span):
            return Not(groovy_truth(in_groovy(operand)), meaning, span)
        case Logical(operator, left, right, meaning, span):
            left, right = groovy_truth(in_groovy(left)), groovy_truth(in_groovy(right))
            return Logical(operator, left, right, meaning, span)
        case Conditional(condition, then, otherwise, meaning, span):
            return Conditional(
                groovy_truth(in_groovy(condition)),
                in_groovy(then),
                in_groovy(otherwise),
                meaning,
                span,
            )
        case Comparison(operator, left, right, meaning, span):
            left, right = in_groovy(left), in_groovy(right)
            if any(map(_is_decimal, (left, right))):
                raise ConditionError("whether decimals computed here are equal depends on types")
            return Comparison(operator, left, right, meaning, span)
        case Call(function, arguments, span):
            return Call(function, tuple(map(in_groovy, arguments)), span)
        case Arithmetic(operator, left, right, meaning, span):
            if any(isinstance(o, Call) and o.function in ("list", "map") for o in (left, right)):
                raise ConditionError(f"`{operator}` of lists is not supported")
            left, right = in_groovy(left), in_groovy(right)
            sides = [s.value for s in (left, right) if isinstance(s, Constant)]
            if operator != "+" and any(isinstance(value, str) for value in sides):
                raise ConditionError(f"`{operator}` of texts is not supported")
            if len(sides) == 2 and any(isinstance(value, float) for value in sides):
                return Constant(_exactly(operator, *sides), span)
            return Arithmetic(operator, left, right, meaning, span)
        case _:
            return tree


def in_python(tree: Tree) -> Tree:
    """The tree with what is true in Python: empty lists and objects are false, as in Groovy."""
    match tree:
        case Not(operand, meaning, span):
            return Not(groovy_truth(in_python(operand)), meaning, span)
        case Logical(operator, left, right, meaning, span):
            left, right = groovy_truth(in_python(left)), groovy_truth(in_python(right))
            return Logical(operator, left, right, meaning, span)
        case _:
            return tree


def _is_decimal(tree: Tree) -> bool:
    """Whether Groovy may compute a value with exact decimals: those of a script are."""
    return isinstance(tree, Arithmetic) and any(
        isinstance(node, Constant) and isinstance(node.value, float) for node in nodes(tree)
    )


def _exactly(operator: str, one: Any, two: Any) -> Scalar:
    """What Groovy computes of two constants, of which one is a decimal."""
    from decimal import Decimal  # few scripts have it

    if isinstance(one, str) or isinstance(two, str):
        raise ConditionError("the text of a decimal is not supported")
    first, second = Decimal(repr(one)), Decimal(repr(two))
    if operator == "+":
        return float(first + second)
    if operator == "-":
        return float(first - second)
    if operator == "*":
        return float(first * second)
    raise ConditionError(f"`{operator}` of decimals is not supported")


class PythonValues(_Literals, PythonParser):
    """Values in Python scripts."""

    token: ClassVar[re.Pattern[str]] = JavaScriptValues.token


class MvelValues(_Literals, MvelParser):
    """Values in MVEL scripts, which have no map literals in braces."""

    braces = False


class JavaValues(_Literals, JavaParser):
    """Values in Java scripts."""

    braces = False
