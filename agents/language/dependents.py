"""Questions about parsed words: their dependents, by the labels of spaCy's English model (ClearNLP
dependencies)."""

from __future__ import annotations

from typing import Any, TypeAlias

Token: TypeAlias = Any
"""A `spacy.tokens.Token`; spaCy is not installed everywhere."""

ParsedText: TypeAlias = Any
"""A `spacy.tokens.Doc` or a `Span` of one."""

SUBJECTS = ("nsubj", "nsubjpass")
OBJECTS = ("dobj", "obj")


def dependents_of(token: Token, *relations: str) -> list[Token]:
    """The dependents of a word with one of these relations, in the order of the text."""
    return [child for child in token.children if child.dep_ in relations]


def first_dependent(token: Token, *relations: str) -> Token | None:
    """The first dependent of a word with one of these relations."""
    return next((child for child in token.children if child.dep_ in relations), None)


def has_dependent(token: Token, *relations: str) -> bool:
    """Whether a word has a dependent with one of these relations."""
    return any(child.dep_ in relations for child in token.children)


def has_word(token: Token, words: frozenset[str] | tuple[str, ...], *relations: str) -> bool:
    """Whether a dependent with one of these relations is one of these words; without relations,
    any dependent."""
    return any(
        child.lower_ in words and (not relations or child.dep_ in relations)
        for child in token.children
    )


def is_within(token: Token, top: Token, relations: tuple[str, ...]) -> bool:
    """Whether one of these relations lies on the path from a word up to another one."""
    while token.i != top.i:
        if token.dep_ in relations:
            return True
        token = token.head
    return False


def has_object(verb: Token) -> bool:
    """Whether a verb has an object, a recipient, or is passive with a subject."""
    return has_dependent(verb, *OBJECTS, "nsubjpass", "dative")


def is_passive(verb: Token) -> bool:
    """Whether a verb is passive by itself, or as the one before it: `was signed and sent`."""
    if has_dependent(verb, "auxpass"):
        return True
    follows = verb.dep_ == "conj" and verb.tag_ == "VBN" and not has_dependent(verb, "nsubj")
    return follows and has_dependent(verb.head, "auxpass")


_SIGNS = ("%", "‰", "#", "&", "§")
"""Punctuation that belongs to what is written."""


def join_as_written(tokens: list[Token]) -> str:
    """Words with what stands between them in the text: `24-hour`, `10 %`, `$500`, `no. 5`."""
    text = ""
    kept = [t for t in tokens if not t.is_punct or t.text in _SIGNS]
    for before, token in zip([None, *kept], kept, strict=False):
        if before is not None:
            between = token.doc.text[before.idx + len(before.text) : token.idx]
            text += between if between in ("", "-", "/", ". ") else " "
        text += token.text
    return text


def words_behind(mark: Token) -> str:
    """The words of a clause behind the word that begins it."""
    words = [t for t in mark.head.subtree if t.i > mark.i]
    return join_as_written(sorted(words, key=lambda t: t.i))
