"""Values of parameters and templates in mappings, results and texts of tasks."""

from __future__ import annotations

import re

from orgflow_ir.languages.juel import JuelParser, check_tree
from orgflow_ir.languages.recognise import recognise
from orgflow_ir.model import Expression
from orgflow_ir.program import java_operators, methods
from orgflow_ir.program.readings import OBJECT_NAMES
from orgflow_ir.program.syntax import Call, ConditionError, Constant, Span, Tree

_OPEN = re.compile(r"(?P<escape>\\*)[$#]\{")
"""The start of an expression; after a backslash, it is text without the backslash."""


def read_value(text: str, language: str | None = None) -> Tree:
    """The value of a parameter: an expression of its language, or a text with embedded expressions
    (`Hello ${name}`). `=` is not treated as the start of an
    expression, because that depends on the source (`language_of`).

    Raises `ConditionError` for an unsupported expression.
    """
    if language in ("list", "map"):
        return _read_entries(text, language == "map")
    if language == "variable":
        return check_tree(JuelParser(text).parse())
    if language is not None:
        return recognise(Expression(text=text, language=language)).parse_value()
    pieces = list(_read_pieces(text))
    if len(pieces) == 1:
        return pieces[0]
    return Call(java_operators.TEXT, tuple(pieces), Span(0, len(text))) if pieces else Constant("")


def _read_entries(text: str, named: bool) -> Tree:
    """The list of the entries of a parameter, a line each, or the object of those that are
    `named`."""
    operands: list[Tree] = []
    for line in filter(None, text.split("\n")):
        name, mark, value = line.partition(": ") if named else ("", "", line)
        if named:
            if not mark or name in OBJECT_NAMES:
                raise ConditionError(f"`{line}` is no entry")
            operands.append(Constant(name))
        operands.append(read_value(value))
    collection = methods.MAP if named else methods.LIST
    return collection(*operands, span=Span(0, len(text)))


def language_of(text: str, by: str | None) -> str | None:
    """The language of a vendor's text: with Camunda 8 (`zeebe`), and if the source names no vendor,
    FEEL if it begins with `=`; for other vendors it is a template."""
    return "feel" if by in ("zeebe", None) and text.lstrip().startswith("=") else None


def variable_name(name: str) -> str:
    """The name of a variable to set. Raises `ConditionError` for a path into a variable, or for a
    property that every JavaScript object has."""
    if not name.strip() or "." in name or name in OBJECT_NAMES:
        raise ConditionError(f"`{name}` is no variable")
    return name


def target_of(name: str, *, parts: bool) -> tuple[str, tuple[str, ...]]:
    """The variable that a mapping sets, and the names of nested entries in a dotted path. Raises
    `ConditionError` as `variable_name`."""
    first, *entries = name.split(".") if parts else [name]
    return variable_name(first), tuple(variable_name(entry) for entry in entries)


def _read_pieces(text: str) -> list[Tree]:
    """Texts and the expressions between them."""
    pieces: list[Tree] = []
    at = 0
    plain, start = "", 0
    for match in _OPEN.finditer(text):
        if match.start() < at:
            continue  # inside of an expression
        plain += text[at : match.start()]
        if match["escape"]:
            plain += match[0][1:]
            at = match.end()
            continue
        if plain:
            pieces.append(Constant(plain, Span(start, match.start())))
        end = _closing_brace(text, match.end())
        pieces.append(check_tree(JuelParser(text, match.end(), end).parse()))
        plain, at = "", end + 1
        start = at
    if plain + text[at:]:
        pieces.append(Constant(plain + text[at:], Span(start, len(text))))
    return pieces


def _closing_brace(text: str, start: int) -> int:
    """The brace that ends an expression; quoted ones do not. Raises `ConditionError`."""
    quote = ""
    at = start
    while at < len(text):
        char = text[at]
        if quote:
            if char == "\\":
                at += 1
            elif char == quote:
                quote = ""
        elif char in "'\"":
            quote = char
        elif char == "}":
            return at
        at += 1
    raise ConditionError("`}` expected")
