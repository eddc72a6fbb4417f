"""The example that starts from a text: drafted by rules as its golden file has it, and compiled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_cases import orgflowc

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "from-text"


def test_the_draft_is_the_golden_file() -> None:
    pytest.importorskip("spacy", reason="drafting needs spaCy: pip install -e '.[text]'")
    text = str(FOLDER / "order.txt")
    done = orgflowc("model", text, "--no-model", "--target", "triples")
    assert done.code == 0, done.err
    assert done.out == (FOLDER / "order.triples").read_text("utf-8")


def test_the_draft_compiles() -> None:
    done = orgflowc("compile", str(FOLDER / "order.triples"), "--target", "n8n")
    assert done.code == 0, done.err
    names = {node["name"] for node in json.loads(done.out)["nodes"]}
    assert {"Check order", "Pack goods", "Order goods", "Book invoice"} <= names
