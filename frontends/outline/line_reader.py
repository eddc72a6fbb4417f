"""From the text of an outline to its lines, tolerant of what people and language models write:
tabs, bullets, fences, missing colons, an indent of any width."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field

from orgflow.backends.outline.format.line_forms import (
    CHILDREN,
    CONDITIONED,
    DOUBTS,
    HOSTS,
    KEYWORDS,
    NAMED,
    PERFORMED,
    STEP,
    TOP,
    Line,
    Outline,
    fold_spaces,
)
from orgflow.frontends.outline.faults import Fault
from orgflow.frontends.outline.fields import read_each, read_fields, split_condition

from orgflow_ir.model.records import NamedTuple, dataclass

MAX_LINES = 20_000
MAX_DEPTH = 100
"""Maximum number of lines around a line."""

_TAB = 2
_BULLET = re.compile(r"(?:[-*+•]\s+|\(?\d{1,4}[.)]\s+|>\s+)*")
_WORDS = "|".join(sorted((*KEYWORDS, "again if", "goto"), key=len, reverse=True))
_KEYWORD = re.compile(rf"(?P<word>{_WORDS})\s*(?P<doubt>\?)?\s*:\s*(?P<rest>.*)", re.I | re.S)
_BARE = re.compile(rf"(?P<word>{_WORDS})\s*(?P<doubt>\?)?", re.IGNORECASE)
_WITH_CHILDREN = frozenset(
    ("choose", "if", "else", "together", "row", "some", "first", "on", "repeat", "again if",
     "again", "part", "each")
)  # fmt: skip
"""Keywords that need no colon where there are lines inside."""

_ALONE = frozenset(KEYWORDS) - {STEP, "process", "send", "receive", "call", "go to", "wait", "on"}
"""Keywords that are read as such if they are all there is."""

_INSIDE = {"choose": ("if", "else"), "some": ("if", "else"), "first": ("on",)}
"""Keywords that need no colon inside another line."""

_FILLED = frozenset(("part", "each", "together", "choose", "some", "first"))
"""Keywords of lines that have no meaning without others inside."""


@dataclass(eq=False)
class _Row:
    """A line of the file and the lines inside it, before it is known what it is."""

    text: str
    line: int
    column: int
    width: int
    comments: tuple[str, ...] = ()
    inside: list[_Row] = field(default_factory=list)


class ReadOutline(NamedTuple):
    """The result of reading: the outline, without the lines that have a fault."""

    outline: Outline
    faults: tuple[Fault, ...]


def read_outline(text: str) -> ReadOutline:
    """The lines of a text and their faults. Raises nothing."""
    reader = _Reader()
    rows, comments = reader.nest_rows(text)
    lines = reader.read_inside(rows, "")
    outline = Outline(tuple(_group_processes(lines)), comments)
    return ReadOutline(outline, tuple(sorted(reader.faults, key=lambda f: (f.line, f.column))))


def _group_processes(lines: list[Line]) -> Iterator[Line]:
    """The lines behind each `process:` line as lines inside it."""
    current: Line | None = None
    for line in lines:
        if line.keyword == "process":
            if current is not None:
                yield current
            current = line
        elif current is None:
            yield line
        else:
            current = current._replace(children=(*current.children, line))
    if current is not None:
        yield current


class _Reader:
    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def _add_fault(self, row: _Row, message: str, help: str) -> None:
        self.faults.append(Fault("unread", row.line, row.column, message, help))

    # -- rows ---------------------------------------------------------------------------------

    def nest_rows(self, text: str) -> tuple[list[_Row], tuple[str, ...]]:
        """The rows at the top, with all others inside them, and the comments at the end."""
        top: list[_Row] = []
        around: list[_Row] = []
        comments: list[str] = []
        lines = text.splitlines()
        if len(lines) > MAX_LINES:
            message = f"the outline has more than {MAX_LINES} lines"
            remedy = "split it into several files"
            self.faults.append(Fault("size", MAX_LINES + 1, 1, message, remedy))
        for number, raw in enumerate(lines[:MAX_LINES], 1):
            row = _read_row(raw, number)
            if row is None:
                continue
            if row.text.startswith("#"):
                comments.append(fold_spaces(row.text))
                continue
            row.comments, comments = tuple(comments), []
            while around and around[-1].width >= row.width:
                around.pop()
            if len(around) >= MAX_DEPTH:
                self._add_fault(
                    row, f"the line is inside more than {MAX_DEPTH} others",
                    "move a part of the outline into another process, and use `call:`",
                )  # fmt: skip
                continue
            (around[-1].inside if around else top).append(row)
            around.append(row)
        return top, tuple(comments)

    # -- lines --------------------------------------------------------------------------------

    def read_inside(self, rows: list[_Row], parent: str) -> list[Line]:
        """The lines inside a line with the keyword `parent`, or at the top."""
        lines: list[Line] = []
        for row in rows:
            line = self._read_line(row, parent, lines[-1].keyword if lines else "")
            if line.keyword == "again" and lines and lines[-1].keyword == "repeat":
                self._add_again(row, line, lines)
            elif line.keyword in (CHILDREN[parent] if parent else TOP):
                lines.append(line)
            else:
                self._add_misplaced(row, line, parent)
        if parent in ("choose", "some"):
            self._check_branches(lines, parent)
        return lines

    def _add_again(self, row: _Row, line: Line, lines: list[Line]) -> None:
        """Put the line that ends a repetition inside the line that begins it."""
        repeat = lines[-1]
        if any(child.keyword == "again" for child in repeat.children):
            self._add_fault(row, "the repetition has a second `again:`",
                            "write one `again if:` behind each `repeat:`")  # fmt: skip
            return
        lines[-1] = repeat._replace(children=(*repeat.children, line))

    def _add_misplaced(self, row: _Row, line: Line, parent: str) -> None:
        where = f"inside `{parent}:`" if parent and parent != STEP else "here"
        if parent == STEP:
            where = "inside a step"
        shown = "a step" if line.keyword == STEP else f"`{line.keyword}:`"
        self._add_fault(row, f"{shown} cannot be {where}", _place_help(line.keyword, parent))

    def _check_branches(self, lines: list[Line], parent: str) -> None:
        """At most one `else:`, and it comes last."""
        others = [line for line in lines if line.keyword == "else"]
        for line in others[1:]:
            self.faults.append(
                Fault("unread", line.line, line.column, f"`{parent}:` has a second `else:`",
                      "write `if:` with a condition, and one `else:`")
            )  # fmt: skip
            lines.remove(line)
        if others and lines[-1] is not others[0]:
            lines.remove(others[0])
            lines.append(others[0])

    def _read_line(self, row: _Row, parent: str, before: str) -> Line:
        """What one row says, with the lines inside it."""
        keyword, doubt, text = _split_keyword(row, parent, before)
        words, condition, rest = (
            split_condition(text) if keyword in CONDITIONED else _split_fields(text)
        )
        fields = read_fields(rest)
        for unread in fields.unread:
            self._add_fault(
                row, f"the field `{unread}` is of a kind that the line already has",
                "write one performer, and join the others: `reads A, B`, `s1,s2`",
            )  # fmt: skip
        values = {"text": words, "condition": condition, "doubt": doubt, **fields.values}
        if keyword == "each":
            values |= {"text": "", **read_each(words)}
        if keyword == "go to" and values["text"].startswith("#"):
            values["text"] = values["text"][1:]
        elif keyword == "go to" and not values["text"] and "id" in values:
            values["text"] = values.pop("id")
        if keyword == "on" and parent != "first":
            values |= _split_qualifier(words)
        line = Line(
            keyword, **values, comments=row.comments, line=row.line, column=row.column,
            children=tuple(self.read_inside(row.inside, keyword)),
        )  # fmt: skip
        return self._without_misused(row, line)

    def _without_misused(self, row: _Row, line: Line) -> Line:
        """The line without fields that its keyword cannot have."""
        shown = f"`{line.keyword}:`"
        misused = [
            (bool(line.performer) and line.keyword not in PERFORMED, "a performer",
             "write it at a step"),
            (bool(line.each) and line.keyword not in HOSTS, "a repetition",
             "write it at a step or a part, or use `each:`"),
            (bool(line.reads or line.writes) and line.keyword not in HOSTS, "data",
             "write it at the step that reads or writes it"),
            (line.named is not None and line.keyword not in NAMED, "a label in diagrams",
             "write the label behind the colon"),
            (line.doubt and line.keyword not in DOUBTS, "a doubt",
             "write the question mark at the block: `choose?:`"),
        ]  # fmt: skip
        for is_misused, what, help in misused:
            if is_misused:
                self._add_fault(row, f"{shown} cannot have {what}", help)
        if line.keyword in _FILLED and not row.inside:
            self._add_fault(
                row, f"nothing is inside {shown}",
                "indent the lines that belong to it by two spaces, or remove the line",
            )  # fmt: skip
        return line


def _read_row(raw: str, number: int) -> _Row | None:
    """A row with its indent and without bullets; `None` for an empty line and a fence."""
    expanded = raw.expandtabs(_TAB)
    stripped = expanded.strip()
    if not stripped or stripped.startswith(("```", "~~~")):
        return None
    width = len(expanded) - len(expanded.lstrip())
    bullet = _BULLET.match(stripped)
    text = stripped[bullet.end() :] if bullet is not None else stripped
    if not text:
        return None
    column = len(raw) - len(raw.lstrip()) + 1 + (bullet.end() if bullet is not None else 0)
    return _Row(text, number, column, width)


def _split_keyword(row: _Row, parent: str, before: str) -> tuple[str, bool, str]:
    """The keyword of a row, whether it is in doubt, and the text behind it."""
    match = _KEYWORD.fullmatch(row.text)
    if match is not None:
        keyword = _fold_keyword(match["word"])
        inner = _KEYWORD.fullmatch(match["rest"]) if keyword == "else" else None
        if inner is not None and _fold_keyword(inner["word"]) == "if":
            match, keyword = inner, "if"  # `else: if: x` is one more condition
        return keyword, bool(match["doubt"]), match["rest"]
    head, _, fields = row.text.partition("|")
    bare = _BARE.fullmatch(head.strip())
    if bare is not None and (_fold_keyword(bare["word"]) in _ALONE or row.inside):
        rest = f"|{fields}" if fields else ""
        return _fold_keyword(bare["word"]), bool(bare["doubt"]), rest
    word = _leading_keyword(row, parent, before)
    if word:
        rest = row.text[len(word) :]
        doubt = rest.startswith("?")
        return _fold_keyword(word), doubt, rest.removeprefix("?").strip()
    return STEP, False, row.text


def _leading_keyword(row: _Row, parent: str, before: str) -> str:
    """The keyword that a row without a colon begins with, where its place shows that it is one."""
    words = row.text.casefold()
    inside = _INSIDE.get(parent, ("on",) if parent in HOSTS - {"part", "each"} else ())
    expected = inside + (("again if", "again") if before == "repeat" else ())
    if row.inside and not _has_only_events(row):
        expected += tuple(sorted(_WITH_CHILDREN, key=len, reverse=True))
    for word in expected:
        rest = words[len(word) : len(word) + 1]
        if words.startswith(word) and (not rest or rest in " ?\t"):
            return word
    return ""


def _has_only_events(row: _Row) -> bool:
    """Whether everything inside a row is an event: then the row is a step."""
    return all(re.match(r"on\b", inner.text, re.IGNORECASE) for inner in row.inside)


def _fold_keyword(word: str) -> str:
    folded = fold_spaces(word).casefold()
    return {"again if": "again", "goto": "go to"}.get(folded, folded)


def _split_fields(text: str) -> tuple[str, str, str]:
    words, _, rest = text.partition("|")
    return fold_spaces(words), "", rest


def _split_qualifier(words: str) -> dict[str, str]:
    """The text of an event at a line, and what it does to the line: by default, it stops it."""
    text, _, last = words.rpartition(",")
    if last.strip().casefold() in ("stop", "also"):
        return {"text": text.rstrip(), "qualifier": last.strip().casefold()}
    return {"text": words, "qualifier": "stop"}


def _place_help(keyword: str, parent: str) -> str:
    """Where a line belongs that is in the wrong place."""
    match keyword:
        case "if" | "else":
            return "write it inside `choose:` or `some:`, indented by two spaces"
        case "on":
            return "write it inside `first:`, a step or a part, or at the beginning of a line"
        case "again":
            return "write it directly behind a `repeat:`, with the same indent"
        case "row":
            return "write it inside `together:`"
        case "start" | "process":
            return "write it at the beginning of a line, without an indent"
        case _ if parent in ("choose", "some"):
            return "write it inside an `if:` or `else:`"
        case _ if parent == "first":
            return "write it inside an `on:`"
        case _ if parent in HOSTS:
            return "write it behind the line with the same indent, or use `part:` for several steps"
        case _:
            return "write it behind the line, with the same indent"
