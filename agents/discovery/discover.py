"""All of discovery without a language model: messages in, a model with evidence out."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from orgflow.agents.discovery.automatic import automatic, exchanged
from orgflow.agents.discovery.case_weights import WEIGHTS
from orgflow.agents.discovery.cases import SMALLEST, find_groups
from orgflow.agents.discovery.german import ACTS as GERMAN_ACTS
from orgflow.agents.discovery.german import german_phrases
from orgflow.agents.discovery.languages import ENGLISH, GERMAN, languages, small_words
from orgflow.agents.discovery.phrases import (
    ACTS,
    CLEAR,
    FUNCTION,
    Phrase,
    phrases,
    subject_phrase,
    titled,
)
from orgflow.agents.discovery.processes import adopted, find_processes, recurring
from orgflow.agents.discovery.steps import Step, find_steps, key
from orgflow.agents.discovery.structure import AGENT, process_of
from orgflow.agents.discovery.traits import Traits, bare_name, role, traits_of
from orgflow.agents.english import parser

from orgflow_ir.model import Model, Process
from orgflow_ir.model.evidence import Evidence
from orgflow_ir.model.message import Message
from orgflow_ir.pipeline.agent_services import Embedder

MATTERS = 12
"""Number of words that a description names."""

TALK = 9
"""A case with fewer messages, none of which states an action, is not a case."""

MOST_ACTORS = 5
"""Number of people that a description names."""

STAGES = 5
"""Stages shown as progress."""

FEW = 5
"""With fewer processes, their common phrases are no evidence of general phrases."""

MOST_QUOTES = 5
"""Maximum number of passages kept for one element; a step may have many messages."""


class Found(NamedTuple):
    """A discovered process.

    Attributes:
        process: the process, in which every element has evidence.
        name: the name of the process.
        steps: the names of its steps, in order.
        actors: the participants.
        cases: the ids of the messages of each case.
        matters: the words that are most specific to this process, over all of its cases.
        said: the description by a language model, instead of `matters`.
        people: the participants that are people without a role.
        language: the code of the language of most of its messages.
    """

    process: Process
    name: str
    steps: tuple[str, ...]
    actors: tuple[str, ...]
    cases: tuple[tuple[str, ...], ...]
    matters: tuple[str, ...] = ()
    said: str = ""
    people: frozenset[str] = frozenset()
    language: str = ENGLISH

    def renamed(self, name: str) -> Found:
        """The same process under another name."""
        return self._replace(name=name, process=self.process.replace(name=name))

    def with_id(self, id: str) -> Found:
        """The same process with other ids: the ids of its elements begin with that of the
        process."""
        old = self.process.id

        def fresh(known: str) -> str:
            return f"{id}{known.removeprefix(old)}"

        process = self.process.replace(
            id=id,
            nodes=tuple(n.replace(id=fresh(n.id)) for n in self.process.nodes),
            flows=tuple(
                f.replace(id=fresh(f.id), source=fresh(f.source), target=fresh(f.target))
                for f in self.process.flows
            ),
            lanes=tuple(
                lane.replace(id=fresh(lane.id), members=tuple(map(fresh, lane.members)))
                for lane in self.process.lanes
            ),
        )
        return self._replace(process=process)

    @property
    def description(self) -> str:
        """Subject, roles and steps of the process, in English sentences or, in other languages, as
        lists. People without a role are left out: their names do not describe a process."""
        roles = ", ".join([one for one in self.actors if one not in self.people][:MOST_ACTORS])
        matters, steps = ", ".join(self.matters), ". ".join(self.steps)
        if self.language != ENGLISH:
            parts = [roles, matters, self.said.rstrip("."), steps]
            return " ".join(f"{part}." for part in parts if part)
        parts = [
            f"This process involves the {roles}." if roles else "",
            f"It is about {matters}." if matters else "",
            f"{self.said.rstrip('.')}." if self.said else "",
            f"They {steps.lower()}.",
        ]
        return " ".join(part for part in parts if part)


class Discovery(NamedTuple):
    """What messages show.

    Attributes:
        found: the processes, in descending order of their number of cases.
        noise: ids of the messages that belong to no process.
    """

    found: tuple[Found, ...]
    noise: tuple[str, ...]

    @property
    def model(self) -> Model:
        """All processes as one model."""
        return Model(
            id="discovered", name="Discovered processes", origin=AGENT,
            processes=tuple(found.process for found in self.found),
        )  # fmt: skip


class Stages(NamedTuple):
    """The state of discovery before it describes processes.

    Attributes:
        traits: of messages.
        cases: the places of the messages of each case.
        processes: the places of the cases of each process.
        said: the phrases of messages.
        names: names of processes that a person decided on, by their places.
    """

    traits: Traits
    cases: list[list[int]]
    processes: list[list[int]]
    said: list[list[Phrase]]
    names: Mapping[int, str] = MappingProxyType({})

    def described(self, embedder: Embedder) -> Discovery:
        """Steps and models of the processes, without a language model."""
        return describe(
            self.traits, self.cases, self.processes, self.said, embedder, self.names
        )  # fmt: skip


def discover(
    messages: Sequence[Message],
    embedder: Embedder,
    progress: Callable[[int, int, str], None] = lambda done, total, name: None,
    weights: Sequence[float] = WEIGHTS,
) -> Discovery:
    """Find the processes in messages; `weights` are those of `find_groups`. Raises the exceptions
    of the embedder."""
    found = grouped(messages, embedder, progress, weights)
    progress(4, STAGES, "steps")
    return found.described(embedder)


def grouped(
    messages: Sequence[Message],
    embedder: Embedder,
    progress: Callable[[int, int, str], None] = lambda done, total, name: None,
    weights: Sequence[float] = WEIGHTS,
) -> Stages:
    """The cases and processes of messages; `weights` are those of `find_groups`. Raises the
    exceptions of the embedder."""
    progress(0, STAGES, "meaning of messages")
    traits = traits_of(messages, embedder)
    progress(1, STAGES, "cases")
    groups, smallest = find_groups(traits, weights)
    programs = automatic(traits.messages)
    groups = [group for group in groups if not programs.issuperset(group)]
    cases = [
        group for group in groups
        if len(group) >= smallest and exchanged(traits.messages, group, programs)
    ]  # fmt: skip
    progress(2, STAGES, "phrases")
    said = said_in(traits, cases)
    parsed = frozenset(_parsed(traits))
    cases = [
        case for case in cases
        if len(case) < SMALLEST or not _only_talk(case, said, parsed)
    ]  # in one of two mails nobody may say it  # fmt: skip
    progress(3, STAGES, "processes")
    found = find_processes(traits, cases, embedder if smallest < SMALLEST else None)
    processes = recurring(traits, cases, found)
    if smallest == SMALLEST:
        known = {case[0] for case in cases}
        rest = [group for group in groups if group[0] not in known]
        parts = adopted(traits, cases, processes, rest)
        more = said_in(traits, [rest[place] for place in parts])
        for place, process in parts.items():
            processes[process].append(len(cases))
            cases.append(rest[place])
        said = [before or new for before, new in zip(said, more, strict=True)]
    processes = sorted(processes, key=lambda process: -len(process))
    kept = sorted(place for process in processes for place in process)
    fresh = {place: number for number, place in enumerate(kept)}
    return Stages(
        traits, [cases[place] for place in kept], [[fresh[c] for c in p] for p in processes], said
    )


def said_in(traits: Traits, cases: Sequence[Sequence[int]]) -> list[list[Phrase]]:
    """The phrases of every message in cases, by its place; those of other messages are empty.
    Without a parser for the language of a message, its subject is the phrase, also in German
    if no message of the case has any."""
    said: list[list[Phrase]] = [[] for _ in traits.messages]
    parsed = frozenset(_parsed(traits))
    tongues = languages(traits.messages)
    everywhere = sorted(place for case in cases for place in case)
    english = [place for place in everywhere if place in parsed]
    german = [place for place in everywhere if tongues[place] == GERMAN]
    for readable, read in ((english, phrases), (german, german_phrases)):
        texts = [traits.messages[place].body for place in readable]
        topics = [subject_phrase(traits.messages[place].subject) for place in readable]
        for place, found in zip(readable, read(texts, traits.names, topics), strict=True):
            said[place] = found
    unread = set(everywhere).difference(english, german)
    for case in cases:
        without = [place for place in case if tongues[place] == GERMAN]
        if not any(said[place] for place in without):
            unread.update(without)
    for place in unread:
        said[place] = titled(traits.messages[place].subject)
    return said


def _parsed(traits: Traits) -> list[int]:
    """The places of messages that there is a parser for."""
    if parser() is None:
        return []
    return [place for place, code in enumerate(languages(traits.messages)) if code == ENGLISH]


def _only_talk(
    case: Sequence[int], said: Sequence[Sequence[Phrase]], parsed: frozenset[int]
) -> bool:
    """Whether nobody says in a short case that anything is done."""
    if len(case) >= TALK or not parsed.issuperset(case):
        return False
    return not any(p.score >= CLEAR and p.verb in ACTS for i in case for p in said[i])


def describe(
    traits: Traits,
    cases: Sequence[Sequence[int]],
    processes: Sequence[Sequence[int]],
    said: Sequence[Sequence[Phrase]],
    embedder: Embedder,
    names: Mapping[int, str] = MappingProxyType({}),
) -> Discovery:
    """Steps and models of known processes: places of messages by case, and places of cases by
    process; `said` are the phrases of messages, `names` those that people gave to processes, by
    their places."""
    weights = _weights(traits, [[i for c in p for i in cases[c]] for p in processes])
    common = _common(processes, cases, said)
    tongues = languages(traits.messages)
    found_all = []
    for number, process in enumerate(processes):
        own = [cases[c] for c in process]
        one = _found(number, traits, own, said, weights[number], common, embedder)
        if one is not None:
            spoken = Counter(tongues[place] for case in own for place in case)
            one = one._replace(language=min(spoken, key=lambda code: (-spoken[code], code)))
        found_all.append(one)
    used = {place for process in processes for c in process for place in cases[c]}
    return Discovery(
        tuple(
            found.renamed(names[number]) if number in names else found
            for number, found in enumerate(found_all)
            if found is not None
        ),
        tuple(m.id for i, m in enumerate(traits.messages) if i not in used),
    )


def _weights(traits: Traits, groups: Sequence[Sequence[int]]) -> list[dict[str, float]]:
    """For each process, how much a word belongs to it: its share of messages times its rarity."""
    counts = [Counter(w for i in group for w in traits.words[i]) for group in groups]
    having = Counter(word for count in counts for word in count)
    weights: list[dict[str, float]] = []
    for group, count in zip(groups, counts, strict=True):
        weight: dict[str, float] = {}
        for word, number in count.items():
            rare = math.log((1 + len(groups)) / having[word])
            weight[word] = number / len(group) * rare
        weights.append(weight)
    return weights


def _common(
    processes: Sequence[Sequence[int]],
    cases: Sequence[Sequence[int]],
    said: Sequence[Sequence[Phrase]],
) -> dict[str, float]:
    """The share of processes that have a phrase, where there are enough to tell."""
    if len(processes) < FEW:
        return {}
    having = Counter(
        one for process in processes
        for one in {key(phrase) for c in process for i in cases[c] for phrase in said[i]}
    )  # fmt: skip
    return {one: number / len(processes) for one, number in having.items()}


def _found(
    number: int,
    traits: Traits,
    cases: Sequence[Sequence[int]],
    said: Sequence[Sequence[Phrase]],
    weights: Mapping[str, float],
    common: Mapping[str, float],
    embedder: Embedder,
) -> Found | None:
    # a part of a run shows neither where it begins nor what is left out
    whole = [case for case in cases if len(case) >= SMALLEST] or cases
    steps = find_steps(traits, whole, said, weights, common, embedder)
    if not steps:
        return None

    def cite(step: Step, which: Sequence[int] | None) -> tuple[Evidence, ...]:
        wanted = step.members if which is None else [c for c in which if c in step.members]
        places = [place for case in wanted for place in step.members[case]]
        quoted = [place for place in places if traits.messages[place].text.strip()]  # no pictures
        return tuple(_evidence(traits, place, step) for place in quoted[:MOST_QUOTES])

    matters = _matters(traits, whole, weights)
    name = _process_name(steps, matters)
    process = process_of(f"process_{number + 1}", name, steps, frozenset(range(len(whole))), cite)
    senders = {traits.messages[i].sender for case in cases for i in case}
    return Found(
        process,
        name,
        tuple(step.name for step in steps),
        tuple(dict.fromkeys(step.actor for step in steps if step.actor)),
        tuple(tuple(traits.messages[i].id for i in case) for case in cases),
        matters,
        people=frozenset(bare_name(one) for one in senders if one is not None and not role(one)),
    )


def _matters(
    traits: Traits, cases: Sequence[Sequence[int]], weights: Mapping[str, float]
) -> tuple[str, ...]:
    """The words that belong to a process most: those of one case alone name its things, not the
    process."""
    shares = [Counter(w for i in case for w in traits.words[i]) for case in cases]
    small = small_words()
    own = {
        word: weight * min(1.0, sum(share[word] > 0 for share in shares) / len(cases)) ** 2
        for word, weight in weights.items()
        if word.isalpha()
        and len(word) > 3
        and word not in traits.names
        and word not in FUNCTION
        and word not in small
    }
    best: dict[str, str] = {}
    for word in sorted(own, key=lambda word: (-own[word], word)):
        best.setdefault(_ENDING.sub("", word), word)  # `offer` and `offers` are one
    return tuple(best.values())[:MATTERS]


_ENDING = re.compile(r"(?<=\w{3})(?:ies|es|s|ied|ed|ing|e|y)$")


def _evidence(traits: Traits, place: int, step: Step) -> Evidence:
    """The sentence of a message that says that a step is done, else how the message begins."""
    message = traits.messages[place]
    phrase = step.quotes.get(place)
    before = len(message.text) - len(message.body)
    if phrase is not None and phrase.span != (0, 0):
        begin, end = phrase.span
        return Evidence(
            document=message.id, quote=phrase.sentence, span=(before + begin, before + end),
            agent=AGENT,
        )  # fmt: skip
    quote = next((line for line in message.text.splitlines() if line.strip()), message.text)
    return Evidence(document=message.id, quote=quote.strip(), agent=AGENT)


def _process_name(steps: Sequence[Step], matters: Sequence[str]) -> str:
    """The step that most speaks for, among those about what the process is about."""

    def own(step: Step) -> float:
        first, *words = step.name.lower().split()
        act = first in ACTS or (bool(words) and words[-1] in GERMAN_ACTS)
        about = max(
            (len(matters) - matters.index(w) for w in (first, *words) if w in matters), default=0
        )
        return step.support * (1 + about / max(1, len(matters))) * (1.0 if act else 0.6)

    return max(steps, key=own).name
