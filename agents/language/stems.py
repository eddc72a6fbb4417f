"""Words without their endings: rough stems, each as fine as its use needs."""

from __future__ import annotations

import re
from collections.abc import Collection

from orgflow.agents.language.lexicon import EnglishLexicon, load_lexicon

_WORDS = load_lexicon(EnglishLexicon).words


def content_words(text: str) -> list[str]:
    """The content words of a description, in order, reduced to a rough stem."""
    return [stem_word(word) for word in _find_content_words(text)]


def other_words(text: str, stems: Collection[str]) -> tuple[str, ...]:
    """The content words of a text whose stems are others than these, as it has them first."""
    first: dict[str, str] = {}
    for word in _find_content_words(text):
        first.setdefault(stem_word(word), word)
    return tuple(word for key, word in first.items() if key not in stems)


def _find_content_words(text: str) -> list[str]:
    words = re.findall(r"[^\W\d_][\w'’-]+", text.lower())
    return [word for word in words if word not in _WORDS.common and len(word) > 2]


def stem_word(word: str) -> str:
    """A rough stem, sufficient to unify `checks`, `checked` and `checking`."""
    for ending in _WORDS.endings:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


_TOPIC_ENDING = re.compile(r"(?<=\w{3})(?:ies|es|s|ied|ed|ing|e|y)$")


def stem_topic(word: str) -> str:
    """The stem by which `offer` and `offers` are one topic."""
    return _TOPIC_ENDING.sub("", word)


_CATALOGUE_ENDINGS = (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", ""))


def stem_for_catalogue(word: str) -> str:
    """The stem by which words of tasks and of operations match: `y` for `ies`, and `ss` stays."""
    for ending, rest in _CATALOGUE_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) > 2 and not word.endswith("ss"):
            return word[: -len(ending)] + rest
    return word
