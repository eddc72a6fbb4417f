"""The lines of an outline, for the reader and the printer."""

from __future__ import annotations

import re

from orgflow_ir.model import Expression
from orgflow_ir.model.element_names import slug
from orgflow_ir.model.records import NamedTuple

STEP = "step"
"""The keyword of a line without one; written only where a label would be read as another line."""

KEYWORDS = (
    STEP, "process", "start", "end", "stop", "choose", "if", "else", "together", "row", "some",
    "first", "on", "repeat", "again", "leave", "part", "each", "wait", "receive", "send", "call",
    "go to",
)  # fmt: skip
"""Every keyword, in the order of the documentation."""

ACTS = frozenset(
    (STEP, "choose", "together", "some", "first", "repeat", "leave", "part", "each", "wait",
     "receive", "send", "call", "end", "stop", "go to")
)  # fmt: skip
"""Lines that happen one after the other."""

HOSTS = frozenset((STEP, "part", "each", "receive", "send", "call"))
"""Lines that events with `on:` may stop or accompany."""

CHILDREN: dict[str, frozenset[str]] = {
    "process": ACTS | {"start", "on"},
    "start": ACTS,
    "choose": frozenset(("if", "else")),
    "some": frozenset(("if", "else")),
    "if": ACTS,
    "else": ACTS,
    "together": ACTS | {"row"},
    "row": ACTS,
    "first": frozenset(("on",)),
    "on": ACTS,
    "repeat": ACTS | {"again"},
    "again": ACTS,
    "part": ACTS | {"on"},
    "each": ACTS | {"on"},
    STEP: frozenset(("on",)),
    "receive": frozenset(("on",)),
    "send": frozenset(("on",)),
    "call": frozenset(("on",)),
    "end": frozenset(),
    "stop": frozenset(),
    "leave": frozenset(),
    "wait": frozenset(),
    "go to": frozenset(),
}
"""The lines that may be inside a line, by its keyword."""

TOP = CHILDREN["process"] | {"process"}
"""The lines that need not be inside another."""

CONDITIONED = frozenset(("if", "again"))
"""Keywords whose text may end with a condition in brackets."""

DOUBTS = frozenset(KEYWORDS) - {"else", "row", "process", "leave", "go to"}
"""Keywords that may have a question mark."""

PERFORMED = frozenset(KEYWORDS) - {"if", "else", "row", "leave", "go to", "again", "process"}
"""Keywords of lines that somebody does."""

NAMED = PERFORMED
"""Keywords of lines with a label in diagrams."""


class Line(NamedTuple):
    """One line of an outline with the lines inside it.

    Args:
        keyword: one of `KEYWORDS`.
        text: the words behind the keyword: a label, a condition, a time, a message.
        condition: the expression in brackets.
        performer: who does it.
        sentences: the numbers of the sentences that it cites.
        each: the item that it is repeated for; `at_once`: all items together.
        reads, writes: names of data objects.
        after: ids of branches of the same `together:` that come before this one.
        id: what other lines refer to it by.
        named: the label in diagrams, where it is not the text; `None` otherwise.
        qualifier: `stop` or `also`, for events at a line; empty otherwise.
        doubt: whether its author is unsure.
        children: the lines inside it.
        comments: the lines of comment above it.
        line, column: where it is in the file; 0 for a line that is not from a file.
        element: id of the element that it was printed from.
    """

    keyword: str
    text: str = ""
    condition: str = ""
    performer: str = ""
    sentences: tuple[int, ...] = ()
    each: str = ""
    at_once: bool = False
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    id: str = ""
    named: str | None = None
    qualifier: str = ""
    doubt: bool = False
    children: tuple[Line, ...] = ()
    comments: tuple[str, ...] = ()
    line: int = 0
    column: int = 0
    element: str = ""


class Outline(NamedTuple):
    """The lines of a file: those before the first `process:` are its only process, or part of the
    first. `comments` are those at the end."""

    lines: tuple[Line, ...]
    comments: tuple[str, ...] = ()


def fold_spaces(text: str) -> str:
    """The text in one line, white space folded."""
    return " ".join(text.split())


FIELD_WORDS = ("each", "reads", "writes", "after", "named", "by")
"""Words that a field other than a performer begins with."""

SENTENCES = re.compile(r"s\d+(?:\s*[-–]\s*s?\d+)?(?:\s*,\s*s?\d+(?:\s*[-–]\s*s?\d+)?)*", re.I)
"""A field with evidence: `s1,s2`, `s3-5`."""

ID = re.compile(r"#[\w.-]+")
"""A field with an id."""


def called_id(text: str) -> str:
    """The id of the called process behind `call:`: a text that may be one stays as it is."""
    if text and (text[0].isalpha() or text[0] == "_") and not any(c.isspace() for c in text):
        return text
    return slug(text, words=20)


_MARKED = ("${", "#{", "=")
_LANGUAGE = re.compile(r"(juel|javascript|groovy|python|xpath|mvel|java):\s+(.+)", re.I | re.S)


def print_condition(condition: Expression) -> str:
    """A condition between brackets: FEEL is plain, another language is named."""
    text = fold_spaces(condition.text)
    language = (condition.language or "").casefold()
    if not language or "feel" in language or text.startswith(_MARKED):
        return text
    known = _LANGUAGE.fullmatch(f"{language.rpartition('/')[2]}: {text}")
    return known[0] if known is not None else text


def read_condition(text: str) -> Expression:
    """The inverse of `print_condition`: FEEL, unless the text marks or names another language."""
    if text.startswith(_MARKED):
        return Expression(text=text)
    named = _LANGUAGE.fullmatch(text)
    if named is not None:
        return Expression(text=named[2], language=named[1].lower())
    return Expression(text=text, language="feel")
