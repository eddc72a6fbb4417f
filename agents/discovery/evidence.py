"""Evidence that two groups of messages are one case."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from orgflow.agents.discovery.traits import WORD, Traits, bare_name
from orgflow.agents.language.identification import identify_languages

from orgflow_ir.model.message import bare_subject
from orgflow_ir.model.records import NamedTuple

COMMON_WORD = 0.05
"""A word in a larger share of the messages than this does not identify a case."""

# The logarithm of the hours between two messages of a case: its mean and deviation. They are wide
# on purpose: from a minute to weeks.
PAUSE, SPREAD = 1.0, 2.2

FORGOTTEN = 0.02
"""The share of pauses without a regular length: a process may wait for months."""

MESSAGES_OF_GROUP = 6
"""Average number of messages of a case or an exchange, from which the rate of new ones follows."""

FEW = 20
"""Maximum number of messages with a word that may identify a case, regardless of the total."""

PEOPLE, NUMBERS, NAMES, SUBJECT, WORDS = range(5)

REPEATED = (2.0, 20.0, 40.0, 40.0)
"""The concentration of a Dirichlet distribution: how little a case repeats its people, numbers,
names and subjects. Words of other kinds only determine which groups are compared."""

SELDOM = 30
"""A person in more messages than this works on many cases."""

ALIKE = 0.7
"""Messages that are more similar than this describe the same step."""

TELLING = 6
"""Messages with fewer words (`Thanks, noted.`) occur in any case."""

NOUNS = 0.25
"""Maximum share of capitalised words in a language in which capitals indicate a name."""

# How a message follows another, by who writes to whom.
REPLY, HANDOVER, AGAIN, OTHER_RECEIVER, OTHER_SENDER, STRANGERS = range(6)

MEASURES = (
    "always", "pause", "reply", "handover", "again", "other receiver", "other sender",
    "strangers", "same subject", "interleaved", "duration",
    "people", "other people", "numbers", "other numbers", "names", "other names", "subjects",
    "other subjects", "smaller", "larger", "newcomers", "people of many", "rival numbers",
    "rival names", "likeness", "likeness of many", "steps again",
)  # fmt: skip
"""The measures of two groups, in this order."""

_LIKENESS = MEASURES.index("likeness")

Measured = list[float]


class Group(NamedTuple):
    """Messages that belong together.

    Attributes:
        members: places in the order of time.
        counts: the frequency of each trait of each kind.
        totals: the sums of the counts.
        meaning: the sum of their vectors, and its length.
    """

    members: tuple[int, ...]
    counts: tuple[Mapping[str, int], ...]
    totals: tuple[int, ...]
    meaning: Any
    length: float


class Pairs:
    """Measures how well two groups of messages fit together, and estimates how likely they are one
    case.

    Args:
        traits: the traits of all messages.
        weights: the weight of each of `MEASURES`.
    """

    def __init__(self, traits: Traits, weights: Sequence[float]) -> None:
        self.weights = weights
        self._hours = [float(day) * 24 for day in traits.days]
        self._people = traits.people
        self._messages = traits.messages
        self._vectors = traits.vectors
        self._traits = _collect_traits(traits)
        self._base = [_count_shares(groups) for groups in self._traits]
        self._subjects = [next(iter(subjects), "") for subjects in self._traits[SUBJECT]]
        self._senders = ["" if m.sender is None else m.sender.key for m in traits.messages]
        self._receivers = [frozenset(p.key for p in m.receivers) for m in traits.messages]
        count = len(traits.messages)
        self._period = (max(self._hours) - min(self._hours) if count else 0.0) + 1.0
        self._begin = math.log(max(count, 1) / MESSAGES_OF_GROUP / self._period)
        having = Counter(person for people in traits.people for person in people)
        self._seldom = frozenset(person for person in having if having[person] <= SELDOM)
        self._telling = [len(words) >= TELLING for words in traits.words]
        self._links: dict[tuple[int, int], tuple[float, ...]] = {}

    def group(self, members: Iterable[int]) -> Group:
        """A group of messages."""
        ordered = self._sort_members(members)
        counts = tuple(Counter(t for i in ordered for t in groups[i]) for groups in self._traits)
        return self._build_group(ordered, counts, self._vectors[list(ordered)].sum(0))

    def joined(self, group: Group, other: Group) -> Group:
        """Two groups merged."""
        counts = []
        for few, many in zip(group.counts, other.counts, strict=True):
            total = dict(many)
            for trait, number in few.items():
                total[trait] = total.get(trait, 0) + number
            counts.append(total)
        members = self._sort_members((*group.members, *other.members))
        return self._build_group(members, tuple(counts), group.meaning + other.meaning)

    def begins(self, group: Group) -> float:
        """The hour of its first message."""
        return self._hours[group.members[0]]

    def gain(self, group: Group, other: Group) -> float:
        """The log-odds that two groups are one case."""
        # 1. what is cheap to measure
        measures = self._measure_context(group, other)
        so_far = sum(w * m for w, m in zip(self.weights, measures, strict=False))
        # 2. a bound: the meaning adds at most this, since a cosine is at most 1
        smaller = math.log(min(len(group.members), len(other.members)))
        alike, many, again = self.weights[_LIKENESS:]
        if again <= 0 and so_far + abs(alike + many * smaller) <= 0:
            return so_far  # whatever the messages mean
        # 3. the meaning
        likeness = self._group_likeness(group, other)
        return so_far + alike * likeness[0] + many * likeness[1] + again * likeness[2]

    def measured(self, group: Group, other: Group) -> Measured:
        """`MEASURES` of two groups."""
        return [*self._measure_context(group, other), *self._group_likeness(group, other)]

    def _build_group(
        self, members: tuple[int, ...], counts: tuple[Mapping[str, int], ...], meaning: Any
    ) -> Group:
        totals = tuple(sum(c.values()) for c in counts)
        return Group(members, counts, totals, meaning, math.sqrt(float(meaning @ meaning)) or 1.0)

    def _sort_members(self, members: Iterable[int]) -> tuple[int, ...]:
        return tuple(sorted(members, key=lambda i: (self._hours[i], i)))

    def _measure_context(self, group: Group, other: Group) -> Measured:
        """What time, people and words tell: all of `MEASURES` but those of meaning, in their
        order."""
        # 1. always, the links of the rows, interleaved, and the duration
        if self.begins(group) > self.begins(other):
            group, other = other, group
        first, second = group.members, other.members
        end = max(self._hours[first[-1]], self._hours[second[-1]])
        measures = [
            1.0,
            *self._measure_rows(first, second),
            math.log1p(end - self._hours[first[0]]),
        ]
        # 2. repeated people, numbers, names and subjects: what speaks for it, and what against it
        for place in range(len(REPEATED)):
            repeated = self._repeated_likelihood(place, group, other)
            measures += (min(repeated, 15.0), 0.0) if repeated > 0 else (0.0, max(repeated, -15.0))
        # 3. the sizes, smaller and larger
        sizes = sorted((len(first), len(second)))
        measures += (math.log(sizes[0]), math.log(sizes[1]))
        # 4. newcomers: people of few messages that only one of the groups has
        new = (
            sum(p in self._seldom for p in few.counts[PEOPLE] if p not in many.counts[PEOPLE])
            for few, many in ((group, other), (other, group))
        )
        measures.append(math.log1p(min(new)))
        # 5. shared people count differently where both groups are large; rival numbers and names
        team = max(0.0, min(self._repeated_likelihood(PEOPLE, group, other), 15.0))
        measures.append(team * math.log(sizes[0]))
        measures += (self._rival_share(kind, group, other) for kind in (NUMBERS, NAMES))
        return measures

    @staticmethod
    def _rival_share(kind: int, group: Group, other: Group) -> float:
        """How often each of two groups repeats something that the other never has."""
        few, many = group.counts[kind], other.counts[kind]
        own = (
            max((n for trait, n in mine.items() if trait not in others), default=0)
            for mine, others in ((few, many), (many, few))
        )
        return math.log(max(1, min(own)))

    def _measure_rows(self, row: Sequence[int], other: Sequence[int]) -> Measured:
        """What the rows of messages tell: the links from message to message that one case has, less
        those that the two have; and how often the two change places."""
        # 1. one after the other: a single link
        if self._hours[row[-1]] <= self._hours[other[0]]:
            return [*self._bound_link(self._measure_link(row[-1], other[0])), 0.0]
        # 2. interleaved: of each message the one before it in its own row
        before: dict[int, int] = {}
        for part in (row, other):
            before.update(zip(part[1:], part, strict=False))
        # 3. where the common row changes from one to the other, its link replaces the own one
        total = [0.0] * len(self._measure_link(row[0], other[0]))
        changes = 0
        for first, second in pairwise(self._sort_members((*row, *other))):
            was = before.get(second)
            if was == first:
                continue
            changes += 1
            for place, value in enumerate(self._measure_link(first, second)):
                total[place] += value
            if was is not None:
                for place, value in enumerate(self._measure_link(was, second)):
                    total[place] -= value
        return [*self._bound_link(total), math.log(changes)]

    @staticmethod
    def _bound_link(link: Sequence[float]) -> Measured:
        """The same, but no single thing proves everything."""
        return [max(-20.0, min(link[0], 8.0)), *(max(-6.0, min(v, 6.0)) for v in link[1:])]

    def _measure_link(self, first: int, second: int) -> tuple[float, ...]:
        """What speaks for a message following another: the pause, who writes to whom, and whether
        the subject is the same."""
        known = self._links.get((first, second))
        if known is None:
            # 1. the pause: log-normal, or of any length, against a message of a new case
            hours = max(self._hours[second] - self._hours[first], 0.02)
            deviation = (math.log(hours) - PAUSE) / SPREAD
            density = math.exp(-0.5 * deviation * deviation) / (hours * SPREAD * 2.5066)
            pause = math.log(density + FORGOTTEN / self._period) - self._begin
            # 2. who writes to whom, one of six; and the subject
            how = self._answer_kind(first, second)
            subject = self._subjects[first]
            known = (
                pause, *(float(how == kind) for kind in range(STRANGERS + 1)),
                float(bool(subject) and subject == self._subjects[second]),
            )  # fmt: skip
            self._links[first, second] = known
        return known

    def _answer_kind(self, first: int, second: int) -> int:
        """How a message follows another, by their senders and receivers."""
        sender, answering = self._senders[first], self._senders[second]
        receivers, answered = self._receivers[first], self._receivers[second]
        if sender == answering:
            shared = not receivers.isdisjoint(answered) or not (receivers or answered)
            return AGAIN if shared else OTHER_RECEIVER
        if answering in receivers:
            return REPLY if sender in answered else HANDOVER
        if self._people[first].isdisjoint(self._people[second]):
            return STRANGERS
        return OTHER_SENDER

    def _repeated_likelihood(self, place: int, group: Group, other: Group) -> float:
        """The Dirichlet-multinomial log-likelihood of two groups as one, less that of two.

        The prior of a trait is its share of all messages times the concentration `REPEATED`; traits
        of one group alone cancel out, so that only shared ones are summed.
        """
        spread, base = REPEATED[place], self._base[place]
        few, many = group.counts[place], other.counts[place]
        if len(few) > len(many):
            few, many = many, few
        m, n = group.totals[place], other.totals[place]
        if not m or not n:
            return 0.0
        # the normalisations of the groups, then the terms of the shared traits
        log = math.lgamma
        log_odds = log(spread + m) + log(spread + n) - log(spread) - log(spread + m + n)
        for trait, number in few.items():
            others = many.get(trait)
            if others:
                z = spread * base[trait]
                log_odds += log(z + number + others) + log(z) - log(z + number) - log(z + others)
        return log_odds

    def _group_likeness(self, group: Group, other: Group) -> Measured:
        """How alike the messages of two groups are. Few messages alike are about one thing; many
        are two cases of one process, most of all where the steps of one come again."""
        if len(group.members) > len(other.members):
            group, other = other, group
        # 1. the cosine of the sums of their vectors
        alike = float(group.meaning @ other.meaning) / (group.length * other.length)
        count = len(group.members)
        if count == 1:
            return [alike, 0.0, 0.0]
        # 2. the same, by the size of the smaller group
        many = max(0.0, alike) * math.log(count)
        # 3. its messages of some length that have a near one in the larger group
        telling = [i for i in group.members if self._telling[i]]
        if not telling:
            return [alike, many, 0.0]
        each = self._vectors[telling] @ self._vectors[list(other.members)].T
        again = int((each.max(1) > ALIKE).sum())
        return [alike, many, min(6.0, float(again))]


def _collect_traits(traits: Traits) -> list[list[frozenset[str]]]:
    """The traits of each message by kind; words that all have or one has say nothing."""
    # 1. how often a word is used, and which words are names
    having = Counter(word for words in traits.words for word in words)
    most = max(FEW, COMMON_WORD * len(traits.messages))
    proper = _find_proper_names(traits)
    traits_by_kind: list[list[frozenset[str]]] = [list(traits.people), [], [], [], []]
    for message, words in zip(traits.messages, traits.words, strict=True):
        # 2. who writes and receives is known: their names in the text are nothing new
        own = {w.lower() for p in message.people for w in WORD.findall(bare_name(p))}
        telling = [word for word in words if 1 < having[word] <= most and word not in own]
        # 3. numbers, names, other words
        numbers = frozenset(word for word in telling if any(map(str.isdigit, word)))
        names = frozenset(word for word in telling if word in proper) - numbers
        subject = bare_subject(message.subject)[0]
        traits_by_kind[NUMBERS].append(numbers)
        traits_by_kind[NAMES].append(names)
        traits_by_kind[WORDS].append(frozenset(telling) - numbers - names)
        traits_by_kind[SUBJECT].append(frozenset([subject] if subject else []))
    return traits_by_kind


_BEGINS = re.compile(r"(?:^|[.!?:>\n])[\s\"'(]*$")


def _find_proper_names(traits: Traits) -> frozenset[str]:
    """Words that are mostly written with a capital inside sentences, in languages that do not write
    every noun so."""
    of_language: dict[str, Counter[str]] = {}
    written: dict[str, list[int]] = {}
    for message, language in zip(traits.messages, identify_languages(traits.messages), strict=True):
        capital = of_language.setdefault(language, Counter())
        small_large = written.setdefault(language, [0, 0])
        body = message.body
        for match in WORD.finditer(body):
            if not _BEGINS.search(body, max(0, match.start() - 8), match.start()):
                word = match.group()
                small_large[word[0].isupper()] += 1
                capital[word.lower()] += 1 if word[0].isupper() else -1
    total: Counter[str] = Counter()
    for language, capital in of_language.items():
        small, large = written[language]
        if large <= NOUNS * (small + large):
            total.update(capital)
    return frozenset(word for word, surplus in total.items() if surplus > 0)


def _count_shares(groups: Sequence[frozenset[str]]) -> dict[str, float]:
    counts = Counter(trait for group in groups for trait in group)
    total = max(1, sum(counts.values()))
    return {trait: number / total for trait, number in counts.items()}
