"""What people read keeps the word list: habits of the first version do not come back."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from sentences import AREAS, HABITS, ROOT, collect, habits, split

SENTENCES = collect()


def test_every_area_is_collected() -> None:
    counts = Counter(sentence.area for sentence in SENTENCES)
    assert set(counts) == set(AREAS)
    assert min(counts.values()) > 100, counts
    assert len(SENTENCES) > 8000


def test_sentences_name_the_line_they_stand_in() -> None:
    drawn = [s for s in SENTENCES if s.area == "docs"][:: len(AREAS) * 10]
    for sentence in drawn:
        lines = (ROOT / sentence.path).read_text().splitlines()
        first = re.sub(r"[^\w]", "", sentence.text)[:12]
        following = re.sub(r"[^\w]", "", " ".join(lines[sentence.line - 1 : sentence.line + 14]))
        assert first in following, sentence


def test_text_is_split_into_sentences() -> None:
    assert split("The run stops there. Nothing after `X. y` happens! ok") == [
        "The run stops there.",
        "Nothing after `X. y` happens! ok",
    ]
    assert split("OF201 `deadlocked-join`") == []


@pytest.mark.parametrize("habit", HABITS, ids=lambda h: h.instead)
def test_no_sentence_has_the_habit(habit: object) -> None:
    found = [str(sentence) for sentence, broken in habits(SENTENCES) if broken is habit]
    assert found == [], f"write instead: {habit}"
