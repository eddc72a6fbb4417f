"""Mailboxes whose cases are threads of two to four mails."""

from __future__ import annotations

import pytest
from orgflow.agents.discovery.case_weights import WEIGHTS
from orgflow.agents.discovery.cases import (
    CERTAIN,
    median_group_size,
    merge_groups,
    split_conversations,
)
from orgflow.agents.discovery.discover import discover_processes
from orgflow.agents.discovery.evidence import Pairs
from orgflow.agents.discovery.processes import adopt_groups, select_recurring
from orgflow.agents.discovery.traits import traits_of
from orgflow.evaluation.discovery import score_discovery
from orgflow.store.embedder import HashedWords, local_embedder
from short_threads import in_right_process, short_threads
from sixteen_mails import sixteen_mails
from small_corpus import corpus


@pytest.mark.slow
@pytest.mark.parametrize(("language", "seed"), [("en", 11), ("en", 12), ("de", 11), ("de", 12)])
def test_four_processes_of_short_threads(language: str, seed: int) -> None:
    mailbox = short_threads(seed, language)
    embedder = local_embedder()
    found = discover_processes(mailbox.messages, embedder)
    got = score_discovery(found, mailbox.truth, [m.id for m in mailbox.messages], embedder)
    assert abs(got.number - got.true_number) <= 1
    assert in_right_process(found, mailbox.process) >= 0.8
    assert got.noise_f1 >= 0.85
    assert got.case_f1 >= 0.9


@pytest.mark.parametrize(
    ("language", "only", "noise"), [("en", "leave", 16), ("en", "invoice", 0), ("de", "leave", 0)]
)
def test_a_mailbox_of_one_process(language: str, only: str, noise: int) -> None:
    mailbox = short_threads(1, language, 24, noise, only)
    found = discover_processes(mailbox.messages, local_embedder())
    assert len(found.processes) == 1
    assert in_right_process(found, mailbox.process) >= 0.9


def test_one_case_of_most_messages_is_how_people_talk() -> None:
    traits = traits_of(short_threads(1).messages, HashedWords())
    count = len(traits.messages)
    everything, half, some = [list(range(n)) for n in (count, count // 2, 9)]
    assert select_recurring(traits, [everything, some], [[0], [1]]) == [[1]]
    assert select_recurring(traits, [half, some], [[0], [1]]) == [[0], [1]]
    assert select_recurring(traits, [everything, some], [[0, 1]]) == [[0, 1]]


def test_two_processes_in_sixteen_mails() -> None:
    messages, process = sixteen_mails()
    assert len(process) == 16
    found = discover_processes(messages, local_embedder())
    assert len(found.processes) == 2
    assert in_right_process(found, process) >= 0.8
    assert {m.id for m in messages} - set(process) <= set(found.noise)


def test_threads_are_cases_only_where_little_more_grows_of_them() -> None:
    for messages, short in ((short_threads(3).messages, True), (corpus()[0], False)):
        traits = traits_of(messages, HashedWords())
        pairs = Pairs(traits, WEIGHTS)
        begun = [pairs.group(part) for part in split_conversations(traits)]
        assert (median_group_size(merge_groups(pairs, begun)) < 6) is short
        assert len(merge_groups(pairs, begun, CERTAIN)) >= len(merge_groups(pairs, begun))


def test_the_usual_size_is_that_of_the_middle_message() -> None:
    traits = traits_of(corpus()[0], HashedWords())
    pairs = Pairs(traits, WEIGHTS)
    assert median_group_size([]) == 0
    assert median_group_size([pairs.group([0]), pairs.group([1]), pairs.group([2, 3, 4])]) == 3


def test_what_does_not_recur_and_what_nobody_answers_is_no_process() -> None:
    mailbox = short_threads(1)
    traits = traits_of(mailbox.messages, HashedWords())
    places = {m.id: place for place, m in enumerate(traits.messages)}
    threads: dict[str, list[int]] = {}
    for message in traits.messages:
        threads.setdefault(message.thread, []).append(places[message.id])
    cases = [members for members in threads.values() if len(members) > 1]
    named = [traits.messages[case[0]].thread.split("-")[0] for case in cases]
    leaves = [place for place, name in enumerate(named) if name == "leave"]
    notices = [place for place, name in enumerate(named) if name == "noise"]
    assert select_recurring(traits, cases, [leaves, notices]) == [leaves]
    assert select_recurring(traits, cases, [leaves[:2]]) == []
    assert select_recurring(traits, cases, [leaves[:3]]) == [leaves[:3]]


def test_a_group_that_is_no_case_belongs_to_the_process_that_it_is_clearly_about() -> None:
    traits = traits_of(short_threads(1).messages, HashedWords())
    threads: dict[str, list[int]] = {}
    for place, message in enumerate(traits.messages):
        threads.setdefault(message.thread, []).append(place)
    cases: list[list[int]] = []
    processes: list[list[int]] = []
    groups: list[list[int]] = []
    wanted: dict[int, int] = {}
    for kind in ("complaint", "invoice", "leave", "purchase"):
        mine = [members for name, members in threads.items() if name.startswith(kind)]
        for number in range(3):
            wanted[len(groups) + number] = len(processes)
        groups += mine[:3]
        processes.append(list(range(len(cases), len(cases) + len(mine) - 3)))
        cases += mine[3:]
    noise = [members for name, members in threads.items() if name.startswith("noise")]
    assert adopt_groups(traits, cases, processes, [*groups, *noise]) == wanted
    assert adopt_groups(traits, cases, processes, [group[:1] for group in groups]) == {}
    assert adopt_groups(traits, [], [], groups) == {}
