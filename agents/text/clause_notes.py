"""Clauses of a text and what a draft by rules makes of them: the actions, conditions and times that
an element models, and those that none does.

Words that announce a condition are looked for in every sentence, and so are lengths of time and
announced numbers, whatever the reader of the draft made of the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Literal

from orgflow.agents.language.sentences import Sentence
from orgflow.agents.language.time_limits import find_durations, find_times
from orgflow.agents.text.draft_items import Block, Item, Step, walk_items

from orgflow_ir.model.records import NamedTuple

NoteKind = Literal["action", "condition", "time", "end", "number"]

ENOUGH = 0.6
"""Minimum share of clauses that a draft has to model."""


class ReadAction(NamedTuple):
    """An action that the reader met in a sentence.

    Attributes:
        sentence: the number of its sentence.
        at: where it begins in the sentence, in characters.
        step: its step; `None` where it could not be named.
    """

    sentence: int
    at: int
    step: Step | None


class ClauseNote(NamedTuple):
    """A clause that a draft has to model.

    Attributes:
        kind: what it states; a `number` announces steps and is no clause of its own.
        sentence: the number of its sentence.
        at: where it begins in the sentence, in characters.
        text: its words.
        modelled: whether an element models it.
    """

    kind: NoteKind
    sentence: int
    at: int
    text: str
    modelled: bool


class ReadRecord(NamedTuple):
    """The record of a draft's reader.

    Attributes:
        actions: the actions it met.
        kept: the ids of steps that it left out because the process goes back to them.
        times: by sentence, the spans of the times that became events, in characters.
        ends: the sentences after which a branch leaves to the end of the process.
        introductions: the sentences that only introduce others.
        german: whether the text is German.
    """

    actions: list[ReadAction]
    kept: set[int]
    times: dict[int, list[tuple[int, int]]]
    ends: set[int]
    introductions: set[int]
    german: bool = False

    @classmethod
    def empty(cls, *, german: bool = False) -> ReadRecord:
        """A record without an entry."""
        return cls([], set(), {}, set(), set(), german)


_CONDITIONS = re.compile(
    r"\b(?:if|unless|in case|in the event|otherwise|whether|depending on"
    r"|should (?:you|the|a|an|he|she|they|we|it|any|there)\b(?= [^,.]*,)"
    r"|only(?= [\w ]{0,40}\b(?:with|that|which|if|when|from|above|over|below|under|after)\b)"
    r"|(?:below|above|over|under|more than|less than|at least|up to)(?= (?:EUR |USD |[$€£])?\d)"
    r"|where (?:necessary|applicable|needed|required|appropriate))\b"
    r"|\b(?:wenn|falls|sofern|sobald|sonst|andernfalls|ansonsten|bei bedarf|außer|es sei denn"
    r"|je nach(?:dem)?"
    r"|nur(?= [^.]*\b(?:mit|wenn|bei|ab|über|unter)\b)"
    r"|(?:unter|über|ab|bis zu|mehr als|weniger als|mindestens)(?= (?:EUR |€)?\d))\b"
    r"|^bei (?=[^\W\d_]*(?:mängeln|fehlern|abweichungen|beträgen|ablehnung|beanstandungen)\b)"
    r"|\bob\b",
    re.IGNORECASE,
)
_AMOUNT = re.compile(
    r"below|above|over|under|more|less|at least|up to|unter|über|ab|bis|mehr|mindest", re.IGNORECASE
)
_QUESTIONS = ("whether", "if", "ob")
_NUMBERS = {
    word: number
    for number, words in enumerate(
        ("two zwei", "three drei", "four vier", "five fünf", "six sechs", "seven sieben"), 2
    )
    for word in words.split()
}
_ANNOUNCED = re.compile(
    rf"\b(?P<number>{'|'.join(_NUMBERS)}) (?:\w+ )?"
    r"(?:checks|steps|activities|tasks|tests|things|phases|stages|parts|options|ways"
    r"|schritte?n?|prüfungen|aufgaben|tätigkeiten|phasen|möglichkeiten|aktivitäten)\b",
    re.IGNORECASE,
)
_LENGTH = 60
"""Maximum number of characters of a clause in a message."""


def find_clause_notes(
    sentences: Sequence[Sentence], items: Sequence[Item], record: ReadRecord
) -> list[ClauseNote]:
    """The clauses of a text in its order, and announced numbers."""
    every = list(walk_items(items))
    present = {id(item) for item in every if isinstance(item, Step)} | record.kept
    split = {item.sentence for item in every if isinstance(item, Block)}
    split |= _sentences_of_branches(every)
    names: dict[int, list[str]] = {}
    for item in every:
        if isinstance(item, Step):
            names.setdefault(item.sentence, []).append(item.name.lower())
    labels = [label for item in every if isinstance(item, Block) for label, _ in item.branches]
    notes: list[ClauseNote] = []
    stated = [s for s in sentences if not s.heading and s.number not in record.introductions]
    for sentence in stated:
        own = [a for a in record.actions if a.sentence == sentence.number]
        for action in own:
            modelled = action.step is not None and id(action.step) in present
            text = _quote_clause(sentence.text, action.at)
            notes.append(ClauseNote("action", sentence.number, action.at, text, modelled))
        named = names.get(sentence.number, [])
        notes += _note_conditions(sentence, sentence.number in split, named)
        notes += _note_times(
            sentence, record.times.get(sentence.number, []), [*named, *labels],
            german=record.german,
        )  # fmt: skip
        notes += _note_numbers(sentence, sentences, names)
    return sorted(notes, key=lambda note: (note.sentence, note.at))


def count_modelled(notes: Iterable[ClauseNote]) -> tuple[int, int]:
    """How many clauses are modelled, of how many."""
    clauses = [note for note in notes if note.kind != "number"]
    return sum(note.modelled for note in clauses), len(clauses)


def _sentences_of_branches(items: Iterable[Item]) -> set[int]:
    """The sentences of the first items of branches that have a condition."""
    numbers = set()
    for item in items:
        if isinstance(item, Block) and item.kind in ("X", "W"):
            for _, branch in item.branches:
                first = branch[0] if branch else None
                if first is not None and hasattr(first, "sentence"):
                    numbers.add(first.sentence)
    return numbers


def _quote_clause(text: str, at: int) -> str:
    """The words of a clause from its beginning, on one line."""
    ends = re.search(r"[,;:.](?:\s|$)", text[at:])
    clause = " ".join(text[at : at + ends.start() if ends is not None else None].split())
    return clause if len(clause) <= _LENGTH else f"{clause[:_LENGTH]}…"


def _note_conditions(
    sentence: Sentence, split: bool, names: Collection[str]
) -> Iterator[ClauseNote]:
    """Words that announce a condition: modelled by a choice of the sentence, or, behind `checks`,
    by the name of a step."""
    cues = list(_CONDITIONS.finditer(sentence.text))
    plain = [cue for cue in cues if _AMOUNT.match(cue[0]) is None]
    for cue in plain or cues[:1]:
        asked = cue[0].lower() in _QUESTIONS and any(
            f" {cue[0].lower()} " in f" {name} " or " whether " in f" {name} " for name in names
        )
        text = _quote_clause(sentence.text, cue.start())
        yield ClauseNote("condition", sentence.number, cue.start(), text, split or asked)


def _note_times(
    sentence: Sentence, events: Iterable[tuple[int, int]], names: Collection[str], *, german: bool
) -> Iterator[ClauseNote]:
    """Times: modelled by an event, or by the words of a step or a condition."""
    seen = sorted(events)
    for start, _ in seen:
        yield ClauseNote("time", sentence.number, start, "", True)
    stated = [time.span for time in find_times(sentence.text, german=german)]
    for start, end in (*stated, *find_durations(sentence.text)):
        if any(start < stop and begin < end for begin, stop in seen):
            continue
        text = " ".join(sentence.text[start:end].split())
        named = any(text.lower() in name.lower() for name in names)
        seen.append((start, end))
        yield ClauseNote("time", sentence.number, start, text, named)


def _note_numbers(
    sentence: Sentence, sentences: Sequence[Sentence], names: dict[int, list[str]]
) -> Iterator[ClauseNote]:
    """Announced numbers with fewer steps behind them in the sentence and the next ones."""
    for match in _ANNOUNCED.finditer(sentence.text):
        number = _NUMBERS[match["number"].lower()]
        near = range(sentence.number, sentence.number + number + 1)
        if sum(len(names.get(n, ())) for n in near) < number:
            yield ClauseNote("number", sentence.number, match.start(), match[0], False)
