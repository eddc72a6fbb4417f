"""Given names of many languages, from the lists of the package Faker (MIT), if it is installed.

Only the word lists are used; nothing is generated from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module

_LISTS = (
    "de_DE", "de_AT", "de_CH", "en_US", "en_GB", "en_IN", "fr_FR", "it_IT", "es_ES", "nl_NL",
    "pt_PT", "sv_SE", "da_DK", "no_NO", "fi_FI", "pl_PL", "cs_CZ", "hr_HR", "ro_RO", "hu_HU",
    "tr_TR", "ga_IE", "yo_NG", "ig_NG",
)  # fmt: skip
_PARTS = ("first_names", "first_names_male", "first_names_female")


@cache
def given_names() -> frozenset[str]:
    """Given names with an initial capital; empty if the package is not installed."""
    names: set[str] = set()
    for language in _LISTS:
        try:
            provider = import_module(f"faker.providers.person.{language}").Provider
        except ImportError:
            continue
        for part in _PARTS:
            names.update(_split_names(getattr(provider, part, ())))
    return frozenset(names)


def _split_names(names: Iterable[str] | Mapping[str, float]) -> Iterable[str]:
    """Whole names and the parts of double ones, without initials."""
    for name in names:
        for word in (name, *name.replace("-", " ").split()):
            if len(word) > 2 and word[0].isupper() and word[1:].replace("-", "").islower():
                yield word


@cache
def stop_words() -> frozenset[str]:
    """Function words of English and German in lower case, from spaCy if it is installed; some are
    given names in other languages (`Can`, `Nur`)."""
    words: set[str] = set()
    for language in ("en", "de"):
        try:
            words |= import_module(f"spacy.lang.{language}.stop_words").STOP_WORDS
        except ImportError:
            continue
    return frozenset(word.lower() for word in words)
