"""Objects of verbs in messages, in the author's words."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from orgflow.agents.language.dependents import (
    OBJECTS,
    SUBJECTS,
    Token,
    dependents_of,
    first_dependent,
    has_dependent,
    has_object,
    is_passive,
)
from orgflow.agents.language.lexicon import EnglishLexicon, load_lexicon
from orgflow.agents.language.verbs import reports_arrival

from orgflow_ir.model.records import NamedTuple

_LEXICON = load_lexicon(EnglishLexicon)
_VERBS, _WORDS, _NOUNS = _LEXICON.verbs, _LEXICON.words, _LEXICON.nouns

_SENTENCE = ("aux", "neg", "ccomp", "xcomp", "advmod")
"""Dependents of a verb in a sentence, as opposed to a headline."""

_PARTS = (*OBJECTS, *SUBJECTS, "attr", "ROOT", "pobj")
"""Categories of nouns that a pronoun can stand for; nouns that describe others are excluded."""

_ACT_NOUN = re.compile(r"\w{3,}(?:[ts]ion|ment|ysis)s?")

_NUMBERED = re.compile(r"(?:[^\W\d_]+\s+)?#?[^\W\d_]{0,4}-?\d")
"""A noun with a number, or a number itself."""

_ON_ITS_WAY = {("in", "post"), ("in", "mail"), ("on", "way")}


class Target(NamedTuple):
    """The object of a verb, as words.

    Attributes:
        words: the words of the object, in lower case; none if there is no object.
        tail: its complement (` of incident`).
        less: how much less clear it is than a plain object.
    """

    words: list[str]
    tail: str = ""
    less: float = 0.0


_NO_TARGET = Target([])


def find_targets(
    verb: Token, base: str, names: Collection[str], about: Sequence[str]
) -> list[Target]:
    """The objects of a verb; none where it has none of its own and none of another verb.

    Args:
        verb: the verb.
        base: its infinitive.
        names: parts of people's names, in lower case.
        about: the words of the topic of the text.
    """
    if reports_arrival(verb):
        things = [c for c in dependents_of(verb, "nsubj") if is_thing(c, names)]
        return [Target(words, "", 0.3) for c in things if (words := object_words(c, names))]
    targets = [_find_own_target(verb, base, names)]
    if not targets[0].words and base in _VERBS.acts and _stands_for_topic(verb):
        targets = [Target(_words_before_pronoun(verb, names) or list(about), "", 0.5)]
    if not targets[0].words and base in _VERBS.acts and not has_object(verb):
        targets += _find_shared_targets(verb, names)
    return [target for target in targets if target.words]


def _find_own_target(verb: Token, base: str, names: Collection[str]) -> Target:
    """The object of a verb, the subject of a passive, or the noun behind a preposition of the verb:
    `log into the game`."""
    # 1. an object, or none if it is a medium or stands in another line
    objects = dependents_of(verb, *OBJECTS, "nsubjpass")
    thing = next((child for child in objects if is_thing(child, names)), None)
    if thing is not None:
        return _target_of_object(verb, base, thing, names)
    if objects:
        return _NO_TARGET
    # 2. a notice: `order (approved)`
    noted = verb.tag_ in ("VBN", "VBD") and verb.i > 0 and verb.nbor(-1).text == "("
    if noted and verb.head.pos_ == "NOUN" and verb.head.i < verb.i:
        return Target(object_words(verb.head, names))
    # 3. a noun behind a preposition
    if is_passive(verb):
        return _NO_TARGET
    for preposition in dependents_of(verb, "prep"):
        if _names_target(preposition, base):
            for noun in dependents_of(preposition, "pobj"):
                if noun.pos_ == "NOUN":
                    words = object_words(noun, names)
                    return Target([preposition.lower_, *words] if words else [], "", 0.3)
    return _NO_TARGET


def _target_of_object(verb: Token, base: str, thing: Token, names: Collection[str]) -> Target:
    itself = any(c.lower_ == "this" for c in thing.lefts)
    if thing.lemma_.lower() in _NOUNS.media and (base not in _VERBS.sending or itself):
        return _NO_TARGET
    if any(t.text == ":" for t in verb.doc[verb.i : thing.i]):
        return _NO_TARGET  # `status changed: claim` changes no claim
    words = object_words(thing, names)
    return Target(words, find_tail((thing, verb), names) if words else "")


def _names_target(preposition: Token, base: str) -> bool:
    """Whether a verb names what it is done to by this preposition."""
    word, act = preposition.lower_, base in _VERBS.acts
    if word in _WORDS.direct or (word == "for" and base in _VERBS.with_for):
        return True
    return (word in _WORDS.towards and act) or (word == "over" and not act)


def _find_shared_targets(verb: Token, names: Collection[str]) -> list[Target]:
    """The object that a verb has together with the next one (`review and sign the contract`), or
    that a report in headlines has before it (`Documents received`)."""
    things: list[Token] = []
    if is_passive(verb):
        if verb.dep_ == "conj":
            things = dependents_of(verb.head, *SUBJECTS)
    else:
        things = [
            child for beside in dependents_of(verb, "conj")
            if beside.pos_ == "VERB" and beside.i - verb.i < 4
            for child in dependents_of(beside, *OBJECTS)
        ]  # fmt: skip
        if _is_headline(verb) and not any(is_thing(c, names) for c in things):
            things = [
                c for c in verb.lefts
                if c.dep_ == "nsubj" and c.lemma_.lower() not in _NOUNS.people
                and not any(t.dep_ in ("det", "poss") for t in c.lefts)
            ]  # fmt: skip
    return [
        Target(object_words(noun, names), find_tail((noun,), names), 0.1)
        for noun in things if is_thing(noun, names)
    ]  # fmt: skip


def _is_headline(verb: Token) -> bool:
    past = verb.dep_ == "ROOT" and verb.tag_ in ("VBN", "VBD")
    return past and not has_dependent(verb, *_SENTENCE)


# -- nouns -----------------------------------------------------------------------------------


def is_act_noun(noun: str) -> bool:
    """Whether a noun is what somebody does: `payment`, `inspection`."""
    singular = noun.removesuffix("s")
    return singular in _NOUNS.acts or bool(
        _ACT_NOUN.fullmatch(noun) and singular not in _NOUNS.not_acts
    )


def is_thing(noun: Token, names: Collection[str]) -> bool:
    """Whether a word is a noun, or taken for a name by the parser: `the RFP`, `the Contract`."""
    if any(c.lower_ == "no" for c in noun.lefts):
        return False  # `there were no alarms`
    if noun.pos_ == "NOUN":
        return True
    if noun.pos_ != "PROPN" or not noun.is_alpha or noun.lower_ in names:
        return False
    if has_dependent(noun, "nummod"):
        return False  # a currency
    return (noun.is_upper and 1 < len(noun) < 6) or any(
        c.dep_ in ("det", "poss") for c in noun.lefts
    )


def object_words(noun: Token, names: Collection[str]) -> list[str]:
    """A noun with at most two words before it, in lower case; none where it is empty or vague."""
    if noun.lemma_.lower() in _NOUNS.empty or noun.text.lower() in names or len(noun.text) < 3:
        return []
    words = [
        child for child in noun.lefts
        if child.dep_ in ("compound", "amod") and child.pos_ in ("NOUN", "ADJ")
        and child.text.isalpha() and child.text.lower() not in names
    ][-2:]  # fmt: skip
    if any(len(w) < 3 for w in words) and any(c.dep_ == "nummod" for c in noun.subtree):
        return []  # `30 mm outwards`
    if not words and noun.lemma_.lower() in _NOUNS.vague:
        return []
    words.append(noun)
    return [w.text.lower() for w in words if w.text.isalpha()]


def find_tail(heads: Sequence[Token], names: Collection[str]) -> str:
    """The complement of an object behind a preposition: ` of incident`; empty without one."""
    for head in heads:
        for preposition in dependents_of(head, "prep"):
            if preposition.lower_ not in _WORDS.close:
                continue
            for noun in dependents_of(preposition, "pobj"):
                # `of order L-70418` names one thing, not a kind of things
                plain = not _NUMBERED.match(noun.doc.text[noun.idx :])
                if noun.pos_ == "NOUN" and plain:
                    words = object_words(noun, names)
                    if words and words[-1] not in _NOUNS.idioms:
                        return f" {preposition.lower_} {' '.join(words)}"
    return ""


# -- pronouns --------------------------------------------------------------------------------


def _stands_for_topic(verb: Token) -> bool:
    """Whether a verb has a pronoun as its object, or none at all where it reports: `Approved.`"""
    objects = dependents_of(verb, *OBJECTS, "nsubjpass")
    if objects:
        vague = any(c.tag_ in ("DT", "WDT", "WP") for c in dependents_of(verb, "nsubj"))
        # `does that settle it?`
        return bool(objects[0].lower_ in _WORDS.topic_pronouns) and not vague
    reports = verb.dep_ == "ROOT" and verb.tag_ in ("VBN", "VBD")
    return bool(reports and not has_dependent(verb, *SUBJECTS))


def _words_before_pronoun(verb: Token, names: Collection[str]) -> list[str]:
    """The words of the thing before a pronoun: `the base is hollow, I'll fill it`."""
    pronoun = next((c for c in verb.children if c.lower_ in _WORDS.topic_pronouns), None)
    if pronoun is None:
        return []
    many = pronoun.lower_ != "it"
    for noun in reversed(verb.doc[verb.sent.start : pronoun.i]):
        if noun.text in (":", ";"):
            break
        fits = noun.tag_ == ("NNS" if many else "NN") and noun.dep_ in _PARTS
        if fits and (words := object_words(noun, names)):
            return words
    return []


# -- documents that come with a message ------------------------------------------------------


def find_handed_over(verb: Token, names: Collection[str]) -> list[tuple[str, Token]]:
    """Documents that are sent or received according to a phrase: an attached or announced document
    is sent (`please find attached the offer`, `offer attached`, `here is the offer`, `the offer is
    in the post`), a document that has arrived is received (`the offer is here`).

    Returns `send` or `receive`, and the noun.
    """
    handed: list[tuple[str, Token]] = []
    if verb.lower_ in _WORDS.enclosed:
        handed = [("send", noun) for noun in _find_enclosed(verb)]
    elif verb.lemma_ == "be":
        handed = _find_announced(verb)
    if has_dependent(verb, "neg") or "?" in verb.sent.text:
        return []
    return [(act, noun) for act, noun in handed if _is_document(act, noun, names)]


def _is_document(act: str, noun: Token, names: Collection[str]) -> bool:
    thing = is_thing(noun, names) or (act == "send" and _begins_sentence(noun, names))
    return thing and noun.lemma_.lower() not in _NOUNS.media | _NOUNS.people


def _find_announced(verb: Token) -> list[tuple[str, Token]]:
    """What is here, attached, or on its way, according to a form of `be`."""
    announced: list[tuple[str, Token]] = []
    subjects = dependents_of(verb, "nsubj", "attr")
    for place in dependents_of(verb, "advmod", "prep", "nsubj", "acomp"):
        end = first_dependent(place, "pobj")
        if place.lower_ == "here":
            announced += [("send" if noun.i > verb.i else "receive", noun) for noun in subjects]
        elif place.lower_ in _WORDS.enclosed:
            announced += [("send", noun) for noun in subjects if noun is not place]
        elif end is not None and (place.lower_, end.lower_) in _ON_ITS_WAY:
            announced += [("send", noun) for noun in subjects if noun.i < verb.i]
    return announced


def _begins_sentence(noun: Token, names: Collection[str]) -> bool:
    """Whether a word is taken for a name since a sentence begins with it: `Offer attached`."""
    return bool(
        noun.i == noun.sent.start and noun.pos_ == "PROPN" and noun.is_title
        and noun.lower_ not in names
    )  # fmt: skip


def _find_enclosed(verb: Token) -> list[Token]:
    """The nouns that `attached` is about."""
    own = dependents_of(verb, *OBJECTS)
    if own:
        return own
    if verb.dep_ in ("acl", "amod"):
        return [verb.head]
    shown = verb.head.lemma_.lower() in ("find", "see")
    if verb.dep_ in ("advcl", "ccomp", "acomp", "oprd") and shown:
        return dependents_of(verb.head, *OBJECTS)
    if verb.tag_ in ("VBN", "VBD"):
        return dependents_of(verb, *SUBJECTS)
    return []
