"""What others make of the files: bpmn-moddle reads, bpmnlint judges, SpiffWorkflow executes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bpmn_trips import read_file, written
from node_tools import BPMNLINT_PACKAGES, NodeChild, tool
from shared_data import shared_cases
from spiff_runs import execute, plain, scripted

from orgflow_ir.flow.token_game.replay import follow_execution
from orgflow_ir.flow.token_game.runs import enumerate_runs
from orgflow_ir.flow.token_game.semantics import Game
from orgflow_ir.model import Task
from orgflow_ir.testing.conformance.minimal_models import minimal_models

SCRIPT = Path(__file__).with_name("bpmn_referee.cjs")


@pytest.fixture(scope="module")
def referee() -> Iterator[NodeChild]:
    with NodeChild(SCRIPT, str(tool("bpmnlint", BPMNLINT_PACKAGES))) as child:
        yield child


def judged(referee: NodeChild, source: str) -> dict[str, Any]:
    answer = referee.ask({"source": source})
    assert answer["error"] is None
    return answer


def rules(answer: dict[str, Any]) -> Counter[str]:
    return Counter(finding.split()[0] for finding in answer["findings"])


@pytest.mark.parametrize("folder", shared_cases(["miwg-reference", "camunda7-executable"]))
def test_no_new_warnings_and_findings(folder: str, shared: Path, referee: NodeChild) -> None:
    paths = sorted((shared / "data" / folder).iterdir())
    paths = [p for p in paths if p.suffix in (".bpmn", ".xml")]
    assert len(paths) > 20
    for path in paths:
        source = path.read_text("utf-8")
        if "http://www.omg.org/spec/BPMN/20100524/MODEL" not in source:
            continue  # bpmn-moddle does not read what has no namespace
        before = judged(referee, source)
        after = judged(referee, written(read_file(path, diagram=True)))
        assert set(after["warnings"]) <= set(before["warnings"]), path.name
        # by rule: flows without ids in the source have names of ours afterwards
        assert rules(after) - rules(before) == Counter(), path.name


def test_laid_out_models_are_read_without_warnings(shared: Path, referee: NodeChild) -> None:
    models = [m for _, m in minimal_models()]
    models += [read_file(p) for p in sorted((shared / "data/pmo/pme").glob("*.json"))]
    models += [read_file(p) for p in sorted((shared / "data/n8n-workflows").glob("0[0-3]*.json"))]
    assert len(models) > 130
    for model in models:
        answer = judged(referee, written(model))
        assert [w for w in answer["warnings"] if "example.org" not in w] == [], model.id


def test_a_rule_can_be_broken(referee: NodeChild, shared: Path) -> None:
    text = written(read_file(shared / "data" / "pmo" / "pme" / "01.json"))
    assert judged(referee, text)["warnings"] == []
    assert judged(referee, text.replace('targetRef="', 'targetRef="x', 1))["warnings"] != []
    assert "no-bpmndi" in rules(judged(referee, re.sub(r"(?s)<bpmndi:.*</bpmndi:.*?>", "", text)))


def test_spiffworkflow_executes_the_runs_of_the_token_game(shared: Path) -> None:
    played = models = 0
    for path in sorted((shared / "data" / "pmo" / "pme").glob("*.json")):
        model = read_file(path)
        if not plain(model):
            continue
        model = scripted(model)
        text, process = written(model), model.processes[0].id
        game = Game(model)
        tasks = {n.id for s in model.scopes() for n in s.nodes if isinstance(n, Task)}
        models += 1
        for run in enumerate_runs(model, process, game=game).runs[:3]:
            observed, completed = execute(text, process, run, model)
            mine = [s.element for s in run.steps if s.element in tasks and s.action != "open"]
            assert Counter(observed) == Counter(mine), path.name
            assert completed == (run.outcome == "completed"), path.name
            result = follow_execution(game, process, run.start, observed, run.script, tasks)
            assert result.ok, (path.name, result.reason)
            played += 1
    assert models >= 40
    assert played >= 110
