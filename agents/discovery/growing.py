"""Processes that grow case by case, and the resulting models."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from orgflow.agents.discovery.case_replay import CaseFit
from orgflow.agents.discovery.described import Decision, Saved, SavedStep
from orgflow.agents.discovery.discover import MOST_QUOTES, FoundProcess, Misfit
from orgflow.agents.discovery.process_structure import (
    AGENT,
    build_process_model,
    mine_structure,
    trace_cases,
)
from orgflow.agents.discovery.stated_decisions import (
    StatedDecision,
    StatedOption,
    add_stated_runs,
    label_choices,
)
from orgflow.agents.discovery.stated_model import (
    Collaboration,
    StatedDrawing,
    draw_stated_model,
)
from orgflow.agents.discovery.stated_outline import (
    StatedProcess,
    cut_names,
    list_steps,
    name_step,
)
from orgflow.agents.discovery.steps import Step
from orgflow.agents.discovery.traits import Traits
from orgflow.agents.language.sentences import split_for_quotes

from orgflow_ir.mining.drawn_tree import leave_unlabelled
from orgflow_ir.model.evidence import Evidence
from orgflow_ir.model.records import dataclass
from orgflow_ir.pipeline.agent_services import Embedder

SAME_STEP = 0.8
"""Steps of two cases whose names have at least this similarity are one step."""


@dataclass(eq=False)
class KnownStep:
    """A step: its name, its actor in each case, and the messages that show it, by case."""

    name: str
    actors: dict[int, str] = field(default_factory=dict)
    members: dict[int, tuple[int, ...]] = field(default_factory=dict)


@dataclass(eq=False)
class KnownDecision:
    """A decision that a person stated in a case: condition, steps and evidence of each option."""

    case: int
    question: str
    options: list[tuple[str, tuple[KnownStep, ...], tuple[int, ...]]]


@dataclass(eq=False)
class Known:
    """A process with all its known data.

    Attributes:
        cases: the messages of each case; those without a member of a step were not read.
        stated: the structure that a language model stated for exactly these cases.
    """

    name: str
    description: str
    trigger: str
    goal: str
    steps: list[KnownStep] = field(default_factory=list)
    decisions: list[KnownDecision] = field(default_factory=list)
    cases: list[list[int]] = field(default_factory=list)
    stated: StatedDrawing | None = None

    @property
    def text(self) -> str:
        """The text by which two processes are compared."""
        return f"{self.name}. {self.description} {'. '.join(step.name for step in self.steps)}"

    def add(self, saved: Saved, case: Sequence[int], embedder: Embedder) -> list[KnownStep]:
        """Add a case: its steps are added to the known ones, new ones after their predecessor.
        Returns the known step for each."""
        number = len(self.cases)
        self.stated = None  # it says nothing of a further case
        self.cases.append(sorted(case))
        own = self._align_steps(saved.steps, embedder)
        for known, step in zip(own, saved.steps, strict=True):
            before = known.members.get(number, ())
            known.members[number] = tuple(sorted({*before, *step.evidence}))
            if step.actor:
                known.actors.setdefault(number, step.actor)
        for decision in saved.decisions:
            self.decisions.append(_keep_decision(number, decision, own))
        return own

    def absorb(self, other: Known, embedder: Embedder) -> None:
        """Add all cases of an equal process."""
        for number, case in enumerate(other.cases):
            mine = [step for step in other.steps if number in step.members]
            given = [SavedStep(s.name, s.actors.get(number, ""), s.members[number]) for s in mine]
            place = len(self.cases)
            here = self.add(Saved("", "", "", "", tuple(given)), case, embedder)
            own = dict(zip(mine, here, strict=True))
            self.decisions += [
                KnownDecision(place, d.question, [
                    (c, tuple(own[s] for s in steps if s in own), e) for c, steps, e in d.options
                ])
                for d in other.decisions if d.case == number
            ]  # fmt: skip

    def _align_steps(self, steps: Sequence[SavedStep], embedder: Embedder) -> list[KnownStep]:
        """The known step of each step in order, made where there is none."""
        same = _match_steps(steps, self.steps, embedder)
        own: list[KnownStep] = []
        at = 0
        for number, step in enumerate(steps):
            known = same.get(number)
            if known is None:
                known = KnownStep(step.name)
                self.steps.insert(at, known)
            at = self.steps.index(known) + 1
            own.append(known)
        return own


def _match_steps(
    steps: Sequence[SavedStep], known: Sequence[KnownStep], embedder: Embedder
) -> dict[int, KnownStep]:
    """The known step that each step is, by its name in whatever case, else by meaning; no two steps
    are the same one."""
    if not known:
        return {}
    names = [*(s.name for s in steps), *(k.name for k in known)]
    vectors: Any = np.array(embedder.embed(names))
    likeness = vectors[: len(steps)] @ vectors[len(steps) :].T
    for a, step in enumerate(steps):
        for b, other in enumerate(known):
            if step.name.casefold() == other.name.casefold():
                likeness[a, b] = 2.0
    matches: dict[int, KnownStep] = {}
    order = np.argsort(-likeness, axis=None, kind="stable")
    for flat in order:
        a, b = divmod(int(flat), len(known))
        if likeness[a, b] < SAME_STEP:
            break
        if a not in matches and known[b] not in matches.values():
            matches[a] = known[b]
    return matches


def _keep_decision(case: int, decision: Decision, own: Sequence[KnownStep]) -> KnownDecision:
    options = [
        (option.condition, tuple(own[n] for n in option.steps), option.evidence)
        for option in decision.options
    ]
    return KnownDecision(case, decision.question, options)


def build_process(known: Known, id: str, traits: Traits) -> FoundProcess:
    """The process as a model.

    It is mined from the events of the cases that were read, and from the runs that stated
    decisions add to them.
    """
    if known.stated is not None:
        return _build_stated_process(known, known.stated, id, traits)
    steps = [
        Step({n: list(p) for n, p in sorted(known_step.members.items())}, known_step.name,
             _usual_actor(known_step))
        for known_step in known.steps if known_step.members
    ]  # fmt: skip
    places = {step: n for n, step in enumerate(s for s in known.steps if s.members)}

    def cite_step(step: Step) -> tuple[Evidence, ...]:
        cited = dict.fromkeys(
            place for case in sorted(step.members) for place in step.members[case]
        )
        return tuple(
            _quote_message(traits, place, step.name) for place in list(cited)[:MOST_QUOTES]
        )

    decisions = [_number_decision(decision, places, traits) for decision in known.decisions]
    tree = mine_structure(add_stated_runs(trace_cases(steps), decisions))
    labels = label_choices(tree, decisions)
    process = build_process_model(
        id, known.name, steps, cite_step, tree,
        lambda choice: labels.get(choice) or leave_unlabelled(choice),
    )  # fmt: skip
    return FoundProcess(
        process,
        known.name,
        tuple(step.name for step in steps),
        tuple(dict.fromkeys(step.actor for step in steps if step.actor)),
        tuple(tuple(traits.messages[i].id for i in case) for case in known.cases),
        summary=_join_summary(known),
        step_cases=tuple(len(step.members) for step in steps),
    )


def _join_summary(known: Known) -> str:
    return ". ".join(part for part in (known.description, known.trigger, known.goal) if part)


def add_stated_process(
    known: Known, stated: StatedProcess, cases: Sequence[Sequence[int]], fits: Mapping[int, CaseFit]
) -> None:
    """Fill a process with what a language model stated about its cases."""
    (process,) = stated.model.processes
    actors = {id_: lane.name for lane in process.lanes for id_ in lane.members}
    case_of = {place: number for number, case in enumerate(cases) for place in case}
    named: dict[str, KnownStep] = {}
    for node in list_steps(cut_names(stated.model)):
        name = name_step(node)
        step = named.setdefault(name.casefold(), KnownStep(name))
        for place in stated.cited.get(node.id, ()):
            if place in case_of:
                number = case_of[place]
                step.members[number] = tuple(sorted({*step.members.get(number, ()), place}))
                if node.id in actors:
                    step.actors.setdefault(number, actors[node.id])
    known.steps = list(named.values())
    known.cases = [sorted(case) for case in cases]
    known.stated = StatedDrawing(stated.model, stated.cited, fits)


def _build_stated_process(
    known: Known, drawing: StatedDrawing, id: str, traits: Traits
) -> FoundProcess:
    """The process as it was stated, with the cases that do not fit."""
    model, ids = draw_stated_model(
        drawing, id, known.name, lambda place, name: _quote_message(traits, place, name)
    )
    steps = list_steps(model)
    names = {step.id: name_step(step) for step in steps}
    (process,) = model.processes
    misfits = tuple(
        Misfit(case, names[ids[event.element]], traits.messages[event.place].id)
        for case, fit in sorted(drawing.fits.items())
        for event in fit.out_of_place
    )
    return FoundProcess(
        process,
        known.name,
        tuple(dict.fromkeys(names.values())),
        tuple(dict.fromkeys(lane.name for lane in process.lanes)),
        tuple(tuple(traits.messages[i].id for i in case) for case in known.cases),
        summary=_join_summary(known),
        collaboration=Collaboration(model.pools, model.message_flows, model.catalog),
        misfits=misfits,
        step_cases=tuple(len(step.members) for step in known.steps),
    )


def _usual_actor(step: KnownStep) -> str:
    """Who does a step in most cases, the first of these in the alphabet."""
    actors = list(step.actors.values())
    return min(actors, key=lambda a: (-actors.count(a), a), default="")


def _number_decision(
    decision: KnownDecision, places: Mapping[KnownStep, int], traits: Traits
) -> StatedDecision:
    """A decision with the numbers of its steps; an option whose steps only its own evidence shows
    was stated only."""
    options = []
    for condition, steps, evidence in decision.options:
        shown = {place for step in steps for place in step.members.get(decision.case, ())}
        options.append(
            StatedOption(
                condition,
                frozenset(places[step] for step in steps if step in places),
                shown <= set(evidence),
                tuple(_quote_message(traits, place, condition) for place in evidence),
            )
        )
    return StatedDecision(decision.case, decision.question, tuple(options))


_WORD = re.compile(r"[^\W_]{3,}")


def _quote_message(traits: Traits, place: int, name: str) -> Evidence:
    """The sentence of a message that has most words of a name; the first where none has any."""
    message = traits.messages[place]
    wanted = _word_beginnings(name)
    sentences = split_for_quotes(message.text)
    if not sentences:
        return Evidence(document=message.id, quote=message.text.strip() or message.id, agent=AGENT)
    begin, sentence = max(sentences, key=lambda s: (len(_word_beginnings(s[1]) & wanted), -s[0]))
    span = (begin, begin + len(sentence))
    return Evidence(document=message.id, quote=sentence, span=span, agent=AGENT)


def _word_beginnings(text: str) -> set[str]:
    """The first five letters of each word, by which its forms are one."""
    return {word.lower()[:5] for word in _WORD.findall(text)}
