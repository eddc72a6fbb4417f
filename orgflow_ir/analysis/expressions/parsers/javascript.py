"""JavaScript, and the subset of Groovy and Python with the same expressions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from orgflow_ir.analysis.expressions.parsers.core import (
    JAVA_METHODS,
    Parser,
    unquoted,
)
from orgflow_ir.analysis.expressions.syntax import (
    Arithmetic,
    ComparisonOperator,
    ConditionError,
    Constant,
    EntryRules,
    Function,
    Meaning,
    Span,
    Tree,
)

_PART = re.compile(
    r"\\(?P<sign>.)|\$(?P<name>(?a:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*))|\$\{", re.DOTALL
)
"""Characters with a special meaning in a Groovy text in double quotes."""
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
        first = isinstance(tree, Constant) and tree.value == "" and isinstance(value, Constant)
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


class PythonParser(JavaScriptParser):
    """Python's `==` compares values, as Java's `equals` does at this level."""

    meaning: ClassVar[Meaning] = "java"
    signs: ClassVar[dict[str, tuple[ComparisonOperator, Meaning]]] = {
        **JavaScriptParser.signs, "==": ("==", "java"), "!=": ("!=", "java"),
    }  # fmt: skip
    writers: ClassVar[Mapping[tuple[str, ...], Function]] = {}


class GroovyParser(PythonParser):
    """Groovy's `==` is `equals`; a text in double quotes is a template."""

    elvis: ClassVar[bool] = True
    writers: ClassVar[Mapping[tuple[str, ...], Function]] = {
        ("JsonOutput", "toJson"): "escaped json",
        ("groovy", "json", "JsonOutput", "toJson"): "escaped json",
    }
    methods: ClassVar[dict[str, tuple[Function, int]]] = {**JAVA_METHODS, "size": ("size", 0)}
    entries: ClassVar[EntryRules | None] = "groovy"

    def quoted(self, text: str, span: Span) -> Tree:
        """The value of a text in quotes; double quotes insert the values of `$name` and `${…}`."""
        if text[0] == '"' and "$" in text:
            return template(text, span, type(self), names=True)
        return Constant(unquoted(text), span)
