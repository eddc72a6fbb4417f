"""The example that starts from mail: read, discovered and compiled as its golden files have it."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_cases import orgflowc

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "from-mail"


@pytest.mark.parametrize("target", ["bpmn", "n8n"])
def test_what_is_found_is_the_golden_files(tmp_path: Path, target: str) -> None:
    pytest.importorskip("spacy", reason="steps need spaCy: pip install -e '.[text]'")
    store, found = str(tmp_path / "mail"), tmp_path / "found"
    done = orgflowc("ingest", str(FOLDER / "workshop.mbox"), "--store", store)
    assert done.code == 0, done.err
    done = orgflowc("discover", store, "--no-model", "--target", target, "-o", f"{found}/")
    assert done.code == 0, done.err
    suffix = ".bpmn" if target == "bpmn" else ".json"
    golden = {p.name: p.read_text("utf-8") for p in (FOLDER / "found").glob(f"*{suffix}")}
    assert len(golden) == 2
    assert {p.name: p.read_text("utf-8") for p in found.iterdir()} == golden


def test_both_processes_and_nothing_of_the_other_mails(tmp_path: Path) -> None:
    pytest.importorskip("spacy", reason="steps need spaCy: pip install -e '.[text]'")
    store = str(tmp_path / "mail")
    orgflowc("ingest", str(FOLDER / "workshop.mbox"), "--store", store)
    done = orgflowc("discover", store, "--no-model")
    assert "(6 cases, 24 messages)" in done.out
    assert "(4 cases, 16 messages)" in done.out
    assert "4 messages belong to no process" in done.out
