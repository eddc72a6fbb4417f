"""Parts of a case are joined by their people: never two cases, and asked about where in doubt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from orgflow.agents.discovery.discover import group_messages
from orgflow.agents.discovery.joined_cases import (
    CaseJoin,
    join_case_parts,
    measure_common_people,
)
from orgflow.agents.discovery.traits import Traits, traits_of
from orgflow.store.embedder import HashedWords
from short_threads import short_threads
from small_corpus import corpus
from terse_mails import terse_mails

from orgflow_ir.model.message import Message, Person


def _traits(*pairs: str) -> Traits:
    """Messages of one day each, from one person to others, by the first letters of their names."""
    start = datetime(2026, 1, 5, tzinfo=UTC)
    messages = [
        Message(
            f"m{n:02}", start + timedelta(days=n), "email", Person(f"{pair[0]} Moss"),
            tuple(Person(f"{name} Moss") for name in pair[1:]), "", "Some words",
        )
        for n, pair in enumerate(pairs)
    ]  # fmt: skip
    return traits_of(messages, HashedWords())


def test_the_share_of_common_people_by_hand() -> None:
    traits = _traits("AB", "AC", "BA", "AB", "BD", "AE")
    # the first half mentions A B, A C, B A: 5 of 6 are of A and B; the second A B, B D, A E: 4 of 6
    assert measure_common_people(traits, [0, 1, 2], [3, 4, 5]) == pytest.approx(4 / 6)
    assert measure_common_people(traits, [0, 2], [3]) == 1
    assert measure_common_people(traits, [1], [5]) == 0, "one common person is none"


OTHERS = ("CD", "DC", "EF", "FE", "GH", "HG", "IJ", "JI")
"""Four more cases of two messages and two people each."""


def _join(
    traits: Traits, cases: Sequence[Sequence[int]], *answers: bool | None
) -> tuple[list[list[int]], tuple[CaseJoin, ...], list[CaseJoin]]:
    """Cases of one process joined, the undecided pairs, and those that were asked about."""
    given, asked = list(answers), list[CaseJoin]()

    def answer_join(join: CaseJoin) -> bool | None:
        asked.append(join)
        return given.pop(0) if given else None

    joined = join_case_parts(traits, cases, [list(range(len(cases)))], answer_join)
    assert joined.processes == [list(range(len(joined.cases)))]
    return joined.cases, joined.undecided, asked


def _rest(begin: int) -> list[list[int]]:
    return [[begin + 2 * n, begin + 2 * n + 1] for n in range(len(OTHERS) // 2)]


def test_halves_of_one_case_are_joined_across_a_long_pause() -> None:
    traits = _traits("AB", "BA", *OTHERS, "AB", "BA", "AB")
    cases, undecided, asked = _join(traits, [[0, 1], *_rest(2), [10, 11, 12]])
    assert cases == [[0, 1, 10, 11, 12], *_rest(2)]
    assert (undecided, asked) == ((), [])


def test_three_parts_are_one_case_after_an_answer() -> None:
    traits = _traits("AB", "BA", *OTHERS, "AB", "BA", "AB")
    parts = [[0, 1], *_rest(2), [10, 11], [12]]
    assert _join(traits, parts)[0] == sorted(parts)
    cases, _, asked = _join(traits, parts, True)
    assert cases == [[0, 1, 10, 11, 12], *_rest(2)]
    assert len(asked) == 1, "the last two have their people for themselves"


def test_people_of_a_third_case_prove_nothing() -> None:
    traits = _traits("AB", "BA", *OTHERS, "AB", "BA", "BX", "XB")
    cases, undecided, asked = _join(traits, [[0, 1], *_rest(2), [10, 11], [12, 13]])
    assert len(cases) == 7, "B works on a third case, too"
    assert [(join.first, join.second) for join in undecided] == [((0, 1), (10, 11))]
    assert asked == list(undecided)


def test_where_all_cases_have_the_same_staff_nothing_is_joined_without_a_question() -> None:
    cases = [[0, 1], [2, 3], [4, 5]]
    traits = _traits("AB", "BA", "AB", "BA", "CD", "DC")
    # one pair of three is as close, which is usual: at 0.33 it is joined, at 1.0 it is not
    assert _join(traits, cases)[0] == [[0, 1, 2, 3], [4, 5]]
    assert _join(traits, cases[:2])[0] == cases[:2]


def test_a_person_or_a_model_decides_what_is_in_doubt() -> None:
    traits = _traits("AB", "AC", "BA", "AB", "BD", "AE", *OTHERS)
    parts = [[0, 1, 2], [3, 4, 5], *_rest(6)]
    cases, undecided, (join,) = _join(traits, parts, True)
    assert (cases[0], undecided) == ([0, 1, 2, 3, 4, 5], ())
    assert join == CaseJoin((0, 1, 2), (3, 4, 5), join.share)
    assert 0.5 <= join.share < 0.7
    cases, undecided, _ = _join(traits, parts, False)
    assert (len(cases), undecided) == (6, ())
    cases, undecided, _ = _join(traits, parts, None)
    assert (len(cases), undecided) == (6, (join,))


def _count_mixed(messages: Sequence[Message], case: dict[str, str], kept: set[str]) -> int:
    """How many joined cases are of two true ones, where true cases are found in two halves.

    Args:
        messages: the mailbox.
        case: the true case of each message.
        kept: the cases that are found in one piece.
    """
    traits = traits_of([m for m in messages if m.id in case], HashedWords())
    cases: dict[str, list[int]] = {}
    for place, message in enumerate(traits.messages):
        cases.setdefault(case[message.id], []).append(place)
    parts = []
    for name, own in cases.items():
        middle = 0 if name in kept else len(own) // 2
        parts += [half for half in (own[:middle], own[middle:]) if half]
    joined = join_case_parts(traits, parts, [list(range(len(parts)))]).cases
    names = [Counter(case[traits.messages[i].id] for i in group) for group in joined]
    return sum(len(own) > 1 for own in names)


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("hard", [False, True])
def test_no_wrong_join_in_terse_mail(language: str, hard: bool) -> None:
    records, known = terse_mails(language, 31, hard)
    messages = [
        Message(
            r["id"], datetime.fromisoformat(r["date"]), "email", Person(r["sender"]),
            tuple(map(Person, r["receivers"])), "", r["text"],
        )
        for r in records
    ]  # fmt: skip
    case = {k: m["scenario"] for k, m in known["messages"].items() if m["process"] is not None}
    assert _count_mixed(messages, case, set(case.values())) == 0
    assert _count_mixed(messages, case, set(sorted(set(case.values()))[::2])) == 0


def test_no_wrong_join_in_short_threads() -> None:
    for seed in range(1, 4):
        threads = short_threads(seed, "en")
        assert _count_mixed(threads.messages, dict(threads.truth.case), set()) == 0


def test_discovery_hands_on_what_is_in_doubt() -> None:
    asked: list[CaseJoin] = []
    messages, truth = corpus()
    stages = group_messages(messages, HashedWords(), ask_join=asked.append)  # type: ignore[func-returns-value]
    assert list(stages.undecided) == asked
    names = [{truth[stages.traits.messages[i].id] for i in case} for case in stages.cases]
    assert all(len(own) == 1 for own in names)
    assert len(names) == 6
    assert {join.first for join in asked} <= {tuple(case) for case in stages.cases}
    assert len(asked) == 6, "the staff is the same: three pairs of the three cases of each kind"
