"""Verbs of messages: their infinitive, their particle, and words that the parser mistakes for
verbs."""

from __future__ import annotations

import re

from orgflow.agents.language.dependents import (
    SUBJECTS,
    Token,
    dependents_of,
    has_dependent,
    has_object,
    has_word,
    is_passive,
)
from orgflow.agents.language.lexicon import EnglishLexicon, load_lexicon
from orgflow.agents.language.parsing import load_known_verbs

_LEXICON = load_lexicon(EnglishLexicon)
_VERBS, _WORDS, _NOUNS = _LEXICON.verbs, _LEXICON.words, _LEXICON.nouns

_PLAIN = ("VB", "VBP")
"""Tags of verbs without an ending, and tags of other words that the parser confuses with them."""
_CLAUSE_WORDS = (*SUBJECTS, "aux", "auxpass", "mark")
"""Relations of dependents that only the verb of a clause has."""


# -- infinitives -----------------------------------------------------------------------------

_PREFIX = re.compile(r"^(?:co|de|dis|mis|out|over|pre|re|sub|un)-?(?=\w{3})")
"""Prefixes that form a verb from another: word lists contain `test` and not `retest`."""

_SHORT = re.compile(r"[^aeiou]*[aeiou][bdgklmnprtvz]")
"""A stem of one syllable, whose past form would double its last letter."""

_UP_TO_DATE = re.compile(r"\bup[ -]to[ -]date\b", re.IGNORECASE)


def infinitive_of(verb: Token) -> str:
    """The infinitive of a verb. Where the parser's is none of the usual verbs, spelling decides:
    `readied`, `installed` and `rated` are of `ready`, `install` and `rate`."""
    lemma, text = str(verb.lemma_.lower()), str(verb.lower_)
    known = load_known_verbs()
    if lemma == text and text.endswith("ed") and lemma not in known:
        lemma = next((stem for stem in (text[:-2], text[:-1]) if stem in known), lemma)
    if lemma in _VERBS.acts or lemma in _VERBS.talk:
        return lemma
    if lemma in _VERBS.irregular:
        return _VERBS.irregular[lemma]
    if text.endswith("ied") and len(text) > 5:
        return f"{text[:-3]}y"
    for ending in ("ed", "ing"):
        if text.endswith(ending) and verb.tag_ in ("VBD", "VBN", "VBG"):
            return _infinitive_by_stem(text.removesuffix(ending), lemma)
    return lemma


def _infinitive_by_stem(stem: str, lemma: str) -> str:
    """The infinitive of a form by its stem: the stem, with an `e`, or without a doubled letter.

    Args:
        stem: the form without `ed` or `ing`.
        lemma: what the parser takes for the infinitive.
    """
    candidates = (stem, f"{stem}e", stem[:-1])
    # 1. a verb of the lexicon
    for candidate in candidates:
        if candidate in _VERBS.acts or candidate in _VERBS.talk:
            return candidate
    # 2. a known verb with a prefix, where the parser's is unknown
    known = load_known_verbs()
    if lemma not in known:
        for candidate in candidates:
            if _PREFIX.sub("", candidate) in _VERBS.acts | known:
                return candidate
    # 3. of `rat` it would be `ratted`
    return f"{stem}e" if lemma == stem and _SHORT.fullmatch(stem) else lemma


def name_verb(verb: Token) -> tuple[str, str]:
    """The infinitive of a verb, and the same with its particle; what comes is received."""
    if reports_arrival(verb):
        return "receive", "receive"
    base = infinitive_of(verb)
    return base, _with_particle(verb, base)


def _with_particle(verb: Token, base: str) -> str:
    particle = next(
        (c.lower_ for c in verb.children if c.dep_ == "prt" or c.lower_ == "together"), ""
    )
    if base == "bring" and _UP_TO_DATE.search(verb.sent.text):
        return "update"
    return f"{base} {particle}".strip()


def is_complete(verb: Token, base: str) -> bool:
    """Whether a verb without an object names a step: `I signed up`."""
    if base not in _VERBS.alone or has_object(verb) or has_dependent(verb, "ccomp"):
        return False
    particles = dependents_of(verb, "prt")
    subject = next((c.lower_ for c in dependents_of(verb, "nsubj")), "")
    if not subject and (verb.tag_ == "VB" or particles):
        subject = "you"
    particle = particles[0].lower_ if particles else ""
    return subject in ("i", "we", "you") and particle in (_VERBS.alone[base] or ("",))


# -- what is no verb of an action ------------------------------------------------------------


def is_misread_noun(verb: Token) -> bool:
    """Whether what the parser takes for a verb is the first part of a name: in `In aisle 7 reach
    truck 3 stands` nobody reaches anything, and no request begins."""
    if _is_part_of_noun(verb) or not _is_verb_anywhere(verb):
        return True
    if has_word(verb, ("automatically",), "advmod"):
        return True  # a notice about itself
    if verb.tag_ not in _PLAIN or verb.i + 1 >= len(verb.doc):
        return False
    if _has_compound_as_subject(verb):
        return True
    if has_dependent(verb, *_CLAUSE_WORDS):
        return False
    if verb.i == verb.sent.start or verb.doc[verb.i + 1].pos_ != "NOUN":
        return False
    return not _may_begin_request(verb.doc[verb.i - 1])


def _may_begin_request(before: Token) -> bool:
    """Whether a word, or the beginning of a line, may stand before the verb of a request."""
    return bool(before.is_punct or before.is_space or before.lower_ in _WORDS.before_request)


def _has_compound_as_subject(verb: Token) -> bool:
    """Whether the subject of a plural verb is singular, and so the first part of a name: in `bike
    shed key`, one bike sheds."""
    before = verb.nbor(-1) if verb.i > 0 else verb
    alone = not before.conjuncts and not has_dependent(verb, "aux")
    subject = before.tag_ == "NN" and before.dep_ == "nsubj" and before.head == verb
    return bool(subject and alone)


def _is_part_of_noun(verb: Token) -> bool:
    """Whether a participle is part of a noun: `volumes and drawing numbers`."""
    alone = not has_dependent(verb, "aux", "nsubj")
    return verb.tag_ == "VBG" and verb.dep_ == "conj" and verb.head.tag_ != "VBG" and alone


def _is_verb_anywhere(verb: Token) -> bool:
    """Whether a word is a verb anywhere, where only its place suggests it: in `passed on to
    supervisor R. Sandhu` none is. New ones (`please onboard the supplier`) have a mark of verbs."""
    if verb.tag_ not in _PLAIN or verb.i == verb.sent.start:
        return True
    known, lemma = load_known_verbs(), verb.lemma_.lower()
    if known and lemma not in known and lemma not in _VERBS.acts:
        following = verb.doc[verb.i + 1] if verb.i + 1 < len(verb.doc) else None
        if following is not None and following.pos_ == "PROPN":
            return False  # a role before a name
    if has_dependent(verb, *_CLAUSE_WORDS):
        return True
    if not known or _may_begin_request(verb.doc[verb.i - 1]):
        return True
    return lemma in known or infinitive_of(verb) in _VERBS.acts


def is_in_title(verb: Token) -> bool:
    """Whether what seems a request may as well be two words of a title: `Wet groundsheet`."""
    if verb.i > verb.sent.start and verb.nbor(-1).lower_ in _WORDS.before_request:
        return False
    following = verb.doc[verb.i + 1] if verb.i + 1 < len(verb.doc) else None
    alone = not has_dependent(verb, *SUBJECTS, "aux", "auxpass")
    return verb.tag_ in _PLAIN and alone and following is not None and following.tag_ == "NN"


# -- what a clause says of its verb ----------------------------------------------------------


def reports_arrival(verb: Token) -> bool:
    """Whether a verb reports that something came: `the parts have arrived`."""
    lemma = verb.lemma_.lower()
    into = any(c.lower_ in ("in", "back") and c.i == verb.i + 1 for c in verb.children)
    if not (lemma == "arrive" or (lemma == "come" and into)) or is_supposed(verb):
        return False
    came = verb.tag_ in ("VBD", "VBN")
    return came and any(c.lemma_.lower() not in _NOUNS.people for c in dependents_of(verb, "nsubj"))


def is_supposed(verb: Token) -> bool:
    """Whether a verb is only supposed: behind `if` or `would`, or `can be done`."""
    follows = verb.dep_ == "xcomp" and verb.head.lemma_.lower() in ("have", "need")
    if follows and is_supposed(verb.head):
        return True  # `we'd have to sell ten`
    if has_word(verb, ("if", "unless"), "mark") or has_word(verb, ("would", "might", "'d"), "aux"):
        return True
    return has_word(verb, ("can", "could", "may"), "aux") and is_passive(verb)


def is_asked_politely(verb: Token) -> bool:
    """Whether a clause asks the reader, who stands in it or before it: `it would help if you could
    file the report`, `any chance that you file it`, `would you mind filing it`."""
    own = {c.lower_ for c in dependents_of(verb, "nsubj", "aux", "mark")}
    if "you" in own:
        could = "if" in own and bool(own & {"could", "can"})
        return could or verb.head.lemma_.lower() == "chance"
    asked = verb.dep_ in ("xcomp", "ccomp", "pcomp") and verb.head.lemma_.lower() in ("mind", "ask")
    return asked and has_word(verb.head, ("you",))


def is_negated(verb: Token) -> bool:
    """Whether a verb names something that was not done: `nobody checked the fuse`, or `wants to
    check it`, or `he forgot to check it`."""
    if verb.dep_ == "xcomp" and verb.head.pos_ == "VERB":
        omitted = infinitive_of(verb.head) in _VERBS.omitting
        if omitted != is_negated(verb.head):
            return True  # `do not forget to check it` asks for it
    return has_dependent(verb, "neg") or has_word(verb, _WORDS.nobody, *SUBJECTS)


def is_aside(verb: Token) -> bool:
    """Whether a verb stands in a clause about something else: `before I can lift my cup`."""
    if verb.dep_ in ("relcl", "acl"):
        return True
    if has_word(verb, _WORDS.asking, "advmod"):
        return bool(verb.dep_ != "ROOT")
    if verb.dep_ == "xcomp" and verb.head.lower_ in ("able", "ready"):
        return True
    return verb.dep_ == "advcl" and has_word(verb, _WORDS.beside, "mark", "advmod")


def is_usual(verb: Token, base: str) -> bool:
    """Whether a verb says how things usually are, not what is done: `the kitchen shares a wall`,
    `I answer all my post`. Notices report in the present, too: `the system sends a reminder`."""
    if verb.tag_ == "VBN" and base not in _VERBS.acts:
        helping = {c.lower_ for c in dependents_of(verb, "aux", "auxpass")}
        return bool(helping) and helping <= {"is", "are", "'s", "'re"}  # `the ring is glued`
    if verb.tag_ not in ("VBZ", "VBP") or has_dependent(verb, "aux"):
        return False
    if base in _VERBS.stated or (verb.tag_ == "VBZ" and base in _VERBS.acts):
        return False
    return has_dependent(verb, "nsubj")


def is_done_or_asked(verb: Token) -> bool:
    """Whether the author reports doing it or asks the reader to do it."""
    subjects = dependents_of(verb, *SUBJECTS)
    if not subjects:
        return bool(verb.tag_ in ("VB", "VBD", "VBN"))
    return subjects[0].text.lower() in ("i", "we") or subjects[0].dep_ == "nsubjpass"
