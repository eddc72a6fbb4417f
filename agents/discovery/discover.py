"""All of discovery without a language model: messages in, a model with evidence out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from orgflow.agents.discovery.cases import find_cases
from orgflow.agents.discovery.phrases import ACTS, Phrase, phrases
from orgflow.agents.discovery.processes import find_processes
from orgflow.agents.discovery.steps import Step, find_steps
from orgflow.agents.discovery.structure import AGENT, process_of
from orgflow.agents.discovery.traits import Traits, traits_of

from orgflow_ir.model import Model, Process
from orgflow_ir.model.evidence import Evidence
from orgflow_ir.model.message import Message
from orgflow_ir.pipeline.agent_services import Embedder

MATTERS = 6
"""Words that a description names."""

STAGES = 5
"""Stages that progress shows."""

MOST_QUOTES = 5
"""Passages that are kept for one element; the messages of a step may be many."""


class Found(NamedTuple):
    """A discovered process.

    Attributes:
        process: the process, every element with its evidence.
        name: of the process.
        steps: the names of its steps, in order.
        actors: who takes part.
        cases: the ids of the messages of each case.
        matters: the words that are most this process's own, in all of its cases.
    """

    process: Process
    name: str
    steps: tuple[str, ...]
    actors: tuple[str, ...]
    cases: tuple[tuple[str, ...], ...]
    matters: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """What the process is about, who takes part, and its steps, in sentences."""
        parts = []
        if self.matters:
            parts.append(f"The process of {', '.join(self.matters)}.")
        if self.actors:
            parts.append(f"It involves the {', '.join(self.actors)}.")
        return " ".join([*parts, f"The steps are: {'. '.join(self.steps).lower()}."])


class Discovery(NamedTuple):
    """What messages show.

    Attributes:
        found: the processes, those with most cases first.
        noise: ids of the messages that belong to none.
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


def discover(
    messages: Sequence[Message],
    embedder: Embedder,
    progress: Callable[[int, int, str], None] = lambda done, total, name: None,
) -> Discovery:
    """Find the processes that messages show. Raises what the embedder raises."""
    progress(0, STAGES, "meaning of messages")
    traits = traits_of(messages, embedder)
    progress(1, STAGES, "cases")
    cases = find_cases(traits)
    progress(2, STAGES, "processes")
    return describe(traits, cases, find_processes(traits, cases), progress)


def describe(
    traits: Traits,
    cases: Sequence[Sequence[int]],
    processes: Sequence[Sequence[int]],
    progress: Callable[[int, int, str], None] = lambda done, total, name: None,
) -> Discovery:
    """Steps and models of processes that are known: places of messages by case, and places of
    cases by process."""
    progress(3, STAGES, "phrases")
    said: list[list[Phrase]] = [[] for _ in traits.messages]
    places = sorted(place for case in cases for place in case)
    texts = [traits.messages[place].body for place in places]
    for place, found in zip(places, phrases(texts, traits.names), strict=True):
        said[place] = found
    progress(4, STAGES, "steps")
    weights = _weights(traits, [[i for c in p for i in cases[c]] for p in processes])
    found_all = [
        _found(number, traits, [cases[c] for c in process], said, weights[number])
        for number, process in enumerate(processes)
    ]
    used = {place for process in processes for c in process for place in cases[c]}
    return Discovery(
        tuple(found for found in found_all if found is not None),
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


def _found(
    number: int,
    traits: Traits,
    cases: Sequence[Sequence[int]],
    said: Sequence[Sequence[Phrase]],
    weights: Mapping[str, float],
) -> Found | None:
    steps = find_steps(traits, cases, said, weights)
    if not steps:
        return None

    def cite(step: Step, which: Sequence[int] | None) -> tuple[Evidence, ...]:
        wanted = step.members if which is None else [c for c in which if c in step.members]
        places = [place for case in wanted for place in step.members[case]]
        return tuple(_evidence(traits, place, step) for place in places[:MOST_QUOTES])

    name = _process_name(steps, weights)
    process = process_of(f"process_{number + 1}", name, steps, frozenset(range(len(cases))), cite)
    return Found(
        process,
        name,
        tuple(step.name for step in steps),
        tuple(dict.fromkeys(step.actor for step in steps if step.actor)),
        tuple(tuple(traits.messages[i].id for i in case) for case in cases),
        _matters(traits, cases, weights),
    )


def _matters(
    traits: Traits, cases: Sequence[Sequence[int]], weights: Mapping[str, float]
) -> tuple[str, ...]:
    """The words that belong to a process most: those of one case alone name its things, not the
    process."""
    shares = [Counter(w for i in case for w in traits.words[i]) for case in cases]
    own = {
        word: weight * min(1.0, sum(share[word] > 0 for share in shares) / len(cases)) ** 2
        for word, weight in weights.items()
        if word.isalpha() and word not in traits.names
    }
    return tuple(sorted(own, key=lambda word: (-own[word], word))[:MATTERS])


def _evidence(traits: Traits, place: int, step: Step) -> Evidence:
    """The sentence of a message that says that a step is done, else how the message begins."""
    message = traits.messages[place]
    phrase = step.quotes.get(place)
    before = len(message.text) - len(message.body)
    if phrase is not None:
        begin, end = phrase.span
        return Evidence(
            document=message.id, quote=phrase.sentence, span=(before + begin, before + end),
            agent=AGENT,
        )  # fmt: skip
    quote = next((line for line in message.text.splitlines() if line.strip()), message.text)
    return Evidence(document=message.id, quote=quote.strip() or message.id, agent=AGENT)


def _process_name(steps: Sequence[Step], weights: Mapping[str, float]) -> str:
    """The step that is most this process's own, in words and in cases."""

    def own(step: Step) -> float:
        verb, *words = step.name.lower().split()
        share = sum(weights.get(word, 0.0) for word in words) / max(1, len(words))
        return len(step.members) * share * (1.0 if verb in ACTS else 0.3)

    return max(steps, key=own).name
