"""JavaScript, and the subset of Groovy and Python with the same expressions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from orgflow_ir.languages.expression_parser import (
    JAVA_METHODS,
    Parser,
    remove_quotes,
)
from orgflow_ir.program import methods, readings
from orgflow_ir.program.ecmascript_operators import LOOSE, STRICT
from orgflow_ir.program.feel_operators import FEEL
from orgflow_ir.program.java_operators import JAVA
from orgflow_ir.program.operators import Operators
from orgflow_ir.program.python_operators import PYTHON
from orgflow_ir.program.syntax import (
    Comparison,
    ConditionError,
    Constant,
    Method,
    Operation,
    Reading,
    Span,
    Tree,
)

_PART = re.compile(r"\\(?P<sign>.)|\$(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)|\$\{", re.DOTALL)
"""Characters with a special meaning in a Groovy text in double quotes."""
_CONSTANTS = {"True": True, "False": False, "None": None}
_INSIDE = re.compile(r"\{|\}|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")


def parse_template(text: str, span: Span, parser: type[Parser], *, names: bool) -> Tree:
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
        add_texts = parser.operators.arithmetic["+"]
        tree = value if first else add_texts(tree, value, span=span)

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
                end = _find_closing(body, at)
                inner, at = body[at:end], end + 1
            if plain:
                add(Constant(plain, span))
                plain = ""
            add(parser(inner).parse())
    plain += body[at:]
    if plain:
        add(Constant(plain, span))
    return tree


def _find_closing(text: str, at: int) -> int:
    depth = 1
    for match in _INSIDE.finditer(text, at):
        depth += (match[0] == "{") - (match[0] == "}")
        if not depth:
            return match.start()
    raise ConditionError("`}` expected")


class JavaScriptParser(Parser):
    """Comparisons and logic of JavaScript. A single `=` is an assignment, which callers that know
    the text is JavaScript refuse first (`recognise`). In a text of unknown language it compares."""

    operators: ClassVar[Operators] = LOOSE
    signs: ClassVar[Mapping[str, Operation[Comparison]]] = {
        "==": LOOSE.comparison["=="], "!=": LOOSE.comparison["!="], "===": STRICT["=="],
        "!==": STRICT["!="], "=": FEEL.comparison["=="], "<>": FEEL.comparison["!="],
    }  # fmt: skip
    writers: ClassVar[Mapping[tuple[str, ...], Method]] = {
        ("JSON", "stringify"): methods.WRITTEN_JSON
    }

    def comparison(self) -> Tree:
        """As in the base class; only undefined is `=== undefined`, null is not."""
        compared = super().comparison()
        if not isinstance(compared, Comparison) or compared.operation not in STRICT.values():
            return compared
        left, right = (self.is_undefined(side) for side in (compared.left, compared.right))
        if left is right:
            return compared
        other = compared.right if left else compared.left
        kind = methods.TYPE(other, span=other.span)
        return compared.operation(kind, Constant("undefined"), span=compared.span)

    def is_undefined(self, side: Tree) -> bool:
        """Whether an operand is the word `undefined`, which is read as null elsewhere."""
        words = (token.text for token in self.tokens if token.span == side.span)
        return side == Constant(None) and "undefined" in words


class EqualsParser(JavaScriptParser):
    """Languages of which `==` compares values as Java's `equals` does."""

    operators: ClassVar[Operators] = JAVA
    signs: ClassVar[Mapping[str, Operation[Comparison]]] = {
        **JavaScriptParser.signs, "==": JAVA.comparison["=="], "!=": JAVA.comparison["!="],
    }  # fmt: skip
    writers: ClassVar[Mapping[tuple[str, ...], Method]] = {}


class PythonParser(JavaScriptParser):
    """Python: the values that Jython (Python 2) and Python 3 agree on."""

    entries: ClassVar[Reading | None] = readings.PYTHON_ENTRY
    writers: ClassVar[Mapping[tuple[str, ...], Method]] = {}
    operators: ClassVar[Operators] = PYTHON
    signs: ClassVar[Mapping[str, Operation[Comparison]]] = {
        **JavaScriptParser.signs, "==": PYTHON.comparison["=="], "!=": PYTHON.comparison["!="],
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
        chain: Tree | None = None
        while True:
            if self.ahead(*self.signs, "<", "<=", ">", ">="):
                operation = self.compared(self.take().text)
                right = self.sum()
            elif self.ahead_word("is"):
                self.take()
                operation = self.operators.comparison["=="]
                if self.ahead_word("not"):
                    self.take()
                    operation = self.operators.comparison["!="]
                right = self.sum()
                if right != Constant(None):
                    raise ConditionError("`is` is supported only with `None`")
            else:
                return left if chain is None else chain
            span = Span(left.span.start, right.span.end)
            link = operation(left, right, span=span)
            chain = self.operators.logic["and"](chain, link, span=span) if chain else link
            left = right


class GroovyParser(EqualsParser):
    """Groovy's `==` is `equals`; a text in double quotes is a template."""

    words: ClassVar[dict[str, str]] = {}
    elvis: ClassVar[bool] = True
    writers: ClassVar[Mapping[tuple[str, ...], Method]] = {
        ("JsonOutput", "toJson"): methods.ESCAPED_JSON,
        ("groovy", "json", "JsonOutput", "toJson"): methods.ESCAPED_JSON,
    }
    methods: ClassVar[dict[str, tuple[Method, int]]] = {**JAVA_METHODS, "size": (methods.SIZE, 0)}
    entries: ClassVar[Reading | None] = readings.GROOVY_ENTRY

    def ahead_word(self, word: str) -> bool:
        """Groovy has no operators that are words."""
        return False

    def quoted(self, text: str, span: Span) -> Tree:
        """The value of a text in quotes; double quotes insert the values of `$name` and `${…}`."""
        if text[0] == '"' and "$" in text:
            return parse_template(text, span, type(self), names=True)
        return Constant(remove_quotes(text), span)
