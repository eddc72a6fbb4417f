"""Phrases: the actions in a message, as a verb and its object in the author's words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from orgflow.agents.english import parser

from orgflow_ir.model.message import bare_subject

CLEAR = 1.55
"""A phrase with a lower score may be an aside: alone, it does not make a step."""

MAX_TEXT = 3000
"""Number of parsed characters of a message: its purpose is stated at its beginning."""


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
"""Verbs that name a step only with a specific object."""

ACTS = _words("""
accept acknowledge acquire activate add adjust administer admit advertise advise allocate allow
analyse analyze announce answer apply appoint approve archive arrange assemble assess assign audit
authenticate authorise authorize award book borrow brief build calculate calibrate call cancel
certify charge check choose clarify classify clean close collect compare compensate compile complete
compute conduct configure confirm consolidate construct consult contact convert coordinate copy
correct create credit debit decide declare decline deduct define delegate delete deliver deploy
design destroy determine develop diagnose disable disassemble discharge disconnect dismantle
dispatch dispense distribute document donate download draft draw edit enable enrol enroll enter
erect escalate estimate evaluate evict examine exchange execute exempt export extend extract file
fill finalise finalize fix forward fulfil fulfill gather generate grade grant handle harvest hire
identify implement import inform initiate inspect install insure interview invest investigate invite
invoice isolate issue label launch lease lend list load log maintain manufacture measure merge
migrate modify monitor mount negotiate nominate notify obtain offer onboard open operate order
organise organize outline oversee pack package park pay perform pick place plan post prepare
prescribe present print prioritise prioritize process procure produce promote propose provide
publish purchase quote rank reassign recalculate receive recommend reconcile record recruit recycle
redeem refill refund refuse register reimburse reinstall reject release remind remove renew rent
reorder repair repeat replace reply report reprint request reschedule resend reserve reset resolve
restart restock restore retrieve return review revise revoke reward schedule scan score search
secure select sell send settle shelve ship shortlist sign sketch solicit sort specify stamp
sterilise sterilize stock store submit suggest summarise summarize supervise supply suspend
switch terminate test track train transcribe transfer translate transport treat unload unpack
update upgrade upload vaccinate validate verify weigh withdraw write
""")
"""Verbs for actions of organisations in any line of business: in a sentence with one, it names the
step."""

_LIGHT = _words("do get give hold make run start take")
"""Verbs with little meaning before a noun that is an action: `make a payment`, `do the
inspection`."""

_ACT_NOUN = re.compile(r"\w{3,}(?:[ts]ion|ment|ysis)s?")

_NO_ACT = _words("""
action apartment attention attraction basement building ceiling cement compartment condition
department direction document element emotion environment equipment evening exception expression
feeling fraction function garment heating impression information instrument intention investment
lighting location lotion meaning mention moment morning motion nation occasion option permission
portion position proportion question reaction relation section sentiment situation something
station thing
""")
"""Nouns that end like actions but are not."""

_MORE_ACTS = _words("""
approval audit backup booking briefing call check delivery forecast hearing inquiry interview
meeting onboarding order proposal purchase refund referral removal renewal repair request review
sale screening search survey tender test tour training transfer visit withdrawal
""")
"""Nouns that are actions, regardless of their ending."""


def _is_act(noun: str) -> bool:
    """Whether a noun is what somebody does: `payment`, `inspection`."""
    one = noun.removesuffix("s")
    return one in _MORE_ACTS or bool(_ACT_NOUN.fullmatch(noun) and one not in _NO_ACT)


_EMPTY = _words("""
it this that thing something anything nothing one way time day week hour minute moment lot bit
question word idea look sense sorry thank problem everything people person someone somebody hand
eye head part side case matter reason luck fun joke morning evening afternoon night kind sort
pair couple today tomorrow yesterday month year end start news weekend monday tuesday wednesday
thursday friday saturday sunday trouble attempt hope greeting regard incl approx etc
chance noon midnight lunchtime percent euro dollar pound cent penny metre meter kilometre kilogram
gram litre degree phone eur usd gbp chf half third quarter dozen rest remainder majority handful
bunch
""")
"""Objects that do not specify the action."""

_VAGUE = _words("job stuff task work")
"""Objects that specify the action only with a preceding word: `print job`."""

_MEDIA = _words("message mail email e-mail inbox mailbox link button attachment")
"""Media and tools of a text: they are the object of an action only if they are sent."""

_SENDING = _words("send write forward receive resend prepare draft")

FUNCTION = _words("""
about after again already also another because been before being between both cannot could does
doing down each else even every from have here hers him his however into itself just like more most
much must never only other ours over really same shall should since some such than thank thanks
that their them then there these they this those though through today tomorrow under until upon
very want were what when where which while whom will with within without would yesterday your yours
please dear hello regards best cheers still
""")
"""Words of more than three letters without a topic."""


class Phrase(NamedTuple):
    """An action and the sentence that states it, with its place in the text.

    Attributes:
        name: verb and object, as `check stock level`.
        verb: the verb.
        object: the words of the object.
        sentence: the literal sentence.
        span: the position of the sentence in the text.
        score: how well it names the purpose of a message.
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
    """The phrases of each text, best first. Without spaCy's model, there are none.

    Args:
        texts: the texts of messages.
        names: parts of people's names, in lower case, which are omitted from phrases.
        topics: the topic of each text, for texts with only a pronoun: `I approved it`.
    """
    nlp = parser()
    if nlp is None:
        return [[] for _ in texts]
    pieces = [list(_pieces(text[:MAX_TEXT])) for text in texts]
    given = [piece for own in pieces for _, piece in own]
    parsed = nlp.pipe(given, batch_size=64, disable=["ner"])
    things = _things(topics, names)
    return [
        _of(
            [(begin, next(parsed)) for begin, _ in own],
            names, things[topics[place]] if topics else (),
        )
        for place, own in enumerate(pieces)
    ]  # fmt: skip


_BREAK = re.compile(r"\n\s*\n|(?<=[,:;.!?])\n|\n(?=[\W\d]*[A-Z\d])")
"""Positions where a text may be split: a blank line, or a line that ends or begins like a
sentence."""

LINE = 45
"""Shorter lines were not wrapped at a width: a greeting, or an item of a list."""


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """The paragraphs and the short lines of a text, each with its place: the parser takes a
    greeting and what follows it for one sentence."""
    begin = 0
    for match in _BREAK.finditer(text):
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if "\n" in match.group()[1:] or len(line) < LINE:
            yield begin, text[begin : match.start()]
            begin = match.end()
    yield begin, text[begin:]


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


def _of(
    documents: Sequence[tuple[int, Any]], names: Collection[str], about: Sequence[str] = ()
) -> list[Phrase]:
    """The phrases of a text; `about` are the words of what it is about.

    Args:
        documents: the parsed pieces of the text, each with its place in it.
    """
    phrases: dict[str, Phrase] = {}
    sentences = [
        (begin, sentence)
        for begin, document in documents for sentence in document.sents
        if any(t.pos_ in ("VERB", "AUX") for t in sentence)  # no greeting
    ]  # fmt: skip
    for place, (begin, sentence) in enumerate(sentences):
        text = sentence.text.strip()
        if not 2 < len(text) < 400 or text.startswith(">"):
            continue
        begin += sentence.start_char + len(sentence.text) - len(sentence.text.lstrip())
        for verb in sentence:
            for act, noun in _handed_over(verb, names):
                words, tail = _object_words(noun, names), _tail((noun,), names)
                name = f"{act} {' '.join(words)}{tail}"
                if words and (name not in phrases or phrases[name].score < _HANDED):
                    phrases[name] = Phrase(
                        name, act, tuple(words), text, (begin, begin + len(text)),
                        _HANDED - 0.04 * place,
                    )  # fmt: skip
            if verb.pos_ != "VERB" or not verb.lemma_.isalpha() or _is_noun(verb):
                continue
            base, lemma = _named(verb)
            if base not in ACTS and _bare(verb):
                continue
            targets = _targets(verb, base, names, about)
            alone = not targets and _complete(verb, base)
            for words, tail, less in [([base], "", 0.5)] if alone else targets:
                if not alone and any(w.removesuffix("s") == base for w in words):
                    continue
                score = _score(verb, base, lemma, words, tail)
                if score is None:
                    continue
                score -= less + 0.04 * place
                asks = text.endswith("?") and verb.dep_ != "ROOT" and not _politely_asked(verb)
                score -= 0.3 if asks else 0.0
                name = lemma if alone else f"{lemma} {' '.join(words)}{tail}"
                if name not in phrases or phrases[name].score < score:
                    phrases[name] = Phrase(
                        name, lemma, tuple(words), text, (begin, begin + len(text)), score
                    )
    return sorted(phrases.values(), key=lambda p: (-p.score, p.span, p.name))


_HANDED = 1.6
"""The score of a handed-over object, which is clear if several messages state it."""

_ENCLOSED = _words("attach attached attaching enclose enclosed enclosing")


def _handed_over(verb: Any, names: Collection[str]) -> list[tuple[str, Any]]:
    """Documents that are sent or received according to a phrase: an attached or announced document
    is sent (`please find attached the offer`, `offer attached`, `here is the offer`, `the offer is
    in the post`), a document that has arrived is received (`the offer is here`)."""
    found: list[tuple[str, Any]] = []
    if verb.lower_ in _ENCLOSED:
        found = [("send", noun) for noun in _enclosed(verb)]
    elif verb.lemma_ == "be":
        places = [c for c in verb.children if c.dep_ in ("advmod", "prep", "nsubj", "acomp")]
        subjects = [c for c in verb.children if c.dep_ in ("nsubj", "attr")]
        for place in places:
            end = next((c for c in place.children if c.dep_ == "pobj"), None)
            if place.lower_ == "here":
                found += [("send" if noun.i > verb.i else "receive", noun) for noun in subjects]
            elif place.lower_ in _ENCLOSED:
                found += [("send", noun) for noun in subjects if noun is not place]
            elif end is not None and (place.lower_, end.lower_) in _ON_ITS_WAY:
                found += [("send", noun) for noun in subjects if noun.i < verb.i]
    if any(c.dep_ == "neg" for c in verb.children) or "?" in verb.sent.text:
        return []
    return [
        (act, noun) for act, noun in found
        if (_is_thing(noun, names) or (act == "send" and _begins(noun, names)))
        and noun.lemma_.lower() not in _MEDIA and noun.lemma_.lower() not in _PEOPLE
    ]  # fmt: skip


def _begins(noun: Any, names: Collection[str]) -> bool:
    """Whether a word is taken for a name since a sentence begins with it: `Offer attached`."""
    return bool(
        noun.i == noun.sent.start and noun.pos_ == "PROPN" and noun.is_title
        and noun.lower_ not in names
    )  # fmt: skip


_ON_ITS_WAY = {("in", "post"), ("in", "mail"), ("on", "way")}


def _enclosed(verb: Any) -> list[Any]:
    """The nouns that `attached` is about."""
    own = [c for c in verb.children if c.dep_ in ("dobj", "obj")]
    if own:
        return own
    if verb.dep_ in ("acl", "amod"):
        return [verb.head]
    if verb.dep_ in ("advcl", "ccomp", "acomp", "oprd") and verb.head.lemma_.lower() in (
        "find",
        "see",
    ):
        return [c for c in verb.head.children if c.dep_ in ("dobj", "obj")]
    if verb.tag_ in ("VBN", "VBD"):
        return [c for c in verb.children if c.dep_ in ("nsubj", "nsubjpass")]
    return []


def _score(verb: Any, base: str, lemma: str, words: Sequence[str], tail: str) -> float | None:
    """How well a verb and its object name what a message is for; `None` where they name nothing."""
    act = base in _LIGHT and lemma == base and _is_act(words[-1])
    known = base in ACTS or act
    if base in _TALK and base not in _WEAK and not act:
        return None
    score = 1.6 if known else 1.0
    if base in _WEAK and not act and lemma == base:
        score -= 0.9 if len(words) == 1 and not tail else 0.5
    score -= 0.4 if base == "do" and len(words) == 1 and not tail else 0.0  # `do a test`: which?
    score += 0.3 if verb.dep_ in ("ROOT", "conj") else 0.0
    score -= 0.8 if _negated(verb) else 0.0
    if _politely_asked(verb):
        return score + 0.3
    score += 0.3 if _done_or_asked(verb) else 0.0
    score -= 0.4 if _aside(verb) else 0.0
    score -= 0.6 if _supposed(verb) else 0.0
    score -= 0.4 if _usual(verb, base) else 0.0
    return score


Target = tuple[list[str], str, float]
"""The words of an object, its complement (` of incident`), and how much less clear it is than a
plain object."""


def _targets(verb: Any, base: str, names: Collection[str], about: Sequence[str]) -> list[Target]:
    """What is done to what; nothing where a verb has no object of its own or of another verb."""
    if _arrives(verb):
        things = [c for c in verb.children if c.dep_ == "nsubj" and _is_thing(c, names)]
        return [(words, "", 0.3) for c in things if (words := _object_words(c, names))]
    found = [_done_to(verb, base, names)]
    if not found[0][0] and base in ACTS and _stands_for_topic(verb):
        found = [(_before(verb, names) or list(about), "", 0.5)]
    if not found[0][0] and base in ACTS and not _has_object(verb):
        found += _shared(verb, names)
    return [target for target in found if target[0]]


def _before(verb: Any, names: Collection[str]) -> list[str]:
    """The words of the thing before a pronoun: `the base is hollow, I'll fill it`."""
    pronoun = next((c for c in verb.children if c.lower_ in _PRONOUNS), None)
    if pronoun is None:
        return []
    many = pronoun.lower_ != "it"
    for noun in reversed(verb.doc[verb.sent.start : pronoun.i]):
        if noun.text in (":", ";"):
            break
        fits = noun.tag_ == ("NNS" if many else "NN") and noun.dep_ in _PARTS
        if fits and (words := _object_words(noun, names)):
            return words
    return []


_PARTS = ("dobj", "obj", "nsubj", "nsubjpass", "attr", "ROOT", "pobj")
"""Categories of nouns that a pronoun can stand for; nouns that describe others are excluded."""

_PEOPLE = _words("""
agent applicant author bank board boss brother buyer candidate carrier client colleague committee
company council court courier customer daughter department doctor driver employee employer engineer
father friend guest husband insurer landlord lawyer man manager mechanic mother neighbour nurse
office officer owner parent partner patient player police seller sister son staff student supervisor
supplier teacher team tenant user vendor visitor wife woman worker workshop
""")
"""Actors whose actions are not orders: `customer called` does not report a call to a customer."""


_ALONE = {
    "log": "in on out", "sign": "in up off out", "check": "in out",
    "apply": "", "enrol": "", "enroll": "", "register": "", "resign": "", "retire": "",
    "vote": "", "withdraw": "",
}  # fmt: skip
"""Verbs that name a step without an object, some only with one of these particles."""


def _complete(verb: Any, base: str) -> bool:
    """Whether a verb without an object names a step: `I signed up`."""
    if base not in _ALONE or _has_object(verb) or any(c.dep_ == "ccomp" for c in verb.children):
        return False
    subject = next((c.lower_ for c in verb.children if c.dep_ == "nsubj"), "")
    if not subject and (verb.tag_ == "VB" or any(c.dep_ == "prt" for c in verb.children)):
        subject = "you"
    particle = next((c.lower_ for c in verb.children if c.dep_ == "prt"), "")
    return subject in ("i", "we", "you") and particle in (_ALONE[base].split() or [""])


def _has_object(verb: Any) -> bool:
    return any(c.dep_ in ("dobj", "obj", "nsubjpass", "dative") for c in verb.children)


def _is_passive(verb: Any) -> bool:
    """Whether a verb is passive by itself, or as the one before it: `was signed and sent`."""
    parts = {c.dep_ for c in verb.children}
    if "auxpass" in parts:
        return True
    follows = verb.dep_ == "conj" and verb.tag_ == "VBN" and "nsubj" not in parts
    return follows and any(c.dep_ == "auxpass" for c in verb.head.children)


_SENTENCE = frozenset(("aux", "neg", "ccomp", "xcomp", "advmod"))
"""Dependents of a verb in a sentence, as opposed to a headline."""


def _shared(verb: Any, names: Collection[str]) -> list[Target]:
    """The object that a verb has together with the next one (`review and sign the contract`), or
    that a report in headlines has before it (`Documents received`)."""
    parts = {c.dep_ for c in verb.children}
    things = []
    if _is_passive(verb):
        if verb.dep_ == "conj":
            things = [c for c in verb.head.children if c.dep_ in ("nsubj", "nsubjpass")]
    else:
        things = [
            c for beside in verb.children
            if beside.dep_ == "conj" and beside.pos_ == "VERB" and beside.i - verb.i < 4
            for c in beside.children if c.dep_ in ("dobj", "obj")
        ]  # fmt: skip
        report = verb.dep_ == "ROOT" and verb.tag_ in ("VBN", "VBD") and not parts & _SENTENCE
        if report and not any(_is_thing(c, names) for c in things):
            things = [
                c for c in verb.lefts
                if c.dep_ == "nsubj" and c.lemma_.lower() not in _PEOPLE
                and not any(t.dep_ in ("det", "poss") for t in c.lefts)
            ]  # fmt: skip
    return [
        (_object_words(noun, names), _tail((noun,), names), 0.1)
        for noun in things if _is_thing(noun, names)
    ]  # fmt: skip


def _done_to(verb: Any, base: str, names: Collection[str]) -> tuple[list[str], str, float]:
    """The words of what is done to something, what follows them (` of incident`), and how much
    less clear it is than a plain object.

    That is the object, the subject of a passive, or the noun behind a preposition of the verb:
    `log into the game`.
    """
    for child in verb.children:
        if child.dep_ in ("dobj", "obj", "nsubjpass") and _is_thing(child, names):
            itself = any(c.lower_ == "this" for c in child.lefts)
            if child.lemma_.lower() in _MEDIA and (base not in _SENDING or itself):
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
    passive = _is_passive(verb)
    for preposition in verb.children:
        if (
            preposition.dep_ == "prep"
            and not passive
            and (
                preposition.lower_ in _DIRECT
                or (preposition.lower_ == "for" and base in _FOR)
                or (preposition.lower_ in _TOWARDS and base in ACTS)
                or (preposition.lower_ == "over" and base not in ACTS)
            )
        ):
            for noun in preposition.children:
                if noun.dep_ == "pobj" and noun.pos_ == "NOUN":
                    words = _object_words(noun, names)
                    return ([preposition.lower_, *words] if words else []), "", 0.3
    return [], "", 0.0


def _is_thing(noun: Any, names: Collection[str]) -> bool:
    """Whether a word is a noun, or taken for a name by the parser: `the RFP`, `the Contract`."""
    if any(c.lower_ == "no" for c in noun.lefts):
        return False  # `there were no alarms`
    if noun.pos_ == "NOUN":
        return True
    if noun.pos_ != "PROPN" or not noun.is_alpha or noun.lower_ in names:
        return False
    if any(c.dep_ == "nummod" for c in noun.children):
        return False  # a currency
    return (noun.is_upper and 1 < len(noun) < 6) or any(
        c.dep_ in ("det", "poss") for c in noun.lefts
    )


_DIRECT = _words("into through")
"""Prepositions by which a verb names its topic."""

_TOWARDS = _words("about at on to with")
"""Prepositions that name the object of an intransitive verb: `reply to the customer`."""

_FOR = _words("apply search register sign pay")
"""Verbs that use `for` for this."""

_CLOSE = _words("of for into from")
"""Prepositions whose noun belongs to the object: `cause of incident`."""


_IDIOMS = _words("information example instance reason reference")
"""Nouns that form an idiom with a preposition: `for information`."""

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
"""Pronouns for the topic of a message; `that` may refer to any earlier statement."""


def _stands_for_topic(verb: Any) -> bool:
    """Whether a verb has a pronoun as its object, or none at all where it reports: `Approved.`"""
    objects = [c for c in verb.children if c.dep_ in ("dobj", "obj", "nsubjpass")]
    if objects:
        vague = any(c.dep_ == "nsubj" and c.tag_ in ("DT", "WDT", "WP") for c in verb.children)
        return bool(objects[0].lower_ in _PRONOUNS) and not vague  # `does that settle it?`
    subjects = [c for c in verb.children if c.dep_ in ("nsubj", "nsubjpass")]
    return bool(verb.dep_ == "ROOT" and verb.tag_ in ("VBN", "VBD") and not subjects)


def _supposed(verb: Any) -> bool:
    """Whether a verb is only supposed: behind `if` or `would`, or `can be done`."""
    passive = _is_passive(verb)
    follows = verb.dep_ == "xcomp" and verb.head.lemma_.lower() in ("have", "need")
    if follows and _supposed(verb.head):
        return True  # `we'd have to sell ten`
    return any(
        (c.dep_ == "mark" and c.lower_ in ("if", "unless"))
        or (c.dep_ == "aux" and c.lower_ in ("would", "might", "'d"))
        or (c.dep_ == "aux" and c.lower_ in ("can", "could", "may") and passive)
        for c in verb.children
    )


_BESIDE = _words(
    "after although as because before since so than that though until when whereas while"
)
"""Words that begin a clause next to the main statement of a message."""

_ASKING = _words("how why where when")

_OMITTING = _words("fail forget hesitate neglect omit refuse")

_NOBODY = _words("nobody none neither nothing")


def _politely_asked(verb: Any) -> bool:
    """Whether a clause asks the reader, who stands in it or before it: `it would help if you could
    file the report`, `any chance that you file it`, `would you mind filing it`."""
    own = {c.lower_ for c in verb.children if c.dep_ in ("nsubj", "aux", "mark")}
    if "you" in own:
        could = "if" in own and bool(own & {"could", "can"})
        return could or verb.head.lemma_.lower() == "chance"
    asked = verb.dep_ in ("xcomp", "ccomp", "pcomp") and verb.head.lemma_.lower() in ("mind", "ask")
    return asked and any(c.lower_ == "you" for c in verb.head.children)


def _negated(verb: Any) -> bool:
    """Whether a verb says what was not done: `nobody checked the fuse`, or `wants to check it`, or
    `he forgot to check it`."""
    if verb.dep_ == "xcomp" and verb.head.pos_ == "VERB":
        omitted = _base(verb.head) in _OMITTING
        if omitted != _negated(verb.head):
            return True  # `do not forget to check it` asks for it
    return any(
        c.dep_ == "neg" or (c.dep_ in ("nsubj", "nsubjpass") and c.lower_ in _NOBODY)
        for c in verb.children
    )


def _aside(verb: Any) -> bool:
    """Whether a verb stands in a clause about something else: `before I can lift my cup`."""
    if verb.dep_ in ("relcl", "acl"):
        return True
    if any(c.dep_ == "advmod" and c.lower_ in _ASKING for c in verb.children):
        return bool(verb.dep_ != "ROOT")
    if verb.dep_ == "xcomp" and verb.head.lower_ in ("able", "ready"):
        return True
    return verb.dep_ == "advcl" and any(
        c.lower_ in _BESIDE and c.dep_ in ("mark", "advmod") for c in verb.children
    )


_STATED = _words("""
accept acknowledge advise announce apply appoint approve authorise authorize cancel certify confirm
decide decline grant invite nominate offer order propose quote recommend refuse reject release
report request resign submit suggest withdraw
""")
"""Verbs that are performed by stating them: `I approve the budget`."""


def _usual(verb: Any, base: str) -> bool:
    """Whether a verb says how things usually are, not what is done: `the kitchen shares a wall`,
    `I answer all my post`. Notices report in the present, too: `the system sends a reminder`."""
    if verb.tag_ == "VBN" and base not in ACTS:
        helping = {c.lower_ for c in verb.children if c.dep_ in ("aux", "auxpass")}
        return bool(helping) and helping <= {"is", "are", "'s", "'re"}  # `the ring is glued`
    if verb.tag_ not in ("VBZ", "VBP") or any(c.dep_ == "aux" for c in verb.children):
        return False
    if base in _STATED or (verb.tag_ == "VBZ" and base in ACTS):
        return False
    return any(c.dep_ == "nsubj" for c in verb.children)


def _object_words(noun: Any, names: Collection[str]) -> list[str]:
    if noun.lemma_.lower() in _EMPTY or noun.text.lower() in names or len(noun.text) < 3:
        return []
    words = [
        child for child in noun.lefts
        if child.dep_ in ("compound", "amod") and child.pos_ in ("NOUN", "ADJ")
        and child.text.isalpha() and child.text.lower() not in names
    ][-2:]  # fmt: skip
    if any(len(w) < 3 for w in words) and any(c.dep_ == "nummod" for c in noun.subtree):
        return []  # `30 mm outwards`
    if not words and noun.lemma_.lower() in _VAGUE:
        return []
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
"""Tags of verbs without an ending, and tags of other words that the parser confuses with them."""


def _arrives(verb: Any) -> bool:
    """Whether a verb reports that something came: `the parts have arrived`."""
    lemma = verb.lemma_.lower()
    into = any(c.lower_ in ("in", "back") and c.i == verb.i + 1 for c in verb.children)
    if not (lemma == "arrive" or (lemma == "come" and into)) or _supposed(verb):
        return False
    came = verb.tag_ in ("VBD", "VBN")
    return came and any(
        c.dep_ == "nsubj" and c.lemma_.lower() not in _PEOPLE for c in verb.children
    )


def _named(verb: Any) -> tuple[str, str]:
    """The infinitive of a verb, and the same with its particle; what comes is received."""
    if _arrives(verb):
        return "receive", "receive"
    base = _base(verb)
    return base, _particle(verb, base)


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
    before = verb.nbor(-1) if verb.i > 0 else verb
    alone = not before.conjuncts and not any(c.dep_ == "aux" for c in verb.children)
    if before.tag_ == "NN" and before.dep_ == "nsubj" and before.head == verb and alone:
        return True  # `bike shed key`: one bike sheds
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
    "forgot": "forget", "forgotten": "forget",
}  # fmt: skip
"""Tags that the parser uses if it is not sure of a verb."""


def _base(verb: Any) -> str:
    """The infinitive of a verb. Where the parser's is none of the usual verbs, spelling decides:
    `readied`, `installed` and `rated` are of `ready`, `install` and `rate`."""
    lemma, text = str(verb.lemma_.lower()), str(verb.lower_)
    if lemma == text and text.endswith("ed") and lemma not in _verbs():
        lemma = next((one for one in (text[:-2], text[:-1]) if one in _verbs()), lemma)
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
        if lemma not in _verbs():
            again = [one for one in (stem, f"{stem}e", stem[:-1])
                     if _PREFIX.sub("", one) in ACTS | _verbs()]  # fmt: skip
            if again:
                return again[0]
        if lemma == stem and _SHORT.fullmatch(stem):
            return f"{stem}e"  # of `rat` it would be `ratted`
    return lemma


_PREFIX = re.compile(r"^(?:co|de|dis|mis|out|over|pre|re|sub|un)-?(?=\w{3})")
"""Prefixes that form a verb from another: word lists contain `test` and not `retest`."""

_SHORT = re.compile(r"[^aeiou]*[aeiou][bdgklmnprtvz]")


def _bare(verb: Any) -> bool:
    """Whether what seems a request may as well be two words of a title: `Wet groundsheet`."""
    if verb.i > verb.sent.start and verb.nbor(-1).lower_ in _BEFORE_REQUEST:
        return False
    following = verb.doc[verb.i + 1] if verb.i + 1 < len(verb.doc) else None
    subjects = [c for c in verb.children if c.dep_ in ("nsubj", "nsubjpass", "aux", "auxpass")]
    return (
        verb.tag_ in ("VB", "VBP") and not subjects
        and following is not None and following.tag_ == "NN"
    )  # fmt: skip


def _particle(verb: Any, base: str) -> str:
    lemma = base
    particle = next(
        (c.lower_ for c in verb.children if c.dep_ == "prt" or c.lower_ == "together"), ""
    )
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
    """The topic of a subject line without reply prefixes: its first part without a number, if there
    is one; `L-70418: invoice - Miller` gives `invoice`."""
    text = _SUBJECT.sub("", subject)
    if not bare_subject(text)[0]:
        return ""
    parts = [" ".join(part.split()) for part in re.split(r"\s[-–—|]\s|[,:;(?!]", text)]
    plain = (part for part in parts if part and not any(map(str.isdigit, part)))
    return next(plain, parts[0])


def titled(subject: str) -> list[Phrase]:
    """The replacement for the phrases of a message that cannot be parsed: its subject. The phrase
    has no place in the text."""
    title = subject_phrase(subject)
    words = tuple(title.lower().split())
    return [Phrase(title, words[0], words, title, (0, 0), CLEAR)] if words else []
