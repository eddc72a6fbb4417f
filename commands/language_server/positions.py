"""Positions in a text as editors count them: lines and columns from 0, columns in code units."""

from __future__ import annotations

import difflib
import re
from bisect import bisect_right

from orgflow_ir.model.records import NamedTuple

_END_OF_LINE = re.compile(r"\r\n|\n|\r")

MOST_LINES = 3_000
"""Changes that span more lines than this are one edit: comparing lines takes quadratic time."""


class Position(NamedTuple):
    """Line and column, both from 0."""

    line: int
    column: int


class Span(NamedTuple):
    """A range of a text, as offsets in characters; the end is exclusive."""

    start: int
    end: int


class TextEdit(NamedTuple):
    """A part of a text and its replacement."""

    span: Span
    text: str


class Lines:
    """The lines of a text. `unit` is the unit in which the editor counts columns: `utf-8`,
    `utf-16`, `utf-32`."""

    def __init__(self, text: str, unit: str = "utf-16") -> None:
        self.text = text
        self._codec = {"utf-8": "utf-8", "utf-32": "utf-32-le"}.get(unit, "utf-16-le")
        self._width = {"utf-8": 1, "utf-32-le": 4, "utf-16-le": 2}[self._codec]
        self._starts = [0, *(m.end() for m in _END_OF_LINE.finditer(text))]

    def position(self, offset: int) -> Position:
        """The position of a character."""
        line = bisect_right(self._starts, offset) - 1
        before = self.text[self._starts[line] : offset]
        return Position(line, len(before.encode(self._codec, "surrogatepass")) // self._width)

    def offset(self, position: Position) -> int:
        """The character at a position; positions beyond the line or the text are moved to its
        end."""
        if position.line >= len(self._starts):
            return len(self.text)
        row = self.row(position.line)
        units = row.encode(self._codec, "surrogatepass")[: position.column * self._width]
        return self._starts[position.line] + len(units.decode(self._codec, "ignore"))

    def row(self, line: int) -> str:
        """A line without its terminator."""
        last = line + 1 == len(self._starts)
        end = len(self.text) if last else self._starts[line + 1]
        return self.text[self._starts[line] : end].rstrip("\r\n")

    def place(self, line: int | None, column: int | None) -> int:
        """The character at a line and column that count from 1, the column in characters."""
        at = min((line or 1) - 1, len(self._starts) - 1)
        return self._starts[at] + min((column or 1) - 1, len(self.row(at)))

    def rest(self, offset: int) -> Span:
        """From a character to the end of its line."""
        line = bisect_right(self._starts, offset) - 1
        return Span(offset, max(offset, self._starts[line] + len(self.row(line))))


def diff_edits(old: str, new: str) -> list[TextEdit]:
    """The changed lines between two versions of a text."""
    was, now = old.splitlines(keepends=True), new.splitlines(keepends=True)
    same = 0
    while same < min(len(was), len(now)) and was[same] == now[same]:
        same += 1
    tail = 0
    while tail < min(len(was), len(now)) - same and was[-1 - tail] == now[-1 - tail]:
        tail += 1
    start = sum(map(len, was[:same]))
    was, now = was[same : len(was) - tail], now[same : len(now) - tail]
    if not was and not now:
        return []
    if len(was) + len(now) > MOST_LINES:
        whole = Span(start, start + sum(map(len, was)))
        return [TextEdit(whole, "".join(now))]
    offsets = [start]
    for row in was:
        offsets.append(offsets[-1] + len(row))
    matcher = difflib.SequenceMatcher(None, was, now, autojunk=False)
    return [
        TextEdit(Span(offsets[a], offsets[b]), "".join(now[c:d]))
        for kind, a, b, c, d in matcher.get_opcodes()
        if kind != "equal"
    ]
