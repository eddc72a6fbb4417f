"""The parts of one line: what stands before the fields, and the fields by their form."""

from __future__ import annotations

import re
from typing import Any

from orgflow.backends.outline.format.line_forms import ID, SENTENCES, fold_spaces

from orgflow_ir.model.records import NamedTuple

_SENTENCE = re.compile(r"s?(\d+)(?:\s*[-–]\s*s?(\d+))?", re.IGNORECASE)
_LISTED = re.compile(r'\s*(?:"([^"]*)"|([^,]*))\s*(?:,|$)')
_DOT = re.compile(r"\s+·\s+")
_MOST_SENTENCES = 50
"""Maximum number of sentences in a range."""


class Fields(NamedTuple):
    """The fields of a line, as arguments of `Line`, and the texts that are no field."""

    values: dict[str, Any]
    unread: tuple[str, ...] = ()


def split_condition(text: str) -> tuple[str, str, str]:
    """The words, the condition in brackets behind them, and the rest of a line:
    `over 500 EUR [value > 500] | s3`. Brackets and bars in the condition belong to it; without a
    bracket that is closed, everything is words up to the first bar."""
    bar, begin = text.find("|"), text.find("[")
    if begin < 0 or 0 <= bar < begin:
        return _split_bar(text)
    depth, quote = 0, ""
    for place in range(begin, len(text)):
        character = text[place]
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character == "[":
            depth += 1
        elif character == "]":
            depth -= 1
            if not depth:
                rest = text[place + 1 :].strip()
                if rest and not rest.startswith("|"):
                    return _split_bar(text)
                return fold_spaces(text[:begin]), text[begin + 1 : place].strip(), rest[1:]
    return _split_bar(text)


def _split_bar(text: str) -> tuple[str, str, str]:
    words, _, rest = text.partition("|")
    return fold_spaces(words), "", rest


def read_fields(text: str) -> Fields:
    """The fields of a line, each recognised by its form."""
    values: dict[str, Any] = {}
    unread: list[str] = []
    for part in text.split("|"):
        pieces = _DOT.split(part) if _is_listed(part) else [part]
        for piece in pieces:
            field = fold_spaces(piece)
            if field in ("", "-", "–"):
                continue
            value = _read_field(field)
            if any(key in values for key in value):
                unread.append(field)
                continue
            values.update(value)
    return Fields(values, tuple(unread))


def _is_listed(part: str) -> bool:
    """Whether a part holds several fields with dots between them, not the name of a performer."""
    return part.split(maxsplit=1)[0:1] in (["each"], ["reads"], ["writes"], ["after"])


def _read_field(field: str) -> dict[str, Any]:
    """One field as arguments of `Line`."""
    if SENTENCES.fullmatch(field):
        return {"sentences": _read_sentences(field)}
    if ID.fullmatch(field):
        return {"id": field[1:]}
    word, _, rest = field.partition(" ")
    word, rest = word.casefold(), rest.strip()
    if word == "named":
        return {"named": rest}
    if not rest:
        return {"performer": field}
    match word:
        case "each":
            return read_each(rest)
        case "reads" | "writes":
            return {word: read_names(rest)}
        case "after" if all(ID.fullmatch(id) for id in _split_ids(rest)):
            return {"after": tuple(id[1:] for id in _split_ids(rest))}
        case "by":
            return {"performer": rest}
        case _:
            return {"performer": field}


def read_each(text: str) -> dict[str, Any]:
    """`damaged part` or `bidder, at once` as arguments of `Line`."""
    item, comma, tail = text.rpartition(",")
    if comma and tail.strip().casefold() == "at once":
        return {"each": item.strip(), "at_once": True}
    return {"each": text}


def read_names(text: str) -> tuple[str, ...]:
    """Names with commas between them; one with a comma is in quotes."""
    names = [fold_spaces(a or b) for a, b in _LISTED.findall(text)]
    return tuple(dict.fromkeys(name for name in names if name))


def _split_ids(text: str) -> list[str]:
    return [id for id in re.split(r"[,\s]+", text) if id]


def _read_sentences(text: str) -> tuple[int, ...]:
    numbers: list[int] = []
    for match in _SENTENCE.finditer(text):
        first = int(match[1][:9])
        last = int(match[2][:9]) if match[2] else first
        numbers += range(first, min(last, first + _MOST_SENTENCES) + 1)
    return tuple(dict.fromkeys(numbers))
