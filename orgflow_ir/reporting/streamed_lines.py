"""Lines of files that are too large to be kept, for excerpts."""

from __future__ import annotations

from typing import BinaryIO

from orgflow_ir.model.source import SourceLocation

MOST_LINE = 64 * 1024
"""Longer lines are not shown."""

MOST_SEARCHED = 64 * 1024 * 1024
"""Lines are searched in this many bytes from the start; a byte span is found anywhere."""

_CHUNK = 1024 * 1024


class StreamedLines:
    """Reads single lines of a file again when an excerpt needs them."""

    def __init__(self, path: str) -> None:
        self.path = path

    def line(self, loc: SourceLocation) -> str | None:
        """The line of a place; `None` if the file cannot be read again, is not UTF-8, or the line
        is too far from the start or too long."""
        try:
            with open(self.path, "rb") as file:
                if not file.seekable():
                    return None
                start = _line_begin(file, loc)
                if start is None:
                    return None
                file.seek(start)
                line = file.readline(MOST_LINE + 1)
        except (OSError, ValueError):  # an excerpt is no reason to fail: the file may be gone
            return None
        if not line or len(line) > MOST_LINE:
            return None
        try:
            return line.decode("utf-8-sig").rstrip("\r\n")
        except UnicodeDecodeError:
            return None


def _line_begin(file: BinaryIO, loc: SourceLocation) -> int | None:
    """Where the line of a place begins."""
    if loc.span is not None:
        # The line break before the span, within the longest line that is shown.
        first = max(loc.span[0] - MOST_LINE, 0)
        file.seek(first)
        before = file.read(loc.span[0] - first)
        line_end = before.rfind(b"\n")
        return None if line_end < 0 and first > 0 else first + line_end + 1
    assert loc.line is not None
    left, at = loc.line - 1, 0  # line breaks still to pass, and the offset that is reached
    while left:
        chunk = file.read(_CHUNK)
        if not chunk or at >= MOST_SEARCHED:
            return None
        breaks = chunk.count(b"\n")
        if breaks < left:
            left -= breaks
            at += len(chunk)
            continue
        position = -1
        for _ in range(left):
            position = chunk.find(b"\n", position + 1)
        return at + position + 1
    return at
