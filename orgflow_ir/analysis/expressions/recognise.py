"""Detects the language of a condition, and whether it is code.

The text decides: files that declare XPath hold JUEL, FEEL or bare comparisons, since it is BPMN's
own default. The meaning of a text that does not parse is never guessed. Code is reported as code,
and the caller makes it a decision variable; any other text is a label.
"""

from __future__ import annotations

import re

from orgflow_ir.analysis.expressions.parsers.core import Parser
from orgflow_ir.analysis.expressions.parsers.feel import FeelParser
from orgflow_ir.analysis.expressions.parsers.java import JavaParser, MvelParser
from orgflow_ir.analysis.expressions.parsers.javascript import (
    GroovyParser,
    JavaScriptParser,
    PythonParser,
)
from orgflow_ir.analysis.expressions.parsers.juel import JuelParser
from orgflow_ir.analysis.expressions.syntax import (
    Arithmetic,
    Comparison,
    ConditionError,
    Constant,
    Negative,
    Not,
    Tree,
    Variable,
    nodes,
)
from orgflow_ir.model import Expression
from orgflow_ir.model.records import NamedTuple

_WRAPPED = re.compile(r"\s*[$#]\{(.*)\}\s*", re.DOTALL)
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_SINGLE_EQUALS = re.compile(r"(?<![=!<>])=(?!=)")
_STATEMENT = re.compile(r"\s*(?:return\b)?(.*?)(?:;\s*)?", re.DOTALL)
_RETURNS = re.compile(r"\s*return\b.*;\s*", re.DOTALL)
_DECLARED: tuple[tuple[str, type[Parser]], ...] = (
    ("feel", FeelParser), ("juel", JuelParser), ("javascript", JavaScriptParser),
    ("ecmascript", JavaScriptParser), ("groovy", GroovyParser), ("python", PythonParser),
    ("java", JavaParser), ("mvel", MvelParser),
)  # fmt: skip
_SCRIPTS = (JavaScriptParser, GroovyParser, PythonParser, JavaParser, MvelParser)
_UNKNOWN = ("drools/rule", "xquery", "ruby", "beanshell", "jexl", "spel", "velocity", "sql")
"""Languages that occur in conditions and that orgflow does not read."""

_CODE = re.compile(
    r"""[!=]=|&&|\|\|                          # signs that no prose has
        | (?:=|<>)\s*(?:"[^"]*"|'[^']*')      # equal to a quoted text
        | \w[.:]\w+\(                         # a call of something's method or function
        | \w\((?:["'][^"']*["'])?\)           # a call without or with a quoted argument
        | \w\([^()]*\)\s*[<>=!]              # a call whose result is compared
        | (?:^|[\s(=<>])(?:\$[A-Za-z_]|//?[A-Za-z_@*])   # a variable or a path of XPath
        | ::|/@ | ;\s*$                       # an axis or attribute of XPath; a statement
    """,
    re.VERBOSE,
)
"""Characters that occur only in code, for texts that are not marked as code."""

_PATH = re.compile(r"[A-Za-z_*)]\s*/\s*[A-Za-z_@*]|::|^\s*/\w|\$[A-Za-z_]|\bget\w+\(")
"""An XPath path, in a text that declares XPath; in other texts the slash divides or is prose."""


class Recognised(NamedTuple):
    """A text as code: the part `text[start:end]`, and the parser of its language. `marked` means
    that the source marks it as code; otherwise it may be a label."""

    text: str
    start: int
    end: int
    parser: type[Parser]
    marked: bool

    def parse(self) -> Tree:
        """The tree. Raises `ConditionError` if it does not match the grammar.

        FEEL constructs beyond the shared grammar are parsed by FEEL's own parser.
        """
        try:
            tree = self.parser(self.text, self.start, self.end).parse()
        except ConditionError:
            if self.parser is not FeelParser or not self.marked:
                raise
        else:
            if self.parser is not FeelParser or not self.marked or not _needs_feel(tree):
                return tree
        from orgflow_ir.analysis.expressions.feel.reading import read_feel  # needed for few models

        return read_feel(self.text, self.start, self.end)


def _needs_feel(tree: Tree) -> bool:
    """Whether a tree of FEEL has what the shared grammar takes for something else: numbers that are
    no doubles, entries that are counted from 1, and the negation of what is neither true nor
    false."""
    for node in nodes(tree):
        match node:
            case Negative(Constant()):
                pass
            case Arithmetic() | Negative():
                return True
            case Variable(path) if any(step.lstrip("-").isdigit() for step in path):
                return True
            case Not(operand) if any(
                isinstance(n, Comparison) and n.operator not in ("==", "!=") for n in nodes(operand)
            ):
                return True
            case _:
                pass
    return False


def recognise(condition: Expression) -> Recognised:
    """The code in a condition and its language.

    Code is marked by `${…}` and `#{…}` (JUEL), a leading `=` (FEEL), `return …;`, or a supported
    declared language other than XPath. Without a mark, the declared language decides. Raises
    `ConditionError` for a script that assigns, and for an unsupported language.
    """
    text, language = condition.text, (condition.language or "").lower()
    declared = next((p for name, p in _DECLARED if name in language), None)
    if declared is None and any(name in language for name in _UNKNOWN):
        raise ConditionError(f"the language `{condition.language}` is not supported")
    wrapped = _WRAPPED.fullmatch(text)
    if declared is None and not wrapped and _RETURNS.fullmatch(text):
        declared = JavaParser
    start, end = wrapped.span(1) if wrapped else (len(text) - len(text.lstrip()), len(text))
    equals_first = not wrapped and text[start : start + 1] == "="
    start += equals_first
    if not wrapped and not equals_first and declared in _SCRIPTS:
        statement = _STATEMENT.fullmatch(text)
        assert statement is not None
        start, end = statement.span(1)
    signs = _QUOTED.sub("", text[start:end])
    single = _SINGLE_EQUALS.search(signs) is not None
    if declared in _SCRIPTS and single:
        raise ConditionError("a single `=` is an assignment in this language")
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
    """The tree of a coded condition, or `None` for a label.

    A text is code if it is marked as code, or contains a comparison. Prose may look like code:
    `groß - Eil` does not subtract, nor does `checked and paid` read two variables. Raises
    `ConditionError` for code that does not match the grammar.
    """
    code = recognise(condition)
    if code.marked:
        return code.parse()
    language = (condition.language or "").lower()
    tree = _if_compared(code)
    if "xpath" in language and _PATH.search(_QUOTED.sub("", code.text)):
        from orgflow_ir.analysis.expressions.parsers.xpath import XPathParser  # in few models

        code = code._replace(parser=XPathParser)
        tree = _if_compared(code)
    if tree is None and language != "n8n" and _CODE.search(code.text):
        code.parse()  # says what is not supported
        raise ConditionError("it compares nothing")
    return tree


def _if_compared(code: Recognised) -> Tree | None:
    """The tree of what compares, or is a truth value; else `None`."""
    try:
        tree = code.parse()
    except ConditionError:
        return None
    if isinstance(tree, Constant):
        return tree if isinstance(tree.value, bool) else None
    if isinstance(tree, Arithmetic) or any(_is_dash(node) for node in nodes(tree)):
        return None
    compares = any(isinstance(node, Comparison) for node in nodes(tree))
    signed = isinstance(tree, Not) and code.text[code.start :].lstrip().startswith("!")
    return tree if compares or signed else None


def _is_dash(node: Tree) -> bool:
    """Whether a word is "subtracted" from a number: `age >= 18 - adult`."""
    return (
        isinstance(node, Arithmetic)
        and node.operator == "-"
        and isinstance(node.left, Constant)
        and isinstance(node.right, Variable)
    )
