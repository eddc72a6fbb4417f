"""Steps: actions in the messages of a process's cases that occur in several cases."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from orgflow.agents.discovery.linkage import link_groups
from orgflow.agents.discovery.traits import Traits, bare_name, role_of_person
from orgflow.agents.language.phrases import CLEAR, Phrase

from orgflow_ir.model.records import NamedTuple, dataclass
from orgflow_ir.pipeline.agent_services import Embedder

ALIKE = 0.62
"""Phrases of two messages that are less similar than this are not about the same step."""

APART = 0.35
"""Reduction of the similarity of phrases at opposite ends of their cases."""

ONE_CASE = -0.4
"""The weight of a word that occurs in only one of several cases."""

COMMON = 0.5
"""A phrase in more processes than this is an idiom."""

_CHOICES = 3
"""Maximum number of phrases of a message that are considered."""

MOST = 16
"""Maximum number of steps of a process; those with least support are omitted."""

FEWEST, SHARE = 3, 0.7
"""Minimum number of steps of a process, if there are phrases: in total, and per message of a case.
In corpora whose tasks are known, people write about one to two messages for a task."""


FAIR = 0.3
"""Beyond this minimum, a step that no message states clearly needs a phrase with this score."""


GOES_ON = 0.1
"""A message is about the step before it unless the step after it is more similar by this much."""


@dataclass(eq=False)
class Step:
    """A step of a process.

    Attributes:
        members: the messages that show it, by case; places in the traits.
        name: verb and object in the words of one of its messages.
        actor: the role, otherwise the person, that performs it; empty if messages differ.
        quotes: the sentences that state it, by message.
        support: its evidence: the cases that have it, and how clearly they state it.
    """

    members: dict[int, list[int]] = field(default_factory=dict)
    name: str = ""
    actor: str = ""
    quotes: dict[int, Phrase] = field(default_factory=dict)
    support: float = 0.0


class Mention(NamedTuple):
    """A phrase in a message of a case, and its relative position in the case, from 0 to 1."""

    case: int
    place: int
    at: float
    phrase: Phrase


def find_steps(
    traits: Traits,
    cases: Sequence[Sequence[int]],
    phrases: Sequence[Sequence[Phrase]],
    weights: Mapping[str, float],
    common: Mapping[str, float],
    embedder: Embedder,
) -> list[Step]:
    """The steps of a process in their order, each with the cases that have it.

    Phrases are grouped by meaning and by their position in their cases. A group is a step if
    several messages have it, or one states it clearly; phrases of every process are excluded.

    Args:
        traits: the traits of all messages.
        cases: the cases of the process, as places of messages in the order of time.
        phrases: of all messages.
        weights: how specific a word is to this process.
        common: the share of all processes that have a phrase with this verb and last word.
        embedder: compares phrases.
    """
    # 1. the best phrases of each message, without idioms
    mentions = [
        Mention(number, place, order / max(1, len(case) - 1), phrase)
        for number, case in enumerate(cases)
        for order, place in enumerate(case)
        for phrase in phrases[place][:_CHOICES]
        if common.get(phrase_key(phrase), 0.0) <= COMMON
    ]
    if not mentions:
        return []
    # 2. how much each word belongs to this process, by its cases
    most = max(weights.values(), default=0.0) or 1.0
    spread = Counter(w for case in cases for w in {w for i in case for w in traits.words[i]})
    shares = {w: number / len(cases) for w, number in spread.items()}
    own = {w: weight / most * shares.get(w, 0.0) ** 2 for w, weight in weights.items()}
    if len(cases) > 1:  # a word of one case alone names one of its things, and no step
        own.update((w, ONE_CASE) for w, number in spread.items() if number == 1)
    labels = unify_labels([_actor_of_message(traits, place) for case in cases for place in case])
    # 3. a step of each group, with the usual place in its cases
    steps = [
        (float(np.median([m.at for m in group])), *_build_step(traits, group, own, common, labels))
        for group in _group_mentions(mentions, embedder)
    ]
    # 4. those that are said clearly; where there are few of them, the best of the others, too
    steps.sort(key=lambda item: (not item[2], item[3] < FAIR, -item[1].support, item[1].name))
    usual = max(FEWEST, round(SHARE * float(np.median([len(case) for case in cases]))))
    clear = sum(candidate[2] for candidate in steps)
    fair = sum(candidate[2] or candidate[3] >= FAIR for candidate in steps)
    kept = steps[: min(MOST, max(clear, min(usual, max(fair, FEWEST))))]
    kept.sort(key=lambda item: (item[0], item[1].name))
    joined = _join_equal_steps([candidate[1] for candidate in kept])
    return _attach_messages(traits, cases, joined)


def phrase_key(phrase: Phrase) -> str:
    """Verb and last word of the object, which equal phrases share."""
    return f"{phrase.verb} {phrase.object[-1]}"


def _group_mentions(mentions: Sequence[Mention], embedder: Embedder) -> list[list[Mention]]:
    """Mentions of what seems to be the same step, by average linkage of their likeness."""
    # 1. the cosine of the phrases, less the threshold
    names = sorted({m.phrase.name for m in mentions})
    vectors: Any = np.array(embedder.embed(names), np.float32)
    row = {name: i for i, name in enumerate(names)}
    chosen = vectors[[row[m.phrase.name] for m in mentions]]
    alike: Any = chosen @ chosen.T - ALIKE
    # 2. less where they stand at different points of their cases
    at = np.array([m.at for m in mentions], np.float32)
    alike -= APART * np.abs(at[:, None] - at[None, :])
    # 3. more for the same verb and the same last word, less for different ones
    for values in ([m.phrase.verb for m in mentions], [m.phrase.object[-1] for m in mentions]):
        numbers = {value: number for number, value in enumerate(sorted(set(values)))}
        codes = np.array([numbers[value] for value in values])
        same = codes[:, None] == codes[None, :]
        alike += np.where(same, np.float32(0.06), np.float32(-0.04))
    return [[mentions[i] for i in group] for group in link_groups(alike, np.zeros_like(alike))]


def _build_step(
    traits: Traits,
    group: Sequence[Mention],
    own: Mapping[str, float],
    common: Mapping[str, float],
    labels: Mapping[str, str],
) -> tuple[Step, bool, float]:
    """The step of a group, whether it is said clearly enough, and how clearly at best."""
    # 1. how well each phrase names a step, and the best phrase of each message
    cases = {m.case for m in group}
    places = {m.place for m in group}
    scores = {m: _weigh_phrase(m.phrase, own, common) for m in group}
    best: dict[int, float] = {}
    for mention, value in scores.items():
        best[mention.place] = max(best.get(mention.place, -9.0), value)
    clear = max(scores.values())
    words = Counter(w for m in group for w in {m.phrase.verb, *m.phrase.object})

    def mention_score(m: Mention) -> tuple[float, int, str]:
        typical = sum(words[w] for w in {m.phrase.verb, *m.phrase.object}) / len(group)
        return (scores[m] + 0.6 * typical, len(m.phrase.object), m.phrase.name)

    # 2. the name: the phrase of the most typical words
    named = max(group, key=mention_score).phrase
    step = Step(name=named.name[:1].upper() + named.name[1:])
    step.support = sum(best.values()) / (1 + 0.5 * (len(places) - 1)) + 0.8 * (len(cases) - 1)
    # 3. its messages by case, each with its best phrase
    for m in sorted(group, key=lambda m: (m.place, -scores[m])):
        members = step.members.setdefault(m.case, [])
        if m.place not in members:
            members.append(m.place)
            step.quotes[m.place] = m.phrase
    # 4. the actor of more than half of its messages
    actors = Counter(labels[_actor_of_message(traits, place)] for place in step.quotes)
    actor, number = min(actors.items(), key=lambda item: (-item[1], item[0]))
    step.actor = actor if number * 2 > sum(actors.values()) or len(cases) == 1 else ""
    return step, clear >= CLEAR + (0.2 if len(places) == 1 else -0.3), clear


def _weigh_phrase(phrase: Phrase, own: Mapping[str, float], common: Mapping[str, float]) -> float:
    """How well a phrase names a step of this process: what all say is worth little."""
    words = phrase.object
    return (
        phrase.score
        + 1.2 * sum(own.get(w, 0.0) for w in words) / len(words)
        - 1.5 * max(0.0, common.get(phrase_key(phrase), 0.0) - 0.2)
    )


def _actor_of_message(traits: Traits, place: int) -> str:
    sender = traits.messages[place].sender
    return "" if sender is None else role_of_person(sender) or bare_name(sender)


_UNIT = re.compile(
    r"^(?:the|our|your)\s+|^(?:abteilung|team)\s+|"
    r"[\s-]+(?:team|department|dept\.?|desk|office|unit|group|division|staff|abteilung)$",
    re.IGNORECASE,
)


def unify_labels(actors: Sequence[str]) -> dict[str, str]:
    """One label for each actor: `HR`, `the HR department` and `HR team` are one. It is the most
    frequent one, and the shortest among equals."""
    used = Counter(actors)
    bare: dict[str, list[str]] = {}
    for actor in used:
        name = actor
        while (shorter := _UNIT.sub("", name).strip()) and shorter != name:
            name = shorter
        bare.setdefault(name.casefold(), []).append(actor)
    return {
        actor: min(same, key=lambda a: (-used[a], len(a), a))
        for same in bare.values() for actor in same
    }  # fmt: skip


def _attach_messages(
    traits: Traits, cases: Sequence[Sequence[int]], steps: list[Step]
) -> list[Step]:
    """The steps, with every other message of a case put to the step before or after it, whichever
    is nearer in meaning."""
    # 1. the mean meaning of the messages that state each step
    means = {}
    for step in steps:
        stated = [place for places in step.members.values() for place in places]
        mean = traits.vectors[stated].mean(0)
        means[id(step)] = mean / max(1e-9, float(np.linalg.norm(mean)))
    for number, case in enumerate(cases):
        of = {p: step for step in steps for p in step.members.get(number, ())}
        # 2. the step after each message, from the end
        later: dict[int, Step | None] = {}
        following: Step | None = None
        for place in reversed(case):
            later[place] = following
            following = of.get(place, following)
        # 3. the step of each message, from the beginning
        before: Step | None = None
        for place in case:
            if place not in of:
                near = [step for step in (before, later[place]) if step is not None]
                if not near:
                    continue
                vector = traits.vectors[place]
                likeness = [float(vector @ means[id(step)]) for step in near]
                nearer = len(near) > 1 and likeness[1] > likeness[0] + GOES_ON
                of[place] = near[1] if nearer else near[0]
                of[place].members[number].append(place)
            before = of[place]
    return steps


def _join_equal_steps(steps: Sequence[Step]) -> list[Step]:
    """Steps of one name that stand next to each other as one, also where one name has less."""
    joined: list[Step] = []
    for step in steps:
        last = joined[-1] if joined else None
        if last is not None and _is_shorter_name(last.name, step.name):
            last.name = max(last.name, step.name, key=len)
            for case, places in step.members.items():
                last.members.setdefault(case, []).extend(places)
            last.quotes.update(step.quotes)
        else:
            joined.append(step)
    return joined


def _is_shorter_name(first: str, second: str) -> bool:
    """Whether two names have the same verb and last word, and all words of one are in the other:
    `check documents`, `check missing documents`."""
    words, other = first.lower().split(), second.lower().split()
    ends = words[0] == other[0] and words[-1] == other[-1]
    return ends and (set(words) <= set(other) or set(other) <= set(words))
