"""What a team's CI asks of `check`: annotations, baselines, and an exit code that reports only."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_cases import DEADLOCK, LINEAR, orgflowc

from orgflow_ir.diagnostics import Diagnostic, Severity
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.reporting.github_reporter import GithubReporter


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "old.bpmn").write_text(DEADLOCK, encoding="utf-8")
    (tmp_path / "models" / "good.bpmn").write_text(LINEAR, encoding="utf-8")
    return tmp_path


def test_only_new_findings_count(folder: Path) -> None:
    assert orgflowc("check", "models", cwd=folder).code == 1
    written = orgflowc("check", "models", "--write-baseline", "ci/known.json", cwd=folder)
    assert written.code == 0
    assert re.fullmatch(r"ci/known\.json: \d+ findings\n", written.err)
    known = folder / "ci" / "known.json"
    rows = json.loads(known.read_text("utf-8"))["findings"]
    assert {"file": "../models/old.bpmn", "code": "OF201", "at": "both"} in rows
    clean = orgflowc("check", "models", "--baseline", "ci/known.json", cwd=folder)
    assert clean.code == 0, clean.out
    assert "suppressed" in clean.out
    # from another folder, and after lines moved, it is the same finding
    moved = folder / "models" / "old.bpmn"
    moved.write_text(DEADLOCK.replace("<process", "\n\n<process", 1), encoding="utf-8")
    there = orgflowc("check", ".", "--baseline", "../ci/known.json", cwd=folder / "models")
    assert there.code == 0, there.out
    # a new one counts, and only that
    (folder / "models" / "new.bpmn").write_text(DEADLOCK, encoding="utf-8")
    new = orgflowc("check", "models", "--baseline", "ci/known.json", cwd=folder)
    assert new.code == 1
    assert "new.bpmn" in new.out
    assert "old.bpmn" not in new.out
    # what is listed for files that are not checked is not gone
    part = orgflowc("check", "models/good.bpmn", "--baseline", "ci/known.json", cwd=folder)
    assert (part.code, "gone" in part.err) == (0, False)
    # both options together list what is known, too
    both = ("--baseline", "ci/known.json", "--write-baseline", "ci/both.json")
    assert orgflowc("check", "models", *both, cwd=folder).code == 0
    listed = json.loads((folder / "ci" / "both.json").read_text("utf-8"))["findings"]
    assert [one["file"] for one in listed if one["code"] == "OF201"] == [
        "../models/new.bpmn", "../models/old.bpmn",
    ]  # fmt: skip
    # those that are gone are mentioned, and the file is the same when it is written twice
    moved.unlink()
    gone = orgflowc("check", "models", "--baseline", "ci/known.json", cwd=folder)
    assert "gone that ci/known.json lists: --write-baseline" in gone.err
    orgflowc("check", "models", "--write-baseline", "ci/known.json", cwd=folder)
    first = known.read_bytes()
    orgflowc("check", "models", "--write-baseline", "ci/known.json", cwd=folder)
    assert known.read_bytes() == first


@pytest.mark.parametrize(
    "text",
    [
        None,
        "{",
        "[]",
        '{"format": "orgflow-baseline", "version": 2}',
        '{"format": "orgflow-baseline", "version": 1, "findings": [3]}',
    ],
)
def test_what_is_no_baseline(folder: Path, text: str | None) -> None:
    if text is not None:
        (folder / "known.json").write_text(text, encoding="utf-8")
    ran = orgflowc("check", "models", "--baseline", "known.json", cwd=folder)
    assert ran.code == 2
    assert "known.json" in ran.err
    assert "--write-baseline known.json" in ran.err


def test_what_cannot_be_read_is_never_in_a_baseline(folder: Path) -> None:
    (folder / "models" / "broken.bpmn").write_text("<definitions", encoding="utf-8")
    assert orgflowc("check", "models/none.bpmn", "--write-baseline", "k.json", cwd=folder).code == 2
    assert orgflowc("check", "models/none.bpmn", "--baseline", "k.json", cwd=folder).code == 2
    ran = orgflowc("check", "models/old.bpmn", "--write-baseline", "models/old.bpmn", cwd=folder)
    assert ran.code == 2
    assert (folder / "models" / "old.bpmn").read_text("utf-8") == DEADLOCK


def test_exit_zero_reports_only(folder: Path) -> None:
    ran = orgflowc("check", "models", "--exit-zero", cwd=folder)
    assert ran.code == 0
    assert "OF201" in ran.out
    assert orgflowc("check", "models/none.bpmn", "--exit-zero", cwd=folder).code == 2


def test_annotations_are_at_their_places(folder: Path) -> None:
    ran = orgflowc("check", "./models", "--format", "github", cwd=folder)
    assert ran.code == 1
    lines = ran.out.splitlines()
    assert all(line.startswith(("::error ", "::warning ", "::notice ")) for line in lines)
    (found,) = [line for line in lines if "OF201" in line]
    assert re.match(
        r"::error file=models/old\.bpmn,line=\d+,col=\d+,title=OF201 deadlocked-join::", found
    )
    assert "%0A" in found, "the help is a line of its own"


def test_annotations_are_escaped(tmp_path: Path) -> None:
    loc = SourceLocation(file="a,b:c%.bpmn", line=3)
    found = Diagnostic(
        code="OF201", name="deadlocked-join", severity=Severity.WARNING, loc=loc,
        message="100 % of\r\n`a::b, c`",
    )  # fmt: skip
    out = tmp_path / "out.txt"
    with out.open("w", encoding="utf-8", newline="") as file:
        GithubReporter().report([found, found.replace(suppressed="known")], file)
    assert out.read_text("utf-8") == (
        "::warning file=a%2Cb%3Ac%25.bpmn,line=3,title=OF201 deadlocked-join"
        "::100 %25 of%0A`a::b, c`\n"
    )
