"""All of discovery without a language model: messages in, a model with evidence out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from orgflow.agents.discovery.automatic import find_automatic_messages, is_exchange
from orgflow.agents.discovery.case_weights import WEIGHTS
from orgflow.agents.discovery.cases import SMALLEST, find_groups
from orgflow.agents.discovery.joined_cases import AskJoin, CaseJoin, join_case_parts
from orgflow.agents.discovery.process_structure import AGENT, build_process_model
from orgflow.agents.discovery.processes import adopt_groups, find_processes, select_recurring
from orgflow.agents.discovery.stated_model import Collaboration
from orgflow.agents.discovery.steps import Step, find_steps, phrase_key
from orgflow.agents.discovery.traits import Traits, bare_name, role_of_person, traits_of
from orgflow.agents.language.german_phrases import find_german_phrases
from orgflow.agents.language.identification import (
    ENGLISH,
    GERMAN,
    function_words,
    identify_languages,
)
from orgflow.agents.language.lexicon import EnglishLexicon, GermanLexicon, load_lexicon
from orgflow.agents.language.parsing import load_parser
from orgflow.agents.language.phrases import CLEAR, Phrase, find_phrases, phrase_of_subject
from orgflow.agents.language.stems import stem_topic
from orgflow.agents.language.subjects import subject_phrase

from orgflow_ir.linking.called_processes import rename_ids
from orgflow_ir.model import Catalog, Model, Process
from orgflow_ir.model.evidence import Evidence
from orgflow_ir.model.message import Message
from orgflow_ir.model.provenance import all_elements
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline.agent_services import Embedder

_ACTS = load_lexicon(EnglishLexicon).verbs.acts
_GERMAN_ACTS = load_lexicon(GermanLexicon).verbs.acts
_TOPICLESS = load_lexicon(EnglishLexicon).words.topicless

MATTERS = 12
"""Number of words that a description names."""

MAIN_STEPS = 8
"""Number of steps that a description names: with more, descriptions of different processes become
alike."""

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


Confidence = Literal["high", "middle", "low"]
"""How sure a process is."""

SURE_CASES, SURE_STEPS = 3, 0.7
"""A process is sure if this number of cases show this share of its steps."""


class Misfit(NamedTuple):
    """An event of a case that the model does not have where it is.

    Attributes:
        case: the place of the case.
        step: the name of the step at which the case leaves the model.
        message: the id of the message that shows the event.
    """

    case: int
    step: str
    message: str


class FoundProcess(NamedTuple):
    """A discovered process.

    Attributes:
        process: the process, in which every element has evidence.
        name: the name of the process.
        steps: the names of its steps, in order.
        actors: the participants.
        cases: the ids of the messages of each case.
        matters: the words that are most specific to this process, over all of its cases.
        summary: the description by a language model, instead of `matters`.
        people: the participants that are people without a role.
        language: the code of the language of most of its messages.
        collaboration: the parties outside of the process with which it exchanges messages.
        misfits: the events that do not fit the model.
        main_steps: the steps with most support, if there are more than a description names.
        step_cases: the number of cases that show each step.
    """

    process: Process
    name: str
    steps: tuple[str, ...]
    actors: tuple[str, ...]
    cases: tuple[tuple[str, ...], ...]
    matters: tuple[str, ...] = ()
    summary: str = ""
    people: frozenset[str] = frozenset()
    language: str = ENGLISH
    collaboration: Collaboration = Collaboration()
    misfits: tuple[Misfit, ...] = ()
    main_steps: tuple[str, ...] = ()
    step_cases: tuple[int, ...] = ()

    @property
    def confidence(self) -> Confidence:
        """How sure the process is: `high` if three cases or more share most steps, `low` if a
        single case shows it, so that nobody saw an alternative."""
        if len(self.cases) < 2:
            return "low"
        shared = sum(number >= SURE_CASES for number in self.step_cases)
        sure = len(self.cases) >= SURE_CASES and shared >= SURE_STEPS * len(self.step_cases) > 0
        return "high" if sure else "middle"

    def renamed(self, name: str) -> FoundProcess:
        """The same process under another name."""
        return self._replace(name=name, process=self.process.replace(name=name))

    def with_id(self, id: str) -> FoundProcess:
        """The same process with other ids: the ids of its elements begin with that of the
        process."""
        old = self.process.id
        parts = self.collaboration
        model = Model(
            id="found", processes=(self.process,), pools=parts.pools,
            message_flows=parts.message_flows, catalog=parts.catalog,
        )  # fmt: skip
        ids = {element.id: f"{id}{element.id.removeprefix(old)}" for element in all_elements(model)}
        renamed = rename_ids(model, ids)
        return self._replace(
            process=renamed.processes[0],
            collaboration=Collaboration(renamed.pools, renamed.message_flows, renamed.catalog),
        )

    @property
    def description(self) -> str:
        """Subject, roles and steps of the process, in English sentences or, in other languages, as
        lists. People without a role are left out: their names do not describe a process."""
        roles = ", ".join(
            [actor for actor in self.actors if actor not in self.people][:MOST_ACTORS]
        )
        main = [step for step in self.steps if step in self.main_steps] or self.steps
        matters, steps = ", ".join(self.matters), ". ".join(main)
        if self.language != ENGLISH:
            parts = [roles, matters, self.summary.rstrip("."), steps]
            return " ".join(f"{part}." for part in parts if part)
        parts = [
            f"This process involves the {roles}." if roles else "",
            f"It is about {matters}." if matters else "",
            f"{self.summary.rstrip('.')}." if self.summary else "",
            f"They {steps.lower()}.",
        ]
        return " ".join(part for part in parts if part)


class Discovery(NamedTuple):
    """What messages show.

    Attributes:
        processes: the processes, in descending order of their number of cases.
        noise: ids of the messages that belong to no process.
    """

    processes: tuple[FoundProcess, ...]
    noise: tuple[str, ...]

    @property
    def model(self) -> Model:
        """All processes as one model."""
        return Model(
            id="discovered", name="Discovered processes", origin=AGENT,
            processes=tuple(entry.process for entry in self.processes),
            pools=tuple(p for entry in self.processes for p in entry.collaboration.pools),
            message_flows=tuple(
                flow for entry in self.processes for flow in entry.collaboration.message_flows
            ),
            catalog=Catalog(
                messages=tuple(
                    m for entry in self.processes for m in entry.collaboration.catalog.messages
                ),
                errors=tuple(
                    e for entry in self.processes for e in entry.collaboration.catalog.errors
                ),
            ),
        )  # fmt: skip


class Stages(NamedTuple):
    """The state of discovery before it describes processes.

    Attributes:
        traits: of messages.
        cases: the places of the messages of each case.
        processes: the places of the cases of each process.
        phrases: the phrases of messages.
        names: names of processes that a person decided on, by their places.
        undecided: pairs of cases that may be one, of which nobody knew.
        refused: number of groups of alike cases that are too few for a process.
    """

    traits: Traits
    cases: list[list[int]]
    processes: list[list[int]]
    phrases: list[list[Phrase]]
    names: Mapping[int, str] = MappingProxyType({})
    undecided: tuple[CaseJoin, ...] = ()
    refused: int = 0

    def described(self, embedder: Embedder) -> Discovery:
        """Steps and models of the processes, without a language model."""
        return describe_processes(
            self.traits, self.cases, self.processes, self.phrases, embedder, self.names
        )  # fmt: skip


def discover_processes(
    messages: Sequence[Message],
    embedder: Embedder,
    progress: Callable[[int, int, str], None] = lambda done, total, name: None,
    weights: Sequence[float] = WEIGHTS,
    ask_join: AskJoin = lambda join: None,
) -> Discovery:
    """Find the processes in messages; `weights` are those of `find_groups`, and `ask_join` answers
    whether two cases are one where the program is not sure. Raises the exceptions of the embedder.
    """
    stages = group_messages(messages, embedder, progress, weights, ask_join)
    progress(4, STAGES, "steps")
    return stages.described(embedder)


def group_messages(
    messages: Sequence[Message],
    embedder: Embedder,
    progress: Callable[[int, int, str], None] = lambda done, total, name: None,
    weights: Sequence[float] = WEIGHTS,
    ask_join: AskJoin = lambda join: None,
) -> Stages:
    """The cases and processes of messages; `weights` are those of `find_groups`, and `ask_join`
    answers whether two cases are one where the program is not sure. Raises the exceptions of the
    embedder."""
    progress(0, STAGES, "meaning of messages")
    traits = traits_of(messages, embedder)
    progress(1, STAGES, "cases")
    groups, smallest = find_groups(traits, weights)
    programs = find_automatic_messages(traits.messages)
    groups = [group for group in groups if not programs.issuperset(group)]
    cases = [
        group for group in groups
        if len(group) >= smallest and is_exchange(traits.messages, group, programs)
    ]  # fmt: skip
    progress(2, STAGES, "phrases")
    phrases = find_message_phrases(traits, cases)
    parsed = frozenset(_find_parsed(traits))
    cases = [
        case for case in cases
        if len(case) < SMALLEST or not _is_only_talk(case, phrases, parsed)
    ]  # in one of two mails nobody may say it  # fmt: skip
    progress(3, STAGES, "processes")
    similar = find_processes(traits, cases, embedder if smallest < SMALLEST else None)
    processes = select_recurring(traits, cases, similar, threads=smallest < SMALLEST)
    refused = len(similar) - len(processes)
    if smallest == SMALLEST:
        known = {case[0] for case in cases}
        rest = [group for group in groups if group[0] not in known]
        parts = adopt_groups(traits, cases, processes, rest)
        more = find_message_phrases(traits, [rest[place] for place in parts])
        for place, process in parts.items():
            processes[process].append(len(cases))
            cases.append(rest[place])
        phrases = [before or new for before, new in zip(phrases, more, strict=True)]
    joined = join_case_parts(traits, cases, processes, ask_join)
    cases = joined.cases
    processes = sorted(joined.processes, key=lambda process: -len(process))
    kept = sorted(place for process in processes for place in process)
    fresh = {place: number for number, place in enumerate(kept)}
    return Stages(
        traits,
        [cases[place] for place in kept],
        [[fresh[c] for c in p] for p in processes],
        phrases,
        undecided=joined.undecided,
        refused=refused,
    )


def find_message_phrases(traits: Traits, cases: Sequence[Sequence[int]]) -> list[list[Phrase]]:
    """The phrases of every message in cases, by its place; those of other messages are empty.
    Without a parser for the language of a message, its subject is the phrase, also in German
    if no message of the case has any."""
    phrases: list[list[Phrase]] = [[] for _ in traits.messages]
    parsed = frozenset(_find_parsed(traits))
    tongues = identify_languages(traits.messages)
    everywhere = sorted(place for case in cases for place in case)
    english = [place for place in everywhere if place in parsed]
    german = [place for place in everywhere if tongues[place] == GERMAN]
    for readable, read in ((english, find_phrases), (german, find_german_phrases)):
        texts = [traits.messages[place].body for place in readable]
        topics = [subject_phrase(traits.messages[place].subject) for place in readable]
        for place, own in zip(readable, read(texts, traits.names, topics), strict=True):
            phrases[place] = own
    unread = set(everywhere).difference(english, german)
    for case in cases:
        without = [place for place in case if tongues[place] == GERMAN]
        if not any(phrases[place] for place in without):
            unread.update(without)
    for place in unread:
        phrases[place] = phrase_of_subject(traits.messages[place].subject)
    return phrases


def _find_parsed(traits: Traits) -> list[int]:
    """The places of messages that there is a parser for."""
    if load_parser() is None:
        return []
    return [
        place for place, code in enumerate(identify_languages(traits.messages)) if code == ENGLISH
    ]


def _is_only_talk(
    case: Sequence[int], phrases: Sequence[Sequence[Phrase]], parsed: frozenset[int]
) -> bool:
    """Whether nobody says in a short case that anything is done."""
    if len(case) >= TALK or not parsed.issuperset(case):
        return False
    return not any(p.score >= CLEAR and p.verb in _ACTS for i in case for p in phrases[i])


def describe_processes(
    traits: Traits,
    cases: Sequence[Sequence[int]],
    processes: Sequence[Sequence[int]],
    phrases: Sequence[Sequence[Phrase]],
    embedder: Embedder,
    names: Mapping[int, str] = MappingProxyType({}),
) -> Discovery:
    """Steps and models of known processes: places of messages by case, and places of cases by
    process; `phrases` are the phrases of messages, `names` those that people gave to processes, by
    their places."""
    weights = _weigh_words(traits, [[i for c in p for i in cases[c]] for p in processes])
    common = _share_phrases(processes, cases, phrases)
    tongues = identify_languages(traits.messages)
    found_all = []
    for number, process in enumerate(processes):
        own = [cases[c] for c in process]
        described = _describe_process(
            number, traits, own, phrases, weights[number], common, embedder
        )
        if described is not None:
            spoken = Counter(tongues[place] for case in own for place in case)
            described = described._replace(
                language=min(spoken, key=lambda code: (-spoken[code], code))
            )
        found_all.append(described)
    used = {place for process in processes for c in process for place in cases[c]}
    return Discovery(
        tuple(
            entry.renamed(names[number]) if number in names else entry
            for number, entry in enumerate(found_all)
            if entry is not None
        ),
        tuple(m.id for i, m in enumerate(traits.messages) if i not in used),
    )


def _weigh_words(traits: Traits, groups: Sequence[Sequence[int]]) -> list[dict[str, float]]:
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


def _share_phrases(
    processes: Sequence[Sequence[int]],
    cases: Sequence[Sequence[int]],
    phrases: Sequence[Sequence[Phrase]],
) -> dict[str, float]:
    """The share of processes that have a phrase, where there are enough to tell."""
    if len(processes) < FEW:
        return {}
    having = Counter(
        key for process in processes
        for key in {phrase_key(phrase) for c in process for i in cases[c] for phrase in phrases[i]}
    )  # fmt: skip
    return {key: number / len(processes) for key, number in having.items()}


def _describe_process(
    number: int,
    traits: Traits,
    cases: Sequence[Sequence[int]],
    phrases: Sequence[Sequence[Phrase]],
    weights: Mapping[str, float],
    common: Mapping[str, float],
    embedder: Embedder,
) -> FoundProcess | None:
    # a part of a run shows neither where it begins nor what is left out
    whole = [case for case in cases if len(case) >= SMALLEST] or cases
    steps = find_steps(traits, whole, phrases, weights, common, embedder)
    if not steps:
        return None

    def cite_step(step: Step) -> tuple[Evidence, ...]:
        places = [place for members in step.members.values() for place in members]
        quoted = [place for place in places if traits.messages[place].text.strip()]  # no pictures
        return tuple(_cite_message(traits, place, step) for place in quoted[:MOST_QUOTES])

    matters = _choose_matters(traits, whole, weights)
    name = _process_name(steps, matters)
    process = build_process_model(f"process_{number + 1}", name, steps, cite_step)
    senders = {traits.messages[i].sender for case in cases for i in case}
    return FoundProcess(
        process,
        name,
        tuple(step.name for step in steps),
        tuple(dict.fromkeys(step.actor for step in steps if step.actor)),
        tuple(tuple(traits.messages[i].id for i in case) for case in cases),
        matters,
        main_steps=_choose_main_steps(steps),
        step_cases=tuple(len(step.members) for step in steps),
        people=frozenset(
            bare_name(sender)
            for sender in senders
            if sender is not None and not role_of_person(sender)
        ),
    )


def _choose_main_steps(steps: Sequence[Step]) -> tuple[str, ...]:
    """The steps that a description names: those with most support, in the order of the process;
    empty if it names all."""
    if len(steps) <= MAIN_STEPS:
        return ()
    by_support = sorted(range(len(steps)), key=lambda n: (-steps[n].support, n))
    return tuple(steps[n].name for n in sorted(by_support[:MAIN_STEPS]))


def _choose_matters(
    traits: Traits, cases: Sequence[Sequence[int]], weights: Mapping[str, float]
) -> tuple[str, ...]:
    """The words that belong to a process most: those of one case alone name its things, not the
    process."""
    shares = [Counter(w for i in case for w in traits.words[i]) for case in cases]
    small = function_words()
    own = {
        word: weight * min(1.0, sum(share[word] > 0 for share in shares) / len(cases)) ** 2
        for word, weight in weights.items()
        if word.isalpha()
        and len(word) > 3
        and word not in traits.names
        and word not in _TOPICLESS
        and word not in small
    }
    best: dict[str, str] = {}
    for word in sorted(own, key=lambda word: (-own[word], word)):
        best.setdefault(stem_topic(word), word)  # `offer` and `offers` are one
    return tuple(best.values())[:MATTERS]


def _cite_message(traits: Traits, place: int, step: Step) -> Evidence:
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

    def name_score(step: Step) -> float:
        first, *words = step.name.lower().split()
        act = first in _ACTS or (bool(words) and words[-1] in _GERMAN_ACTS)
        about = max(
            (len(matters) - matters.index(w) for w in (first, *words) if w in matters), default=0
        )
        return step.support * (1 + about / max(1, len(matters))) * (1.0 if act else 0.6)

    return max(steps, key=name_score).name
