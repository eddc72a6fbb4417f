"""Steps of a description: each clause that states an action, as a name (verb and object) and an
actor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

from orgflow.agents.language import cues
from orgflow.agents.language.dependents import (
    OBJECTS,
    SUBJECTS,
    ParsedText,
    Token,
    dependents_of,
    first_dependent,
    has_dependent,
    has_word,
    is_within,
    join_as_written,
)
from orgflow.agents.language.lexicon import EnglishLexicon, load_lexicon
from orgflow.agents.language.objects import is_act_noun
from orgflow.agents.language.sentence_conditions import question_of_verb
from orgflow.agents.language.verbs import is_negated

from orgflow_ir.model.records import NamedTuple

_VERBS, _NOUNS = load_lexicon(EnglishLexicon).verbs, load_lexicon(EnglishLexicon).nouns
_ONWARD = load_lexicon(EnglishLexicon).words.onward

_THINGS = (*OBJECTS, "nsubjpass")
_POINTING = ("it", "they", "them", "this", "these", "that", "those", "both")
_MANY = ("they", "them", "these", "those", "both")
_MASSES = frozenset(("data", "information", "staff", "people", "team", "police"))
"""Nouns in the singular that `they` and `them` may stand for."""
_AMOUNTS = ("PERCENT", "MONEY", "CARDINAL", "QUANTITY", "DATE", "TIME", "ORDINAL")
"""Entities (OntoNotes) that are amounts; they name neither an actor nor a thing."""
_LONGEST = 8
"""Maximum number of words of a noun phrase or of a question in a name."""


class Clause(NamedTuple):
    """A clause that states an action.

    Attributes:
        at: the position of its verb in the sentence, in characters.
        name: verb and object, with an initial capital.
        actor: who does it; empty if it is not stated.
        choices: the names of alternatives, if its objects are joined by `or`.
    """

    at: int
    name: str
    actor: str
    choices: tuple[str, ...] = ()


class ClauseReader:
    """Reads the clauses of sentences in the order of the text: a pronoun stands for the actor or
    the thing before it.

    Attributes:
        actor: who does the last step.
        speaker: who says it, in an interview.
        unnamed: where the clauses of the last sentence begin that state an action for which there
            is no name, in characters.
    """

    def __init__(self) -> None:
        self.actor = ""
        self.speaker = ""
        self.unnamed: list[int] = []
        self._thing = ""
        self._plural = False
        self._choices: tuple[str, ...] = ()

    def read_clauses(self, sentence: ParsedText, *, first: bool) -> Iterator[Clause]:
        """The clauses of a sentence that state an action; `first` if no step is before it."""
        self.unnamed = []
        begins = cues.find_introduction_end(sentence.text)
        for token in sentence:
            if token.idx < begins or not _is_verb(token) or not _states_action(token, first):
                continue
            verb = _main_verb(token)
            if verb is None or _is_about_text(verb) or _is_about_process(verb):
                continue
            if _is_denied(verb) or _is_denied(token) or _closes_process(verb):
                continue
            if token.dep_ == "ROOT" and has_word(token, ("when", "once"), "advmod"):
                self.unnamed.append(_begin_clause(token))  # misread: `when he agrees we repair it`
                continue
            step = self._read_step(verb, token)
            if step is not None:
                yield Clause(token.idx, *step, self._choices)
            elif not is_repetition(verb):
                self.unnamed.append(_begin_clause(token))
        self.unnamed += [token.idx for token in sentence if _may_be_verb(token)]
        self.unnamed += [token.idx for token in sentence if _is_lost_clause(token, first)]

    def read_question(self, sentence: ParsedText) -> None:
        """Remember the thing that a question is about, which the answer refers to."""
        things = [t for t in sentence if t.dep_ in _THINGS and t.pos_ in ("NOUN", "PROPN")]
        self._thing = self._read_phrase(things[-1]) if things else ""

    def _read_step(self, verb: Token, outer: Token) -> tuple[str, str] | None:
        """The name and the actor of a verb; `outer` is the verb of the clause, as in `needs to
        check`."""
        # 1. who does it, which later sentences refer to even if this is no step
        subject, passive = _subjects_of(verb, outer)
        actor = self._read_actor(verb, subject, passive)
        thing = passive or first_dependent(verb, *OBJECTS, "oprd") or _mistaken_object(verb)
        thing = thing or _shared_object(verb)
        if is_repetition(verb):
            return None
        if subject is not None and _brings_thing(verb, subject):
            self._thing = self._read_phrase(subject)
            return f"Receive {_as_within_name(self._thing, subject)}", ""
        self._choices = self._read_choices(verb, thing) if thing is not None else ()
        if subject is not None and _begins_act(verb, subject):
            thing = subject
        # 2. verb, particle and object
        words = [verb.lemma_.lower(), *(t.text for t in dependents_of(verb, "prt"))]
        if thing is not None:
            phrase = self._read_phrase(thing)
            if not phrase:
                return None
            words.append(_as_within_name(phrase, thing))
        # 3. to whom, and the first preposition
        preposition = next(
            (t for t in dependents_of(verb, "prep", "dative") if t.pos_ == "ADP" and t.i > verb.i),
            None,
        )
        words += self._read_recipient(verb)
        if preposition is not None:
            words += self._read_complement(verb, preposition, has_thing=thing is not None)
        # 4. a question or a time, where there is no object
        if thing is None and (asked := question_of_verb(verb)):
            words.append(asked)
        if verb.lemma_ == "wait" and len(words) == 1:
            words += [self._read_phrase(t) for t in dependents_of(verb, "npadvmod")][:1]
        if len(words) == 1 and words[0] not in _VERBS.objectless:
            return None
        if thing is None:  # `it` in the next clause has nothing to stand for
            self._thing = self._thing if preposition is not None and len(words) > 1 else ""
        name = " ".join(words)
        return name[:1].upper() + name[1:], actor

    def _read_choices(self, verb: Token, thing: Token) -> tuple[str, ...]:
        """The names of a step for each object, if they are joined by `or` and are acts: `conduct
        site visits or interviews`."""
        things = [thing, *thing.conjuncts]
        joined = any(has_word(t, ("or",), "cc") for t in things)
        if not joined or len(things) < 2 or not all(t.pos_ in ("NOUN", "PROPN") for t in things):
            return ()
        if not any(is_act_noun(t.lower_) for t in things):
            return ()
        described = ("compound", "amod", "nummod")
        return tuple(
            f"{verb.lemma_.capitalize()} {join_as_written([*dependents_of(t, *described), t])}"
            for t in things
        )

    def _read_recipient(self, verb: Token) -> list[str]:
        """To whom it is done, by a dative without a preposition: `sends the customer an offer`."""
        recipient = first_dependent(verb, "dative")
        if recipient is None or recipient.pos_ not in ("NOUN", "PROPN"):
            return []
        return [f"to {self._read_phrase(recipient)}"]

    def _read_complement(self, verb: Token, preposition: Token, *, has_thing: bool) -> list[str]:
        """What a preposition adds to a name: its noun where there is no object, a short receiver or
        purpose where there is one; times do not, but with `wait`."""
        objects = dependents_of(preposition, "pobj")
        if not objects or (objects[0].ent_type_ in ("DATE", "TIME") and verb.lemma_ != "wait"):
            return []
        phrase = self._read_phrase(objects[0])
        if not phrase:
            return []
        if not has_thing:
            self._thing = phrase  # `fills in the report and sends it`
            return [f"{preposition.lower_} {phrase}"]
        short = len(phrase.split()) <= 3 and preposition.lower_ in ("to", "for")
        return [f"{preposition.lower_} {phrase}"] if short else []

    def _read_actor(self, verb: Token, subject: Token | None, passive: Token | None) -> str:
        """Who does it: the subject, or behind `by`; a pronoun is who did the step before."""
        if passive is not None:
            agent = first_dependent(verb, "agent")
            person = first_dependent(agent, "pobj") if agent else None
            if person is None or person.ent_type_ in _AMOUNTS:
                return ""
            named = self._read_phrase(person)
            by_means = named.lower().rpartition(" ")[2] in _NOUNS.means  # `registered mail`
            return "" if by_means else named
        if subject is not None and subject.tag_ in ("WP", "WDT") and verb.dep_ == "relcl":
            subject = verb.head
        if subject is not None and subject.pos_ in ("NOUN", "PROPN", "ADJ"):
            self.actor = self._read_phrase(subject)
        elif subject is not None and subject.text == "I" and self.speaker:
            self.actor = self.speaker
        return self.actor

    def _read_phrase(self, noun: Token) -> str:
        """A noun with what belongs to it; a pronoun is the object before it in the sentence, or the
        one of the step before."""
        if noun.pos_ == "PRON":
            return self._read_pronoun(noun)
        article = first_dependent(noun, "det") or noun
        first = article.i if article.i < noun.i else -1  # `then the unit head`
        left = [
            t for t in noun.subtree
            if first < t.i <= noun.right_edge.i
            and t.dep_ not in ("det", "punct", "predet", "poss" if t.pos_ == "PRON" else "det")
            and not is_within(t, noun, ("relcl", "acl", "advcl", "appos"))
        ]  # fmt: skip
        while left and left[-1].dep_ == "cc":  # `the supplier and the process ends`
            left.pop()
        left += _hyphenated_rest(noun.doc, left)
        words = join_as_written([*left, *_number_behind(noun.doc, left)]).split()
        phrase = " ".join(words[:_LONGEST])
        if noun.dep_ in _THINGS and phrase:
            self._thing = phrase
            joined = has_word(noun, ("and",), "cc")
            self._plural = noun.tag_ in ("NNS", "NNPS") or joined or noun.lower_ in _MASSES
        return phrase

    def _read_pronoun(self, pronoun: Token) -> str:
        """What a pronoun stands for; empty where the clause before does not name it."""
        if pronoun.lower_ in _POINTING:
            named = _named_before(pronoun)
            if named is None and pronoun.lower_ in _MANY and not self._plural:
                named = _of_number_before(pronoun)
                return self._read_phrase(named) if named is not None else ""
            return self._read_phrase(named) if named is not None else self._thing
        others = [t for t in pronoun.subtree if t.pos_ in ("NOUN", "PROPN", "NUM")]
        return join_as_written(list(pronoun.subtree)) if others else ""


# -- which verbs state an action -------------------------------------------------------------


def _is_verb(token: Token) -> bool:
    """Whether a token is a verb, or a noun to the parser although it has an object of its own, as
    `repairs` in `the caretaker repairs it himself`."""
    if token.pos_ in ("VERB", "AUX"):
        return True
    return bool(token.tag_ == "NNS" and has_dependent(token, "dobj"))


def _states_action(token: Token, first: bool) -> bool:
    """Whether a verb tells of something that is done in the process, by the kind of its clause."""
    head = token.head
    match token.dep_:
        case "ROOT" | "parataxis":
            return True
        case "ccomp":  # before the verb that quotes it
            supposed = has_word(token, ("should",), "aux")
            return bool(head.dep_ == "ROOT" and token.i < head.i and not supposed)
        case "dep":
            return bool(head.dep_ == "ROOT")
        case "relcl":  # `an assessor, who visits the site`
            relative = has_word(token, ("who", "which"), "nsubj")
            return bool(relative and token.left_edge.i and token.left_edge.nbor(-1).text == ",")
        case "conj":
            while head.dep_ == "conj":
                head = head.head
            return _is_verb(head) and _states_action(head, first)
        case "pcomp":  # `the process begins with monitoring …`
            return bool(first and head.lower_ == "with" and head.head.lemma_ in _VERBS.states)
        case "advcl":
            marks = {t.lower_ for t in dependents_of(token, "mark", "advmod")}
            if marks & {"while", "whilst"}:
                return has_dependent(token, *SUBJECTS, *OBJECTS)  # and not `while driving`
            # What makes a process begin is its first step.
            begins = bool(marks & {"when", "once", "whenever"})
            return first and (begins or ("after" in marks and _is_state(head)))
    return False


def _is_state(verb: Token) -> bool:
    """Whether a verb tells of a state, or of a phase of the process: `the process starts`, and not
    `he starts the ovens`."""
    if verb.lemma_ == "kick" and has_word(verb, ("off",), "prt"):
        return True
    if verb.lemma_ not in _VERBS.states:
        return False
    subject = first_dependent(verb, *SUBJECTS)
    things = dependents_of(verb, *OBJECTS, "nsubjpass")
    about = [t.lemma_.lower() for t in (*things, *([subject] if subject is not None else ()))]
    if subject is not None and _begins_act(verb, subject):
        return False
    return verb.lemma_ not in _VERBS.phases or not things or bool(_NOUNS.processes & set(about))


def _begins_act(verb: Token, subject: Token) -> bool:
    """Whether a clause says that an act begins: `contract negotiations begin`."""
    act = is_act_noun(subject.lower_) and subject.lemma_.lower() not in _NOUNS.processes
    alone = not has_dependent(verb, *OBJECTS, "xcomp", "prep")
    return bool(verb.lemma_ in ("begin", "start") and act and alone)


def _is_denied(verb: Token) -> bool:
    """Whether a clause says that something is not done: `we do not print it`, `no action is
    required`, `nobody moves it`."""
    if is_negated(verb):
        return True
    return any(
        has_word(noun, ("no", "neither"), "det", "preconj")
        for noun in dependents_of(verb, *SUBJECTS, *OBJECTS)
    )


def _brings_thing(verb: Token, subject: Token) -> bool:
    """Whether a clause says that a thing comes: `a claim arrives`."""
    thing = subject.pos_ == "NOUN" and subject.lemma_.lower() not in _NOUNS.people
    return bool(verb.lemma_ == "arrive" and thing)


def _closes_process(verb: Token) -> bool:
    """Whether a clause is a state that ends the process: `we are done`, `the matter is closed`."""
    if verb.lemma_ not in ("do", "close", "finish", "settle", "conclude"):
        return False
    subject = first_dependent(verb, *SUBJECTS)
    if subject is None or not has_dependent(verb, "auxpass", "aux"):
        return False
    if verb.lemma_ == "do":
        return subject.pos_ == "PRON" and not has_dependent(verb, *OBJECTS)
    return subject.lemma_.lower() in (*_NOUNS.processes, "matter")


def _may_be_verb(token: Token) -> bool:
    """Whether a word that the parser takes for a noun behind `and` may be a verb with an object:
    `counts the stock and books differences`."""
    known = token.lemma_.lower() in _VERBS.acts | _VERBS.objectless
    if token.tag_ != "NNS" or not known or not token.i:
        return False
    last = token.i + 1 >= len(token.doc)
    behind = token.nbor(1) if not last else token
    followed = behind.tag_ in ("DT", "NN", "NNS", "PRP$", "CC", "IN", "RB") and behind.text != "of"
    followed = followed and not last
    joined = token.nbor(-1).lower_ in ("and", "or", "either")
    return followed and joined and not has_dependent(token, "dobj")


def _is_lost_clause(token: Token, first: bool) -> bool:
    """Whether a verb with a subject stands in a clause that tells more and is not read: `…, which
    the department comments on`, or the clause that the parser puts into another one."""
    if token.pos_ != "VERB" or _states_action(token, first) or not has_dependent(token, *SUBJECTS):
        return False
    if token.dep_ == "relcl":
        return bool(token.left_edge.i and token.left_edge.nbor(-1).text == ",")
    marked = has_dependent(token, "mark") or has_word(token, ("when", "once", "where"), "advmod")
    misread = token.dep_ == "ccomp" and token.head.dep_ == "ROOT" and not marked
    return bool(misread and has_word(token.head, ("when", "once"), "advmod"))


def _begin_clause(verb: Token) -> int:
    """Where a clause begins, in characters: at its subject, or at its verb."""
    subject = first_dependent(verb, *SUBJECTS)
    if subject is not None and subject.left_edge.i < verb.i:
        return int(subject.left_edge.idx)
    return int(verb.idx)


def _shared_object(verb: Token) -> Token | None:
    """The object of the verb that follows behind `and` or `or`: `picks and packs the items`."""
    for other in dependents_of(verb, "conj"):
        apart = has_dependent(other, *SUBJECTS) or has_dependent(verb, "prep", "prt", "xcomp")
        if other.pos_ == "VERB" and 1 < other.i - verb.i < 4 and not apart:
            return first_dependent(other, *OBJECTS)
    return None


def _main_verb(token: Token) -> Token | None:
    """The verb that says what is done: behind `needs to`, `starts by` and the like; `None` where it
    is a state."""
    verb = token
    for _ in range(3):
        inner = [
            t for t in dependents_of(verb, "xcomp")
            if t.pos_ == "VERB" and not has_word(t, ("whether",))
        ]  # fmt: skip
        if verb.lemma_ not in _VERBS.leading or not inner:
            break
        verb = inner[0]
    return None if _is_state(verb) or verb.pos_ == "AUX" else verb


def _is_about_text(verb: Token) -> bool:
    """Whether a clause tells of the description itself: `this procedure describes`, `see also`."""
    subject = first_dependent(verb, *SUBJECTS)
    if subject is None:
        thing = first_dependent(verb, *OBJECTS)
        task = thing is not None and thing.lemma_.lower() in _NOUNS.processes
        designed = verb.lemma_ in ("create", "write", "design", "develop", "model") and task
        return bool(verb.lemma_ == "see" or (designed and verb.dep_ == "ROOT"))
    itself = subject.lemma_.lower() in _NOUNS.texts or subject.lower_ == "it"
    return itself and verb.lemma_ in _VERBS.describing


def _is_about_process(verb: Token) -> bool:
    """Whether a clause ends the process or leads on, and does nothing in it: `the process is
    cancelled`, `stop here`, `we go on once …`."""
    if verb.lemma_ in ("go", "carry"):
        own_object = any(t.dep_ in ("dobj", "pobj") for t in verb.subtree if t.head.i != verb.i)
        return has_word(verb, _ONWARD, "prt", "advmod", "prep") and (
            not own_object or has_dependent(verb, "prt")
        )
    if verb.lemma_ not in ("cancel", "abort", "stop"):
        return False
    about = first_dependent(verb, *SUBJECTS)
    here = has_word(verb, ("here", "there"))
    return here or (about is not None and about.lemma_.lower() in _NOUNS.processes)


def repeats_earlier_steps(sentence: ParsedText) -> bool:
    """Whether a sentence repeats the steps before it: `this is repeated until …`."""
    return any(is_repetition(token) for token in sentence)


def is_repetition(verb: Token) -> bool:
    """Whether a verb repeats steps, by its object: `repeat the step`, `this is repeated`."""
    if verb.lemma_ != "repeat":
        return False
    about = first_dependent(verb, "nsubjpass", "dobj")
    return about is not None and (
        about.pos_ == "PRON" or about.lemma_.lower() in (*_NOUNS.processes, "step")
    )


# -- who and what ----------------------------------------------------------------------------


def _subjects_of(verb: Token, outer: Token) -> tuple[Token | None, Token | None]:
    """The subject of a verb, and the subject of a passive, which is a thing.

    Corrects the parser: `receipts have to be attached` has a passive subject; of verbs joined by
    `and`, a later one shares the passive subject of the first.
    """
    passive = first_dependent(verb, "nsubjpass")
    subject = first_dependent(verb, "nsubj") or first_dependent(outer, "nsubj")
    if passive is None and has_dependent(verb, "auxpass"):
        passive, subject = subject, None
    if verb.pos_ == "NOUN":  # `the caretaker repairs it`, read as the repairs of a caretaker
        subject = subject or first_dependent(verb, "compound")
    if subject is None and passive is None and verb.dep_ == "conj":
        head = verb.head
        while head.dep_ == "conj" and not has_dependent(head, "auxpass", *SUBJECTS):
            head = head.head
        if has_dependent(head, "auxpass") and not has_dependent(verb, *OBJECTS):
            passive = first_dependent(head, "nsubjpass")
    return subject, passive


def _named_before(pronoun: Token) -> Token | None:
    """The thing of a clause before a pronoun in its sentence, of its number, as in `after the lead
    signs the form, the clerk files it`; `None` where there is none."""
    described = _described_before(pronoun)
    if described is not None:
        return described
    plural = pronoun.lower_ in ("they", "them", "these")
    for token in reversed(pronoun.doc[: pronoun.i]):
        if (
            token.dep_ in _THINGS
            and token.pos_ in ("NOUN", "PROPN")
            and token.head.dep_ in ("advcl", "ROOT", "conj", "pcomp")
            and plural == (token.tag_ in ("NNS", "NNPS"))
        ):
            counted = token.text.isupper() and has_dependent(token, "nummod")
            if counted or token.ent_type_ in _AMOUNTS:  # `a claim exceeds 500 EUR`
                subjects = dependents_of(token.head, "nsubj")
                token = next((t for t in subjects if t.pos_ in ("NOUN", "PROPN")), token)
            return token
    return None


def _of_number_before(pronoun: Token) -> Token | None:
    """The nearest subject or thing before a pronoun in its sentence that has its number."""
    for token in reversed(pronoun.doc[: pronoun.i]):
        place = token.dep_ in (*_THINGS, "attr", "nsubj") and token.pos_ == "NOUN"
        if place and (token.tag_ == "NNS") == (pronoun.lower_ in _MANY):
            return token
    return None


def _described_before(pronoun: Token) -> Token | None:
    """What a clause of state before a passive pronoun is about: `if the customer is interested,
    they are guided`; `None` where there is none."""
    if pronoun.dep_ != "nsubjpass":
        return None
    for clause in dependents_of(pronoun.head, "advcl"):
        if clause.i < pronoun.i and clause.lemma_ == "be":
            return next((t for t in dependents_of(clause, "nsubj") if t.pos_ == "NOUN"), None)
    return None


def _mistaken_object(verb: Token) -> Token | None:
    """The noun behind a verb that the parser takes for another verb (`installs version 2`)."""
    for token in dependents_of(verb, "xcomp"):
        if token.tag_ == "VBP" and token.i == verb.i + 1:
            return token
    return None


# -- the words of a noun phrase --------------------------------------------------------------

_NUMBERED = re.compile(
    r"\s+(?:(?:no|nr|number)\b\.?\s*|[#№]\s?)?(?=[A-Z]{0,6}[-/]?\d)", re.IGNORECASE
)


def _number_behind(sentence: ParsedText, phrase: list[Token]) -> list[Token]:
    """The tokens of a number behind a phrase that the parser did not attach to it (`order #4711`,
    `ticket no. 5`); none where it counts what comes next (`the clerk 3 times`)."""
    if not phrase:
        return []
    last = phrase[-1]
    match = _NUMBERED.match(sentence.text, last.idx + len(last.text))
    if match is None:
        return []
    # tokens up to the next space, without the punctuation of the sentence
    behind = [t for t in sentence if match.end() <= t.idx]
    number = list(takewhile(lambda t: t.idx == match.end() or not t.nbor(-1).whitespace_, behind))
    number = list(takewhile(lambda t: t.text not in ".,;:!?)", number))
    if not number or any(t.dep_ == "nummod" and t.head.i > number[-1].i for t in number):
        return []
    return [t for t in sentence if last.idx < t.idx < match.end()] + number


def _hyphenated_rest(sentence: ParsedText, phrase: list[Token]) -> list[Token]:
    """The rest of a word whose parts the parser took for objects of their own (`X-ray`)."""
    rest: list[Token] = []
    at = phrase[-1].i + 1 if phrase else len(sentence)
    while (
        at + 1 < len(sentence)
        and sentence[at].text == "-"
        and not sentence[at - 1].whitespace_
        and not sentence[at].whitespace_
    ):
        rest += [sentence[at], sentence[at + 1]]
        at += 2
    return rest


def _as_within_name(phrase: str, noun: Token) -> str:
    """A phrase with the initial that it has where it does not begin the sentence."""
    first = noun.doc[0]
    begins = noun.left_edge.i == 0 and phrase.startswith(first.text)
    plain = first.is_title and first.pos_ != "PROPN"
    return phrase[:1].lower() + phrase[1:] if begins and plain else phrase
