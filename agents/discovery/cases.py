"""Cases: which messages belong to one run of a process, and which to none."""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from orgflow.agents.discovery.traits import WORD, Traits, bare_name

from orgflow_ir.model.message import bare_subject

SMALLEST = 6
"""Fewer messages show no process: an exchange of words, a notice to all."""

COMMON_WORD = 0.05
"""A word in a larger share of the messages than this names no case."""

NEIGHBOURS = 12
"""A group is compared with so many later groups that share a trait with it, in the order of time:
so the pairs that are kept grow with the number of messages, not with its square."""

# Work goes on among the people of a case: almost every message has somebody of the message before.
CONTINUED = 0.95

# The logarithm of the hours between two messages of a case: its mean and deviation. They are wide
# on purpose: from a minute to weeks.
PAUSE, SPREAD = 1.0, 2.2

FORGOTTEN = 0.02
"""The share of pauses that follow no rule: a process may wait for months."""

MESSAGES_OF_GROUP = 6
"""Messages of a case or an exchange on average, from which follows how often one begins."""

MOST_OF_CHAIN = 5.0
"""The most that time and people of a row of messages count: two cases of the same people at one
time look like one."""

PEOPLE, NUMBERS, NAMES, WORDS, SUBJECT = range(5)


class Channel(NamedTuple):
    """How a kind of trait is weighed.

    Attributes:
        spread: how little a case repeats itself in it: the concentration of a Dirichlet
            distribution. Numbers and names come again in a case, other words less.
        weight: of the evidence; traits that depend on each other count less than once.
        against: the factor of evidence against one case.
        most: the most that it counts; one kind of trait alone proves nothing.
    """

    spread: float
    weight: float
    against: float
    most: float


CHANNELS = (
    Channel(2.0, 0.3, 0.6, 10.0),
    Channel(20.0, 1.0, 1.5, 10.0),
    Channel(40.0, 1.0, 0.6, 10.0),
    Channel(200.0, 0.15, 1.0, 10.0),
    Channel(40.0, 1.0, 0.0, 10.0),
)
"""By the places of `PEOPLE` to `SUBJECT`. These and the numbers above were chosen by random search
on the hand-written corpus and two of `synth`; the corpora of `synth` that `benchmarks/discovery.py`
makes, of other processes, were not used for it."""


class Group(NamedTuple):
    """Messages that belong together: places in the order of time, and how often each trait of each
    channel is in them."""

    members: tuple[int, ...]
    counts: tuple[Mapping[str, int], ...]
    totals: tuple[int, ...]


def find_cases(traits: Traits) -> list[list[int]]:
    """The cases, each as places of its messages; messages in no case are noise.

    Groups grow from conversations while two of them are likelier one case than two. Time and
    people are weighed along the row of messages: what the pause and the people of each say about
    the message before. People, numbers, names, words and subjects are weighed as draws that a case
    repeats (a Dirichlet-multinomial distribution), the rarer the more.
    """
    evidence = _Evidence(traits)
    groups = evidence.grown([evidence.group(part) for part in _conversations(traits)])
    return sorted(sorted(g.members) for g in groups if len(g.members) >= SMALLEST)


def _conversations(traits: Traits) -> list[list[int]]:
    """Messages of one thread; one that has none alone."""
    threads: dict[str, list[int]] = {}
    for place, message in enumerate(traits.messages):
        threads.setdefault(message.thread or f"\n{place}", []).append(place)
    return list(threads.values())


class _Evidence:
    """What speaks for two groups of messages being one case, as log-odds."""

    def __init__(self, traits: Traits) -> None:
        self._hours = [float(day) * 24 for day in traits.days]
        self._people = traits.people
        self._traits = _channels(traits)
        self._base = [_shares(groups) for groups in self._traits]
        count = len(traits.messages)
        self._period = (max(self._hours) - min(self._hours) if count else 0.0) + 1.0
        self._begin = math.log(max(count, 1) / MESSAGES_OF_GROUP / self._period)
        shared = _chance_to_share(traits.people)
        self._same = math.log(CONTINUED / shared)
        self._other = math.log((1 - CONTINUED) / (1 - shared))

    def group(self, members: Iterable[int]) -> Group:
        """A group of messages."""
        ordered = tuple(sorted(members, key=lambda i: (self._hours[i], i)))
        counts = tuple(Counter(t for i in ordered for t in groups[i]) for groups in self._traits)
        return Group(ordered, counts, tuple(sum(c.values()) for c in counts))

    def gain(self, one: Group, other: Group) -> float:
        """How much likelier it is that two groups are one case than that they are two."""
        gain = min(self._chain(one.members, other.members), MOST_OF_CHAIN)
        for place, channel in enumerate(CHANNELS):
            found = self._repeated(place, one, other)
            if found < 0:
                found *= channel.against
            gain += min(channel.weight * found, channel.most)
        return gain

    def _repeated(self, place: int, one: Group, other: Group) -> float:
        """The Dirichlet-multinomial likelihood of two groups as one, less that of two."""
        spread, base = CHANNELS[place].spread, self._base[place]
        few, many = one.counts[place], other.counts[place]
        if len(few) > len(many):
            few, many = many, few
        m, n = one.totals[place], other.totals[place]
        log = math.lgamma
        found = log(spread + m) + log(spread + n) - log(spread) - log(spread + m + n)
        for trait, number in few.items():
            others = many.get(trait)
            if others:
                z = spread * base[trait]
                found += log(z + number + others) + log(z) - log(z + number) - log(z + others)
        return found

    def _chain(self, one: tuple[int, ...], other: tuple[int, ...]) -> float:
        """What time and people say: the steps from message to message that one case has, less those
        that the two have."""
        if self._hours[one[0]] > self._hours[other[0]]:
            one, other = other, one
        found = -self._begin
        if self._hours[one[-1]] <= self._hours[other[0]]:  # one after the other
            return found + self._step(one[-1], other[0])
        before: dict[int, int] = {}
        for part in (one, other):
            before.update(zip(part[1:], part, strict=False))
        merged = sorted((*one, *other), key=lambda i: (self._hours[i], i))
        for first, second in pairwise(merged):
            was = before.get(second)
            if was != first:
                found += self._step(first, second)
                if was is not None:
                    found -= self._step(was, second)
        return found

    def _step(self, first: int, second: int) -> float:
        hours = max(self._hours[second] - self._hours[first], 0.02)
        deviation = (math.log(hours) - PAUSE) / SPREAD
        density = math.exp(-0.5 * deviation * deviation) / (hours * SPREAD * 2.5066)
        shared = not self._people[first].isdisjoint(self._people[second])
        pause = math.log(density + FORGOTTEN / self._period)
        return pause + (self._same if shared else self._other)

    def grown(self, groups: Sequence[Group]) -> list[Group]:
        """Groups merged, the best pair first, while there is a pair that is likelier one case."""
        alive = dict(enumerate(groups))
        near = self._neighbours(groups)
        heap = [
            (-gain, a, b) for a, others in enumerate(near) for b in sorted(others)
            if a < b and (gain := self.gain(alive[a], alive[b])) > 0
        ]  # fmt: skip
        heapq.heapify(heap)
        while heap:
            _, a, b = heapq.heappop(heap)
            if a not in alive or b not in alive:
                continue
            joined = self._joined(alive.pop(a), alive.pop(b))
            number = len(near)
            near.append({other for other in near[a] | near[b] if other in alive})
            near[a], near[b] = set(), set()
            for other in sorted(near[number]):
                near[other].add(number)
                gain = self.gain(alive[other], joined)
                if gain > 0:
                    heapq.heappush(heap, (-gain, other, number))
            alive[number] = joined
        return list(alive.values())

    def _joined(self, one: Group, other: Group) -> Group:
        members = sorted((*one.members, *other.members), key=lambda i: (self._hours[i], i))
        counts = []
        for few, many in zip(one.counts, other.counts, strict=True):
            total = dict(many)
            for trait, number in few.items():
                total[trait] = total.get(trait, 0) + number
            counts.append(total)
        totals = tuple(m + n for m, n in zip(one.totals, other.totals, strict=True))
        return Group(tuple(members), tuple(counts), totals)

    def _neighbours(self, groups: Sequence[Group]) -> list[set[int]]:
        """For each group those that share a trait with it and are near in time among these."""
        holding: dict[tuple[int, str], list[int]] = {}
        for place in sorted(range(len(groups)), key=lambda g: self._hours[groups[g].members[0]]):
            for channel, counts in enumerate(groups[place].counts):
                for trait in counts:
                    holding.setdefault((channel, trait), []).append(place)
        near: list[set[int]] = [set() for _ in groups]
        for (channel, _), places in holding.items():
            most = NEIGHBOURS if channel == PEOPLE else NEIGHBOURS * 2 // 3
            for number, place in enumerate(places):
                for other in places[number + 1 : number + 1 + most]:
                    near[place].add(other)
                    near[other].add(place)
        return near


def _channels(traits: Traits) -> list[list[frozenset[str]]]:
    """The traits of each message by channel; words that all have or one has say nothing."""
    having = Counter(word for words in traits.words for word in words)
    most = max(3, COMMON_WORD * len(traits.messages))
    proper = _proper_names(traits)
    found: list[list[frozenset[str]]] = [list(traits.people), [], [], [], []]
    for message, words in zip(traits.messages, traits.words, strict=True):
        # who writes and receives is known: their names in the text are nothing new
        own = {w.lower() for p in message.people for w in WORD.findall(bare_name(p))}
        said = [word for word in words if 1 < having[word] <= most and word not in own]
        numbers = frozenset(word for word in said if any(map(str.isdigit, word)))
        names = frozenset(word for word in said if word in proper) - numbers
        subject = bare_subject(message.subject)[0]
        found[NUMBERS].append(numbers)
        found[NAMES].append(names)
        found[WORDS].append(frozenset(said) - numbers - names)
        found[SUBJECT].append(frozenset([subject] if subject else []))
    return found


_BEGINS = re.compile(r"(?:^|[.!?:>\n])[\s\"'(]*$")


def _proper_names(traits: Traits) -> frozenset[str]:
    """Words that are mostly written with a capital inside sentences."""
    capital: Counter[str] = Counter()
    for message in traits.messages:
        body = message.body
        for match in WORD.finditer(body):
            if not _BEGINS.search(body, max(0, match.start() - 8), match.start()):
                word = match.group()
                capital[word.lower()] += 1 if word[0].isupper() else -1
    return frozenset(word for word, surplus in capital.items() if surplus > 0)


def _shares(groups: Sequence[frozenset[str]]) -> dict[str, float]:
    counts = Counter(trait for group in groups for trait in group)
    total = max(1, sum(counts.values()))
    return {trait: number / total for trait, number in counts.items()}


def _chance_to_share(groups: Sequence[frozenset[str]]) -> float:
    """How often two messages that are far from each other have a person in common."""
    half = len(groups) // 2
    steps = sorted({max(1, half * part // 8) for part in range(1, 9)}) if groups else []
    pairs = [(a, a + step) for step in steps for a in range(len(groups) - step)]
    shared = sum(not groups[a].isdisjoint(groups[b]) for a, b in pairs)
    return min(0.9, (shared + 1) / (len(pairs) + 2))
