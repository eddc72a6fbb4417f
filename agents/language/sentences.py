"""Sentences with their places in a text, in four forms: numbered, as drafts cite them; paragraphs
of a message for the parser of English; sentences to quote, in any language; sentences of a German
message, which has no parser."""

from __future__ import annotations

import re
from collections.abc import Iterator

from orgflow.agents.language.lexicon import EnglishLexicon, load_lexicon

from orgflow_ir.model.records import NamedTuple


class Sentence(NamedTuple):
    """A sentence: its number, its text, its position in characters, and whether it is a heading."""

    number: int
    text: str
    span: tuple[int, int]
    heading: bool = False


# -- numbered sentences of a text ------------------------------------------------------------

_ABBREVIATIONS = load_lexicon(EnglishLexicon).words.abbreviations
_END = re.compile(
    r"[.!?]+[\"'”’)\]]*(?=\s+[\"'“‘(\[]?[A-Z0-9À-Ý]|\s*\Z)|\n(?=\s*(?:\n|[-*•]|\d+[.)]))|\n"
)
_HEADING = re.compile(r"(?:title|process|name)\s*:\s*\S.*|#+\s.*", re.IGNORECASE)


def split_sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text, numbered from 1. A line break ends a sentence if the line looks
    complete: it ends in a full stop, or is a heading or a list entry; wrapped lines continue."""
    sentences: list[Sentence] = []
    start = 0
    for match in _END.finditer(text):
        end = match.end()
        piece = text[start:end]
        if match[0].startswith("\n"):
            following = text[end:].lstrip(" \t")[:1]
            wrapped = following.islower() and not _HEADING.fullmatch(piece.strip())
            if wrapped and piece.strip():
                continue
        elif match[0] == "." and _ends_in_abbreviation(piece):
            continue
        _add_sentence(sentences, text, start, end)
        start = end
    _add_sentence(sentences, text, start, len(text))
    return tuple(sentences)


def _ends_in_abbreviation(piece: str) -> bool:
    last = re.split(r"[\s(\[]", piece[:-1])[-1].lower()
    return last in _ABBREVIATIONS or (len(last) == 1 and last.isalpha() and last != "i")


def _add_sentence(sentences: list[Sentence], text: str, start: int, end: int) -> None:
    """Add a piece of a text to its sentences, unless it has no letter and no digit."""
    piece = text[start:end]
    stripped = piece.strip()
    if not any(character.isalnum() for character in stripped):
        return
    at = start + piece.index(stripped)
    heading = _HEADING.fullmatch(stripped) is not None or (
        not sentences and _is_title(stripped, text[end:])
    )
    sentences.append(Sentence(len(sentences) + 1, stripped, (at, at + len(stripped)), heading))


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


def title_of_sentences(sentences: tuple[Sentence, ...]) -> str:
    """The title at the beginning of a text, otherwise an empty text."""
    if sentences and sentences[0].heading:
        return sentences[0].text.partition(":")[2].strip() or sentences[0].text.lstrip("# ").strip()
    return ""


def split_at_semicolons(text: str) -> list[str]:
    """The parts of a sentence between semicolons, each of which is read as a sentence."""
    return [part for part in re.split(r";\s+", text) if any(c.isalnum() for c in part)]


def first_words(text: str) -> str:
    """A step where nothing can be parsed: the first words of the sentence."""
    return " ".join(re.split(r"[;:]|[.!?]+$", text)[0].split()[:14]).strip("-*• ,") or text[:60]


def find_in_sentence(sentence: str, text: str, at: int) -> int:
    """The offset of a place of a text in the sentence that the text is made of, in characters: the
    sentence has other white space, a speaker, or other clauses. 0 if the sentence lacks it."""
    words = re.findall(r"\w+", text[at:])[:6]
    for count in range(len(words), 0, -1):
        pattern = r"\W+".join(map(re.escape, words[:count]))
        match = re.search(rf"(?<!\w){pattern}(?!\w)", sentence, re.IGNORECASE)
        if match is not None:
            return match.start()
    return 0


_SPEAKER = re.compile(r"([^\W\d_][\w'’.-]*(?: [\w'’.-]+){0,3}):\s+\S")


def speaker_labels(sentences: tuple[Sentence, ...]) -> tuple[str, ...]:
    """Who speaks in an interview, or does what a line states: labels that begin several lines."""
    labels = [m[1] for s in sentences if (m := _SPEAKER.match(s.text)) and not s.heading]
    return tuple(dict.fromkeys(label for label in labels if labels.count(label) > 1))


# -- paragraphs of a message -----------------------------------------------------------------

_BREAK = re.compile(r"\n\s*\n|(?<=[,:;.!?])\n|\n(?=[\W\d]*[A-Z\d])")
"""Positions where a text may be split: a blank line, or a line that ends or begins like a
sentence."""

LINE = 45
"""Shorter lines were not wrapped at a width: a greeting, or an item of a list."""


def split_paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """The paragraphs and the short lines of a text, each with its place: the parser takes a
    greeting and what follows it for one sentence."""
    begin = 0
    for match in _BREAK.finditer(text):
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if "\n" in match.group()[1:] or len(line) < LINE:
            yield begin, text[begin : match.start()]
            begin = match.end()
    yield begin, text[begin:]


# -- sentences to quote ----------------------------------------------------------------------

_QUOTABLE = re.compile(r"[^.!?\n]+[.!?]*")


def split_for_quotes(text: str) -> list[tuple[int, str]]:
    """The sentences and lines of a message in any language, each with its place; every full stop
    ends one."""
    sentences = []
    for match in _QUOTABLE.finditer(text):
        sentence = match.group()
        if sentence.strip():
            begin = match.start() + len(sentence) - len(sentence.lstrip())
            sentences.append((begin, sentence.strip()))
    return sentences


# -- sentences of a German message -----------------------------------------------------------

_GERMAN_SENTENCE = re.compile(
    r"[^\n]*?(?:(?<![\s.]\w)(?<!\bNr)(?<!\bAz)(?<!\bbzw)[.!?]+(?=\s|$)|\n|$)"
)


def split_german_sentences(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of a German text that are no quotes, each with its place. Every line break ends
    a sentence."""
    for match in _GERMAN_SENTENCE.finditer(text):
        sentence = match.group()
        if sentence.strip() and not sentence.lstrip().startswith(">"):
            yield match.start() + len(sentence) - len(sentence.lstrip()), sentence.strip()
