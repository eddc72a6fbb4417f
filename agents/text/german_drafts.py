"""Items of a German text: clauses become steps, `wenn` and `sonst` choices, `während` parallel
branches, times timers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from orgflow.agents.language.german_clauses import GermanClause, read_german_clauses
from orgflow.agents.language.lexicon import GermanLexicon, load_lexicon
from orgflow.agents.language.sentences import Sentence, is_table_row
from orgflow.agents.language.time_limits import StatedTime, find_times
from orgflow.agents.text.clause_notes import ReadAction, ReadRecord
from orgflow.agents.text.draft_items import (
    Block,
    Item,
    PlacedSteps,
    Step,
    Wait,
    find_open_choice,
    last_sentence_leaves,
    set_time,
    take_last_sentence,
)

_LEXICON = load_lexicon(GermanLexicon)
_WORDS, _NOUNS, _VERBS = _LEXICON.words, _LEXICON.nouns, _LEXICON.verbs

_POINTING = ("ihn", "sie", "es", "diese", "dieses", "diesen")
_INTRODUCTION = re.compile(
    r"\b(?:wie folgt|folgendermaßen|folgende[nrs]? (?:schritte|ablauf|weise)"
    r"|so (?:läuft|geht|sieht)|kurz zu[rm]?|so \w+ (?:ihr|sie|du|man|wir)\b)",
    re.IGNORECASE,
)
_ENDING = re.compile(
    r"\b(?:prozess|ablauf|vorgang|verfahren)\b[^,;]{0,40}\b(?:endet|beendet|abgebrochen|abgeschlossen"
    r"|fertig|vorbei)\b",
    re.IGNORECASE,
)
_CLOSING = ("stornieren", "schließen", "ablehnen", "abbrechen", "beenden")
"""Verbs that end the process in a branch."""


def read_german_items(sentences: Sequence[Sentence]) -> tuple[list[Item], ReadRecord]:
    """The items of a text, and what became of its clauses."""
    reader = _GermanReader()
    for sentence in sentences:
        if not sentence.heading and not is_table_row(sentence.text):
            reader.read_sentence(sentence)
    return reader.items, reader.record


class _GermanReader:
    """Turns German sentences into items, one after the other.

    Attributes:
        items: the items so far.
        record: what became of the clauses.
    """

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.record = ReadRecord.empty(german=True)
        self._actor = ""
        self._thing = ""

    def read_sentence(self, sentence: Sentence) -> None:
        """Add the items of a sentence, by the first rule that applies."""
        text = sentence.text
        if text.endswith("?"):
            self.record.introductions.add(sentence.number)
            return
        begins = _find_beginning(text)
        clauses = [c for c in read_german_clauses(text) if c.at >= begins]
        if begins == len(text):
            self.record.introductions.add(sentence.number)
            return
        times = [time for time in find_times(text, german=True) if time.span[0] >= begins]
        unanswered = next((time for time in times if time.kind == "unanswered"), None)
        placed = self._read_steps(clauses, sentence, unanswered)
        for time in times:
            if time.kind != "unanswered" and set_time(time, placed, first=not self.items):
                self._note_time(sentence, time)
        if unanswered is not None and placed:
            self._note_time(sentence, unanswered)
            self._add_unanswered(unanswered, placed, sentence)
        else:
            self._add_clauses(clauses, placed, sentence)

    # -- steps ---------------------------------------------------------------------------------

    def _read_steps(
        self, clauses: Sequence[GermanClause], sentence: Sentence, unanswered: StatedTime | None
    ) -> PlacedSteps:
        """The steps of the clauses that state an action."""
        placed: PlacedSteps = []
        for place, clause in enumerate(clauses):
            if clause.kind == "condition":
                self._thing = clause.actor or clause.thing or self._thing
            within = unanswered is not None and clause.end <= unanswered.span[1] + 1
            within = within and unanswered is not None and clause.at >= unanswered.span[0]
            if clause.kind not in ("main", "during") or within:
                continue
            asked = next((c for c in clauses[place + 1 : place + 2] if c.kind == "question"), None)
            if clause.denied or not (clause.is_act or asked is not None):
                if clause.verb not in _VERBS.states and clause.verb and not clause.denied:
                    self.record.actions.append(ReadAction(sentence.number, clause.at, None))
                continue
            step = self._name_step(clause, asked, sentence.number)
            self.record.actions.append(ReadAction(sentence.number, clause.at, step))
            if step is not None:
                placed.append((clause.at, step))
        return placed

    def _name_step(
        self, clause: GermanClause, asked: GermanClause | None, number: int
    ) -> Step | None:
        """The step of a clause; `None` where it has no object and needs one."""
        thing = clause.thing
        if thing in _POINTING:
            thing = self._thing
            if not thing:
                return None
        if not thing and asked is not None:
            thing = asked.thing or asked.actor
        self._actor = clause.actor or self._actor
        if not thing and clause.about:
            name = f"{clause.about} {clause.verb}"
        elif (
            not thing
            and clause.kind == "main"
            and clause.verb in _VERBS.acts
            and self._follows(clause)
        ):
            name = f"{self._thing} {clause.verb}"
        elif not thing and not clause.actor:
            return None
        else:
            name = f"{thing} {clause.verb}".strip()
        self._thing = thing or (self._thing if clause.joined else "")
        return Step(name[:1].upper() + name[1:], self._actor, number)

    def _follows(self, clause: GermanClause) -> bool:
        """Whether a clause shares the object of the one before: `bestellt und ausgegeben`."""
        return clause.joined in ("und", "oder", ",") and bool(self._thing) and not clause.actor

    def _note_time(self, sentence: Sentence, time: StatedTime) -> None:
        self.record.times.setdefault(sentence.number, []).append(time.span)

    # -- flow ----------------------------------------------------------------------------------

    def _add_unanswered(self, time: StatedTime, placed: PlacedSteps, sentence: Sentence) -> None:
        """`Geht nach drei Tagen keine Antwort ein, …`: the answer or the time, whichever is
        first."""
        number = sentence.number
        opened = find_open_choice(self.items)
        if opened is not None:
            opened.open = False
        steps = [step for _, step in placed]
        branches: list[tuple[str, list[Item]]] = [
            ("", [Wait(time.message, number, receives=True)]),
            ("", [Wait(time.text, number), *self._end_branch(steps, sentence)]),
        ]
        self.items.append(Block("W", branches, number))

    def _add_clauses(
        self, clauses: Sequence[GermanClause], placed: PlacedSteps, sentence: Sentence
    ) -> None:
        """A choice, parallel branches, or a row of steps."""
        steps = [step for _, step in placed]
        number = sentence.number
        opened = find_open_choice(self.items)
        words = re.findall(r"\w+", sentence.text.lower())
        condition = next((c for c in clauses if c.kind == "condition" and c.text), None)
        amount = re.match(r"(?:bei|ab|unter|über) [^,:]*?\d[\d.,]*(?: (?:Euro|EUR|Prozent|Stück))?",
                          sentence.text, re.IGNORECASE)  # fmt: skip
        if opened is not None and words and words[0] in _WORDS.otherwise:
            opened.branches.append(("sonst", self._end_branch(steps, sentence)))
            opened.open = False
            return
        if (condition is not None or amount is not None) and (
            steps or _ENDING.search(sentence.text)
        ):
            at = condition.at if condition is not None else 0
            label = (
                _label_of_condition(condition)
                if condition is not None
                else str(amount and amount[0])
            )
            self._add_condition(label, at, placed, sentence, opened)
            return
        if opened is not None:
            opened.open = False
        if not steps:
            return
        if any(c.kind == "during" for c in clauses) and len(steps) > 1:
            self.items.append(Block("A", [("", [step]) for step in steps], number))
            return
        if set(words) & _WORDS.together and self.items and not last_sentence_leaves(self.items):
            beside = take_last_sentence(self.items)
            self.items.append(Block("A", [("", beside), ("", list(steps))], number))
            return
        if any(c.joined == "oder" and c.kind == "main" for c in clauses) and len(steps) > 1:
            self.items.append(Block("X", [("", [step]) for step in steps], number))
            return
        self.items.extend(steps)

    def _add_condition(
        self, label: str, at: int, placed: PlacedSteps, sentence: Sentence, opened: Block | None
    ) -> None:
        """`Wenn …, …`: a branch of the open choice, or of a new one; `…, wenn …` decides on the
        whole sentence."""
        otherwise = re.search(r"\b(?:sonst|andernfalls|ansonsten)\b", sentence.text, re.IGNORECASE)
        behind = otherwise.start() if otherwise is not None else len(sentence.text) + 1
        then = [step for place, step in placed if place < behind]
        others = [step for place, step in placed if place >= behind]
        if opened is None or label == "nicht":
            opened = opened or Block("X", sentence=sentence.number, open=True)
            if opened not in self.items:
                self.items.append(opened)
        opened.branches.append((label, self._end_branch(then, sentence)))
        if others:
            opened.branches.append(("sonst", self._end_branch(others, sentence)))
            opened.open = False

    def _end_branch(self, steps: Sequence[Step], sentence: Sentence) -> list[Item]:
        """The steps of a branch, and the end of the process where it leads there."""
        if _ENDING.search(sentence.text):
            self.record.ends.add(sentence.number)
            return [*steps, None]
        return list(steps)


def _label_of_condition(clause: GermanClause) -> str:
    """The words of a condition; of `ist die Ware da` with the verb at the end."""
    first, _, rest = clause.text.partition(" ")
    verb_first = clause.verb and clause.text[:1].isupper() and first.lower() not in ("bei", "wer")
    return f"{rest} {first.lower()}" if verb_first and rest else clause.text


def _find_beginning(text: str) -> int:
    """Where the steps begin in a sentence that introduces them: behind its colon, or at its end; 0
    where it introduces nothing."""
    cue = _INTRODUCTION.search(text)
    if cue is None:
        return 0
    colon = re.search(r":\s", text[cue.end() :])
    if colon is None and cue[0].lower().startswith("so "):
        return 0
    return cue.end() + colon.end() if colon is not None else len(text)
