"""Lemmas of words by the word lists of simplemma, which is optional."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any


@cache
def load_lemmas() -> Any | None:
    """The word list of German; `None` if simplemma is not installed."""
    try:
        return import_module("simplemma")
    except ImportError:
        return None


@cache
def is_common_word(word: str) -> bool:
    """Whether a word is one of English or German in lower case, or a German noun; never without
    simplemma."""
    lemmas = load_lemmas()
    if lemmas is None:
        return False
    english = lemmas.is_known(word.lower(), lang="en")
    return bool(english or lemmas.is_known(word, lang="de") or lemmas.is_known(word.lower(), "de"))


@cache
def lemma_of_word(word: str) -> str:
    """The lemma of a German word, in the spelling of the word list."""
    lemmas = load_lemmas()
    return str(lemmas.lemmatize(word, lang="de")) if lemmas is not None else word
