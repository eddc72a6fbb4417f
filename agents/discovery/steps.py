"""Steps: what the messages of a process's cases say is done, aligned across the cases."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from orgflow.agents.discovery.phrases import Phrase, subject_phrase
from orgflow.agents.discovery.traits import Traits, bare_name, role

ALIKE = 0.34
"""Messages of two cases that are less alike than this are not the same step."""

CLEAR = 1.55
"""A phrase of a lower score may be an aside: it makes no step of its own."""

_CHOICES = 5
"""Phrases of a message that are considered for the name of its step."""


@dataclass(eq=False)
class Step:
    """A step of a process.

    Attributes:
        members: the messages that show it, by case; places in the traits.
        name: verb and object in the words of one of them.
        actor: the role, else the person, that does it; empty where messages differ.
        quotes: the sentences that say so, by message.
    """

    members: dict[int, list[int]] = field(default_factory=dict)
    name: str = ""
    actor: str = ""
    quotes: dict[int, Phrase] = field(default_factory=dict)


def find_steps(
    traits: Traits,
    cases: Sequence[Sequence[int]],
    phrases: Sequence[Sequence[Phrase]],
    weights: Mapping[str, float],
) -> list[Step]:
    """The steps of a process in their order, each with the cases that have it.

    Args:
        traits: of all messages.
        cases: the cases of the process, as places of messages in the order of time.
        phrases: of all messages.
        weights: how much a word belongs to this process.
    """
    order = sorted(range(len(cases)), key=lambda c: (-len(cases[c]), c))
    profile: list[Step] = []
    for number in order:
        units = _units(traits, cases[number], phrases)
        profile = _aligned(traits, profile, units, number)
    most = max(weights.values(), default=0.0) or 1.0
    own = {word: weight / most for word, weight in weights.items()}
    for step in profile:
        _name(traits, step, phrases, own)
    return _joined([step for step in profile if step.name])


def _units(
    traits: Traits, case: Sequence[int], phrases: Sequence[Sequence[Phrase]]
) -> list[list[int]]:
    """The messages of a case, those that do not clearly say what is done put to the one before
    (at the beginning: the one after). Where no message of a case has phrases (there is no
    parser) subjects divide it."""
    parsed = any(phrases[place] for place in case)
    units: list[list[int]] = []
    waiting: list[int] = []
    for place in case:
        if parsed:
            says = any(phrase.score >= CLEAR for phrase in phrases[place])
        else:
            says = bool(_title(traits, place)) and not (
                units and _title(traits, place) == _title(traits, units[-1][0])
            )
        if says and waiting:
            units.append([place, *waiting])  # what names the step comes first
            waiting = []
        elif says:
            units.append([place])
        elif units:
            units[-1].append(place)
        else:
            waiting.append(place)
    return units or ([waiting] if waiting else [])


def _title(traits: Traits, place: int) -> str:
    return subject_phrase(traits.messages[place].subject)


def _aligned(
    traits: Traits, profile: list[Step], units: Sequence[list[int]], number: int
) -> list[Step]:
    """The profile with one more case: what is alike shares a step, in one order (Needleman and
    Wunsch 1970; gaps cost nothing, so that alike steps far apart still meet)."""
    rows, columns = len(profile), len(units)
    alike: Any = np.zeros((rows, columns))
    for row, step in enumerate(profile):
        for column, unit in enumerate(units):
            alike[row, column] = _alike(traits, step, unit) - ALIKE
    best: Any = np.zeros((rows + 1, columns + 1))
    for row in range(rows - 1, -1, -1):
        for column in range(columns - 1, -1, -1):
            best[row, column] = max(
                best[row + 1, column],
                best[row, column + 1],
                best[row + 1, column + 1] + alike[row, column],
            )
    merged: list[Step] = []
    row = column = 0
    while row < rows or column < columns:
        both = row < rows and column < columns
        if both and alike[row, column] > 0 and math.isclose(
            best[row, column], best[row + 1, column + 1] + alike[row, column]
        ):  # fmt: skip
            profile[row].members[number] = list(units[column])
            merged.append(profile[row])
            row, column = row + 1, column + 1
        elif row < rows and (not both or math.isclose(best[row, column], best[row + 1, column])):
            merged.append(profile[row])
            row += 1
        else:
            merged.append(Step({number: list(units[column])}))
            column += 1
    return merged


def _alike(traits: Traits, step: Step, unit: Sequence[int]) -> float:
    """The cosine of meanings, with a little more where the same role writes."""
    mine = [place for places in step.members.values() for place in places[:1]]
    cosine = float(np.mean([traits.vectors[unit[0]] @ traits.vectors[place] for place in mine]))
    actors = {_actor(traits, place) for place in mine}
    return cosine + (0.1 if _actor(traits, unit[0]) in actors else 0.0)


def _actor(traits: Traits, place: int) -> str:
    sender = traits.messages[place].sender
    return "" if sender is None else role(sender) or bare_name(sender)


def _name(
    traits: Traits, step: Step, phrases: Sequence[Sequence[Phrase]], weights: Mapping[str, float]
) -> None:
    """Name a step after the phrase that fits most of its messages, and keep what says so."""
    places = [place for members in step.members.values() for place in members]
    found: dict[str, float] = {}
    words: Counter[str] = Counter()
    for place in places:
        for phrase in phrases[place][:_CHOICES]:
            words.update({phrase.verb, *phrase.object})
    for place in places:
        for phrase in phrases[place][:_CHOICES]:
            subject = traits.messages[place].subject.lower()
            score = phrase.score
            score += 0.5 * sum(words[w] - 1 for w in {phrase.verb, *phrase.object}) / len(places)
            score += 1.2 * sum(weights.get(w, 0.0) for w in phrase.object) / len(phrase.object)
            score += 0.2 if any(w in subject for w in phrase.object) else 0.0
            found[phrase.name] = max(found.get(phrase.name, -9.0), score)
    if found:
        step.name = min(found, key=lambda name: (-found[name], len(name), name))
        chosen = set(step.name.split())
        for place in places:
            near = [p for p in phrases[place] if chosen & {p.verb, *p.object}] or phrases[place]
            if near:
                step.quotes[place] = max(near, key=lambda p: len(chosen & {p.verb, *p.object}))
    else:
        step.name = next(
            (s for place in places if (s := subject_phrase(traits.messages[place].subject))), ""
        )
    step.name = step.name[:1].upper() + step.name[1:]
    actors = Counter(_actor(traits, place) for place in step.quotes or places)
    actor, number = min(actors.items(), key=lambda item: (-item[1], item[0]))
    step.actor = actor if number * 2 > sum(actors.values()) or len(step.members) == 1 else ""


def _joined(steps: Sequence[Step]) -> list[Step]:
    """Neighbouring steps of one name in the same cases as one step."""
    joined: list[Step] = []
    for step in steps:
        last = joined[-1] if joined else None
        if last is not None and last.name == step.name:
            for case, places in step.members.items():
                last.members.setdefault(case, []).extend(places)
            last.quotes.update(step.quotes)
        else:
            joined.append(step)
    return joined
