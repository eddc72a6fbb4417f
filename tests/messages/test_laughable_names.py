"""Names of steps that people laughed at: none of these sentences names a step clearly."""

from __future__ import annotations

from pathlib import Path

import pytest
from orgflow import cli
from orgflow.agents.discovery import discover
from orgflow.agents.discovery.processes import select_recurring
from orgflow.agents.discovery.traits import traits_of
from orgflow.agents.language.phrases import CLEAR, find_phrases
from orgflow.store.embedder import HashedWords
from orgflow.store.messages import MessageStore
from short_threads import short_threads
from small_corpus import corpus

from orgflow_ir.diagnostics.message_rules import TooFewCases

LAUGHED_AT = (
    "Have a lovely weekend!", "Hope this finds you well.", "Do we know anything yet?",
    "See you at the meeting tomorrow.", "I'm looking forward to hearing from you.",
    "Let me know if you have any questions.", "Thank you for your patience.",
    "Does that make sense?", "Things work like this: first we take a breath.",
    "I had a look at the weather.", "Give my regards to your wife.", "Who took my mug again?",
    "Let's grab a coffee.", "No action is required.", "Take care of yourself.",
    "It makes no difference.", "We are done here.", "Happy birthday, have some cake!",
    "Sorry, I missed your call.", "Keep up the good work.", "Sent from my phone.",
    "Drop me a line.", "You made my day.", "I have a bad feeling about this.",
    "Read the newsletter here.", "Click here to claim your prize.", "Hold your horses.",
    "He lost his mind.", "We pay attention to detail.", "Keep your fingers crossed.",
)  # fmt: skip


@pytest.mark.parametrize("sentence", LAUGHED_AT)
def test_a_way_to_speak_is_no_step(sentence: str) -> None:
    (phrases,) = find_phrases([sentence], frozenset(), [""])
    assert [phrase.name for phrase in phrases if phrase.score >= CLEAR] == []


@pytest.mark.parametrize(
    ("sentence", "name"),
    [("Please pay the invoice.", "pay invoice"), ("I checked the stock.", "check stock"),
     ("Please read the contract.", "read contract")],
)  # fmt: skip
def test_what_is_done_is_a_step(sentence: str, name: str) -> None:
    (phrases,) = find_phrases([sentence], frozenset(), [""])
    assert name in [phrase.name for phrase in phrases if phrase.score >= CLEAR]


def test_a_long_discussion_alone_is_no_process() -> None:
    """Where threads are cases, as on a support list."""
    traits = traits_of(short_threads(1).messages, HashedWords())
    long, other, short = list(range(9)), list(range(9, 17)), [17, 18]
    cases = [long, other, short]
    assert select_recurring(traits, cases, [[0], [2]], threads=True) == []
    assert select_recurring(traits, cases, [[0], [2]]) == [[0]]
    assert select_recurring(traits, cases, [[0, 1], [2]], threads=True) == [[0, 1]]


def test_too_few_cases_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    group_messages = discover.group_messages
    monkeypatch.setattr(
        discover, "group_messages", lambda *given: group_messages(*given)._replace(refused=3)
    )
    store = str(tmp_path / "store")
    with MessageStore.create(store) as opened:
        opened.add(corpus()[0])
        opened.link()
    assert cli.run(["discover", store, "--no-model"]) == 0
    shown = capsys.readouterr()
    assert f"info {TooFewCases.code}" in shown.err
    assert "3 groups of messages have too few cases for a process" in shown.err
    assert "confidence" in shown.out
