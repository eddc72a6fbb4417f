"""Word lists of the sentence reader, from `lexica/*.toml`; the comments there state what a list
means."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from orgflow_ir.model.records import dataclass

_FOLDER = Path(__file__).resolve().parent / "lexica"

Words = frozenset[str]
OrderedWords = tuple[str, ...]
WordMap = Mapping[str, str]
WordLists = Mapping[str, OrderedWords]
WordGroups = tuple[Words, ...]

T = TypeVar("T")


class LexiconError(ValueError):
    """A file of word lists that does not have the expected lists; the message names both."""


@dataclass(frozen=True)
class EnglishVerbs:
    """Lists of infinitives in `english.toml`; `irregular` maps past forms to them, `alone` lists
    the particles of verbs without an object, `idioms` pairs of a verb and the last word of its
    object."""

    acts: Words
    talk: Words
    weak: Words
    light: Words
    idioms: Words
    leading: Words
    states: Words
    sending: Words
    stated: Words
    omitting: Words
    with_for: Words
    asking: Words
    describing: Words
    bare_infinitive: Words
    alone: WordLists
    irregular: WordMap


@dataclass(frozen=True)
class EnglishNouns:
    """Lists of singular nouns in `english.toml`."""

    acts: Words
    not_acts: Words
    empty: Words
    vague: Words
    media: Words
    people: Words
    means: Words
    texts: Words
    processes: Words
    idioms: Words


@dataclass(frozen=True)
class EnglishWords:
    """Lists of other words in `english.toml`, in lower case."""

    topicless: Words
    common: Words
    little: Words
    topic_pronouns: Words
    beside: Words
    asking: Words
    nobody: Words
    enclosed: Words
    before_request: Words
    direct: Words
    towards: Words
    close: Words
    prepositions: Words
    onward: Words
    optional: Words
    abbreviations: Words
    endings: OrderedWords


@dataclass(frozen=True)
class EnglishKinds:
    """Modifiers in `english.toml` that make a noun a kind of thing."""

    negations: OrderedWords
    rest: Words
    groups: WordGroups
    alike: WordGroups


@dataclass(frozen=True)
class EnglishLexicon:
    """`english.toml`."""

    verbs: EnglishVerbs
    nouns: EnglishNouns
    words: EnglishWords
    kinds: EnglishKinds


@dataclass(frozen=True)
class GermanVerbs:
    """Lists of infinitives, particles and forms in `german.toml`; the maps lead from a form to its
    infinitive."""

    acts: Words
    talk: Words
    coming: Words
    separable: OrderedWords
    inseparable: OrderedWords
    no_participles: Words
    own_participles: Words
    strong: WordMap
    vowels: WordMap


@dataclass(frozen=True)
class GermanNouns:
    """Lists of nouns in `german.toml`, in lower case."""

    empty: Words


@dataclass(frozen=True)
class GermanWords:
    """Lists of other words in `german.toml`."""

    adverbs: Words
    prepositions: Words


@dataclass(frozen=True)
class GermanLexicon:
    """`german.toml`."""

    verbs: GermanVerbs
    nouns: GermanNouns
    words: GermanWords


@dataclass(frozen=True)
class EnglishOrNot:
    """Function words of English, and of other languages together, in `languages.toml`."""

    english: Words
    other: Words


@dataclass(frozen=True)
class LanguagesLexicon:
    """`languages.toml`: names, frequent words, and sentences of small talk by the code of a
    language (ISO 639-1); basic forms of both languages that statements about drafts ignore."""

    names: WordMap
    frequent: WordLists
    small_talk: WordLists
    light_verbs: Words
    states: Words
    particles: Words
    adverbs: Words
    english_or_not: EnglishOrNot


@dataclass(frozen=True)
class PersonsLexicon:
    """`persons.toml`: words around names of persons, in lower case."""

    not_names: Words
    organisations: Words
    also_words: Words
    places: Words
    particles: Words
    not_initials: Words
    line_heads: Words
    mailboxes: Words


@dataclass(frozen=True)
class OperationsLexicon:
    """`operations.toml`: words of process models beside words of a catalogue."""

    idle: Words
    counterparts: WordMap


_FILES: Mapping[type, str] = {
    EnglishLexicon: "english",
    GermanLexicon: "german",
    LanguagesLexicon: "languages",
    PersonsLexicon: "persons",
    OperationsLexicon: "operations",
}

_READERS: Mapping[Any, Callable[[Any], Any]] = {
    Words: lambda value: frozenset(_split_words(value)),
    OrderedWords: lambda value: _split_words(value),
    WordMap: lambda value: {str(key): str(word) for key, word in value.items()},
    WordLists: lambda value: {str(key): _split_words(words) for key, words in value.items()},
    WordGroups: lambda value: tuple(frozenset(_split_words(group)) for group in value),
}
"""The reader of each type of list."""


def load_lexicon(kind: type[T]) -> T:
    """The word lists of a file, read once.

    Raises:
        LexiconError: a list is missing, unknown, or not of the type of its field.
        KeyError: no file belongs to this class.
    """
    if kind not in _LOADED:
        name = _FILES[kind]
        with open(_FOLDER / f"{name}.toml", "rb") as file:
            _LOADED[kind] = read_lexicon(kind, tomllib.load(file), f"{name}.toml")
    lexicon: T = _LOADED[kind]
    return lexicon


_LOADED: dict[type, Any] = {}


def read_lexicon(kind: type[T], table: Mapping[str, Any], place: str) -> T:
    """The word lists of a table, as a value of a class of this module.

    Args:
        kind: the class; a field of another class of this module is a table.
        table: the lists by name, as TOML has them.
        place: what the table is called in messages.

    Raises:
        LexiconError: a list is missing, unknown, or not of the type of its field.
    """
    assert is_dataclass(kind)
    types = get_type_hints(kind)
    names = [field.name for field in fields(kind)]
    if set(names) != set(table):
        raise LexiconError(f"{place} needs the lists {sorted(names)} and has {sorted(table)}")
    values: dict[str, Any] = {}
    for name in names:
        where = f"{place}: {name}"
        if is_dataclass(types[name]):
            values[name] = read_lexicon(types[name], table[name], where)
            continue
        try:
            values[name] = _READERS[types[name]](table[name])
        except (AttributeError, TypeError) as error:
            raise LexiconError(f"{where} is not a list of this type: {error}") from None
    return kind(**values)


def _split_words(value: Any) -> OrderedWords:
    """The words of a text, or the texts of a list, in their order."""
    if isinstance(value, str):
        return tuple(value.split())
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return tuple(value)
    raise TypeError("it is neither a text nor a list of texts")
