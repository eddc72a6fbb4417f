"""The elements of lines in a procedural graph, for the reader and the writer."""

from __future__ import annotations

import re

ARROW = re.compile(
    r"\s*(?:(?:-+|=+)\s*(?:\((?P<a>[^()]*(?:\([^()]*\)[^()]*)*)\)|\[(?P<b>[^\]]*)\]|\|(?P<c>[^|]*)\|)"
    r"\s*(?:-+|=+)?>|(?:-+|=+)>|→|⟶|➔|->)\s*"
)
"""Patterns between the ends of a flow, with its condition."""

_SENTENCE = re.compile(r"s?\s*(\d+)(?:\s*(?:-|–|to)\s*s?\s*(\d+))?", re.IGNORECASE)

DEFAULT_MARK = "(default)"
"""What ends the label of the flow that is taken where no other condition holds."""

OTHERWISE = "otherwise"
"""The label of such a flow without a name."""

GATEWAY_WORDS = frozenset(
    ("xor", "and", "or", "exclusive", "parallel", "inclusive", "join", "split", "merge", "gateway",
     "xor split", "xor join", "and split", "and join", "or split", "or join",
     "exclusive split", "exclusive join", "parallel split", "parallel join")
)  # fmt: skip
"""Names of gateways that only state their kind."""


def clean_text(text: str) -> str:
    """Text without surrounding white space, quotes, emphasis and full stops."""
    plain = " ".join(text.split())
    while True:
        before = plain
        plain = plain.strip(" ;,*_`").rstrip(".")
        for opening, closing in ('""', "''", "“”", "‘’", "<>"):
            if len(plain) > 1 and plain[0] == opening and plain[-1] == closing:
                plain = plain[1:-1]
        if plain == before:
            return plain


def sentence_numbers(text: str) -> tuple[int, ...]:
    """`s1, s3-4` as numbers; empty for any other text."""
    numbers: list[int] = []
    for part in re.split(r"[,;\s]+(?=s?\s*\d)", text.strip()):
        match = _SENTENCE.fullmatch(part.strip())
        if match is None:
            return ()
        first, last = int(match[1]), int(match[2] or match[1])
        numbers += range(first, min(last, first + 50) + 1)
    return tuple(dict.fromkeys(numbers))


def plain_text(text: str) -> str:
    """A text in a form that can be part of a line: characters that would be read as an arrow or a
    separator are replaced. A text without such characters is unchanged."""
    plain = clean_text(text.replace("|", "/"))
    while ARROW.search(plain):
        plain = clean_text(ARROW.sub(" to ", plain))
    return plain


def condition_text(text: str) -> str:
    """A text in a form for conditions: its parentheses are balanced and not nested."""
    plain = plain_text(text)
    depth = deepest = 0
    for character in plain:
        depth += (character == "(") - (character == ")")
        deepest = max(deepest, depth, 9 if depth < 0 else 0)
    if depth or deepest > 1:
        plain = clean_text(re.sub(r"[()]", " ", plain))
    return plain
