"""Steps: actions in the messages of a process's cases that occur in several cases."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from orgflow.agents.discovery.linkage import linked
from orgflow.agents.discovery.phrases import CLEAR, Phrase
from orgflow.agents.discovery.traits import Traits, bare_name, role

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

FEWEST, SHARE = 3, 0.4
"""Minimum number of steps of a process, if there are phrases: in total, and per message of a
case."""


FAIR = 0.7
"""Beyond this minimum, a step that no message states clearly needs a phrase with this score."""


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
    mentions = [
        Mention(number, place, order / max(1, len(case) - 1), phrase)
        for number, case in enumerate(cases)
        for order, place in enumerate(case)
        for phrase in phrases[place][:_CHOICES]
        if common.get(key(phrase), 0.0) <= COMMON
    ]
    if not mentions:
        return []
    most = max(weights.values(), default=0.0) or 1.0
    spread = Counter(w for case in cases for w in {w for i in case for w in traits.words[i]})
    shares = {w: number / len(cases) for w, number in spread.items()}
    own = {w: weight / most * shares.get(w, 0.0) ** 2 for w, weight in weights.items()}
    if len(cases) > 1:  # a word of one case alone names one of its things, and no step
        own.update((w, ONE_CASE) for w, number in spread.items() if number == 1)
    labels = one_label([_actor(traits, place) for case in cases for place in case])
    steps = [
        (float(np.median([m.at for m in group])), *_step(traits, group, own, common, labels))
        for group in _groups(mentions, embedder)
    ]
    # those that are said clearly; where there are few of them, the best of the others, too
    steps.sort(key=lambda item: (not item[2], item[3] < FAIR, -item[1].support, item[1].name))
    usual = max(FEWEST, round(SHARE * float(np.median([len(case) for case in cases]))))
    clear = sum(one[2] for one in steps)
    fair = sum(one[2] or one[3] >= FAIR for one in steps)
    kept = steps[: min(MOST, max(clear, min(usual, max(fair, FEWEST))))]
    kept.sort(key=lambda item: (item[0], item[1].name))
    return _attached(cases, _joined([one[1] for one in kept]))


def key(phrase: Phrase) -> str:
    """Verb and last word of the object, which equal phrases share."""
    return f"{phrase.verb} {phrase.object[-1]}"


def _groups(mentions: Sequence[Mention], embedder: Embedder) -> list[list[Mention]]:
    """Mentions of what seems to be the same step, by average linkage of their likeness."""
    names = sorted({m.phrase.name for m in mentions})
    vectors: Any = np.array(embedder.embed(names), np.float32)
    row = {name: i for i, name in enumerate(names)}
    chosen = vectors[[row[m.phrase.name] for m in mentions]]
    at = np.array([m.at for m in mentions], np.float32)
    alike: Any = chosen @ chosen.T - ALIKE
    alike -= APART * np.abs(at[:, None] - at[None, :])
    for values in ([m.phrase.verb for m in mentions], [m.phrase.object[-1] for m in mentions]):
        numbers = {value: number for number, value in enumerate(sorted(set(values)))}
        codes = np.array([numbers[value] for value in values])
        same = codes[:, None] == codes[None, :]
        alike += np.where(same, np.float32(0.06), np.float32(-0.04))
    return [[mentions[i] for i in group] for group in linked(alike, np.zeros_like(alike))]


def _step(
    traits: Traits,
    group: Sequence[Mention],
    own: Mapping[str, float],
    common: Mapping[str, float],
    labels: Mapping[str, str],
) -> tuple[Step, bool, float]:
    """The step of a group, whether it is said clearly enough, and how clearly at best."""
    cases = {m.case for m in group}
    places = {m.place for m in group}
    scores = {m: _worth(m.phrase, own, common) for m in group}
    best: dict[int, float] = {}
    for mention, value in scores.items():
        best[mention.place] = max(best.get(mention.place, -9.0), value)
    clear = max(scores.values())
    words = Counter(w for m in group for w in {m.phrase.verb, *m.phrase.object})

    def fit(m: Mention) -> tuple[float, int, str]:
        typical = sum(words[w] for w in {m.phrase.verb, *m.phrase.object}) / len(group)
        return (scores[m] + 0.6 * typical, len(m.phrase.object), m.phrase.name)

    named = max(group, key=fit).phrase
    step = Step(name=named.name[:1].upper() + named.name[1:])
    step.support = sum(best.values()) / (1 + 0.5 * (len(places) - 1)) + 0.8 * (len(cases) - 1)
    for m in sorted(group, key=lambda m: (m.place, -scores[m])):
        members = step.members.setdefault(m.case, [])
        if m.place not in members:
            members.append(m.place)
            step.quotes[m.place] = m.phrase
    actors = Counter(labels[_actor(traits, place)] for place in step.quotes)
    actor, number = min(actors.items(), key=lambda item: (-item[1], item[0]))
    step.actor = actor if number * 2 > sum(actors.values()) or len(cases) == 1 else ""
    return step, clear >= CLEAR + (0.2 if len(places) == 1 else -0.3), clear


def _worth(phrase: Phrase, own: Mapping[str, float], common: Mapping[str, float]) -> float:
    """How well a phrase names a step of this process: what all say is worth little."""
    words = phrase.object
    return (
        phrase.score
        + 1.2 * sum(own.get(w, 0.0) for w in words) / len(words)
        - 1.5 * max(0.0, common.get(key(phrase), 0.0) - 0.2)
    )


def _actor(traits: Traits, place: int) -> str:
    sender = traits.messages[place].sender
    return "" if sender is None else role(sender) or bare_name(sender)


_UNIT = re.compile(
    r"^(?:the|our|your)\s+|^(?:abteilung|team)\s+|"
    r"[\s-]+(?:team|department|dept\.?|desk|office|unit|group|division|staff|abteilung)$",
    re.IGNORECASE,
)


def one_label(actors: Sequence[str]) -> dict[str, str]:
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


def _attached(cases: Sequence[Sequence[int]], steps: list[Step]) -> list[Step]:
    """The steps, with every other message of a case put to the step of the message before (at the
    beginning: the one after)."""
    for number, case in enumerate(cases):
        of = {p: step for step in steps for p in step.members.get(number, ())}
        current = next((of[p] for p in case if p in of), None)
        for place in case:
            current = of.get(place, current)
            if current is not None and place not in of:
                current.members[number].append(place)
    return steps


def _joined(steps: Sequence[Step]) -> list[Step]:
    """Steps of one name that stand next to each other as one, also where one name has less."""
    joined: list[Step] = []
    for step in steps:
        last = joined[-1] if joined else None
        if last is not None and _same_but_less(last.name, step.name):
            last.name = max(last.name, step.name, key=len)
            for case, places in step.members.items():
                last.members.setdefault(case, []).extend(places)
            last.quotes.update(step.quotes)
        else:
            joined.append(step)
    return joined


def _same_but_less(first: str, second: str) -> bool:
    """Whether two names have the same verb and last word, and all words of one are in the other:
    `check documents`, `check missing documents`."""
    one, other = first.lower().split(), second.lower().split()
    ends = one[0] == other[0] and one[-1] == other[-1]
    return ends and (set(one) <= set(other) or set(other) <= set(one))
