"""Parts of one case that were found as several cases: joined where their people leave no doubt.

Who takes part tells cases apart in some mailboxes only: where the same staff works on every case,
all cases of a process have most people in common. Parts are joined without a question only if the
mailbox is of the first kind. Measured on mailboxes of both kinds, plain and without roles and
threads, no case was joined with another one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations

from orgflow.agents.discovery.traits import Traits

from orgflow_ir.model.records import NamedTuple

CERTAIN_SHARE = 0.7
"""Two cases of a process are one from this share of common people, counted by messages."""

DOUBTFUL_SHARE = 0.5
"""From this share, a person or a model is asked whether they are one."""

FEWEST_PEOPLE = 2
"""Minimum number of people that two parts of a case have in common, and that no other case of the
process has if they are joined without a question."""

USUAL_SHARE = 0.4
"""If more than this share of all pairs of cases of a process are in doubt or certain, people do not
tell cases apart. Measured: 0.2 where each case has its own people, 0.47 to 0.81 elsewhere."""


class CaseJoin(NamedTuple):
    """Two cases of a process that may be one.

    Attributes:
        first, second: the places of their messages; the first one begins earlier.
        share: the smaller share of their mentions that are of people both have, from 0 to 1.
    """

    first: tuple[int, ...]
    second: tuple[int, ...]
    share: float


AskJoin = Callable[[CaseJoin], bool | None]
"""Whether two cases are one, in the opinion of a person or a model; `None` without an opinion."""


def measure_common_people(traits: Traits, case: Sequence[int], other: Sequence[int]) -> float:
    """The share of the mentions of people in a case that are of people whom the other case has
    too, the smaller one of the two sides; 0 for fewer than two common people.

    A mention is a message with one of its people: who writes often counts often.
    """
    sides = [Counter(p for place in part for p in traits.people[place]) for part in (case, other)]
    common = sides[0].keys() & sides[1].keys()
    if len(common) < FEWEST_PEOPLE:
        return 0.0
    return min(sum(side[p] for p in common) / side.total() for side in sides)


class JoinedCases(NamedTuple):
    """The cases of a mailbox after parts of cases were joined.

    Attributes:
        cases: the places of the messages of each case.
        processes: the places of the cases of each process.
        undecided: pairs of which nobody knows whether they are one case.
    """

    cases: list[list[int]]
    processes: list[list[int]]
    undecided: tuple[CaseJoin, ...]


def join_case_parts(
    traits: Traits,
    cases: Sequence[Sequence[int]],
    processes: Sequence[Sequence[int]],
    ask: AskJoin = lambda join: None,
) -> JoinedCases:
    """The cases with the parts of each joined.

    Args:
        traits: the traits of all messages.
        cases: the places of the messages of each case.
        processes: the places of the cases of each process.
        ask: decides about pairs that are in doubt; each is asked once.
    """
    shares = [
        measure_common_people(traits, cases[case], cases[other])
        for process in processes for case, other in combinations(process, 2)
    ]  # fmt: skip
    close = sum(share >= DOUBTFUL_SHARE for share in shares)
    tells_apart = close <= USUAL_SHARE * len(shares)
    joined: list[list[int]] = []
    places: list[list[int]] = []
    undecided: list[CaseJoin] = []
    for process in processes:
        whole, open_pairs = _join_process_cases(
            traits, [cases[c] for c in process], tells_apart, ask
        )
        places.append(list(range(len(joined), len(joined) + len(whole))))
        joined += whole
        undecided += open_pairs
    return JoinedCases(joined, places, tuple(undecided))


def _join_process_cases(
    traits: Traits, cases: Sequence[Sequence[int]], tells_apart: bool, ask: AskJoin
) -> tuple[list[list[int]], list[CaseJoin]]:
    """The cases of one process with the parts of a case joined, and the pairs that nobody decided.

    The pair with the largest share comes first, and joined pairs are compared again. Neither a
    long pause nor an overlap in time prevents a join.
    """
    joined = sorted(tuple(sorted(case)) for case in cases)
    answers: dict[CaseJoin, bool | None] = {}
    while True:
        # 1. all pairs of cases that may be one, the surest first
        pairs = [
            CaseJoin(case, other, share)
            for case, other in combinations(joined, 2)
            if (share := measure_common_people(traits, case, other)) >= DOUBTFUL_SHARE
        ]
        pairs.sort(key=lambda pair: (-pair.share, pair))
        # 2. the first one that is sure, or that somebody is sure of
        for pair in pairs:
            rest = [case for case in joined if case not in (pair.first, pair.second)]
            certain = tells_apart and _is_certain(traits, pair, rest)
            if not certain and pair not in answers:
                answers[pair] = ask(pair)
            if certain or answers[pair]:
                break
        else:
            undecided = [pair for pair in pairs if answers[pair] is None]
            return [list(case) for case in joined], undecided
        joined = sorted([*rest, tuple(sorted((*pair.first, *pair.second)))])


def _is_certain(traits: Traits, pair: CaseJoin, others: Sequence[Sequence[int]]) -> bool:
    """Whether two cases are certainly one, by their people and those of the other cases."""
    sides = [{p for i in part for p in traits.people[i]} for part in (pair.first, pair.second)]
    busy = {p for case in others for i in case for p in traits.people[i]}
    own = (sides[0] & sides[1]) - busy
    return pair.share >= CERTAIN_SHARE and len(own) >= FEWEST_PEOPLE
