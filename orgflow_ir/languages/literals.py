"""Literals of lists, maps and templates in scripts."""

from __future__ import annotations

import re
from typing import ClassVar

from orgflow_ir.languages.expression_parser import (
    TOKEN,
    Parser,
    refuse_too_large,
    refuse_zero_in,
)
from orgflow_ir.languages.java import JavaParser, MvelParser
from orgflow_ir.languages.javascript import (
    PYTHON_TOKEN,
    GroovyParser,
    JavaScriptParser,
    PythonParser,
    parse_template,
)
from orgflow_ir.program import methods
from orgflow_ir.program.portable_operators import PORTABLE
from orgflow_ir.program.python_operators import PYTHON
from orgflow_ir.program.readings import OBJECT_NAMES
from orgflow_ir.program.syntax import (
    Arithmetic,
    Call,
    Comparison,
    Conditional,
    ConditionError,
    Constant,
    Empty,
    FunctionRow,
    Logical,
    Negative,
    Not,
    Span,
    Tree,
    Variable,
    kind_of,
    nodes,
    with_operands,
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
        operands: list[Tree] = []
        named = closing == "}"
        if maps and not named and self.ahead(":"):  # Groovy's empty map
            self.take()
            named = True
        while not self.ahead(closing):
            if maps and (name := self.name_of_entry(closing)) is not None:
                if operands and not named:
                    raise ConditionError("an entry with a name is not supported here")
                named = True
                operands.append(name)
            elif named:
                raise ConditionError("an entry without a name is not supported here")
            operands.append(self.choice())
            if self.library == "python" and len(operands) == 1 and self.ahead_word("for"):
                assert isinstance(self, PythonParser)
                listed = self.comprehension(operands.pop())
                self.expect(closing)
                self.depth -= 1
                return listed
            if not self.ahead(","):
                break
            self.take()
        self.expect(closing)
        self.depth -= 1
        span = Span(start, self.tokens[self.at - 1].span.end)
        function = methods.MAP if named else methods.LIST
        return function(*operands, span=span)

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

    computed_parts: ClassVar[bool] = True
    token: ClassVar[re.Pattern[str]] = re.compile(
        TOKEN.pattern.replace(r"|'(?:", r"|`(?:[^`\\]|\\.)*`|'(?:", 1).replace("?:]))", "?:{}]))")
    )
    bare = True

    def quoted(self, text: str, span: Span) -> Tree:
        """The value of a text in quotes or backticks."""
        if text[0] == "`":
            return parse_template(text, span, type(self), names=False)
        return super().quoted(text, span)


class GroovyValues(_Literals, GroovyParser):
    """Values in Groovy scripts, where empty lists and maps are false, `&&` and `||` give truth
    values, and a number is never equal to a text."""

    braces = False
    bare = True

    def parse(self) -> Tree:
        """As in the base class."""
        return checked_in_groovy(super().parse(), self.unsure)


_TRUTHS = frozenset(
    (
        methods.IS_EMPTY, methods.CONTAINS, methods.HAS, methods.STARTS_WITH, methods.ENDS_WITH,
        methods.SAME_LETTERS, methods.TRUTH,
    )
)  # fmt: skip


def groovy_truth(tree: Tree) -> Tree:
    """Whether a value counts as true in Groovy."""
    known = isinstance(tree, Comparison | Not | Logical | Empty) or (
        isinstance(tree, Call)
        and (tree.operation in _TRUTHS or isinstance(tree.operation, FunctionRow))
        and kind_of(tree) == "truth"
    )
    if known or (isinstance(tree, Constant) and isinstance(tree.value, bool)):
        return tree
    return Call(methods.TRUTH, (tree,), tree.span)


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

    def change(operand: Tree) -> Tree:
        return in_groovy(operand, unsure)

    match tree:
        case Not() | Logical():
            truths = (groovy_truth(change(operand)) for operand in tree.operands)
            return tree.operation(*truths, span=tree.span)
        case Conditional(operation, (condition, then, otherwise), span):
            truth = groovy_truth(change(condition))
            return operation(truth, change(then), change(otherwise), span=span)
        case Comparison():
            return with_operands(tree, change)
        case Call(operation, _, span):
            operands = tuple(map(change, tree.operands))
            if operation is methods.ESCAPED_JSON and any(map(_is_exact, nodes(operands[0]))):
                raise ConditionError("the text of a decimal is not supported")
            return operation(*operands, span=span)
        case Arithmetic() | Negative():
            computed = _convert_arithmetic(tree, unsure)
            if not _is_exact(computed):
                return computed
            return methods.DECIMAL(_convert_exactly(computed), span=tree.span)
        case _:
            return tree


def in_python(tree: Tree, *, condition: bool = False) -> Tree:
    """The tree with what is true in Python, where empty lists and objects are false as in Groovy,
    and where `and` and `or` give one of their operands; of a `condition`, only the truth is of
    interest. Raises `ConditionError` for operations that Python does not have."""
    match tree:
        case Not(operation, (operand,), span):
            return operation(groovy_truth(in_python(operand, condition=True)), span=span)
        case Logical(operation, operands, span) if condition:
            truths = (groovy_truth(in_python(side, condition=True)) for side in operands)
            return operation(*truths, span=span)
        case Logical(operation, operands, span):
            left, right = map(in_python, operands)
            if kind_of(left) == kind_of(right) == "truth":
                return operation(left, right, span=span)
            then, otherwise = (right, left) if tree.operator == "and" else (left, right)
            return PYTHON.choice(groovy_truth(left), then, otherwise, span=span)
        case Conditional(operation, (asked, *branches), span):
            truth = groovy_truth(in_python(asked, condition=True))
            changed = (in_python(branch, condition=condition) for branch in branches)
            return operation(truth, *changed, span=span)
        case Comparison(operation, operands, span):
            left, right = map(in_python, operands)
            if tree.operator not in ("==", "!=") and not _have_order(left, right):
                raise ConditionError(f"`{tree.operator}` of these values is not supported")
            return operation(left, right, span=span)
        case Negative() | Call():
            return with_operands(tree, in_python)
        case Arithmetic(operation, operands, span):
            left, right = map(in_python, operands)
            kinds = {_summand_kind(left), _summand_kind(right)} - {None}
            allowed = {"number", "text"} if tree.operator == "+" else {"number"}
            if len(kinds) > 1 or not kinds <= allowed:
                raise ConditionError(f"`{tree.operator}` of these values is not supported")
            return operation(left, right, span=span)
        case _:
            return tree


def _have_order(left: Tree, right: Tree) -> bool:
    """Whether Python 2 and 3 may have the same order of two values."""
    kinds = {"number" if kind == "truth" else kind for kind in map(_summand_kind, (left, right))}
    kinds.discard(None)
    return len(kinds) < 2 and "object" not in kinds and Constant(None) not in (left, right)


def _summand_kind(tree: Tree) -> str | None:
    """The type of an operand of arithmetic, as far as it is known."""
    if isinstance(tree, Call) and tree.operation in (methods.LIST, methods.MAP, methods.APPEND):
        return "object"
    kind = kind_of(tree)
    return "number" if kind == "whole" else kind


def _convert_arithmetic(tree: Tree, unsure: frozenset[str]) -> Tree:
    """Arithmetic of Groovy, with values that are not arithmetic inside."""
    match tree:
        case Arithmetic() if tree.operation is PORTABLE.arithmetic[tree.operator]:
            return tree
        case Negative(operation, (operand,), span):
            return operation(_convert_arithmetic(operand, unsure), span=span)
        case Variable(path, span) if path[0] in unsure:
            return methods.UNSURE(tree, span=span)
        case Call(methods.DECIMAL, (inner,)):
            return inner
        case Arithmetic(operation, operands, span):
            if any(_is_collection(side) for side in operands):
                raise ConditionError(f"`{tree.operator}` of lists is not supported")
            sides = [_convert_arithmetic(side, unsure) for side in operands]
            if any(kind_of(side) == "text" for side in sides):
                if tree.operator != "+":
                    raise ConditionError(f"`{tree.operator}` of texts is not supported")
                if any(map(_is_exact, sides)):
                    raise ConditionError("the text of a decimal is not supported")
            return operation(*sides, span=span)
        case _:
            return in_groovy(tree, unsure)


def _is_collection(tree: Tree) -> bool:
    return isinstance(tree, Call) and tree.operation in (methods.LIST, methods.MAP)


def _is_exact(tree: Tree) -> bool:
    """Whether Groovy computes a number with exact decimals, or may do so."""
    match tree:
        case Arithmetic():
            return tree.operator == "/" or any(map(_is_exact, tree.operands))
        case Negative():
            return _is_exact(tree.operand)
        case Constant(value):
            return isinstance(value, float)
        case Call(methods.UNSURE | methods.DECIMAL):
            return True
    return False


def _convert_exactly(tree: Tree) -> Tree:
    """Arithmetic that is computed with exact decimals."""
    match tree:
        case Arithmetic():
            if tree.operator == "%":
                raise ConditionError("`%` of decimals is not supported")
            sides = map(_convert_exactly, tree.operands)
            return PORTABLE.arithmetic[tree.operator](*sides, span=tree.span)
        case Negative():
            return PORTABLE.negative(_convert_exactly(tree.operand), span=tree.span)
    return tree


class PythonValues(_Literals, PythonParser):
    """Values in Python scripts."""

    token: ClassVar[re.Pattern[str]] = re.compile(
        PYTHON_TOKEN.pattern.replace(r"|'(?:", r"|`(?:[^`\\]|\\.)*`|'(?:", 1)
    )

    def parse(self) -> Tree:
        """As in the base class."""
        return in_python(super().parse())


class MvelValues(_Literals, MvelParser):
    """Values in MVEL scripts, which have no map literals in braces."""

    braces = False


class JavaValues(_Literals, JavaParser):
    """Values in Java scripts."""

    braces = False
