"""Phrases: what a message says is done, as a verb and its object in the author's words."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache
from typing import Any, NamedTuple

from orgflow.agents.english import parser

CLEAR = 1.55
"""A phrase of a lower score may be an aside: alone it makes no step."""

MAX_TEXT = 3000
"""Characters of a message that are parsed: what a message is for stands at its beginning."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Verbs that say how people talk, not what they do; a phrase of them names no step.
_TALK = _words("""
be have do get go want need think know let see hope thank say tell look come like feel mean wait
would could should may might must can will shall try seem appear happen wonder guess apologise
apologize mind bet love hate sound keep make take give put find leave set turn understand
believe expect remember forget enjoy talk speak laugh sit stand run walk eat drink please greet
wish matter mention use work ask bring help start hear hold attach enclose include
own cost forgive hit promise owe deserve prefer miss trust doubt fear lack tick manage
""")
_WEAK = _words("make take give put set keep use bring start hold run")
"""Verbs that name a step only with an object that says what."""

ACTS = _words("""
accept acknowledge activate add adjust allocate allow answer apply appoint approve archive
arrange assemble assess assign audit authorise authorize award book build calculate
calibrate call cancel certify charge check choose clarify clean close collect compare compile
complete compute conduct configure confirm contact copy correct create credit decide declare
decline define deliver design determine develop diagnose disconnect dispatch document download
draft draw edit enrol enter escalate estimate evaluate examine exchange execute extend file fill
fix forward grant handle hire identify implement import inform inspect install invite invoice
issue label launch list load log maintain manufacture measure monitor negotiate notify obtain
offer open order organise organize pack package pay pick place plan post prepare present print
process produce propose provide publish purchase quote receive recommend record refund refuse
register reject release remind remove renew rent repair replace reply report request reschedule
reserve resolve return review revise schedule scan score search select sell send ship sign
sketch sort specify stamp stock store submit suggest supply switch terminate test track train
transfer transport treat update upgrade upload validate verify weigh withdraw write
""")
"""Verbs of what organisations do, in whatever line of business: where a sentence has one, it names
the step."""

_EMPTY = _words("""
it this that thing something anything nothing one way time day week hour minute moment lot bit
question word idea look sense sorry thank problem everything people person someone somebody hand
eye head part side case matter reason luck fun joke morning evening afternoon night kind sort
pair couple today tomorrow yesterday month year end start news weekend monday tuesday wednesday
thursday friday saturday sunday trouble attempt hope greeting regard incl approx etc
percent euro dollar pound cent penny metre meter kilometre kilogram gram litre degree phone
""")
"""Objects that say nothing of what is done."""

_MEDIA = _words("message mail email e-mail inbox mailbox link button attachment")
"""What a text is written on or read with: something is done to it only where it is sent."""

_SENDING = _words("send write forward receive resend prepare draft")

FUNCTION = _words("""
about after again already also another because been before being between both cannot could does
doing down each else even every from have here hers him his however into itself just like more most
much must never only other ours over really same shall should since some such than thank thanks
that their them then there these they this those though through today tomorrow under until upon
very want were what when where which while whom will with within without would yesterday your yours
please dear hello regards best cheers still
""")
"""Words of more than three letters that are about nothing."""


class Phrase(NamedTuple):
    """What is done, and the sentence that says so, with its place in the text.

    Attributes:
        name: verb and object, as `check stock level`.
        verb: the verb.
        object: the words of the object.
        sentence: word for word.
        span: where the sentence stands in the text.
        score: how well it names what a message is for.
    """

    name: str
    verb: str
    object: tuple[str, ...]
    sentence: str
    span: tuple[int, int]
    score: float


def phrases(
    texts: Sequence[str], names: Collection[str], topics: Sequence[str] = ()
) -> list[list[Phrase]]:
    """The phrases of each text, best first. Without spaCy's model there are none.

    Args:
        texts: what messages say.
        names: parts of people's names, in lower case, which are left out of phrases.
        topics: what each text is about where it has only a pronoun: `I approved it`.
    """
    nlp = parser()
    if nlp is None:
        return [[] for _ in texts]
    found = []
    cut = [text[:MAX_TEXT] for text in texts]
    things = _things(topics, names)
    for place, document in enumerate(nlp.pipe(cut, batch_size=32, disable=["ner"])):
        found.append(_of(document, names, things[topics[place]] if topics else ()))
    return found


_UNTIL = re.compile(r"\s(?:about|as|at|by|for|from|in|of|on|to|with)\s.*", re.IGNORECASE)


def _things(topics: Sequence[str], names: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The words of the thing that each topic names; none where it is a sentence (`paid!`), or its
    last word means nothing."""
    nlp = parser()
    given = sorted(set(topics))
    if nlp is None:
        return dict.fromkeys(given, ())
    found: dict[str, tuple[str, ...]] = {}
    bare = [_UNTIL.sub("", topic.lower()) for topic in given]
    for topic, document in zip(given, nlp.pipe(bare, disable=["ner"]), strict=True):
        words = [
            t for t in document
            if t.is_alpha and t.lower_ not in names and t.lower_ not in _LITTLE
            and t.pos_ not in ("NUM", "DET", "PRON")
        ][-3:]  # fmt: skip
        named = (
            bool(words) and words[-1].tag_ in ("NN", "NNS")
            and all(w.pos_ in ("NOUN", "ADJ", "PROPN") for w in words)
            and not any(w.lower_ in FUNCTION or w.lower_ == "not" for w in words)
            and len(words[-1]) > 3 and words[-1].lemma_ not in _EMPTY | _MEDIA
        )  # fmt: skip
        found[topic] = tuple(w.lower_ for w in words) if named else ()
    return found


def _of(document: Any, names: Collection[str], about: Sequence[str] = ()) -> list[Phrase]:
    """The phrases of a text; `about` are the words of what it is about."""
    phrases: dict[str, Phrase] = {}
    for place, sentence in enumerate(document.sents):
        text = sentence.text.strip()
        if not 2 < len(text) < 400 or text.startswith(">"):
            continue
        begin = sentence.start_char + len(sentence.text) - len(sentence.text.lstrip())
        for verb in sentence:
            if verb.pos_ != "VERB" or not verb.lemma_.isalpha() or _is_noun(verb):
                continue
            base = _base(verb)
            known = base in ACTS
            lemma = _particle(verb, base)
            words, tail, less = _done_to(verb, base, names)
            if not words and known and about and _stands_for_topic(verb):
                words, tail, less = list(about), "", 0.5
            if not words or (base in _TALK and base not in _WEAK):
                continue
            if any(w.removesuffix("s") == base for w in words):
                continue
            score = 1.0 - less - 0.04 * place - (0.5 if base in _WEAK else 0.0)
            score -= 0.4 if base in _WEAK and len(words) == 1 and not tail else 0.0
            score += 0.3 if verb.dep_ in ("ROOT", "conj") else 0.0
            score += 0.3 if _done_or_asked(verb) else 0.0
            score += 0.6 if known else 0.0
            score -= 0.4 if any(c.dep_ == "neg" for c in verb.children) else 0.0
            score -= 0.4 if verb.dep_ in ("relcl", "acl") or _supposed(verb) else 0.0
            score -= 0.4 if not known and _bare(verb) else 0.0
            score -= 0.3 if text.endswith("?") and verb.dep_ != "ROOT" else 0.0
            name = f"{lemma} {' '.join(words)}{tail}"
            if name not in phrases or phrases[name].score < score:
                phrases[name] = Phrase(
                    name, lemma, tuple(words), text, (begin, begin + len(text)), score
                )
    return sorted(phrases.values(), key=lambda p: (-p.score, p.span, p.name))


def _done_to(verb: Any, base: str, names: Collection[str]) -> tuple[list[str], str, float]:
    """The words of what is done to something, what follows them (` of incident`), and how much
    less clear it is than a plain object.

    That is the object, the subject of a passive, or the noun behind a preposition of the verb:
    `log into the game`.
    """
    for child in verb.children:
        if child.dep_ in ("dobj", "obj", "nsubjpass") and child.pos_ == "NOUN":
            if child.lemma_.lower() in _MEDIA and base not in _SENDING:
                return [], "", 0.0
            if any(t.text == ":" for t in verb.doc[verb.i : child.i]):
                return [], "", 0.0  # `status changed: claim` changes no claim
            words = _object_words(child, names)
            return words, _tail((child, verb), names) if words else "", 0.0
    if any(child.dep_ in ("dobj", "obj", "nsubjpass") for child in verb.children):
        return [], "", 0.0
    noted = verb.tag_ in ("VBN", "VBD") and verb.i > 0 and verb.nbor(-1).text == "("
    if noted and verb.head.pos_ == "NOUN" and verb.head.i < verb.i:  # a notice: `order (approved)`
        return _object_words(verb.head, names), "", 0.0
    for preposition in verb.children:
        if preposition.dep_ == "prep" and (
            preposition.lower_ in _DIRECT
            or (preposition.lower_ == "for" and base in _FOR)
            or (preposition.lower_ == "about" and base in ACTS)
            or (preposition.lower_ == "over" and base not in ACTS)
        ):
            for noun in preposition.children:
                if noun.dep_ == "pobj" and noun.pos_ == "NOUN":
                    words = _object_words(noun, names)
                    return ([preposition.lower_, *words] if words else []), "", 0.3
    return [], "", 0.0


_DIRECT = _words("into through")
"""Prepositions that make a verb say what it is about."""

_FOR = _words("apply search register sign pay")
"""Verbs that say it with `for`."""

_CLOSE = _words("of for into from")
"""Prepositions whose noun belongs to the object: `cause of incident`."""


_IDIOMS = _words("information example instance reason reference")
"""Nouns that a preposition makes a way of speaking: `for information`."""

_NUMBERED = re.compile(r"(?:[^\W\d_]+\s+)?#?[^\W\d_]{0,4}-?\d")
"""A noun with a number, or a number itself."""


def _tail(heads: Sequence[Any], names: Collection[str]) -> str:
    for head in heads:
        for preposition in head.children:
            if preposition.dep_ != "prep" or preposition.lower_ not in _CLOSE:
                continue
            for noun in preposition.children:
                # `of order L-70418` names one thing, not a kind of things
                plain = not _NUMBERED.match(noun.doc.text[noun.idx :])
                if noun.dep_ == "pobj" and noun.pos_ == "NOUN" and plain:
                    words = _object_words(noun, names)
                    if words and words[-1] not in _IDIOMS:
                        return f" {preposition.lower_} {' '.join(words)}"
    return ""


_LITTLE = _words(
    "the a an my your our his her its their this that some any no new and or for to of"
)

_PRONOUNS = _words("it them these those both")
"""What stands for the thing that a message is about; `that` may stand for anything said before."""


def _stands_for_topic(verb: Any) -> bool:
    """Whether a verb has a pronoun as its object, or none at all where it reports: `Approved.`"""
    objects = [c for c in verb.children if c.dep_ in ("dobj", "obj", "nsubjpass")]
    if objects:
        return bool(objects[0].lower_ in _PRONOUNS)
    subjects = [c for c in verb.children if c.dep_ in ("nsubj", "nsubjpass")]
    return bool(verb.dep_ == "ROOT" and verb.tag_ in ("VBN", "VBD") and not subjects)


def _supposed(verb: Any) -> bool:
    """Whether a verb is only supposed: behind `if` or `would`."""
    return any(
        (c.dep_ == "mark" and c.lower_ in ("if", "unless"))
        or (c.dep_ == "aux" and c.lower_ in ("would", "might", "'d"))
        for c in verb.children
    )


def _object_words(noun: Any, names: Collection[str]) -> list[str]:
    if noun.lemma_.lower() in _EMPTY or noun.text.lower() in names or len(noun.text) < 3:
        return []
    words = [
        child for child in noun.lefts
        if child.dep_ in ("compound", "amod") and child.pos_ in ("NOUN", "ADJ")
        and child.text.isalpha() and child.text.lower() not in names
    ][-2:]  # fmt: skip
    words.append(noun)
    return [w.text.lower() for w in words if w.text.isalpha()]


def _named_after(verb: Any) -> bool:
    """Whether a participle is part of a noun: `volumes and drawing numbers`."""
    alone = not any(c.dep_ in ("aux", "nsubj") for c in verb.children)
    return verb.tag_ == "VBG" and verb.dep_ == "conj" and verb.head.tag_ != "VBG" and alone


@cache
def _verbs() -> frozenset[str]:
    """All verbs that the parser's word list has; empty where it has none."""
    nlp = parser()
    if nlp is None or not nlp.has_pipe("lemmatizer"):
        return frozenset()
    lookups = nlp.get_pipe("lemmatizer").lookups
    if not lookups.has_table("lemma_index"):
        return frozenset()
    return frozenset(lookups.get_table("lemma_index").get("verb", ()))


def _in_verbs(verb: Any) -> bool:
    """Whether a word is a verb anywhere, where only its place suggests it: in `passed on to
    supervisor R. Sandhu` none is. New ones (`please onboard the supplier`) have a mark of verbs."""
    if verb.tag_ not in _PLAIN or verb.i == verb.sent.start:
        return True
    verbs = _verbs()
    if verbs and verb.lemma_.lower() not in verbs and verb.lemma_.lower() not in ACTS:
        following = verb.doc[verb.i + 1] if verb.i + 1 < len(verb.doc) else None
        if following is not None and following.pos_ == "PROPN":
            return False  # a role before a name
    if any(c.dep_ in ("nsubj", "nsubjpass", "aux", "auxpass", "mark") for c in verb.children):
        return True
    before = verb.doc[verb.i - 1]
    return (
        not verbs or before.is_punct or before.is_space or before.lower_ in _BEFORE_REQUEST
        or verb.lemma_.lower() in verbs or _base(verb) in ACTS
    )  # fmt: skip


_PLAIN = ("VB", "VBP")
"""Tags of verbs that have no ending: those of other words, too, where the parser errs."""

_BEFORE_REQUEST = _words("please to and or then just now also kindly you let")


def _is_noun(verb: Any) -> bool:
    """Whether what the parser takes for a verb is the first part of a name: in `In aisle 7 reach
    truck 3 stands` nobody reaches anything, and no request begins."""
    if _named_after(verb) or not _in_verbs(verb):
        return True
    if any(c.dep_ == "advmod" and c.lower_ == "automatically" for c in verb.children):
        return True  # a notice about itself
    if verb.tag_ not in ("VB", "VBP") or verb.i + 1 >= len(verb.doc):
        return False
    if any(c.dep_ in ("nsubj", "nsubjpass", "aux", "auxpass", "mark") for c in verb.children):
        return False
    if verb.i == verb.sent.start or verb.doc[verb.i + 1].pos_ != "NOUN":
        return False
    before = verb.doc[verb.i - 1]
    return not (before.is_punct or before.is_space or before.lower_ in _BEFORE_REQUEST)


_UP_TO_DATE = re.compile(r"\bup[ -]to[ -]date\b", re.IGNORECASE)


_IRREGULAR = {
    "took": "take", "taken": "take", "gave": "give", "sent": "send", "sold": "sell",
    "bought": "buy", "made": "make", "paid": "pay", "wrote": "write", "chose": "choose",
    "drew": "draw", "found": "find", "held": "hold", "kept": "keep", "left": "leave",
    "got": "get", "built": "build", "brought": "bring", "told": "tell", "met": "meet",
}  # fmt: skip
"""What the parser leaves as it is where it is not sure of a verb."""


def _base(verb: Any) -> str:
    """The infinitive of a verb. Where the parser's is none of the usual verbs, spelling decides:
    `readied`, `installed` and `rated` are of `ready`, `install` and `rate`."""
    lemma, text = str(verb.lemma_.lower()), str(verb.lower_)
    if lemma in ACTS or lemma in _TALK:
        return lemma
    if lemma in _IRREGULAR:
        return _IRREGULAR[lemma]
    if text.endswith("ied") and len(text) > 5:
        return f"{text[:-3]}y"
    for ending in ("ed", "ing"):
        stem = text.removesuffix(ending)
        if stem == text or verb.tag_ not in ("VBD", "VBN", "VBG"):
            continue
        usual = [one for one in (stem, f"{stem}e", stem[:-1]) if one in ACTS or one in _TALK]
        if usual:
            return usual[0]
        if lemma == stem and _SHORT.fullmatch(stem):
            return f"{stem}e"  # of `rat` it would be `ratted`
    return lemma


_SHORT = re.compile(r"[^aeiou]*[aeiou][bdgklmnprtvz]")


def _bare(verb: Any) -> bool:
    """Whether what seems a request may as well be two words of a title: `Wet groundsheet`."""
    following = verb.doc[verb.i + 1] if verb.i + 1 < len(verb.doc) else None
    subjects = [c for c in verb.children if c.dep_ in ("nsubj", "nsubjpass", "aux", "auxpass")]
    return (
        verb.tag_ in ("VB", "VBP") and not subjects
        and following is not None and following.tag_ == "NN"
    )  # fmt: skip


def _particle(verb: Any, base: str) -> str:
    lemma = base
    particle = next((c.text.lower() for c in verb.children if c.dep_ == "prt"), "")
    if lemma == "bring" and _UP_TO_DATE.search(verb.sent.text):
        return "update"
    return f"{lemma} {particle}".strip()


def _done_or_asked(verb: Any) -> bool:
    """Whether the author reports doing it or asks the reader to do it."""
    subjects = [c for c in verb.children if c.dep_ in ("nsubj", "nsubjpass")]
    if not subjects:
        return bool(verb.tag_ in ("VB", "VBD", "VBN"))
    return subjects[0].text.lower() in ("i", "we") or subjects[0].dep_ == "nsubjpass"


_SUBJECT = re.compile(r"^\s*(?:(?:re|fw|fwd|aw|wg)\s*:\s*)+", re.IGNORECASE)


def subject_phrase(subject: str) -> str:
    """What a subject line names, without marks of replies: its first part without a number, if
    there is one; `L-70418: invoice - Miller` gives `invoice`."""
    text = _SUBJECT.sub("", subject)
    parts = [" ".join(part.split()) for part in re.split(r"\s[-–—|]\s|[,:;(?!]", text)]
    plain = (part for part in parts if part and not any(map(str.isdigit, part)))
    return next(plain, parts[0])


def titled(subject: str) -> list[Phrase]:
    """What stands for the phrases of a message that cannot be parsed: its subject. The phrase has
    no place in the text."""
    title = subject_phrase(subject)
    words = tuple(title.lower().split())
    return [Phrase(title, words[0], words, title, (0, 0), CLEAR)] if words else []
