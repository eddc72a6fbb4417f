"""The sentences of a text with their places, numbered from 1 as drafts cite them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from orgflow_ir.model import Evidence
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.plugins.agents import Document


class Sentence(NamedTuple):
    """A sentence: its number, its text, its position in characters, and whether it is a heading."""

    number: int
    text: str
    span: tuple[int, int]
    heading: bool = False


_ABBREVIATIONS = (
    "e.g", "i.e", "etc", "mr", "mrs", "ms", "dr", "prof", "no", "nr", "vs", "approx", "inc", "ltd",
    "co", "st", "fig", "cf", "resp", "bzw", "z.b", "ca", "dept", "est",
)  # fmt: skip
_END = re.compile(
    r"[.!?]+[\"'”’)\]]*(?=\s+[\"'“‘(\[]?[A-Z0-9À-Ý]|\s*\Z)|\n(?=\s*(?:\n|[-*•]|\d+[.)]))|\n"
)
_HEADING = re.compile(r"(?:title|process|name)\s*:\s*\S.*|#+\s.*", re.IGNORECASE)


def split_sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text. A line break ends a sentence if the line looks complete: it ends in
    a full stop, or is a heading or a list entry; wrapped lines continue."""
    found: list[Sentence] = []
    start = 0
    for match in _END.finditer(text):
        end = match.end()
        piece = text[start:end]
        if match[0].startswith("\n"):
            following = text[end:].lstrip(" \t")[:1]
            wrapped = following.islower() and not _HEADING.fullmatch(piece.strip())
            if wrapped and piece.strip():
                continue
        elif match[0] == "." and _abbreviated(piece):
            continue
        _keep(found, text, start, end)
        start = end
    _keep(found, text, start, len(text))
    return tuple(found)


def _abbreviated(piece: str) -> bool:
    last = re.split(r"[\s(\[]", piece[:-1])[-1].lower()
    return last in _ABBREVIATIONS or (len(last) == 1 and last.isalpha() and last != "i")


def _keep(found: list[Sentence], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    stripped = piece.strip()
    if not any(character.isalnum() for character in stripped):
        return
    at = start + piece.index(stripped)
    heading = _HEADING.fullmatch(stripped) is not None or (
        not found and _is_title(stripped, text[end:])
    )
    found.append(Sentence(len(found) + 1, stripped, (at, at + len(stripped)), heading))


def _is_title(line: str, rest: str) -> bool:
    """Whether the first line of a text is its title: a few words without a full stop, and an empty
    line behind it."""
    plain = "\n" not in line and line[-1].isalnum() and line[0].isupper()
    return (
        plain
        and len(line.split()) <= 8
        and re.match(r"[ \t]*(?:\r?\n)?[ \t]*\r?\n", rest) is not None
    )


def is_table_row(text: str) -> bool:
    """Whether a line is a row of a Markdown table."""
    return text.count("|") > 1


def evidence_of(
    numbers: Iterable[int], sentences: tuple[Sentence, ...], document: Document, agent: str
) -> tuple[Evidence, ...]:
    """Evidence for the sentences with these numbers; unknown numbers are omitted."""
    found = []
    for number in dict.fromkeys(numbers):
        if 1 <= number <= len(sentences):
            sentence = sentences[number - 1]
            first = document.text.count("\n", 0, sentence.span[0]) + 1
            last = first + document.text.count("\n", *sentence.span)
            found.append(
                Evidence(
                    document=document.name, quote=sentence.text, span=sentence.span,
                    lines=(first, last), agent=agent,
                )
            )  # fmt: skip
    return tuple(found)


def place_of(sentence: Sentence, document: Document) -> SourceLocation:
    """Line and column at which a sentence begins."""
    start = sentence.span[0]
    line_start = document.text.rfind("\n", 0, start) + 1
    line = document.text.count("\n", 0, start) + 1
    return SourceLocation(file=document.name, line=line, column=start - line_start + 1)
