"""The corpora of terse mail: the same for a seed, and what they say of themselves is so."""

from __future__ import annotations

import json
from datetime import datetime

import pytest
from orgflow.agents.discovery.cases import find_cases
from orgflow.agents.discovery.traits import traits_of
from orgflow.evaluation.discovery import pairwise_f1, read_truth
from orgflow.store.embedder import HashedWords
from terse_mails import LANGUAGES, TALK, terse_mails

from orgflow_ir.model.message import Message, Person

EACH = pytest.mark.parametrize(
    ("language", "hard"), [(language, hard) for language in LANGUAGES for hard in (False, True)]
)


@EACH
def test_a_seed_gives_the_same_corpus(language: str, hard: bool) -> None:
    assert terse_mails(language, 7, hard) == terse_mails(language, 7, hard)
    assert terse_mails(language, 7, hard) != terse_mails(language, 8, hard)


@EACH
def test_the_truth_is_that_of_the_messages(language: str, hard: bool) -> None:
    messages, truth = terse_mails(language, 7, hard)
    known = truth["messages"]
    assert {m["id"] for m in messages} == set(known)
    assert [m["date"] for m in messages] == sorted(m["date"] for m in messages)
    tasks: dict[str, list[str]] = {}
    for message in messages:
        one = known[message["id"]]
        for task in one["tasks"]:
            done = tasks.setdefault(one["scenario"], [])
            if task not in done:
                done.append(task)
    assert tasks == {
        run["scenario"]: run["tasks"]
        for process in truth["processes"].values() for run in process["scenarios"]
    }  # fmt: skip
    assert read_truth(json.dumps(truth)).case == {
        id: one["scenario"] for id, one in known.items() if one["scenario"]
    }
    assert len(tasks) == len(LANGUAGES[language].kinds) * LANGUAGES[language].cases
    talk = sum(one["process"] is None for one in known.values())
    assert talk == pytest.approx(TALK * (len(messages) - talk), abs=3)


@EACH
def test_nothing_is_left_to_fill_in_and_hard_corpora_lack_roles_and_threads(
    language: str, hard: bool
) -> None:
    messages, truth = terse_mails(language, 7, hard)
    known = truth["messages"]
    works: dict[str, set[str]] = {}
    for message in messages:
        assert not set("{}|") & set(message["text"] + message["subject"])
        assert (message["thread"] is None) == hard
        people = [message["sender"], *message["receivers"]]
        assert all(("(" in person) != hard for person in people)
        process = known[message["id"]]["process"]
        if process is not None:
            for person in people:
                works.setdefault(person, set()).add(process)
    assert (max(map(len, works.values())) > 1) == hard


@pytest.mark.parametrize("language", ["en", "de"])
def test_overlapping_cases_of_the_same_people_are_told_apart(language: str) -> None:
    """Two people for each role work on five or six cases of each process in three months."""
    records, truth = terse_mails(language, 7)
    messages = [
        Message(
            one["id"], datetime.fromisoformat(one["date"]), one["channel"], Person(one["sender"]),
            tuple(map(Person, one["receivers"])), one["subject"], one["text"],
            thread=one["thread"],
        )
        for one in records
    ]  # fmt: skip
    traits = traits_of(messages, HashedWords())
    known = read_truth(json.dumps(truth)).case
    found = {
        traits.messages[place].id: number
        for number, case in enumerate(find_cases(traits)) for place in case
    }  # fmt: skip
    ids = [message.id for message in messages]
    assert pairwise_f1([known.get(id_) for id_ in ids], [found.get(id_) for id_ in ids]) > 0.8
