"""JavaScript, and the subset of Groovy and Python with the same expressions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar, cast

from orgflow_ir.languages.expression_parser import (
    JAVA_METHODS,
    Parser,
    unquoted,
)
from orgflow_ir.program.syntax import (
    Arithmetic,
    Call,
    Comparison,
    ComparisonOperator,
    ConditionError,
    Constant,
    EntryRules,
    Function,
    Logical,
    Meaning,
    Span,
    Tree,
)

_PART = re.compile(r"\\(?P<sign>.)|\$(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)|\$\{", re.DOTALL)
"""Characters with a special meaning in a Groovy text in double quotes."""
_CONSTANTS = {"True": True, "False": False, "None": None}
_INSIDE = re.compile(r"\{|\}|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")


def template(text: str, span: Span, parser: type[Parser], *, names: bool) -> Tree:
    """The value of a quoted text with `${…}` in it: the texts and values one after the other, each
    converted to text as by the language's `+`. With `names`, `$name` is a value as well. Raises
    `ConditionError` for escapes of other characters than `\\`, `$` and quotes.
    """
    body, at = text[1:-1], 0
    tree: Tree = Constant("", span)
    plain = ""

    def add(value: Tree) -> None:
        nonlocal tree
        text = isinstance(value, Constant) and isinstance(value.value, str)
        first = isinstance(tree, Constant) and tree.value == "" and text
        tree = value if first else Arithmetic("+", tree, value, parser.meaning, span)

    for match in _PART.finditer(body):
        if match.start() < at:
            continue  # inside of an expression
        plain += body[at : match.start()]
        at = match.end()
        if match["sign"] is not None:
            if match["sign"] not in "\\$\"'`":
                raise ConditionError("only quotes and backslashes can be escaped in texts")
            plain += match["sign"]
        elif match["name"] is not None and not names:
            plain += match[0]
        else:
            inner = match["name"]
            if inner is None:
                end = _closing(body, at)
                inner, at = body[at:end], end + 1
            if plain:
                add(Constant(plain, span))
                plain = ""
            add(parser(inner).parse())
    plain += body[at:]
    if plain:
        add(Constant(plain, span))
    return tree


def _closing(text: str, at: int) -> int:
    depth = 1
    for match in _INSIDE.finditer(text, at):
        depth += (match[0] == "{") - (match[0] == "}")
        if not depth:
            return match.start()
    raise ConditionError("`}` expected")


class JavaScriptParser(Parser):
    """Comparisons and logic of JavaScript. A single `=` is an assignment, which callers that know
    the text is JavaScript refuse first (`recognise`). In a text of unknown language it compares."""

    meaning: ClassVar[Meaning] = "loose"
    signs: ClassVar[dict[str, tuple[ComparisonOperator, Meaning]]] = {
        "==": ("==", "loose"), "!=": ("!=", "loose"), "===": ("==", "strict"),
        "!==": ("!=", "strict"), "=": ("==", "feel"), "<>": ("!=", "feel"),
    }  # fmt: skip
    writers: ClassVar[Mapping[tuple[str, ...], Function]] = {("JSON", "stringify"): "written json"}

    def comparison(self) -> Tree:
        """As in the base class; only undefined is `=== undefined`, null is not."""
        found = super().comparison()
        if not (isinstance(found, Comparison) and found.meaning == "strict"):
            return found
        left, right = (self.is_undefined(side) for side in (found.left, found.right))
        if left is right:
            return found
        other = found.right if left else found.left
        kind = Call("type", (other,), other.span)
        return Comparison(found.operator, kind, Constant("undefined"), "strict", found.span)

    def is_undefined(self, side: Tree) -> bool:
        """Whether an operand is the word `undefined`, which is read as null elsewhere."""
        words = (token.text for token in self.tokens if token.span == side.span)
        return side == Constant(None) and "undefined" in words


class EqualsParser(JavaScriptParser):
    """Languages of which `==` compares values as Java's `equals` does."""

    meaning: ClassVar[Meaning] = "java"
    signs: ClassVar[dict[str, tuple[ComparisonOperator, Meaning]]] = {
        **JavaScriptParser.signs, "==": ("==", "java"), "!=": ("!=", "java"),
    }  # fmt: skip
    writers: ClassVar[Mapping[tuple[str, ...], Function]] = {}


class PythonParser(JavaScriptParser):
    """Python: the values that Jython (Python 2) and Python 3 agree on."""

    entries: ClassVar[EntryRules | None] = "python"
    writers: ClassVar[Mapping[tuple[str, ...], Function]] = {}
    meaning: ClassVar[Meaning] = "python"
    signs: ClassVar[dict[str, tuple[ComparisonOperator, Meaning]]] = {
        **JavaScriptParser.signs, "==": ("==", "python"), "!=": ("!=", "python"),
    }  # fmt: skip

    def primary(self) -> Tree:
        """As in the base class, with Python's names of constants."""
        if self.at < len(self.tokens) and self.tokens[self.at].kind == "name":
            token = self.tokens[self.at]
            if token.text in _CONSTANTS:
                self.at += 1
                return Constant(_CONSTANTS[token.text], token.span)
        return super().primary()

    def comparison(self) -> Tree:
        """As in the base class, `a is None`, and `a < b < c`, which is `a < b and b < c`."""
        left = self.sum()
        found: Tree | None = None
        while True:
            if self.ahead(*self.signs, "<", "<=", ">", ">="):
                sign = self.take().text
                right = self.sum()
                order = (cast(ComparisonOperator, sign), self.meaning)
                operator, meaning = self.signs.get(sign, order)
            elif self.ahead_word("is"):
                self.take()
                operator, meaning = "==", self.meaning
                if self.ahead_word("not"):
                    self.take()
                    operator = "!="
                right = self.sum()
                if right != Constant(None):
                    raise ConditionError("`is` is supported only with `None`")
            else:
                return left if found is None else found
            span = Span(left.span.start, right.span.end)
            one = Comparison(operator, left, right, meaning, span)
            found = one if found is None else Logical("and", found, one, self.meaning, span)
            left = right


class GroovyParser(EqualsParser):
    """Groovy's `==` is `equals`; a text in double quotes is a template."""

    words: ClassVar[dict[str, str]] = {}
    elvis: ClassVar[bool] = True
    writers: ClassVar[Mapping[tuple[str, ...], Function]] = {
        ("JsonOutput", "toJson"): "escaped json",
        ("groovy", "json", "JsonOutput", "toJson"): "escaped json",
    }
    methods: ClassVar[dict[str, tuple[Function, int]]] = {**JAVA_METHODS, "size": ("size", 0)}
    entries: ClassVar[EntryRules | None] = "groovy"

    def ahead_word(self, word: str) -> bool:
        """Groovy has no operators that are words."""
        return False

    def quoted(self, text: str, span: Span) -> Tree:
        """The value of a text in quotes; double quotes insert the values of `$name` and `${…}`."""
        if text[0] == '"' and "$" in text:
            return template(text, span, type(self), names=True)
        return Constant(unquoted(text), span)
