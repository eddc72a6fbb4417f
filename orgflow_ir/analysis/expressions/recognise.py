"""Which language a condition is in, and whether it is code at all.

The text decides: files that declare XPath hold JUEL, FEEL or bare comparisons. What does not parse
is not guessed at: the caller makes it a decision variable and says so.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from orgflow_ir.analysis.expressions.parsers.core import Parser
from orgflow_ir.analysis.expressions.parsers.feel import FeelParser
from orgflow_ir.analysis.expressions.parsers.javascript import GroovyParser, JavaScriptParser
from orgflow_ir.analysis.expressions.parsers.juel import JuelParser
from orgflow_ir.analysis.expressions.syntax import (
    Arithmetic,
    Comparison,
    ConditionError,
    Constant,
    Logical,
    Not,
    Tree,
)
from orgflow_ir.model import Expression

_WRAPPED = re.compile(r"\s*[$#]\{(.*)\}\s*", re.DOTALL)
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_SINGLE_EQUALS = re.compile(r"(?<![=!<>])=(?!=)")
_DECLARED: tuple[tuple[str, type[Parser]], ...] = (
    ("feel", FeelParser), ("juel", JuelParser), ("javascript", JavaScriptParser),
    ("ecmascript", JavaScriptParser), ("groovy", GroovyParser), ("python", GroovyParser),
)  # fmt: skip
_SCRIPTS = (JavaScriptParser, GroovyParser)


class Recognised(NamedTuple):
    """A text as code: the part `text[start:end]`, and the parser of its language. `marked` where
    the source says that it is code; else it may be a label."""

    text: str
    start: int
    end: int
    parser: type[Parser]
    marked: bool

    def parse(self) -> Tree:
        """The tree. Raises `ConditionError` where it is not in the grammar."""
        return self.parser(self.text, self.start, self.end).parse()


def recognise(condition: Expression) -> Recognised:
    """The code in a condition and its language.

    Marked are `${…}` and `#{…}` (JUEL), a leading `=` (FEEL) and what declares a language that is
    known here; that language counts where there is no mark. Raises `ConditionError` for a script
    that assigns.
    """
    text = condition.text
    declared = next(
        (p for name, p in _DECLARED if name in (condition.language or "").lower()), None
    )
    wrapped = _WRAPPED.fullmatch(text)
    start, end = wrapped.span(1) if wrapped else (len(text) - len(text.lstrip()), len(text))
    equals_first = not wrapped and text[start : start + 1] == "="
    start += equals_first
    signs = _QUOTED.sub("", text[start:end])
    single = _SINGLE_EQUALS.search(signs) is not None
    if declared in _SCRIPTS and single:
        raise ConditionError("a single `=` assigns in this language")
    parser: type[Parser]
    if wrapped:
        parser = JuelParser
    elif equals_first:
        parser = FeelParser
    else:
        parser = declared or (FeelParser if single or "<>" in signs else JavaScriptParser)
    marked = wrapped is not None or equals_first or declared is not None
    return Recognised(text, start, end, parser, marked)


def read_condition(condition: Expression) -> Tree | None:
    """The tree of a condition that is code, or `None` where it is a label.

    Code is what is marked as code, or compares or computes something. Raises `ConditionError` for
    marked code that is not in the grammar.
    """
    code = recognise(condition)
    if code.marked:
        return code.parse()
    try:
        tree = code.parse()
    except ConditionError:
        return None
    if isinstance(tree, Constant):
        return tree if isinstance(tree.value, bool) else None
    return tree if isinstance(tree, Comparison | Logical | Not | Arithmetic) else None
