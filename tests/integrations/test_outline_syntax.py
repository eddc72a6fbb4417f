"""The syntax files of outlines know every keyword."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from orgflow.backends.outline.format.line_forms import FIELD_WORDS, KEYWORDS
from outline_rows import ROWS

FOLDER = Path(__file__).resolve().parents[2] / "integrations" / "outline"
GRAMMAR = json.loads((FOLDER / "outline.tmLanguage.json").read_text("utf-8"))
VIM = (FOLDER / "outline.vim").read_text("utf-8")


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_a_keyword_is_known(keyword: str) -> None:
    (form,) = [p["match"] for p in GRAMMAR["patterns"] if "captures" in p]
    match = re.match(form, f"  {keyword}?: words")
    assert match is not None
    assert match[1] == keyword
    assert re.search(rf"[(|]{keyword}\\[|)%]|\\\({keyword}\\\||\|{keyword}\\", VIM)


@pytest.mark.parametrize("word", FIELD_WORDS)
def test_a_field_is_known(word: str) -> None:
    forms = [p["match"] for p in GRAMMAR["patterns"] if p["name" if "name" in p else "match"]]
    assert any(re.search(form, f"a | {word} x") for form in forms if "each" in form)
    assert re.search(rf"\|{word}\\|\({word}\\", VIM)


def test_every_pattern_matches_something() -> None:
    text = "\n".join([*ROWS.values(), "# comment", "a | s1,s2"])
    for pattern in GRAMMAR["patterns"]:
        assert re.search(pattern["match"], text, re.MULTILINE), pattern
