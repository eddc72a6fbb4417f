"""Parsed sentences; noun phrases such as `team lead`, whose last noun the parser mistakes for a
verb, are parsed again with a plain noun in their place."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import Any

from orgflow.agents.language.dependents import (
    OBJECTS,
    SUBJECTS,
    ParsedText,
    Token,
    dependents_of,
    has_dependent,
)
from orgflow.agents.language.lexicon import EnglishLexicon, load_lexicon

from orgflow_ir.model.records import NamedTuple

_IN_A_PHRASE = frozenset(
    ("NN", "NNS", "NNP", "NNPS", "JJ", "VB", "VBP", "VBZ", "VBD", "VBN", "VBG", "UH")
)
"""Tags of the words in a noun phrase, including those that the parser mistakes for a verb."""
_BETWEEN = frozenset(("RB", "RBR", "either", "both"))
"""Tags and words that may occur between a subject and its verb."""
_BARE_INFINITIVE = load_lexicon(EnglishLexicon).verbs.bare_infinitive
_PREPOSITIONS = load_lexicon(EnglishLexicon).words.prepositions
_NOUN_PLACES = ("pobj", "dobj", "dative", "conj", *SUBJECTS)
"""Relations of a noun phrase that is no verb."""
_ACTS = load_lexicon(EnglishLexicon).verbs.acts
_PERFORMER = ("NN", "NNP", "NNS", "JJ", "VB", "VBG", "VBP")
"""Tags that the parser gives to the words of a performer's name."""
_ARTICLES = ("the", "a", "an", "our", "their", "his", "her", "its")
_CLAUSE_BEGINNINGS = frozenset(
    (",", ";", ":", "-", "and", "but", "then", "while", "finally", "next")
)
_BEHIND_VERB = ("DT", "PRP$", "PRP", "CD", ".", ",", "CC", "NNS", "IN", "TO", "JJ")
"""Tags of words that may stand behind a verb."""
_MOST_PHRASES = 4
"""Maximum number of phrases of a sentence that are parsed again."""
_MOST_WORDS = 3
"""Maximum number of words of a phrase."""


class _Suspect(NamedTuple):
    """A noun phrase that is not parsed as one: its words, and the verb that it is the subject of;
    `None` where it is an object, or where its verb is not the next word."""

    words: tuple[Token, ...]
    verb: Token | None
    bare: bool = False


def parse_sentence(nlp: Any, text: str) -> ParsedText:
    """The parsed sentence, a `Doc`; a noun phrase that was parsed again is one token.

    Args:
        nlp: the parser, as `load_parser` returns it.
        text: the sentence on one line.
    """
    doc = nlp(text)
    tried: set[tuple[int, bool]] = set()
    for _ in range(_MOST_PHRASES):
        suspects = (*_find_suspects(doc), *_find_bare_performers(doc))
        suspect = next((s for s in suspects if _suspect_key(s) not in tried), None)
        if suspect is None:
            break
        tried.add(_suspect_key(suspect))
        doc = _with_stand_in(nlp, doc, suspect) or doc
    return doc


def _suspect_key(suspect: _Suspect) -> tuple[int, bool]:
    return suspect.words[0].idx, suspect.bare


def split_where_misread(nlp: Any, doc: ParsedText) -> list[ParsedText]:
    """The sentence, or its two halves if the parser mistakes the object of one clause for a subject
    of the next: `the nurse releases the bed and the team cleans the room`."""
    for clause in doc:
        joint = _find_joint(clause) or _find_loose_joint(clause)
        if joint is not None:
            before = doc.text[: joint.idx].rstrip(" ,") + "."
            behind = doc.text[joint.idx + len(joint.text) :].strip()
            return [parse_sentence(nlp, part[:1].upper() + part[1:]) for part in (before, behind)]
    return [doc]


def _find_joint(clause: Token) -> Token | None:
    """The `and` between the object of a verb and the subject of a clause, where the parser joins
    both as subjects of the clause, whose singular verb is that of one."""
    verb = clause.head
    if clause.dep_ != "ccomp" or clause.i < verb.i or clause.tag_ != "VBZ":
        return None
    for mistaken in dependents_of(clause, "nsubj"):
        joints = dependents_of(mistaken, "cc")
        others = [t for t in dependents_of(mistaken, "conj") if t.tag_ in ("NN", "NNP")]
        for joint, other in zip(joints, others, strict=False):
            if (
                mistaken.left_edge.i == verb.i + 1
                and other.left_edge.i == joint.i + 1
                and clause.i == other.right_edge.i + 1
            ):
                return joint
    return None


def _find_loose_joint(clause: Token) -> Token | None:
    """The `and` behind the object of a verb that joins it to nothing, before the subject of a
    clause that the parser takes for what the verb states: `the user confirms the solution and the
    ticket is closed`."""
    verb = clause.head
    if clause.dep_ != "ccomp" or clause.i < verb.i:
        return None
    subjects = dependents_of(clause, *SUBJECTS)
    for thing in dependents_of(verb, *OBJECTS):
        for joint in dependents_of(thing, "cc"):
            if not has_dependent(thing, "conj") and any(
                s.left_edge.i == joint.i + 1 for s in subjects
            ):
                return joint
    return None


def _find_suspects(doc: ParsedText) -> Iterator[_Suspect]:
    """Phrases of two words or more behind an article, or at the beginning of the sentence, whose
    last word cannot be the verb that the parser takes it for."""
    for token in doc:
        article = token.tag_ in ("DT", "PRP$")
        if not article and token.i > 0:
            continue
        start = token.i + 1 if article else token.i
        words = list(takewhile(lambda t: t.tag_ in _IN_A_PHRASE, doc[start:]))
        for length in range(2, min(len(words), _MOST_WORDS) + 1):
            phrase = tuple(words[:length])
            verb = _verb_behind(phrase)
            if verb is not None:
                if not _is_subject(phrase, verb):
                    yield _Suspect(phrase, verb)
                break
            if article and _is_noun_elsewhere(phrase, token):
                yield _Suspect(phrase, None)
                break


def _find_bare_performers(doc: ParsedText) -> Iterator[_Suspect]:
    """Words at the beginning of a clause before a word in -s that can be a verb and has no subject:
    `legal reviews the terms`, `the team lead signs`."""
    for verb in doc:
        if not (verb.i and verb.tag_ in ("VBZ", "NNS") and verb.lower_.endswith("s")):
            continue
        lemma = verb.lemma_.lower()
        if lemma not in _ACTS or has_dependent(verb, *SUBJECTS):
            continue
        words = list(takewhile(_may_name_performer, reversed(doc[: verb.i])))[:_MOST_WORDS]
        if not words:
            continue
        start = words[-1].i
        before = doc[start - 1] if start else None
        behind = doc[verb.i + 1] if verb.i + 1 < len(doc) else None
        begins = before is None or before.lower_ in _CLAUSE_BEGINNINGS or before.tag_ == "DT"
        goes_on = behind is None or behind.tag_ in _BEHIND_VERB
        if begins and goes_on:
            yield _Suspect(tuple(reversed(words)), verb, True)


def _may_name_performer(token: Token) -> bool:
    return token.tag_ in _PERFORMER and token.lower_ not in _CLAUSE_BEGINNINGS


def _verb_behind(phrase: tuple[Token, ...]) -> Token | None:
    """The verb behind a phrase that agrees with it in number, where the last word of the phrase, as
    a verb, is of the other number: `lead reviews`, `desks check`, and never `clerk reviews`."""
    last = phrase[-1]
    if last.tag_ in ("VBN", "VBG") or " " in last.text:
        return None
    behind = [t for t in last.doc[last.i + 1 :] if not _BETWEEN & {t.tag_, t.lower_}][:1]
    if not behind:
        return None
    verb = behind[0]
    return _plural_verb(phrase, verb) if _is_plural(last) else _singular_verb(last, verb)


def _plural_verb(phrase: tuple[Token, ...], verb: Token) -> Token | None:
    """The verb of a phrase in the plural: `desks check the claim`."""
    last = phrase[-1]
    rest = {t.dep_ for t in phrase[:-1]}
    if last.tag_ == "NNS" and not rest & {"ROOT", *SUBJECTS}:
        return None
    bare = verb.tag_ in ("VB", "VBP") and verb.i == last.i + 1
    return verb if bare and _has_thing(verb) and last.lemma_ not in _BARE_INFINITIVE else None


def _singular_verb(last: Token, verb: Token) -> Token | None:
    """The verb of a phrase in the singular: `lead reviews`, `lead must review`."""
    if last.tag_ == "VBZ":
        return None
    if verb.dep_ in ("aux", "auxpass") and verb.tag_ in ("VBZ", "MD") and verb.head.i > verb.i:
        return verb.head
    return verb if verb.tag_ == "VBZ" or (verb.tag_ == "NNS" and _has_thing(verb)) else None


def _has_thing(verb: Token) -> bool:
    """Whether a word has an object, which makes it a verb; a number is none."""
    return any(t.pos_ != "NUM" for t in dependents_of(verb, *OBJECTS, "appos", "dative"))


def _is_plural(noun: Token) -> bool:
    return bool(noun.lower_.endswith("s") and noun.tag_ in ("VBZ", "NNS"))


def _is_noun_elsewhere(phrase: tuple[Token, ...], article: Token) -> bool:
    """Whether a singular noun stands before a plural verb or an infinitive that cannot be its:
    behind a preposition (`by the team lead`), as an object (`asks the team lead to approve`), or
    apart from the verb (`the team lead and the clerk review`, `the team lead, who`)."""
    last, noun = phrase[-1], phrase[-2]
    doc = last.doc
    if last.tag_ not in ("VB", "VBP") or noun.tag_ not in ("NN", "NNP") or last.i + 1 >= len(doc):
        return False
    if last.pos_ == "AUX":
        return False
    before = doc[article.i - 1] if article.i else None
    behind = doc[last.i + 1]
    if before is not None and before.lower_ in _PREPOSITIONS:
        own_subject = has_dependent(last, *SUBJECTS)
        return not own_subject and bool(behind.tag_ not in ("DT", "PRP", "PRP$"))
    if before is not None and before.tag_ == "CC":  # `the clerk and the team lead review`
        return bool(behind.tag_ in ("VB", "VBP", "MD"))
    if before is not None and before.tag_[:2] == "VB" and before.lemma_ not in _BARE_INFINITIVE:
        return bool(behind.tag_ == "TO")
    apart = behind.nbor(1).tag_ if behind.i + 1 < len(doc) else ""
    return (behind.text, apart) in ((",", "WP"), (",", "WDT")) or (
        (behind.tag_, apart) in (("CC", "DT"), ("CC", "PRP$"))
    )


def _is_subject(phrase: tuple[Token, ...], verb: Token) -> bool:
    """Whether the parser took a phrase as a whole for the subject of a verb."""
    last = phrase[-1]
    return (
        last.dep_ in (*SUBJECTS, "csubj")
        and last.head.i == verb.i
        and last.pos_ in ("NOUN", "PROPN")
        and all(last.is_ancestor(word) and word.dep_ != "nsubj" for word in phrase[:-1])
    )


def _with_stand_in(nlp: Any, doc: ParsedText, suspect: _Suspect) -> ParsedText | None:
    """The sentence parsed with a plain noun in place of a phrase, under the words of the text;
    `None` where the noun is then not what the phrase is taken for."""
    first, last = suspect.words[0], suspect.words[-1]
    before = doc[first.i - 1].lower_ if first.i else ""
    noun = ("agent" if before == "an" else "clerk") + "s"[: _is_plural(last)]
    if suspect.bare and before not in _ARTICLES:
        noun = "Anna"  # no plain noun stands without an article
    elif first.i == 0:
        noun = noun.capitalize()
    kept = [t for t in doc if not first.i < t.i <= last.i]
    words = [noun if t.i == first.i else t.text for t in kept]
    spaces = [bool((last if t.i == first.i else t).whitespace_) for t in kept]
    again = type(doc)(doc.vocab, words=words, spaces=spaces)
    for _, component in nlp.pipeline:
        again = component(again)
    stand_in = again[first.i]
    if suspect.verb is not None:
        verb = again[suspect.verb.i - (len(suspect.words) - 1)]
        read = stand_in.dep_ in SUBJECTS and stand_in.head.i == verb.i and verb.pos_ == "VERB"
    else:
        read = stand_in.pos_ == "NOUN" and stand_in.dep_ in _NOUN_PLACES
    if not read:
        return None
    whole = doc.text[first.idx : last.idx + len(last.text)]
    return type(doc)(
        doc.vocab,
        words=[whole if t.i == first.i else t.text for t in again],
        spaces=spaces,
        tags=[t.tag_ for t in again],
        pos=[t.pos_ for t in again],
        lemmas=[whole if t.i == first.i else t.lemma_ for t in again],
        heads=[t.head.i for t in again],
        deps=[t.dep_ for t in again],
        ents=[f"{t.ent_iob_}-{t.ent_type_}" if t.ent_type_ else "O" for t in again],
    )
