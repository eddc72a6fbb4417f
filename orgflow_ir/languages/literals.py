"""Literals of lists, maps and templates in scripts."""

from __future__ import annotations

import re
from typing import ClassVar

from orgflow_ir.languages.expression_parser import (
    OBJECT_NAMES,
    TOKEN,
    Parser,
    refuse_too_large,
    refuse_zero_in,
)
from orgflow_ir.languages.java import JavaParser, MvelParser
from orgflow_ir.languages.javascript import (
    GroovyParser,
    JavaScriptParser,
    PythonParser,
    template,
)
from orgflow_ir.program.syntax import (
    Arithmetic,
    Call,
    Comparison,
    Conditional,
    ConditionError,
    Constant,
    Empty,
    Function,
    Logical,
    Negative,
    Not,
    Span,
    Tree,
    Variable,
    kind_of,
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
    unsure: frozenset[str] = frozenset()
    """Variables that may hold decimals."""

    def parse(self) -> Tree:
        """As in the base class."""
        return checked_in_groovy(super().parse(), self.unsure)


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


def checked_in_groovy(tree: Tree, unsure: frozenset[str] = frozenset()) -> Tree:
    """As `in_groovy`. Raises `ConditionError` also for a division by zero, and for numbers that
    JavaScript would round."""
    refuse_zero_in(tree)
    refuse_too_large(tree)
    return in_groovy(tree, unsure)


def in_groovy(tree: Tree, unsure: frozenset[str] = frozenset()) -> Tree:
    """The tree with what is true and equal in Groovy, and with its arithmetic. Variables in
    `unsure` may hold decimals. Raises `ConditionError` for what depends on types that are not
    known."""
    match tree:
        case Not(operand, meaning, span):
            return Not(groovy_truth(in_groovy(operand, unsure)), meaning, span)
        case Logical(operator, left, right, meaning, span):
            left, right = (
                groovy_truth(in_groovy(left, unsure)),
                groovy_truth(in_groovy(right, unsure)),
            )
            return Logical(operator, left, right, meaning, span)
        case Conditional(condition, then, otherwise, meaning, span):
            return Conditional(
                groovy_truth(in_groovy(condition, unsure)),
                in_groovy(then, unsure),
                in_groovy(otherwise, unsure),
                meaning,
                span,
            )
        case Comparison(operator, left, right, meaning, span):
            left, right = in_groovy(left, unsure), in_groovy(right, unsure)
            return Comparison(operator, left, right, meaning, span)
        case Call(function, arguments, span):
            inner = tuple(in_groovy(one, unsure) for one in arguments)
            if function == "escaped json" and any(map(_is_exact, nodes(inner[0]))):
                raise ConditionError("the text of a decimal is not supported")
            return Call(function, inner, span)
        case Arithmetic() | Negative():
            found = _arithmetic(tree, unsure)
            if not _is_exact(found):
                return found
            return Call("decimal", (_exactly(found),), tree.span)
        case _:
            return tree


def in_python(tree: Tree, *, condition: bool = False) -> Tree:
    """The tree with what is true in Python, where empty lists and objects are false as in Groovy,
    and where `and` and `or` give one of their operands; of a `condition`, only the truth is of
    interest. Raises `ConditionError` for operations that Python does not have."""
    match tree:
        case Not(operand, meaning, span):
            return Not(groovy_truth(in_python(operand, condition=True)), meaning, span)
        case Logical(operator, left, right, meaning, span) if condition:
            one, two = (groovy_truth(in_python(s, condition=True)) for s in (left, right))
            return Logical(operator, one, two, meaning, span)
        case Logical(operator, left, right, meaning, span):
            left, right = in_python(left), in_python(right)
            if kind_of(left) == kind_of(right) == "truth":
                return Logical(operator, left, right, meaning, span)
            then, otherwise = (right, left) if operator == "and" else (left, right)
            return Conditional(groovy_truth(left), then, otherwise, meaning, span)
        case Conditional(asked, then, otherwise, meaning, span):
            truth = groovy_truth(in_python(asked, condition=True))
            one, two = (in_python(s, condition=condition) for s in (then, otherwise))
            return Conditional(truth, one, two, meaning, span)
        case Comparison(operator, left, right, meaning, span):
            left, right = in_python(left), in_python(right)
            if operator not in ("==", "!=") and not _have_order(left, right):
                raise ConditionError(f"`{operator}` of these values is not supported")
            return Comparison(operator, left, right, meaning, span)
        case Negative(operand, meaning, span):
            return Negative(in_python(operand), meaning, span)
        case Call(function, arguments, span):
            return Call(function, tuple(map(in_python, arguments)), span)
        case Arithmetic(operator, left, right, meaning, span):
            left, right = in_python(left), in_python(right)
            kinds = {_summand_kind(left), _summand_kind(right)} - {None}
            allowed = {"number", "text"} if operator == "+" else {"number"}
            if len(kinds) > 1 or not kinds <= allowed:
                raise ConditionError(f"`{operator}` of these values is not supported")
            return Arithmetic(operator, left, right, meaning, span)
        case _:
            return tree


def _have_order(left: Tree, right: Tree) -> bool:
    """Whether Python 2 and 3 may have the same order of two values."""
    kinds = {"number" if one == "truth" else one for one in map(_summand_kind, (left, right))}
    kinds.discard(None)
    return len(kinds) < 2 and "object" not in kinds and Constant(None) not in (left, right)


def _summand_kind(tree: Tree) -> str | None:
    """The type of an operand of arithmetic, as far as it is known."""
    if isinstance(tree, Call) and tree.function in ("list", "map", "append"):
        return "object"
    kind = kind_of(tree)
    return "number" if kind == "whole" else kind


def _arithmetic(tree: Tree, unsure: frozenset[str]) -> Tree:
    """Arithmetic of Groovy, with values that are not arithmetic inside."""
    match tree:
        case Arithmetic(_, _, _, "exact"):
            return tree
        case Negative(operand, meaning, span):
            return Negative(_arithmetic(operand, unsure), meaning, span)
        case Variable(path, span) if path[0] in unsure:
            return Call("unsure", (tree,), span)
        case Call("decimal", (inner,)):
            return inner
        case Arithmetic(operator, left, right, meaning, span):
            if any(isinstance(o, Call) and o.function in ("list", "map") for o in (left, right)):
                raise ConditionError(f"`{operator}` of lists is not supported")
            left, right = _arithmetic(left, unsure), _arithmetic(right, unsure)
            sides = (left, right)
            if any(kind_of(one) == "text" for one in sides):
                if operator != "+":
                    raise ConditionError(f"`{operator}` of texts is not supported")
                if any(map(_is_exact, sides)):
                    raise ConditionError("the text of a decimal is not supported")
            return Arithmetic(operator, left, right, meaning, span)
        case _:
            return in_groovy(tree, unsure)


def _is_exact(tree: Tree) -> bool:
    """Whether Groovy computes a number with exact decimals, or may do so."""
    match tree:
        case Arithmetic(operator, left, right):
            return operator == "/" or _is_exact(left) or _is_exact(right)
        case Negative(operand):
            return _is_exact(operand)
        case Constant(value):
            return isinstance(value, float)
        case Call("unsure" | "decimal"):
            return True
    return False


def _exactly(tree: Tree) -> Tree:
    """Arithmetic that is computed with exact decimals."""
    match tree:
        case Arithmetic(operator, left, right, _, span):
            if operator == "%":
                raise ConditionError("`%` of decimals is not supported")
            return Arithmetic(operator, _exactly(left), _exactly(right), "exact", span)
        case Negative(operand, _, span):
            return Negative(_exactly(operand), "exact", span)
    return tree


class PythonValues(_Literals, PythonParser):
    """Values in Python scripts."""

    token: ClassVar[re.Pattern[str]] = JavaScriptValues.token

    def parse(self) -> Tree:
        """As in the base class."""
        return in_python(super().parse())


class MvelValues(_Literals, MvelParser):
    """Values in MVEL scripts, which have no map literals in braces."""

    braces = False


class JavaValues(_Literals, JavaParser):
    """Values in Java scripts."""

    braces = False
