"""Outlines as text, in the one canonical form: the same lines are always the same bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgflow.backends.outline.format.line_forms import (
    CONDITIONED,
    FIELD_WORDS,
    ID,
    KEYWORDS,
    SENTENCES,
    STEP,
    Line,
    Outline,
)

INDENT = "  "

_BARE = frozenset(("row", "leave"))
"""Keywords without any text."""


def print_outline(outline: Outline) -> str:
    """The text of an outline. A process is not indented below its `process:` line."""
    rows = [*_print_lines(outline.lines, 0), *outline.comments]
    return "".join(f"{row}\n" for row in rows)


def number_lines(outline: Outline) -> dict[str, int]:
    """The number of the line of each element; the first one of several."""
    numbers: dict[str, int] = {}
    number = 0
    stack = list(reversed(outline.lines))
    while stack:
        line = stack.pop()
        number += len(line.comments) + 1
        numbers.setdefault(line.element.partition("\x1f")[0], number)
        stack += reversed(order_children(line))
    return numbers


def _print_lines(lines: Iterable[Line], depth: int) -> Iterator[str]:
    """Rows of lines and of the lines inside them; iterative, since outlines may be deep."""
    stack: list[tuple[Line, int]] = [(line, depth) for line in reversed(tuple(lines))]
    while stack:
        line, level = stack.pop()
        yield from (f"{INDENT * level}{comment}" for comment in line.comments)
        yield INDENT * level + print_line(line)
        stack += [(c, _inner_level(line, c, level)) for c in reversed(order_children(line))]


def _inner_level(line: Line, child: Line, level: int) -> int:
    """The level of a line inside another: repeated lines are indented, `again` is not."""
    return level if line.keyword == "process" or child.keyword == "again" else level + 1


def order_children(line: Line) -> tuple[Line, ...]:
    """The lines inside a line in canonical order: events at a part come last, and so does the part
    of a repetition that leads back."""
    last = {"part": "on", "each": "on", "process": "on"}.get(line.keyword, "again")
    first = "start" if line.keyword == "process" else ""
    return (
        *(child for child in line.children if child.keyword == first),
        *(child for child in line.children if child.keyword not in (first, last)),
        *(child for child in line.children if child.keyword == last),
    )


def print_line(line: Line) -> str:
    """One line without its indent."""
    fields = [_print_head(line), *_print_fields(line)]
    return " | ".join(fields)


def _print_head(line: Line) -> str:
    """What stands before the fields."""
    text = line.text
    if line.condition and line.keyword in CONDITIONED:
        text = f"{text} [{line.condition}]".lstrip()
    if line.keyword == "go to":
        text = f"#{line.text}"
    if line.keyword == "each":
        text = line.each
    if line.at_once and line.keyword == "each":
        text = f"{text}, at once"
    if line.qualifier:
        text = f"{text}, {line.qualifier}"
    if line.keyword == STEP and not line.doubt and not is_keyword_like(text):
        return text
    keyword = "again if" if line.keyword == "again" and text else line.keyword
    doubt = "?" if line.doubt else ""
    if not text or line.keyword in _BARE:
        return f"{keyword}{doubt}:"
    return f"{keyword}{doubt}: {text}"


def _print_fields(line: Line) -> Iterator[str]:
    """The fields in their order: who, evidence, repetition, data, order, name, id."""
    if line.performer:
        yield f"by {line.performer}" if is_field_like(line.performer) else line.performer
    if line.sentences:
        yield print_sentences(line.sentences)
    if line.each and line.keyword != "each":
        yield f"each {line.each}{', at once' if line.at_once else ''}"
    if line.reads:
        yield f"reads {', '.join(map(_quote_name, line.reads))}"
    if line.writes:
        yield f"writes {', '.join(map(_quote_name, line.writes))}"
    if line.after:
        yield f"after {', '.join(f'#{id}' for id in line.after)}"
    if line.named is not None:
        yield f"named {line.named}".rstrip()
    if line.id:
        yield f"#{line.id}"


def print_sentences(numbers: tuple[int, ...]) -> str:
    """`s1,s2`."""
    return ",".join(f"s{number}" for number in numbers)


def is_keyword_like(text: str) -> bool:
    """Whether a label would not be read as the step that it is."""
    words = text.casefold().lstrip()
    if not words or words[0] in "#`~" or words[:2] in ("- ", "* ", "+ ", "> ", "• "):
        return True
    if words[0].isdigit() and words.lstrip("0123456789")[:2] in (". ", ") "):
        return True
    if words.rstrip("? ") in KEYWORDS or words == "goto" or words.startswith("again"):
        return True  # `again` behind `repeat:` needs no colon
    head, colon, _ = words.partition(":")
    head = head.strip().removesuffix("?").strip()
    return bool(colon) and head in (*KEYWORDS, "again if", "goto")


def is_field_like(text: str) -> bool:
    """Whether a performer would be read as another field."""
    word = text.casefold().partition(" ")[0]
    plain = text in ("-", "–") or word in FIELD_WORDS or " · " in text
    return plain or bool(SENTENCES.fullmatch(text) or ID.fullmatch(text))


def _quote_name(name: str) -> str:
    return f'"{name}"' if "," in name else name
