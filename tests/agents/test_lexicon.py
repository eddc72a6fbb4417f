"""Word lists as data: every list is read with its type, and a file with other lists is an error."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from orgflow.agents.language import lexicon
from orgflow.agents.language.lexicon import (
    EnglishKinds,
    EnglishLexicon,
    GermanLexicon,
    LanguagesLexicon,
    LexiconError,
    OperationsLexicon,
    PersonsLexicon,
    load_lexicon,
    read_lexicon,
)

FOLDER = Path(__file__).resolve().parents[2] / "agents" / "language" / "lexica"
KINDS = (EnglishLexicon, GermanLexicon, LanguagesLexicon, PersonsLexicon, OperationsLexicon)


def lists_of(value: Any, place: str) -> dict[str, Any]:
    """The lists of a lexicon by their path."""
    if not is_dataclass(value):
        return {place: value}
    found: dict[str, Any] = {}
    for field in fields(value):
        found |= lists_of(getattr(value, field.name), f"{place}.{field.name}")
    return found


def test_every_file_has_a_class() -> None:
    files = {path.stem for path in FOLDER.glob("*.toml")}
    assert set(lexicon._FILES.values()) == files
    assert set(lexicon._FILES) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_no_list_is_empty(kind: type) -> None:
    assert [name for name, words in lists_of(load_lexicon(kind), kind.__name__).items()
            if not words] == []  # fmt: skip


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda p: p.stem)
def test_no_word_is_in_a_list_twice(path: Path) -> None:
    def twice(value: Any) -> list[str]:
        if isinstance(value, Mapping):
            return [word for inner in value.values() for word in twice(inner)]
        if isinstance(value, list):
            return [word for inner in value for word in twice(inner)]
        words = str(value).split()
        return [word for word in words if words.count(word) > 1]

    assert twice(tomllib.loads(path.read_text("utf-8"))) == []


def test_a_list_has_its_type_and_order() -> None:
    verbs = load_lexicon(EnglishLexicon).verbs
    assert "approve" in verbs.acts
    assert verbs.irregular["sent"] == "send"
    assert verbs.alone["log"] == ("in", "on", "out")
    assert verbs.alone["apply"] == ()
    kinds = load_lexicon(EnglishLexicon).kinds
    assert kinds.negations[-1] == "not "
    assert frozenset(("low", "medium", "high")) in kinds.groups
    german = load_lexicon(GermanLexicon).verbs
    assert german.separable.index("zusammen") < german.separable.index("zu")
    assert german.vowels["hält"] == "halten"


def test_a_file_is_read_once() -> None:
    assert load_lexicon(EnglishLexicon) is load_lexicon(EnglishLexicon)


TABLE = {"negations": ["un"], "rest": "other", "groups": ["low high"], "alike": ["big large"]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rests": "other"}, "x.toml needs the lists"),
        ({"rest": None}, "x.toml needs the lists"),
        ({"rest": 3}, "x.toml: rest is not a list of this type"),
        ({"groups": 3}, "x.toml: groups is not a list of this type"),
        ({"negations": [3]}, "x.toml: negations is not a list of this type"),
    ],
)
def test_another_table_is_an_error(change: dict[str, Any], message: str) -> None:
    assert read_lexicon(EnglishKinds, TABLE, "x.toml").groups == (frozenset(("low", "high")),)
    table = {key: value for key, value in (TABLE | change).items() if value is not None}
    with pytest.raises(LexiconError, match=message):
        read_lexicon(EnglishKinds, table, "x.toml")


def test_a_class_without_a_file_is_an_error() -> None:
    with pytest.raises(KeyError):
        load_lexicon(EnglishKinds)
