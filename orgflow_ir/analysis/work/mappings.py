"""Values of parameters and templates: what stands in mappings, results and texts of tasks."""

from __future__ import annotations

import re

from orgflow_ir.analysis.expressions.parsers.core import OBJECT_NAMES
from orgflow_ir.analysis.expressions.parsers.juel import JuelParser
from orgflow_ir.analysis.expressions.recognise import recognise
from orgflow_ir.analysis.expressions.syntax import Call, ConditionError, Constant, Span, Tree
from orgflow_ir.model import Expression

_OPEN = re.compile(r"[$#]\{")


def read_value(text: str, language: str | None = None) -> Tree:
    """The value of a parameter: an expression of its language; of a text without one the text
    itself with the expressions in it (`Hello ${name}`). `=` begins no expression there: only the
    source knows whether it does (`language_of`).

    Raises `ConditionError` for an expression that is not understood.
    """
    if language == "nested":
        raise ConditionError("lists and maps of parameters with more than texts are not understood")
    if language in ("list", "map"):
        return _entries(text, language == "map")
    if language == "variable":
        return JuelParser(text).parse()
    if language is not None:
        return recognise(Expression(text=text, language=language)).parse()
    pieces = list(_pieces(text))
    if len(pieces) == 1:
        return pieces[0]
    return Call("text", tuple(pieces), Span(0, len(text))) if pieces else Constant("")


def _entries(text: str, named: bool) -> Tree:
    """The list of the entries of a parameter, a line each, or the object of those that are
    `named`."""
    found: list[Tree] = []
    for line in filter(None, text.split("\n")):
        name, mark, value = line.partition(": ") if named else ("", "", line)
        if named:
            if not mark or name in OBJECT_NAMES:
                raise ConditionError(f"`{line}` is no entry")
            found.append(Constant(name))
        found.append(read_value(value))
    return Call("map" if named else "list", tuple(found), Span(0, len(text)))


def language_of(text: str, by: str | None) -> str | None:
    """The language of a text of a vendor: with Camunda 8 (`zeebe`) FEEL where it begins with `=`,
    as where the source does not say whose it is; with the others it is a template."""
    return "feel" if by in ("zeebe", None) and text.lstrip().startswith("=") else None


def variable_name(name: str) -> str:
    """The name of a variable that is set. Raises `ConditionError` for one that names a part of
    something, or what every object of JavaScript has."""
    if not name.strip() or "." in name or name in OBJECT_NAMES:
        raise ConditionError(f"`{name}` is no variable")
    return name


def target_of(name: str, *, parts: bool) -> tuple[str, tuple[str, ...]]:
    """The variable that a mapping sets, and the names of the entries that lead to the part of it,
    where points separate them. Raises `ConditionError` as `variable_name`."""
    first, *entries = name.split(".") if parts else [name]
    return variable_name(first), tuple(variable_name(one) for one in entries)


def _pieces(text: str) -> list[Tree]:
    """Texts and the expressions between them."""
    found: list[Tree] = []
    at = 0
    while (match := _OPEN.search(text, at)) is not None:
        if match.start() > at:
            found.append(Constant(text[at : match.start()], Span(at, match.start())))
        end = _closing(text, match.end())
        found.append(JuelParser(text, match.end(), end).parse())
        at = end + 1
    if at < len(text):
        found.append(Constant(text[at:], Span(at, len(text))))
    return found


def _closing(text: str, start: int) -> int:
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
