"""The examples of outlines: sound, canonical, and the same process in other notations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orgflow
import pytest
from outline_referee import compare_models
from outline_trips import format_text, model_of, text_of, through_bpmn

from orgflow_ir.diagnostics import Severity
from orgflow_ir.targets.artifact import Artifact

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "outlines"
OUTLINES = sorted(FOLDER.glob("*.outline"))
NAMES = [path.stem for path in OUTLINES]


@pytest.mark.parametrize("path", OUTLINES, ids=NAMES)
def test_an_outline_is_sound_and_canonical(path: Path) -> None:
    text = path.read_text("utf-8")
    assert format_text(text) == text
    found = orgflow.check(model_of(text)).diagnostics
    severe = (Severity.ERROR, Severity.WARNING)
    assert [d.message for d in found if d.severity in severe and d.code != "OF140"] == []


@pytest.mark.parametrize("path", OUTLINES, ids=NAMES)
def test_an_outline_is_the_same_process_in_other_notations(path: Path, artifacts: Any) -> None:
    model = model_of(path.read_text("utf-8"))
    assert compare_models(model, through_bpmn(model)) == []
    files = [Artifact(f"{path.stem}.{kind}", text_of(model, kind)) for kind in ("bpmn", "triples")]
    assert compare_models(model, model_of(files[1].text, "model.triples")) == []
    assert tuple(files) == artifacts
