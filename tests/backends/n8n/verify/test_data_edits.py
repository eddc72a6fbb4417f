"""Edits of compiled workflows on n8n's engine: the referee, and a part of `make bench-verify`."""

from __future__ import annotations

import importlib
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SEED = 7
KINDS = {
    "code", "emailSend", "errorTrigger", "executeWorkflow", "executeWorkflowTrigger", "formTrigger",
    "httpRequest", "if", "manualTrigger", "merge", "microsoftTeams", "noOp", "respondToWebhook",
    "scheduleTrigger", "set", "slack", "stopAndError", "switch", "wait", "webhook",
}  # fmt: skip
"""Every kind of node that the compiler emits, but for notes and the trigger of n8n itself."""

SAMPLED = ("asked-0", "called-0", "table-0", "parallel-1", "timed-0", "requested-0")
EACH = 4


@pytest.fixture(scope="module")
def bench(root: Path) -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(root / "benchmarks"))
        yield importlib.import_module("data_edits")


@pytest.fixture(scope="module")
def models(bench: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The drawn models and their options, by name."""
    subjects = importlib.import_module("edit_subjects")
    drawn = subjects.write_drawn(tmp_path_factory.mktemp("drawn"), SEED)
    return {name: (name, path, options) for name, path, options in drawn}


@pytest.fixture(scope="module")
def tools(bench: Any, engine: Any) -> Iterator[Any]:
    with bench.EditTools() as running:
        yield running


@pytest.fixture(scope="module")
def judgements(bench: Any, engine: Any, models: dict[str, Any], tmp_path_factory: Any) -> list[Any]:
    """A few edits of a few models."""
    folder = tmp_path_factory.mktemp("records")
    shares = [bench.Share(*models[name], SEED, EACH, folder) for name in SAMPLED]
    results = [bench.judge_share(share) for share in shares]
    assert [bench.judge_share(share) for share in shares] == results, "records are read again"
    return [entry.judgement for result in results for entry in result.found]


def test_drawn_models_have_every_kind_of_node(bench: Any, models: dict[str, Any]) -> None:
    subjects = importlib.import_module("edit_subjects")
    kinds = {
        bench.kind_of(node)
        for model in models.values()
        for workflow in subjects.compile_subject(*model).workflows.values()
        for node in workflow["nodes"]
    }
    assert kinds >= KINDS


def test_no_edit_that_differs_is_proved(judgements: list[Any]) -> None:
    assert len(judgements) > len(SAMPLED) * 3
    assert any(judgement.differs for judgement in judgements)
    assert [j for j in judgements if j.is_false_proof or j.is_crash] == []


def test_what_was_compiled_is_proved(judgements: list[Any]) -> None:
    compiled = [judgement for judgement in judgements if judgement.kind == "none"]
    assert [judgement.verdict for judgement in compiled] == ["proved"] * len(SAMPLED)


def test_edits_that_change_nothing_are_equal_on_the_engine(judgements: list[Any]) -> None:
    neutral = [judgement for judgement in judgements if judgement.equal]
    assert len(neutral) > len(SAMPLED)
    assert [judgement for judgement in neutral if judgement.differs] == []


@pytest.mark.parametrize(
    ("kind", "before", "now"),
    [
        ("flip", "json.a > 5", "(5 < json.a)"),
        ("flip", "f(x) > 5", None),
        ("keys", "({ a: 1 })", '({ "a": 1 })'),
        ("keys", '({ "a": 1 })', "({ a: 1 })"),
        ("keys", "({ a })", None),
        ("members", "json.a", 'json["a"]'),
        ("members", "json?.a", None),
        ("quotes", 'f("a")', "f('a')"),
        ("quotes", 'f("it\'s")', None),
        ("branches", "a ? b : c", "(!(a) ? (c) : (b))"),
        ("numbers", "a + 5", "a + 5.0"),
        ("rename", "((v) => v.v + 1)(v2)", "((vRenamed) => vRenamed.v + 1)(v2)"),
        ("rename", "(({ v }) => v)(x)", None),
        ("operands", "a > 1 && b", ["a > 1", "b"]),
        ("operands", "a || b", None),
    ],
)
def test_a_rewriting_keeps_the_meaning(tools: Any, kind: str, before: str, now: Any) -> None:
    assert tools.rewritten(before, kind, 0, expression=True) == now


def test_parameters_are_read_with_the_defaults_of_n8n(tools: Any) -> None:
    node = {
        "type": "n8n-nodes-base.wait",
        "typeVersion": 1.1,
        "parameters": {"amount": 2, "unit": "hours"},
    }
    read = tools.parameters_of(node)
    assert (read["resume"], read["amount"], read["unit"]) == ("timeInterval", 2, "hours")
    edits = importlib.import_module("edit_kinds")
    workflow = {"nodes": [node], "connections": {}}
    words = edits.edit_minutes(node, workflow, random.Random(1), tools)
    assert words == "2 hours as minutes"
    assert node["parameters"] == {"amount": 120, "unit": "minutes"}


def test_a_time_is_a_distance_from_the_begin_of_a_run(bench: Any) -> None:
    truth = importlib.import_module("edit_truth")
    begun = truth.datetime(2026, 5, 1, 9, 0, tzinfo=truth.UTC)
    assert truth.relative_time("2026-05-01T11:00:10Z", begun) == "T+120"
    assert truth.relative_time("2031-05-01T11:00:00Z", begun) == "2031-05-01T11:00:00Z"


def test_the_referee_needs_totals(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
                                  capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    referee = importlib.import_module("referees")
    (tmp_path / "benchmarks").mkdir()
    monkeypatch.setattr(referee, "ROOT", tmp_path)
    lines = {"good": "7 cases, 0 faults", "bad": "7 cases, 2 faults", "silent": "done",
             "empty": "0 cases, 0 faults"}  # fmt: skip
    for name, line in lines.items():
        (tmp_path / "benchmarks" / f"{name}.py").write_text(f"print({line!r})", "utf-8")
    harness = {
        name: referee.Harness(name, "", (f"{name}.py", "{5}"), r"(\d+) cases", (r"(\d+) faults",))
        for name in (*lines, "missing")
    }
    assert referee.judge_harnesses([harness["good"]], 1) == 0
    assert referee.judge_harnesses([harness["good"], harness["bad"]], 1) == 1
    assert "2 harnesses, 14 cases, 2 faults, 0 without totals" in capsys.readouterr().out
    assert referee.judge_harnesses([harness["good"], harness["missing"]], 1) == 0
    assert "1 absent" in capsys.readouterr().out
    assert referee.judge_harnesses([harness["missing"]], 1) == 2
    for name in ("silent", "empty"):
        assert referee.judge_harnesses([harness["good"], harness[name]], 1) == 2
    assert referee.scaled_command(harness["good"], 3) == ["good.py", "15"]


def test_every_harness_has_a_name_of_its_own(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    referee = importlib.import_module("referees")
    scripts = {harness.command[0] for harness in referee.HARNESSES}
    absent = {name for name in scripts if not (root / "benchmarks" / name).is_file()}
    assert absent == set()
    assert len({harness.name for harness in referee.HARNESSES}) == len(referee.HARNESSES)


def test_faults_are_saved_with_their_models(bench: Any, tmp_path: Path) -> None:
    model = tmp_path / "model.bpmn"
    model.write_text("<definitions/>", "utf-8")
    fault = bench.Judgement("m", "code", "set", "+ → -", False, True, "proved", False, True, ())
    right = fault._replace(verdict="different")
    found = [bench.Found(right, model, {}), bench.Found(fault, model, {"w": {"nodes": []}})]
    bench.save_faults(found, tmp_path / "out")
    assert (tmp_path / "out" / "index.txt").read_text("utf-8").splitlines() == [
        "proved-code-set: m: code of set: + → -: differs on n8n, proved"
    ]
    assert json.loads((tmp_path / "out" / "proved-code-set.json").read_text("utf-8")) == [
        {"nodes": []}
    ]


@pytest.mark.parametrize(
    ("kind", "before", "now"),
    [
        ("switch", "$json.kind", "$json.amount"),  # a variable that the condition reads as well
        ("set", " }}", " }}\n"),  # only the end of a line
    ],
)
def test_an_edit_that_verify_once_failed_on(
    bench: Any, models: dict[str, Any], kind: str, before: str, now: str
) -> None:
    subject = importlib.import_module("edit_subjects").compile_subject(*models["asked-0"])
    workflows = json.loads(json.dumps(subject.workflows))
    for workflow in workflows.values():
        for node in workflow["nodes"]:
            if bench.kind_of(node) == kind:
                text = json.dumps(node["parameters"], ensure_ascii=False)
                old, new = (json.dumps(part)[1:-1] for part in (before, now))
                node["parameters"] = json.loads(text.replace(old, new, 1))
    assert workflows != subject.workflows
    verdict, _ = bench.verdict_of(subject, workflows, ())
    assert verdict in bench.NOT_PROVED
    assert verdict != bench.CRASHED
