"""Processes: cases that are runs of the same process; the number of processes is estimated."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from orgflow.agents.discovery.cases import SMALLEST
from orgflow.agents.discovery.evidence import TELLING
from orgflow.agents.discovery.linkage import link_groups
from orgflow.agents.discovery.traits import Traits, role_of_person
from orgflow.agents.language.identification import identify_languages
from orgflow.agents.language.lexicon import LanguagesLexicon, load_lexicon

from orgflow_ir.pipeline.agent_services import Embedder

CHANCE = 3.0
"""Cases of different processes are similar by chance; a similarity of more than this number of
deviations above the median of all pairs is not chance."""

DEVIATION = 1.4826
"""The deviation of a normal distribution half of which is within 1 of the median."""

DEVIATION_OF_THIRD = 2.3216
"""The same for a third."""

TWO_KINDS = 1.4
"""If pairs spread wider than their densest half by this factor, they are of two kinds."""

LIKE_A_PROCESS, MEANING = 4.0, 2.0
"""A group too small for a case belongs to a process if it is more similar to its cases than groups
are to any process by this number of deviations: in words, roles and meaning together, and in
meaning alone."""

AT_ONCE = 500
"""Number of groups that are compared with all cases at a time, so memory does not grow with the
number of groups."""

RECURS = 3
"""Minimum number of short cases that show a process; fewer may be similar by chance."""

FEWEST_THREADS = 2
"""Minimum number of long threads that show a process where threads are cases: one is a discussion,
as most threads of a support list are."""

TALK, MOST_OF_ALL = 40, 0.5
"""One case with more than this share of this number of messages is a conversation, such as the chat
of a family."""

FEW_UNANSWERED = 0.25
"""Unanswered requests for each one that is answered in a few words. Notices have more."""


ONE_KIND = 0.6
"""Two cases are this similar, on a scale from a case and other messages (0) to a case and its
nearest case (1), only if nearly all are of one process."""

OTHERS = 5
"""Minimum number of messages without a case from which the distance between cases and noise is
known."""

_SMALL_TALK = load_lexicon(LanguagesLexicon).small_talk
"""What messages of no case say, by language: a folder of one process may contain none."""


def find_processes(
    traits: Traits, cases: Sequence[Sequence[int]], short: Embedder | None = None
) -> list[list[int]]:
    """The processes, each as places of its cases; those with most cases first.

    Two cases are compared by the mean meaning of their messages (without names), by words that few
    cases contain, and by the roles of their people. The similarity of cases of different processes
    is estimated from all pairs, most of which are of different ones, which determines the number of
    processes.

    Args:
        traits: the traits of all messages.
        cases: places of messages.
        short: an embedder if threads are cases, which may all be of one process.
    """
    only = _find_single_kind(traits, cases, short) if short is not None else []
    rest = [place for place in range(len(cases)) if place not in set(only)]
    groups = [[rest[p] for p in group] for group in _group_alike(traits, [cases[p] for p in rest])]
    return sorted([only, *groups] if only else groups, key=lambda group: (-len(group), group))


def _group_alike(traits: Traits, cases: Sequence[Sequence[int]]) -> list[list[int]]:
    """Cases that are more alike than those of different processes."""
    if len(cases) < 2:
        return [[place] for place in range(len(cases))]
    alike = measure_likeness(traits, cases)
    middle, spread = _measure_difference(alike[np.triu_indices(len(cases), 1)])
    return link_groups(alike.copy(), np.zeros_like(alike), max(middle + CHANCE * spread, 0.15))


def _find_single_kind(
    traits: Traits, cases: Sequence[Sequence[int]], embedder: Embedder
) -> list[int]:
    """The cases that are of the same process where nearly all are; none elsewhere.

    Pairs of cases then tell nothing of how alike cases of different processes are. Messages of no
    case do, those of the mailbox or small talk: they are as far from a case as what has nothing to
    do with it.
    """
    # 1. messages that are of no process: those of no case, or small talk
    used = {place for case in cases for place in case}
    others = [place for place in range(len(traits.messages)) if place not in used]
    (language, _), *_ = Counter(identify_languages(traits.messages)).most_common(1)
    talk = _SMALL_TALK.get(language, ()) if len(others) < OTHERS else ()
    if len(cases) < RECURS or len(others) + len(talk) < OTHERS:
        return []
    # 2. the mean meaning of each case, and the meanings beside cases
    means = _normalise_rows(
        np.array([_normalise_rows(traits.meanings(case)).mean(0) for case in cases])
    )
    beside = traits.meanings(others)
    if talk:
        beside = np.concatenate([beside, np.array(embedder.embed(talk), np.float32)])
    beside = _normalise_rows(beside)
    # 3. of one kind if the usual pair is nearer to the nearest ones than to other messages
    pairs = means @ means.T
    nearest = float(np.median((pairs - 2 * np.eye(len(cases))).max(1)))
    apart = float(np.median(means @ beside.T))
    usual = float(np.median(pairs[np.triu_indices(len(cases), 1)]))
    if usual - apart <= ONE_KIND * (nearest - apart):
        return []
    # 4. cases that are nearer to the usual case than halfway to other messages
    middle = _normalise_rows(means.mean(0, keepdims=True))[0]
    own, far = means @ middle, float(np.median(beside @ middle))
    return [int(place) for place in np.flatnonzero(own > (float(np.median(own)) + far) / 2)]


def _normalise_rows(vectors: Any) -> Any:
    """Vectors of length 1."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def _measure_difference(pairs: Any) -> tuple[float, float]:
    """How alike cases of different processes are: the middle and the deviation.

    They are those of all pairs where these are of one kind. Where processes are so few that many
    pairs are of the same one, the densest third of all pairs is of different ones: of two
    processes of one size half are.
    """
    # 1. the median, and the deviation by the median of the absolute deviations
    middle = float(np.median(pairs))
    spread = DEVIATION * float(np.median(np.abs(pairs - middle))) + 1e-6
    # 2. pairs of two kinds spread wider than their densest half
    ordered = np.sort(pairs)
    _, half = _find_densest(ordered, 2)
    if len(ordered) > 2 and spread > TWO_KINDS * DEVIATION * half:
        middle, third = _find_densest(ordered, 3)
        return middle, DEVIATION_OF_THIRD * third + 1e-6
    return middle, spread


def _find_densest(ordered: Any, parts: int) -> tuple[float, float]:
    """The middle and half the width of the shortest interval that has one of so many equal parts
    of the numbers."""
    count = max(2, -(-len(ordered) // parts))
    if len(ordered) < count:
        return float(ordered[0]), 0.0
    widths = ordered[count - 1 :] - ordered[: len(ordered) - count + 1]
    begin = int(widths.argmin())
    return float(ordered[begin] + ordered[begin + count - 1]) / 2, float(widths[begin]) / 2


def select_recurring(
    traits: Traits,
    cases: Sequence[Sequence[int]],
    processes: Sequence[Sequence[int]],
    *,
    threads: bool = False,
) -> list[list[int]]:
    """The processes without those that only a few short cases show, a single case with most
    messages, and notices: requests that are usually unanswered, while others are answered, are not
    a process.

    Args:
        traits: the traits of all messages.
        cases: places of messages.
        processes: places of cases.
        threads: whether threads are cases, so that a long one alone is a discussion.
    """
    fewest = FEWEST_THREADS if threads else 1
    used = {place for case in cases for place in case}
    alone = [place for place in range(len(traits.messages)) if place not in used]

    def has_notices(process: Sequence[int]) -> bool:
        """Whether more unanswered messages than cases are similar to the first message of a case;
        or many, if answers are a few words that fit anything."""
        # messages of no case that are as near to a first message as most first messages are
        firsts = traits.vectors[[cases[c][0] for c in process]]
        count = len(process)
        nearest = (firsts @ firsts.T - 2 * np.eye(count)).max(1)
        near = (traits.vectors[alone] @ firsts.T).max(1)
        unanswered = int((near >= np.quantile(nearest, 0.25)).sum())
        # cases of which all but the first message are a few words
        nods = sum(all(len(traits.words[i]) < TELLING for i in cases[c][1:]) for c in process)
        return unanswered > count * (FEW_UNANSWERED if 2 * nods > count else 1.0)

    count = len(traits.messages)
    talk = MOST_OF_ALL * count if count >= TALK else count
    return [
        list(process) for process in processes
        if (len(process) > 1 or len(cases[process[0]]) <= talk)
        and (
            sum(len(cases[c]) >= SMALLEST for c in process) >= fewest
            or (len(process) >= RECURS and not has_notices(process))
        )
    ]  # fmt: skip


def adopt_groups(
    traits: Traits,
    cases: Sequence[Sequence[int]],
    processes: Sequence[Sequence[int]],
    groups: Sequence[Sequence[int]],
) -> dict[int, int]:
    """The process of each group of messages that is clearly about one, by the places of both.

    A run with few messages, or without its middle, does not grow to a case. Their topic is known
    after the processes are. Most groups belong to no process: their similarity to a process by
    chance is estimated from all pairs of a group and a process.

    Args:
        traits: the traits of all messages.
        cases: places of messages.
        processes: places of cases.
        groups: places of messages without a case; groups of one message are too short.
    """
    longer = [place for place, group in enumerate(groups) if len(group) > 1]
    if not longer or not processes:
        return {}
    # 1. the likeness of each group to each case, a part at a time
    left = [groups[place] for place in longer]
    parts = []
    for begin in range(0, len(left), AT_ONCE):
        everything = measure_likeness(traits, [*cases, *left[begin : begin + AT_ONCE]])
        parts.append(everything[len(cases) :, : len(cases)])
    alike = np.concatenate(parts)
    # 2. to each process: the mean over its cases, and of the meaning alone
    together = np.array([alike[:, list(process)].mean(1) for process in processes]).T
    kinds = [[i for c in process for i in cases[c]] for process in processes]
    meaning = _mean_meanings(traits, left) @ _mean_meanings(traits, kinds).T
    # 3. how far above chance; the best process, if it is far in both
    together, meaning = _count_deviations(together), _count_deviations(meaning)
    worth = np.where(meaning > MEANING, together, -np.inf)
    return {
        place: int(row.argmax())
        for place, row in zip(longer, worth, strict=True)
        if row.max() > LIKE_A_PROCESS
    }


def _count_deviations(values: Any) -> Any:
    """How many deviations numbers are above their middle."""
    apart = values - np.median(values)
    return apart / (DEVIATION * float(np.median(np.abs(apart))) + 1e-6)


def _mean_meanings(traits: Traits, groups: Sequence[Sequence[int]]) -> Any:
    """The mean meaning of each group of messages, of length 1."""
    return _normalise_rows(np.array([traits.vectors[list(group)].mean(0) for group in groups]))


def measure_likeness(traits: Traits, cases: Sequence[Sequence[int]]) -> Any:
    """The similarity of each pair of cases, about -0.2 to 1.5: a square matrix."""
    means = _mean_meanings(traits, cases)
    words = [_count_words(traits, case) for case in cases]
    roles = [
        Counter(
            r for i in case for p in traits.messages[i].people if (r := role_of_person(p).lower())
        )
        for case in cases
    ]
    together = 0.5 * (means @ means.T) + _measure_cosines(words)
    people = sum(len(traits.messages[i].people) for case in cases for i in case)
    if any(roles):
        # where few people have a role, it is no trait of processes: that of a program, say
        known = sum(map(sum, (r.values() for r in roles))) / people
        together += 0.25 * known * _measure_cosines([Counter(set(r)) for r in roles])
    return together


def _count_words(traits: Traits, case: Sequence[int]) -> Counter[str]:
    """In how many messages of a case each word is; names and numbers are left out."""
    return Counter(
        word
        for i in case
        for word in traits.words[i]
        if word.isalpha() and word not in traits.names
    )


def _measure_cosines(counts: Sequence[Counter[str]]) -> Any:
    """The cosines of groups of words, the rarer the heavier."""
    # 1. a column for each word of two groups or more
    frequency = Counter(word for count in counts for word in count)
    places = {w: i for i, w in enumerate(sorted(w for w in frequency if frequency[w] > 1))}
    # 2. TF-IDF with a logarithm of the count (Salton and Buckley 1988), rows of length 1
    matrix: Any = np.zeros((len(counts), max(1, len(places))))
    for row, count in enumerate(counts):
        for word, number in count.items():
            if word in places:
                weight = math.log(len(counts) / frequency[word])
                matrix[row, places[word]] = (1 + math.log(number)) * weight
    matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-9)
    return matrix @ matrix.T
