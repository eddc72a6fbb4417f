"""A draft without a language model: verbs and their objects become steps, cue words gateways.

It is the baseline of every table, and the method of `model` if no language model is configured. It
reads English; words without a cue are omitted, which the coverage report shows.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from orgflow.agents.english import parser, seems_english
from orgflow.agents.text.contrasts import Kind, are_opposed, kinds_of, label_of
from orgflow.agents.text.coverage import content_words, coverage
from orgflow.agents.text.drafts import draft_errors, read_draft, report_unused
from orgflow.agents.text.parsed_sentences import parse_sentence, split_where_misread
from orgflow.agents.text.sentences import Sentence, is_table_row, place_of, split_sentences

from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.agents import Document, ModelAgent

_STATES = frozenset(
    ("be", "have", "include", "begin", "start", "end", "finish", "terminate", "consist", "involve",
     "contain", "depend", "exist", "occur", "happen", "become", "remain", "mean", "seem", "last",
     "conclude", "complete", "aim", "concern", "belong", "own", "know", "continue", "proceed")
)  # fmt: skip
_LIGHT = frozenset(
    ("need", "have", "want", "start", "begin", "continue", "proceed", "go", "try", "use", "require",
     "ask", "be", "able", "decide", "responsible", "supposed")
)  # fmt: skip
"""Verbs with little meaning next to the verb that depends on them."""

_ELSE = re.compile(r"\b(?:otherwise|else|if not|in the other case|or else|if this is not)\b", re.I)
_ON = frozenset(("on", "ahead", "forward"))
"""After `go` and `carry`, they do not form a step: `we go on once the customer has accepted`."""
_MEANS = frozenset(
    ("phone", "telephone", "mail", "e-mail", "email", "post", "fax", "letter", "sms", "hand",
     "courier", "card", "cheque", "check", "transfer", "law", "default", "definition")
)  # fmt: skip
"""After `by`, they describe a method and not an actor."""
_PARALLEL = re.compile(
    r"\b(?:meanwhile|in parallel|simultaneously|at the same time|concurrently|in the meantime)\b",
    re.I,
)
_AGAIN = re.compile(
    r"\b(?:again|repeat(?:s|ed)?|once more|anew|resubmit\w*|restart\w*|(?:send|sent|sends|go|goes|"
    r"return|returns|returned)\b[^,;.]{0,30}\bback)\b",
    re.I,
)
_BACK_TO = re.compile(
    r"\b(?:go|goes|going|come|comes|return|returns)(?: back)? to "
    r"(?:the |step )?([\w-]+(?: [\w-]+)?)",
    re.I,
)
_GOES = re.compile(r"(?:go|return|come)(?: back)?(?: to \S+)?", re.I)
"""The name of a step that only leads back."""
_OPTIONAL = frozenset(("may", "might", "optionally", "sometimes", "possibly"))
_ENDING = re.compile(
    r"\b(?:process|procedure|case|workflow)\b[^,;]{0,40}"
    r"\b(?:ends?|ended|terminates?|finish\w*|over|stops?|stopped|cancell?ed|aborted)\b"
    r"|\b(?:stops?|ends?) (?:here|there)\b",
    re.I,
)
_IN_CASE = re.compile(
    r"\b(?<!which )in (?:case|the event)(?: of| that)? ((?:[^,;.]|(?<=\d)[.,](?=\d))+)", re.I
)
_IN_WHICH_CASE = re.compile(
    r"(?P<main>.+?),? unless (?P<condition>.+?),? in which case (?P<then>.+)", re.I | re.S
)


def _is_of(noun: str, name: str) -> bool:
    """Whether a noun is a word of a step, or made of its verb: `screening` of `Screen bids`."""
    words = [word.lower() for word in name.split()]
    verb = words[0].removesuffix("e") if words else ""
    return noun in words or (len(verb) > 3 and noun.startswith(verb))


@dataclass
class _Step:
    name: str
    actor: str = ""
    sentence: int = 0


@dataclass
class _Back:
    """The way goes back to a step that is done again."""

    to: _Step


@dataclass
class _Block:
    """Branches (label, items); `kind` is `X` or `A`. `open` takes more branches."""

    kind: str
    branches: list[tuple[str, list[Any]]] = field(default_factory=list)
    sentence: int = 0
    open: bool = False


class RuleModeller(ModelAgent):
    """Drafts a process from a text by rules."""

    name = "text-rules"
    summary = "a process from an English text, by rules only"

    def produce(self, documents: Sequence[Document], ctx: PassContext) -> Model | None:
        """The model of the first document that has a step; never `None` without an error."""
        text = "\n\n".join(document.text for document in documents)
        document = documents[0] if len(documents) == 1 else Document("texts", text)
        sentences = split_sentences(document.text)
        model = None
        for loops in (True, False):  # a way back may lead into a branch that it has to leave first
            lines = graph_lines(sentences, loops=loops, parsed=seems_english(document.text))
            model, _ = read_draft(lines, document, sentences, self.name, ctx)
            if model is None or not draft_errors(model, ctx):
                break
        if model is None:
            from orgflow.agents.text.rules import NoSteps

            ctx.emit(
                NoSteps, "the rules found no step in the text",
                loc=SourceLocation(file=document.name),
                help="describe the work, one step per sentence, or configure a language model",
            )  # fmt: skip
            return None
        from orgflow.agents.text.rules import DoubtfulDraft

        report_unused(coverage(model, sentences).unused, document, ctx)
        if not seems_english(document.text):
            ctx.emit(
                DoubtfulDraft,
                "the text does not seem to be English, the only language that the rules support: "
                "each sentence became a step",
                loc=place_of(sentences[0], document),
                help="configure a language model, or compare every step with the text",
            )  # fmt: skip
        return model


def graph_lines(sentences: tuple[Sentence, ...], *, loops: bool = True, parsed: bool = True) -> str:
    """The draft in graph lines; empty without a step.

    Args:
        loops: whether backward flows are included.
        parsed: whether the sentences are English; in other languages, each sentence is a step.
    """
    items = _Reader(loops).read(sentences, parsed=parsed)
    return _Writer().text(items) if items else ""


class _Reader:
    """Turns sentences into items, one after the other."""

    def __init__(self, loops: bool = True) -> None:
        self._loops = loops
        self._actor = ""
        self._speaker = ""
        """Who says it, in an interview."""
        self._object = ""
        self._before: tuple[tuple[Kind, ...], list[tuple[int, _Step]]] = ((), [])
        """Kinds and steps of the sentence before, where it is a sequence."""
        self._choice: tuple[_Block, list[Kind]] | None = None
        """The choice that the sentence before made of kinds."""

    def read(self, sentences: tuple[Sentence, ...], *, parsed: bool = True) -> list[Any]:
        nlp = parser() if parsed else None
        items: list[Any] = []
        speakers = _speakers(sentences)
        interview = any(s.text.endswith("?") for s in sentences)
        for sentence in sentences:
            if sentence.heading or is_table_row(sentence.text):
                continue
            if nlp is None:
                items.append(_Step(_first_words(sentence.text), sentence=sentence.number))
                continue
            text = " ".join(sentence.text.split())
            label = next((name for name in speakers if text.startswith(f"{name}:")), "")
            if label:
                text = text[len(label) + 1 :].lstrip()
                self._speaker = label
                self._actor = self._actor if interview else label
            if text.endswith("?"):
                continue
            for part in _parts(text):
                exception = _IN_WHICH_CASE.fullmatch(part)
                if exception is not None:
                    self._exception(nlp, exception, sentence.number, items)
                    continue
                for doc in split_where_misread(nlp, parse_sentence(nlp, part)):
                    self._sentence(doc, sentence.number, items)
        return items

    def _exception(self, nlp: Any, match: re.Match[str], number: int, items: list[Any]) -> None:
        """`The clerk ships the goods, unless they are sold out, in which case he informs sales`."""
        main, then = (
            [
                step
                for _, step in self._clauses(parse_sentence(nlp, match[part]), number, first=False)
            ]
            for part in ("main", "then")
        )
        if main or then:
            branches = [
                (match["condition"], self._ended(then, match["then"], items)),
                ("otherwise", self._ended(main, match["main"], items)),
            ]
            items.append(_Block("X", branches, number))

    def _sentence(self, doc: Any, number: int, items: list[Any]) -> None:
        text = doc.text
        (kinds_before, found_before), self._before = self._before, ((), [])
        choice, self._choice = self._choice, None
        found = list(self._clauses(doc, number, first=not items))
        condition, governed = self._condition(doc)
        steps = [step for _, step in found]
        alternative = _ELSE.search(text)
        opened = _open_choice(items)
        beside = opened is not None and opened is not items[-1]
        if alternative is not None and alternative.start() < 12 and opened is not None:
            ended = list(steps) if beside else self._ended(steps, text, items)
            opened.branches.append(("otherwise", ended))
            opened.open = False
            return
        if condition and (steps or _ENDING.search(text)):
            # Steps before the verb that the condition belongs to are done in any case.
            items_before = [s for at, s in found if at < governed]
            found = [(at, s) for at, s in found if at >= governed]
            behind = alternative.start() if alternative is not None else len(text) + 1
            before = [s for at, s in found if at < behind]
            after = [s for at, s in found if at >= behind]
            if opened is not None and (items_before or beside):
                opened.open = False
                opened = None
            items.extend(items_before)
            if opened is None:
                opened = _Block("X", sentence=number, open=True)
                items.append(opened)
            opened.branches.append((condition, self._ended(before, text[:behind], items[:-1])))
            if alternative is not None and after:
                opened.branches.append(("otherwise", self._ended(after, text[behind:], items[:-1])))
                opened.open = False
            if _begins_beside(text) and not items_before and len(opened.branches) < 3:
                _put_beside(items)
            return
        if opened is not None:
            opened.open = False
        until = self._until(doc)
        if until and not steps and self._loops and _repeats_it(doc):
            told = _told_before(items)
            if told is not None:
                items.append(_Block("X", [(until, []), ("otherwise", [_Back(told)])], number))
        if not steps:
            return
        kinds = kinds_of(doc)
        if self._chosen(kinds, found, kinds_before, found_before, choice, text, items):
            return
        while_ = any(t.lower_ in ("while", "whilst") and t.dep_ == "mark" for t in doc)
        together = _PARALLEL.search(text) is not None
        announced = _announced_together(text)
        if announced and len(listed := [s for at, s in found if at >= announced]) > 1:
            items.extend(s for at, s in found if at < announced)
            items.append(_Block("A", [("", [s]) for s in listed], number))
        elif (
            (while_ and len(steps) > 1)
            or (together and len(steps) > 1 and "in parallel" in text.lower())
            or (together and len(steps) > 1 and not _begins_beside(text))
        ):
            items.append(_Block("A", [("", [s]) for s in steps], number))
        elif (together or while_) and items and not _leaves(items, items[-1].sentence):
            items.append(_Block("A", [("", _last_told(items)), ("", steps)], number))
        elif self._either(doc) and len(steps) > 1:
            items.append(_Block("X", [("", [s]) for s in steps], number))
        elif any(t.lower_ in _OPTIONAL and t.dep_ in ("aux", "advmod") for t in doc):
            items.append(_Block("X", [("", list(steps)), ("", [])], number))
        else:
            items.extend(steps)
            if until and self._loops:
                again = _Block("X", [(until, []), ("otherwise", [_Back(steps[0])])], number)
                items.append(again)
            else:
                self._before = kinds, found

    def _chosen(
        self,
        kinds: tuple[Kind, ...],
        found: list[tuple[int, _Step]],
        kinds_before: tuple[Kind, ...],
        found_before: list[tuple[int, _Step]],
        choice: tuple[_Block, list[Kind]] | None,
        text: str,
        items: list[Any],
    ) -> bool:
        """Whether what is done with kinds of a thing became branches: of the choice that the
        sentence before made, with that sentence, or within this one."""
        if choice is not None:
            block, told = choice
            kind = next((k for k in kinds if all(are_opposed(t, k) for t in told)), None)
            if kind is not None:
                steps = [step for _, step in found]
                block.branches.append((label_of(kind), self._ended(steps, text, items[:-1])))
                self._choice = block, [*told, kind]
                return True
        pairs = [(a, b, found_before) for a in kinds_before for b in kinds]
        pairs += [(a, b, found) for a in kinds for b in kinds if a.at < b.at]
        pair = next((p for p in pairs if are_opposed(p[0], p[1])), None)
        if pair is None:
            return False
        one, other, of_one = pair
        within = of_one is found
        first = [s for at, s in of_one if at >= one.at and not (within and at >= other.at)]
        second = [s for at, s in found if at >= other.at or not within]
        if not first or not second:
            return False
        always = [s for at, s in of_one if at < one.at]
        if not within:
            del items[len(items) - len(of_one) :]
        items.extend(always)
        block = _Block("X", sentence=first[0].sentence)
        block.branches.append((label_of(one), list(first)))
        block.branches.append((label_of(other), self._ended(second, text, items)))
        items.append(block)
        self._choice = block, [one, other]
        return True

    def _until(self, doc: Any) -> str:
        """The condition of `… until …`."""
        for token in doc:
            if token.lower_ == "until" and token.dep_ == "mark":
                return _words_behind(token)
        return ""

    def _ended(self, steps: list[_Step], text: str, items: list[Any]) -> list[Any]:
        """The steps of a branch, and where it leads: to the end, or back to a step done again."""
        if _ENDING.search(text):
            return [*steps, None]
        again = self._done_again(steps, text, items) if self._loops else None
        if again is None:
            return list(steps)
        kept = [s for s in steps if not _same_step(s, again.to) and not _GOES.fullmatch(s.name)]
        return [*kept, again]

    def _done_again(self, steps: list[_Step], text: str, items: list[Any]) -> _Back | None:
        """The last step before that a sentence says is done again; where it names none, the one
        that the branch follows."""
        if _AGAIN.search(text) is None:
            return None
        before = [item for item in items if isinstance(item, _Step)]
        words = set(content_words(text)) | {w.removeprefix("re") for w in content_words(text)}
        named = [
            s for s in before if content_words(s.name)[:1] and set(content_words(s.name)) <= words
        ]
        if not named and (place := _BACK_TO.search(text)) is not None:
            # `goes back to the screening` names the step that screens something
            nouns = [word.lower() for word in place[1].split()]
            named = [s for s in before if any(_is_of(noun, s.name) for noun in nouns)]
        target = named[-1] if named else before[-1] if before and items[-1] is before[-1] else None
        return _Back(target) if target is not None else None

    def _either(self, doc: Any) -> bool:
        """Whether verbs of the sentence are joined by `or`."""
        return any(t.lower_ == "or" and t.dep_ == "cc" and t.head.pos_ == "VERB" for t in doc)

    def _condition(self, doc: Any) -> tuple[str, int]:
        """The condition of the sentence, an `if` clause or `in case of`, and where what depends on
        it begins."""
        for token in doc:
            if token.dep_ == "mark" and token.lower_ in ("if", "unless"):
                text = _words_behind(token)
                clause = token.head
                if _is_asked(token):
                    continue
                governor = clause.head if clause.dep_ == "advcl" else clause
                begins = min(token.idx, governor.idx)
                text = f"unless {text}" if token.lower_ == "unless" else text
                return text, begins if governor.dep_ == "conj" else 0
        first = doc[0]
        if first.lower_ == "where" and first.dep_ == "advmod" and first.head.dep_ == "advcl":
            return _words_behind(first), 0  # `where a claim exceeds the limit, …`
        match = _IN_CASE.search(doc.text)
        return (match[1].strip() if match is not None else ""), 0

    def _clauses(self, doc: Any, number: int, *, first: bool) -> Iterator[tuple[int, _Step]]:
        """Where a step stands, and the step."""
        for token in doc:
            if not _is_verb(token) or not self._tells(token, first):
                continue
            verb = self._main_verb(token)
            if verb is None or _is_about_the_text(verb) or _is_about_the_process(verb):
                continue
            step = self._step(verb, token, number)
            if step is not None:
                yield token.idx, step

    def _tells(self, token: Any, first: bool) -> bool:
        """Whether a verb tells of something that is done in the process."""
        if token.dep_ in ("ROOT", "ccomp", "parataxis") or (
            token.dep_ == "dep" and token.head.dep_ == "ROOT"
        ):
            quoted = token.dep_ == "ccomp"
            return not quoted or bool(token.head.dep_ == "ROOT" and token.i < token.head.i)
        if token.dep_ == "conj":
            head = token.head
            while head.dep_ == "conj":
                head = head.head
            return _is_verb(head) and self._tells(head, first)
        if token.dep_ == "pcomp":  # `the process begins with monitoring …`
            return bool(first and token.head.lower_ == "with" and token.head.head.lemma_ in _STATES)
        if token.dep_ == "advcl":
            marks = {t.lower_ for t in token.children if t.dep_ in ("mark", "advmod")}
            if "while" in marks or "whilst" in marks:
                return True
            # What makes a process begin is its first step.
            return (
                first and bool(marks & {"when", "once", "after"}) and token.head.lemma_ in _STATES
            )
        return False

    def _main_verb(self, token: Any) -> Any | None:
        """The verb that says what is done: behind `needs to`, `starts by` and the like."""
        verb = token
        for _ in range(3):
            inner = [t for t in verb.children if t.dep_ == "xcomp" and t.pos_ == "VERB"]
            if verb.lemma_ in _LIGHT and inner:
                verb = inner[0]
            else:
                break
        return None if verb.lemma_ in _STATES or verb.pos_ == "AUX" else verb

    def _step(self, verb: Any, outer: Any, number: int) -> _Step | None:
        children = list(verb.children)
        passive = next((t for t in children if t.dep_ == "nsubjpass"), None)
        subject = next((t for t in (*children, *outer.children) if t.dep_ == "nsubj"), None)
        if passive is None and any(t.dep_ == "auxpass" for t in children):
            passive, subject = subject, None  # `receipts have to be attached`
        if verb.pos_ == "NOUN":  # `the caretaker repairs it`, read as the repairs of a caretaker
            subject = subject or next((t for t in children if t.dep_ == "compound"), None)
        if subject is None and passive is None and verb.dep_ == "conj":
            head = verb.head
            passive = next((t for t in head.children if t.dep_ == "nsubjpass"), None)
            if not any(t.dep_ == "auxpass" for t in head.children) or any(
                t.dep_ in ("dobj", "obj") for t in children
            ):
                passive = None
        actor = self._actor_of(subject, children, passive)
        thing = passive or next((t for t in children if t.dep_ in ("dobj", "obj", "oprd")), None)
        thing = thing or _mistaken_object(verb)
        words = [verb.lemma_.lower(), *(t.text for t in children if t.dep_ == "prt")]
        if _repeats(verb):
            return None
        if thing is not None:
            phrase = self._phrase(thing)
            if not phrase:
                return None
            words.append(_within_a_name(phrase, thing))
        recipient = next((t for t in children if t.dep_ == "dative"), None)
        if recipient is not None and recipient.pos_ in ("NOUN", "PROPN"):
            words.append(f"to {self._phrase(recipient)}")
        prepositions = [t for t in children if t.dep_ in ("prep", "dative") and t.pos_ == "ADP"]
        for preposition in prepositions[:1]:
            objects = [t for t in preposition.children if t.dep_ == "pobj"]
            is_time = bool(objects) and objects[0].ent_type_ in ("DATE", "TIME")
            if objects and (not is_time or verb.lemma_ == "wait"):
                phrase = self._phrase(objects[0])
                short = phrase and len(phrase.split()) <= 3
                if phrase and (thing is None or (short and preposition.lower_ in ("to", "for"))):
                    words.append(f"{preposition.lower_} {phrase}")
                if phrase and thing is None:
                    self._object = phrase  # `fills in the report and sends it`
        if thing is None and (asked := _question(verb)):
            words.append(asked)
        if verb.lemma_ == "wait" and len(words) == 1:
            words += [self._phrase(t) for t in children if t.dep_ == "npadvmod"][:1]
        if len(words) == 1 and thing is None and not prepositions:
            return None if verb.dep_ != "ROOT" else _Step(words[0].capitalize(), actor, number)
        name = " ".join(words)
        return _Step(name[:1].upper() + name[1:], actor, number)

    def _actor_of(self, subject: Any, children: Sequence[Any], passive: Any) -> str:
        """Who does it: the subject, or behind `by`; a pronoun is who did the step before."""
        if passive is not None:
            agent = next((t for t in children if t.dep_ == "agent"), None)
            person = next((t for t in agent.children if t.dep_ == "pobj"), None) if agent else None
            if person is None or person.ent_type_ in _AMOUNTS:
                return ""
            named = self._phrase(person)
            return "" if named.lower().rpartition(" ")[2] in _MEANS else named  # `registered mail`
        if subject is not None and subject.pos_ in ("NOUN", "PROPN", "ADJ"):
            self._actor = self._phrase(subject)
        elif subject is not None and subject.text == "I" and self._speaker:
            self._actor = self._speaker
        return self._actor

    def _phrase(self, noun: Any) -> str:
        """A noun with what belongs to it; a pronoun is the object before it in the sentence, or the
        one of the step before."""
        if noun.pos_ == "PRON" and noun.lower_ in ("it", "they", "them", "this", "these", "that"):
            named = _named_before(noun)
            return self._phrase(named) if named is not None else self._object
        article = next((t for t in noun.children if t.dep_ == "det"), noun)
        first = article.i if article.i < noun.i else -1  # `then the unit head`
        left = [
            t for t in noun.subtree
            if first < t.i <= noun.right_edge.i
            and t.dep_ not in ("det", "punct", "predet", "poss" if t.pos_ == "PRON" else "det")
            and not _within(t, noun, ("relcl", "acl", "advcl", "appos"))
        ]  # fmt: skip
        while left and left[-1].dep_ == "cc":  # `the supplier and the process ends`
            left.pop()
        left += _hyphenated(noun.doc, left)
        phrase = " ".join(_as_written([*left, *_number_behind(noun.doc, left)]).split()[:8])
        if noun.dep_ in _THINGS and phrase:
            self._object = phrase
        return phrase


_THINGS = ("dobj", "obj", "nsubjpass")
_AMOUNTS = ("PERCENT", "MONEY", "CARDINAL", "QUANTITY", "DATE", "TIME", "ORDINAL")
_TEXTS = ("procedure", "process", "document", "policy", "section", "chapter", "text", "description")
_DESCRIBES = (
    "describe", "apply", "define", "explain", "cover", "show", "list", "specify", "regulate",
    "outline", "govern", "refer",
)  # fmt: skip


def _named_before(pronoun: Any) -> Any | None:
    """The thing of a clause before a pronoun in its sentence, of its number, as in `after the lead
    signs the form, the clerk files it`; `None` where there is none."""
    plural = pronoun.lower_ in ("they", "them", "these")
    for token in reversed(pronoun.doc[: pronoun.i]):
        if (
            token.dep_ in _THINGS
            and token.pos_ in ("NOUN", "PROPN")
            and token.head.dep_ in ("advcl", "ROOT", "conj")
            and plural == (token.tag_ in ("NNS", "NNPS"))
        ):
            counted = token.text.isupper() and any(t.dep_ == "nummod" for t in token.children)
            if counted or token.ent_type_ in _AMOUNTS:  # `a claim exceeds 500 EUR`
                subjects = (t for t in token.head.children if t.dep_ == "nsubj")
                token = next((t for t in subjects if t.pos_ in ("NOUN", "PROPN")), token)
            return token
    return None


def _is_verb(token: Any) -> bool:
    """Whether a token is a verb, or a noun to the parser although it has an object of its own, as
    `repairs` in `the caretaker repairs it himself`."""
    if token.pos_ in ("VERB", "AUX"):
        return True
    return bool(token.tag_ == "NNS" and any(t.dep_ == "dobj" for t in token.children))


def _is_about_the_text(verb: Any) -> bool:
    """Whether a clause tells of the description itself: `this procedure describes`, `see also`."""
    subject = next((t for t in verb.children if t.dep_ in ("nsubj", "nsubjpass")), None)
    if subject is None:
        return bool(verb.lemma_ == "see")
    itself = subject.lemma_.lower() in _TEXTS or subject.lower_ == "it"
    return itself and verb.lemma_ in _DESCRIBES


def _is_about_the_process(verb: Any) -> bool:
    """Whether a clause ends the process or leads on, and does nothing in it: `the process is
    cancelled`, `stop here`, `we go on once …`."""
    children = list(verb.children)
    if verb.lemma_ in ("go", "carry"):
        return any(t.lower_ in _ON and t.dep_ in ("prt", "advmod", "prep") for t in children) and (
            not any(t.dep_ in ("dobj", "pobj") for t in verb.subtree if t.head.i != verb.i)
            or any(t.dep_ == "prt" for t in children)
        )
    if verb.lemma_ not in ("cancel", "abort", "stop"):
        return False
    about = next((t for t in children if t.dep_ in ("nsubj", "nsubjpass")), None)
    here = any(t.lower_ in ("here", "there") for t in children)
    return here or (about is not None and about.lemma_.lower() in _PROCESS)


_PROCESS = ("process", "procedure", "workflow")


def _repeats_it(doc: Any) -> bool:
    """Whether a sentence repeats the steps before it: `this is repeated until …`."""
    return any(_repeats(token) for token in doc)


def _repeats(verb: Any) -> bool:
    if verb.lemma_ != "repeat":
        return False
    about = next((t for t in verb.children if t.dep_ in ("nsubjpass", "dobj")), None)
    return about is not None and (
        about.pos_ == "PRON" or about.lemma_.lower() in (*_PROCESS, "step")
    )


_ASKS = ("check", "verify", "determine", "decide", "see", "ask", "test", "find", "examine", "know")


def _is_asked(mark: Any) -> bool:
    """Whether what `whether` or `if` begins is asked, as in `checks if the item is damaged`, and no
    condition."""
    clause = mark.head
    if mark.lower_ not in ("whether", "if") or clause.dep_ not in ("ccomp", "advcl"):
        return False
    behind = mark.i == clause.head.i + 1 and clause.head.lemma_ in _ASKS
    return bool(mark.lower_ == "whether" or clause.dep_ == "ccomp" or behind)


def _question(verb: Any) -> str:
    """What is checked or decided: `whether item is under warranty`."""
    for clause in verb.children:
        mark = next((t for t in clause.children if t.dep_ == "mark" and _is_asked(t)), None)
        if mark is not None:
            kept = [t for t in clause.subtree if t.i > mark.i and t.dep_ != "det"]
            return " ".join(("whether", *_as_written(kept).split()[:8]))
    return ""


def _mistaken_object(verb: Any) -> Any | None:
    """The noun behind a verb that the parser takes for another verb (`installs version 2`)."""
    for token in verb.children:
        if token.dep_ == "xcomp" and token.tag_ == "VBP" and token.i == verb.i + 1:
            return token
    return None


def _as_written(tokens: list[Any]) -> str:
    """Tokens with what stands between them in the text: `24-hour`, `10 %`, `$500`, `no. 5`."""
    text = ""
    kept = [t for t in tokens if not t.is_punct or t.text in _SIGNS]
    for before, token in zip([None, *kept], kept, strict=False):
        if before is not None:
            between = token.doc.text[before.idx + len(before.text) : token.idx]
            text += between if between in ("", "-", "/", ". ") else " "
        text += token.text
    return text


_SIGNS = ("%", "‰", "#", "&", "§")
_NUMBERED = re.compile(
    r"\s+(?:(?:no|nr|number)\b\.?\s*|[#№]\s?)?(?=[A-Z]{0,6}[-/]?\d)", re.IGNORECASE
)


def _number_behind(doc: Any, phrase: list[Any]) -> list[Any]:
    """The tokens of a number behind a phrase that the parser did not attach to it (`order #4711`,
    `ticket no. 5`); none where it counts what comes next (`the clerk 3 times`)."""
    if not phrase:
        return []
    last = phrase[-1]
    match = _NUMBERED.match(doc.text, last.idx + len(last.text))
    if match is None:
        return []
    behind = [t for t in doc if match.end() <= t.idx]
    number = list(
        itertools.takewhile(lambda t: t.idx == match.end() or not t.nbor(-1).whitespace_, behind)
    )
    number = list(itertools.takewhile(lambda t: t.text not in ".,;:!?)", number))
    if not number or any(t.dep_ == "nummod" and t.head.i > number[-1].i for t in number):
        return []
    return [t for t in doc if last.idx < t.idx < match.end()] + number


def _hyphenated(doc: Any, phrase: list[Any]) -> list[Any]:
    """The rest of a word whose parts the parser took for objects of their own (`X-ray`)."""
    rest: list[Any] = []
    at = phrase[-1].i + 1 if phrase else len(doc)
    while (
        at + 1 < len(doc)
        and doc[at].text == "-"
        and not doc[at - 1].whitespace_
        and not doc[at].whitespace_
    ):
        rest += [doc[at], doc[at + 1]]
        at += 2
    return rest


def _within_a_name(phrase: str, noun: Any) -> str:
    """A phrase with the initial that it has where it does not begin the sentence."""
    first = noun.doc[0]
    begins = noun.left_edge.i == 0 and phrase.startswith(first.text)
    plain = first.is_title and first.pos_ != "PROPN"
    return phrase[:1].lower() + phrase[1:] if begins and plain else phrase


def _within(token: Any, top: Any, kinds: tuple[str, ...]) -> bool:
    while token.i != top.i:
        if token.dep_ in kinds:
            return True
        token = token.head
    return False


def _first_words(text: str) -> str:
    """A step where nothing can be parsed: the first words of the sentence."""
    return " ".join(re.split(r"[;:]|[.!?]+$", text)[0].split()[:14]).strip("-*• ,") or text[:60]


def _words_behind(mark: Any) -> str:
    """The words of a clause behind the word that begins it."""
    words = [t for t in mark.head.subtree if t.i > mark.i]
    return _as_written(sorted(words, key=lambda t: t.i))


def _parts(text: str) -> list[str]:
    """The parts of a sentence between semicolons, each of which is read as a sentence."""
    return [part for part in re.split(r";\s+", text) if any(c.isalnum() for c in part)]


_SPEAKER = re.compile(r"([^\W\d_][\w'’.-]*(?: [\w'’.-]+){0,3}):\s+\S")


def _speakers(sentences: tuple[Sentence, ...]) -> tuple[str, ...]:
    """Who speaks in an interview, or does what a line states: labels that begin several lines."""
    found = [m[1] for s in sentences if (m := _SPEAKER.match(s.text)) and not s.heading]
    return tuple(dict.fromkeys(name for name in found if found.count(name) > 1))


def _begins_beside(text: str) -> bool:
    """Whether a sentence begins with a cue that it happens in parallel to the steps before it."""
    cue = _PARALLEL.search(text)
    return cue is not None and cue.start() < 12


def _announced_together(text: str) -> int:
    """Where the steps begin that a sentence announces as done at the same time, with a colon; 0
    where it announces none."""
    cue = _PARALLEL.search(text)
    if cue is None:
        return 0
    colon = re.match(r"[^,;:]*:", text[cue.end() :])
    return cue.end() + colon.end() if colon is not None else 0


def _open_choice(items: list[Any]) -> _Block | None:
    """The choice that takes further branches: the last item, or beside something else in it."""
    last = items[-1] if items else None
    if isinstance(last, _Block) and last.kind == "A" and last.branches[-1][1]:
        last = last.branches[-1][1][-1]
    open_ = isinstance(last, _Block) and last.kind == "X" and last.open
    return last if open_ else None


def _put_beside(items: list[Any]) -> None:
    """Put the last choice in parallel to the steps before it, if neither leaves."""
    block = items.pop()
    leaves = any(step is None or isinstance(step, _Back) for _, b in block.branches for step in b)
    if items and not leaves and not _leaves(items, items[-1].sentence):
        block = _Block("A", [("", _last_told(items)), ("", [block])], block.sentence)
    items.append(block)


def _told_before(items: list[Any]) -> _Step | None:
    """The first step of what the last sentence told, to which its repetition goes back; `None`
    where that is a choice."""
    first = None
    for item in reversed(items):
        if not isinstance(item, _Step) or item.sentence != items[-1].sentence:
            break
        first = item
    return first


def _last_told(items: list[Any]) -> list[Any]:
    """Take what the last sentence told from the end of the items: that is what something else
    happens beside."""
    number = items[-1].sentence
    taken: list[Any] = []
    while items and items[-1].sentence == number:
        taken.insert(0, items.pop())
    return taken


def _leaves(items: list[Any], sentence: int) -> bool:
    """Whether something that a sentence told ends the process or goes back: nothing can happen
    beside that."""
    told = [item for item in items if item.sentence == sentence]
    return any(
        isinstance(step, _Back) or step is None
        for item in told
        if isinstance(item, _Block)
        for _, steps in item.branches
        for step in steps
    )


def _same_step(one: _Step, other: _Step) -> bool:
    return set(content_words(one.name)) >= set(content_words(other.name))


class _Writer:
    """Items as graph lines; an open end is (key, condition)."""

    def __init__(self) -> None:
        self._declared: list[str] = []
        self._flows: list[str] = []
        self._counts: dict[str, int] = {}
        self._keys: dict[int, str] = {}

    def text(self, items: list[Any]) -> str:
        ends = self._row(items, [("Start", "")])
        self._link(ends, "End")
        return "\n".join([*self._declared, *self._flows, ""])

    def _new(self, kind: str, text: str, actor: str, sentence: int) -> str:
        self._counts[kind] = self._counts.get(kind, 0) + 1
        key = f"{kind}{self._counts[kind]}"
        parts = [re.sub(r"[|<>→]|->", " ", part).strip() for part in (text, actor)]
        self._declared.append(f"{key} {parts[0] or 'join'} | {parts[1]} | s{sentence}")
        return key

    def _link(self, ends: list[tuple[str, str]], target: str) -> None:
        for source, label in ends:
            condition = re.sub(r"[()\[\]|<>→]|->", " ", label).strip()
            arrow = f"-({condition})->" if condition else "->"
            self._flows.append(f"{source} {arrow} {target}")

    def _row(self, items: list[Any], ends: list[tuple[str, str]]) -> list[tuple[str, str]]:
        for item in items:
            if item is None:  # the process ends here
                self._link(ends, "End")
                return []
            if isinstance(item, _Back):
                self._link(ends, self._keys[id(item.to)])
                return []
            if isinstance(item, _Step):
                key = self._new("T", item.name, item.actor, item.sentence)
                self._keys[id(item)] = key
                self._link(self._merged(ends, item.sentence), key)
                ends = [(key, "")]
            else:
                ends = self._block(item, ends)
        return ends

    def _merged(self, ends: list[tuple[str, str]], sentence: int) -> list[tuple[str, str]]:
        if len(ends) < 2:
            return ends
        join = self._new("X", "join", "", sentence)
        self._link(ends, join)
        return [(join, "")]

    def _block(self, block: _Block, ends: list[tuple[str, str]]) -> list[tuple[str, str]]:
        split = self._new(block.kind, "split", "", block.sentence)
        self._link(self._merged(ends, block.sentence), split)
        left: list[tuple[str, str]] = []
        branches = list(block.branches)
        if block.kind == "X" and len(branches) == 1:
            branches.append(("otherwise", []))
        for label, items in branches:
            ends = self._row(items, [(split, label)])
            # A join that waits for all branches takes one flow of each.
            left += self._merged(ends, block.sentence) if block.kind == "A" else ends
        if block.kind == "A":
            join = self._new("A", "join", "", block.sentence)
            self._link(left, join)
            return [(join, "")]
        return left
