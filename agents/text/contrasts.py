"""Kinds of a thing that exclude each other, as in `Unsuitable candidates receive a rejection.
Suitable candidates are invited.`: the actions on them are a choice and not a sequence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_NEGATIONS = ("un", "in", "im", "ir", "il", "non-", "non", "dis", "not ")
_GROUPS = tuple(
    frozenset(group.split())
    for group in (
        "accepted approved granted confirmed passed rejected declined refused denied failed",
        "small medium large big", "low medium high", "minor major", "simple complex difficult easy",
        "new existing known returning", "internal external", "domestic foreign international",
        "urgent normal routine standard regular", "positive negative", "private public corporate",
        "good bad defective faulty intact damaged", "early late", "cheap expensive", "paid overdue",
        "national international", "correct wrong", "short long", "open closed", "junior senior",
    )
)  # fmt: skip
_ALIKE = tuple(
    frozenset(group.split())
    for group in (
        "accepted approved granted confirmed passed", "rejected declined refused denied failed",
        "large big", "complex difficult", "simple easy", "existing known returning",
        "foreign international", "normal routine standard regular", "private public",
        "bad defective faulty damaged", "good intact",
    )
)  # fmt: skip
"""Words of a group that do not exclude each other."""
_REST = frozenset(("other", "remaining"))
_ORDER = re.compile(r"\b(?:then|next|afterwards?|finally|subsequently|after that|later)\b", re.I)


class Kind(NamedTuple):
    """A kind of thing named in a sentence.

    Attributes:
        modifier: the word that defines the kind, in lower case; preceded by `not` if it is negated.
        noun: the thing, its lemma.
        label: the words of the text.
        verb: the lemma of the action.
        at: its position in the sentence, in characters.
        subject: whether it is the subject of the clause, with an active or a passive verb.
    """

    modifier: str
    noun: str
    label: str
    verb: str
    at: int
    subject: bool


def kinds_of(doc: Any) -> tuple[Kind, ...]:
    """The kinds of things that a parsed sentence names as subjects and objects, in its order; none
    in a sentence that states an order (`then`)."""
    return () if _ORDER.search(doc.text) else tuple(_kinds(doc))


def are_opposed(one: Kind, other: Kind) -> bool:
    """Whether two kinds are of the same thing and exclude each other. For objects, only a negation
    is clear (`rejects unsuitable candidates`), and only if the actions differ."""
    same = one.noun == other.noun or "one" in (one.noun, other.noun)
    if not same or one.modifier == other.modifier:
        return False
    if other.modifier in _REST or _negates(one.modifier, other.modifier):
        return (one.subject and other.subject) or one.verb != other.verb
    pair = {one.modifier, other.modifier}
    grouped = any(pair <= group for group in _GROUPS) and not any(pair <= a for a in _ALIKE)
    return grouped and one.subject and other.subject


def label_of(kind: Kind) -> str:
    """The condition under which a branch for a kind is taken."""
    return "otherwise" if kind.modifier in _REST else kind.label


def _negates(one: str, other: str) -> bool:
    return any(one == f"{n}{other}" or other == f"{n}{one}" for n in _NEGATIONS)


def _kinds(doc: Any) -> Iterator[Kind]:
    for noun in doc:
        if noun.dep_ not in ("nsubj", "nsubjpass", "dobj") or noun.pos_ not in ("NOUN", "PROPN"):
            continue
        verb = noun.head
        for modifier, start, end in _modifiers(noun):
            text = doc.text[start:end]
            label = text if text[:2].isupper() else text[:1].lower() + text[1:]
            yield Kind(
                modifier, noun.lemma_.lower(), label, verb.lemma_, verb.idx, noun.dep_ != "dobj"
            )


def _modifiers(noun: Any) -> Iterator[tuple[str, int, int]]:
    """Words that make a noun a kind: adjectives before it (`non-urgent`) and those of `that are
    not complete`; each with the span of the label in characters."""
    end = noun.idx + len(noun.text)
    for child in noun.children:
        if child.i < noun.i and (child.dep_ == "amod" or child.tag_ in ("JJ", "VBN", "VBG")):
            start = child.idx
            while (
                start and not noun.doc.text[start - 1].isspace()
            ):  # the parser splits `non-urgent`
                start -= 1
            yield noun.doc.text[start : child.idx + len(child.text)].lower(), start, end
        if child.dep_ == "relcl" and child.lemma_ == "be":
            negation = "not " if any(t.dep_ == "neg" for t in child.children) else ""
            for word in child.children:
                if word.dep_ == "acomp":
                    yield f"{negation}{word.lower_}", noun.idx, word.idx + len(word.text)
