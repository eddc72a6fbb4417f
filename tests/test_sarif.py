"""SARIF as code hosts read it: fixes that can be applied, places, limits of GitHub."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_cases import orgflowc
from pydantic_sarif.model import (  # made from the OASIS schema
    StaticAnalysisResultsFormatSarifVersion210JsonSchema as SarifLog,
)

from orgflow_ir.plugins import Registry
from orgflow_ir.reporting.sarif_reporter import SarifReporter

CASES = Path(__file__).resolve().parent / "diagnostics"
FIXED = ["OF201-deadlocked-join", "OF203-work-done-twice"]


def run_of(folder: Path, *args: str | Path) -> dict[str, Any]:
    """The run in what `check` prints, which is valid SARIF."""
    log = json.loads(orgflowc("check", *args, "--format", "sarif", cwd=folder).out)
    SarifLog.model_validate(log)
    (run,) = log["runs"]
    found: dict[str, Any] = run
    return found


def by_bytes(data: bytes, changes: list[dict[str, Any]]) -> bytes:
    for one in reversed(changes):
        region = one["deletedRegion"]
        start, end = region["byteOffset"], region["byteOffset"] + region["byteLength"]
        data = data[:start] + one["insertedContent"]["text"].encode() + data[end:]
    return data


def by_chars(text: str, changes: list[dict[str, Any]]) -> str:
    for one in reversed(changes):
        region = one["deletedRegion"]
        start, end = region["charOffset"], region["charOffset"] + region["charLength"]
        text = text[:start] + one["insertedContent"]["text"] + text[end:]
    return text


def by_lines(text: str, changes: list[dict[str, Any]]) -> str:
    rows = text.splitlines(keepends=True)
    starts = [sum(map(len, rows[:n])) for n in range(len(rows) + 1)]
    for one in reversed(changes):
        region = one["deletedRegion"]
        start = starts[region["startLine"] - 1] + region["startColumn"] - 1
        end = starts[region["endLine"] - 1] + region["endColumn"] - 1
        text = text[:start] + one["insertedContent"]["text"] + text[end:]
    return text


@pytest.mark.parametrize("name", FIXED)
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_a_fix_replaces_what_cures_the_finding(name: str, newline: str, tmp_path: Path) -> None:
    path = tmp_path / "m.bpmn"
    text = (CASES / name / "bad.bpmn").read_text("utf-8")
    text = text.replace("<definitions", "<!-- Grüße 🛒 --><definitions", 1)
    path.write_bytes(text.replace("\n", newline).encode())
    code = name.split("-")[0]
    (found,) = [r for r in run_of(tmp_path, "m.bpmn")["results"] if r["ruleId"] == code]
    (fix,) = found["fixes"]
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"] == {"uri": "m.bpmn"}
    data = path.read_bytes()
    fixed = by_bytes(data, change["replacements"])
    assert fixed != data
    assert by_chars(data.decode(), change["replacements"]).encode() == fixed
    assert by_lines(data.decode(), change["replacements"]).encode() == fixed
    path.write_bytes(fixed)
    assert code not in {r["ruleId"] for r in run_of(tmp_path, "m.bpmn")["results"]}


def test_a_fix_that_cannot_be_written_is_left_out(tmp_path: Path) -> None:
    made = tmp_path / "m.ir.json"
    bad = CASES / "OF201-deadlocked-join" / "bad.bpmn"
    made.write_text(orgflowc("opt", bad, "--passes", "").out, encoding="utf-8")
    (found,) = [r for r in run_of(tmp_path, made.name)["results"] if r["ruleId"] == "OF201"]
    assert "fixes" not in found
    assert found["codeFlows"]


def test_steps_of_a_run_have_places_and_names(tmp_path: Path) -> None:
    """GitHub shows the steps of a code flow that have a physical location only."""
    data = (CASES / "OF201-deadlocked-join" / "bad.bpmn").read_bytes()
    (tmp_path / "m.bpmn").write_bytes(data)
    (found,) = [r for r in run_of(tmp_path, "m.bpmn")["results"] if r["ruleId"] == "OF201"]
    steps = [s["location"] for s in found["codeFlows"][0]["threadFlows"][0]["locations"]]
    assert [s["message"]["text"] for s in steps][1:] == ["`Stock ok?`", "`Pack`"]
    for step in steps:
        region = step["physicalLocation"]["region"]
        start = region["byteOffset"]
        element = step["logicalLocations"][0]["fullyQualifiedName"]
        assert f'id="{element}"'.encode() in data[start : start + region["byteLength"]]


def test_a_finding_keeps_its_fingerprint_when_lines_move(tmp_path: Path) -> None:
    text = (CASES / "OF201-deadlocked-join" / "bad.bpmn").read_text("utf-8")
    path = tmp_path / "m.bpmn"

    def fingerprints() -> list[tuple[int, str]]:
        return [
            (
                r["locations"][0]["physicalLocation"]["region"]["startLine"],
                r["partialFingerprints"]["orgflowFinding/v1"],
            )
            for r in run_of(tmp_path, "m.bpmn")["results"]
        ]

    path.write_text(text, encoding="utf-8")
    before = fingerprints()
    path.write_text(text.replace("<process", "\n\n<process", 1), encoding="utf-8")
    after = fingerprints()
    assert [line + 2 for line, _ in before] == [line for line, _ in after]
    assert [key for _, key in before] == [key for _, key in after]
    assert len({key for _, key in before}) == len(before)


def test_rules_keep_the_limits_of_github() -> None:
    """docs.github.com, "SARIF support for code scanning": descriptions of 1,024 characters, names
    of 255, 20 tags."""
    registry = Registry(outside=False)
    reporter = SarifReporter(rules=registry.rules)
    for code, rule in registry.rules.items():
        shown = reporter._rule_to_sarif(code, rule.name)
        assert len(shown["fullDescription"]["text"]) <= 1024
        assert len(shown["shortDescription"]["text"]) <= 1024
        assert len(shown["name"]) <= 255
        assert len(shown["properties"]["tags"]) <= 20
        markdown = shown["help"]["markdown"]
        assert "**What it finds**" in markdown
        assert "**Instead**" in markdown
