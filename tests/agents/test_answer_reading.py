"""What language models write, read: fences, trailing text, cut-off ends, nearly JSON."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from orgflow.agents.model_client.answer_reading import (
    ReadAnswer,
    UnreadableAnswer,
    fenced_text,
    read_json,
)

VALUE = {"a": [1, {"b": 'x "y" \\ }'}], "c": None, "d": True}
TEXT = json.dumps(VALUE)


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        f"  \ufeff{TEXT}\n",
        f"```json\n{TEXT}\n```",
        f"```\n{TEXT}\n```\nIs there anything else?",
        f"~~~\n{TEXT}\n~~~",
        f"Sure! Here is the JSON you asked for:\n\n```JSON\n{TEXT}\n```\n",
        f"Here: {TEXT} I hope that helps {{smile}}.",
        f'<think>Maybe {{"a": 0}}? No.</think>\n{TEXT}',
        f"{TEXT}\n{TEXT}",
        f"```json\n{TEXT}",
        TEXT.replace("true}", "true,}"),
        str(VALUE),
        f"The set {{of all}} things: {TEXT}",
    ],
)
def test_the_value_is_found(text: str) -> None:
    assert read_json(text) == (VALUE, False)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1, "b": [1, 2', {"a": 1, "b": [1, 2]}),
        ('{"a": 1, "b": "half a sent', {"a": 1, "b": "half a sent"}),
        ('{"a": 1, "b":', {"a": 1}),
        ('{"a": 1, "b', {"a": 1}),
        ('{"a": 1, "b": tr', {"a": 1}),
        ('{"a": 1, "b": "x\\', {"a": 1, "b": "x"}),
        ('```json\n[{"a": 1}, {"a":', [{"a": 1}, {}]),
    ],
)
def test_a_cut_off_value_is_completed(text: str, value: Any) -> None:
    assert read_json(text) == ReadAnswer(value, truncated=True)


@pytest.mark.parametrize(
    "text",
    ["", "  \n", "I cannot do that.", "{]", "NaN", '<think>{"a": 1}', "__import__('os')"],
)
def test_nothing_to_read(text: str) -> None:
    with pytest.raises(UnreadableAnswer):
        read_json(text)


def test_nothing_is_executed(tmp_path: Any) -> None:
    victim = tmp_path / "x"
    with pytest.raises(UnreadableAnswer):
        read_json(f"{{'a': open({str(victim)!r}, 'w')}}")
    assert not victim.exists()


def test_deep_and_long_answers_end() -> None:
    for text in ("[" * 100_000, '{"a":' * 50_000, "{" * 999_999, '{"a": "' + "x" * 2_000_000):
        try:
            read_json(text)
        except UnreadableAnswer:
            continue


def test_random_cuts_never_raise_anything_else() -> None:
    chance = random.Random(7)
    for _ in range(500):
        text = TEXT[: chance.randrange(len(TEXT))]
        noise = "".join(chance.choice('{}[]",:\\` \n') for _ in range(chance.randrange(4)))
        try:
            read_json(text + noise)
        except UnreadableAnswer:
            continue


def test_the_longest_fence_is_the_answer() -> None:
    text = "As in\n```\nA\n```\nso:\n```mermaid\nflowchart TD\nA --> B\n```\nDone."
    assert fenced_text(text) == "flowchart TD\nA --> B\n"
    assert fenced_text("A --> B") == "A --> B"
