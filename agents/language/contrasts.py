"""Kinds of a thing that exclude each other, as in `Unsuitable candidates receive a rejection.
Suitable candidates are invited.`: the actions on them are a choice and not a sequence."""

from __future__ import annotations

from collections.abc import Iterator

from orgflow.agents.language import cues
from orgflow.agents.language.dependents import ParsedText, Token, dependents_of, has_dependent
from orgflow.agents.language.lexicon import EnglishLexicon, load_lexicon

from orgflow_ir.model.records import NamedTuple

_KINDS = load_lexicon(EnglishLexicon).kinds


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


def find_kinds(sentence: ParsedText) -> tuple[Kind, ...]:
    """The kinds of things that a parsed sentence names as subjects and objects, in its order; none
    in a sentence that states an order (`then`)."""
    return () if cues.ORDER.search(sentence.text) else tuple(_read_kinds(sentence))


def are_opposed(kind: Kind, other: Kind) -> bool:
    """Whether two kinds are of the same thing and exclude each other. For objects, only a negation
    is clear (`rejects unsuitable candidates`), and only if the actions differ."""
    same = kind.noun == other.noun or "one" in (kind.noun, other.noun)
    if not same or kind.modifier == other.modifier:
        return False
    if other.modifier in _KINDS.rest or _is_negation(kind.modifier, other.modifier):
        return (kind.subject and other.subject) or kind.verb != other.verb
    pair = {kind.modifier, other.modifier}
    alike = any(pair <= group for group in _KINDS.alike)
    grouped = any(pair <= group for group in _KINDS.groups) and not alike
    return grouped and kind.subject and other.subject


def label_of_kind(kind: Kind) -> str:
    """The condition under which a branch for a kind is taken."""
    return "otherwise" if kind.modifier in _KINDS.rest else kind.label


def _is_negation(word: str, other: str) -> bool:
    """Whether one of two words is the other with a negation before it."""
    return any(word == f"{n}{other}" or other == f"{n}{word}" for n in _KINDS.negations)


def _read_kinds(sentence: ParsedText) -> Iterator[Kind]:
    for noun in sentence:
        if noun.dep_ not in ("nsubj", "nsubjpass", "dobj") or noun.pos_ not in ("NOUN", "PROPN"):
            continue
        verb = noun.head
        for modifier, start, end in _read_modifiers(noun):
            text = sentence.text[start:end]
            label = text if text[:2].isupper() else text[:1].lower() + text[1:]
            yield Kind(
                modifier, noun.lemma_.lower(), label, verb.lemma_, verb.idx, noun.dep_ != "dobj"
            )


def _read_modifiers(noun: Token) -> Iterator[tuple[str, int, int]]:
    """Words that make a noun a kind: adjectives before it (`non-urgent`) and those of `that are
    not complete`; each with the span of the label in characters."""
    text, end = noun.doc.text, noun.idx + len(noun.text)
    for child in noun.children:
        if child.i < noun.i and (child.dep_ == "amod" or child.tag_ in ("JJ", "VBN", "VBG")):
            start = child.idx
            while start and not text[start - 1].isspace():  # the parser splits `non-urgent`
                start -= 1
            yield text[start : child.idx + len(child.text)].lower(), start, end
        if child.dep_ == "relcl" and child.lemma_ == "be":
            negation = "not " if has_dependent(child, "neg") else ""
            for word in dependents_of(child, "acomp"):
                yield f"{negation}{word.lower_}", noun.idx, word.idx + len(word.text)
