"""Width and line breaks of text in the fonts that modelling tools use for labels."""

from __future__ import annotations

import re
from functools import lru_cache

from orgflow_ir.model.records import NamedTuple

SIZE = 12
LINE = 15
"""Font size and line height of labels, in diagram units."""

_LEAST = 4.4
_NARROW = frozenset("ijltfrI.,:;!|'`()[]{}/\\ -\"")
_WIDE = frozenset("mwMW@%&ÄÖÜ—…")


class Block(NamedTuple):
    """Lines of text with their size."""

    lines: tuple[str, ...]
    width: float
    height: float


@lru_cache(maxsize=4096)
def text_width(text: str) -> float:
    """An upper estimate of the width in Arial and Helvetica at `SIZE`; other scripts count as full
    width."""
    total = 0.0
    for char in text:
        if char in _NARROW:
            total += _LEAST
        elif char in _WIDE:
            total += 10.6
        elif ord(char) >= 0x1100:
            total += 12.5
        elif char.isupper() or ord(char) >= 0x250:
            total += 8.6
        else:
            total += 6.7
    return total


@lru_cache(maxsize=4096)
def wrap_text(text: str, limit: float, most: int = 100) -> Block:
    """`text` broken at spaces into lines of at most `limit`; longer words are also broken.

    Text of more than `most` lines is cut and ends in an ellipsis.
    """
    lines: list[str] = []
    current = ""
    for word in _split_words(text, limit):
        joined = f"{current} {word}" if current else word
        if current and text_width(joined) > limit:
            lines.append(current)
            current = word
        else:
            current = joined
    if current:
        lines.append(current)
    if len(lines) > most:
        last = lines[most - 1]
        while last and text_width(last + "…") > limit:
            last = last[:-1]
        lines = [*lines[: most - 1], last.rstrip() + "…"]
    widest = max((text_width(line) for line in lines), default=0.0)
    return Block(tuple(lines), round(widest + 0.5), float(LINE * len(lines)))


def _split_words(text: str, limit: float) -> list[str]:
    pieces = []
    for word in text.split():
        rest = word
        most = int(limit / _LEAST) + 2  # no line holds more; long words are cut in linear time
        while len(rest) > 1 and text_width(rest[:most]) > limit:
            at = _find_cut(rest[:most], limit)
            pieces.append(rest[:at])
            rest = rest[at:]
        pieces.append(rest)
    return pieces


_SEAM = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[-_/.])")


def _find_cut(word: str, limit: float) -> int:
    """Where to break a long word: at the last seam (a hyphen, camelCase) that fits."""
    at = 1
    while at < len(word) and text_width(word[: at + 1]) <= limit:
        at += 1
    seams = [m.start() for m in _SEAM.finditer(word) if 2 < m.start() <= at]
    return seams[-1] if seams else at
