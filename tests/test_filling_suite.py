"""The filling benchmark: scores on models whose differences are known, and the command."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest
from cli_cases import orgflowc
from engine_fixture import missing
from model_server import model_server
from orgflow.backends.n8n.engine.install import engine_status
from orgflow.evaluation.filling import (
    FilledModel,
    FillingReport,
    TruthError,
    evaluate_filling,
    filling_of,
    list_cases,
    read_truth,
    score_filling,
)
from orgflow.evaluation.pass_at_k import pass_at_k, pass_lines
from small_catalogue import small_catalogue

from orgflow_ir.model import Model, Process, Task
from orgflow_ir.model.bindings import Parameter

CATALOGUE = small_catalogue()
TRUTH = {
    "t": {
        "operation": "n8n-nodes-base.chat:post",
        "parameters": {"select": "channel", "options": {"silent": True}},
        "inputs": {"text": "order.no", "channelId": "channel"},
        "outputs": {"sent": "ts"},
    }
}


def feel(name: str, text: str) -> Parameter:
    return Parameter(name=name, text=text, language="feel")


def filled(
    operation: str = "post", silent: bool = True, text: str = "order.no", more: bool = False
) -> Model:
    found = CATALOGUE.operation(f"n8n-nodes-base.chat@1:{operation}")
    assert found is not None
    values = {"select": "channel", "options": {"silent": silent, **({"delay": 3} if more else {})}}
    inputs = (feel("text", text), feel("channelId", "channel"))
    binding = CATALOGUE.binding(found, values, inputs, (feel("sent", "= ts"),))
    task = Task(id="t", name="Tell", task_type="service", binding=binding)
    return Model(id="m", processes=(Process(id="p", nodes=(task,)),))


def test_all_is_right() -> None:
    scores = score_filling(filled(), read_truth(json.dumps(TRUTH)))
    assert scores == (1, 1, 1, 5, 5)
    assert scores.exact
    assert scores.arranged


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (filled(silent=False), (1, 1, 1, 5, 4)),
        (filled(text="order.id"), (1, 1, 1, 5, 4)),
        (filled(more=True), (1, 1, 1, 6, 5)),
        (filled(operation="archive"), (1, 1, 0, 5, 0)),
        (Model(id="m", processes=(Process(id="p", nodes=(Task(id="t"),)),)), (1, 0, 0, 5, 0)),
    ],
)
def test_what_differs_counts(model: Model, expected: tuple[int, ...]) -> None:
    scores = score_filling(model, read_truth(json.dumps(TRUTH)))
    assert scores == expected
    assert not scores.exact


def test_what_is_to_be_filled_in_is_not_given() -> None:
    found = CATALOGUE.operation("n8n-nodes-base.chat@1:post")
    assert found is not None
    task = Task(id="t", binding=CATALOGUE.binding(found, {"select": "channel"}))
    filling = filling_of(task)
    assert filling is not None
    assert filling.parameters == {"select": "channel"}


@pytest.mark.parametrize("text", ["{", "[]", '{"t": {}}', '{"t": {"operation": "x", "inputs": 3}}'])
def test_a_truth_of_another_form(text: str) -> None:
    with pytest.raises(TruthError):
        read_truth(text)


def test_a_truth_of_another_model() -> None:
    with pytest.raises(TruthError, match="no task `x`"):
        score_filling(filled(), read_truth(json.dumps({"x": TRUTH["t"]})))


def test_pass_at_k_counts_all_choices() -> None:
    for samples in range(1, 6):
        for passed in range(samples + 1):
            outcomes = [i < passed for i in range(samples)]
            for k in range(1, samples + 1):
                chosen = list(combinations(outcomes, k))
                share = sum(any(one) for one in chosen) / len(chosen)
                assert pass_at_k(samples, passed, k) == pytest.approx(share)
    with pytest.raises(ValueError, match="samples"):
        pass_at_k(2, 3, 1)


def test_the_report(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.bpmn").write_text("model")
        (tmp_path / f"{name}.filled.json").write_text(json.dumps(TRUTH))
    turns = iter([filled(), filled(silent=False), filled(), filled()])
    report = evaluate_filling(tmp_path, "toy", lambda path: FilledModel(next(turns)), samples=2)
    assert report.ok
    assert report.measures() == (0.75, 1.0, 0.95, 1.0)
    assert pass_lines(report.outcomes()) == ["pass@1 0.750", "pass@2 1.000"]
    assert "WorkTeam" in report.summary()
    assert report.to_csv().splitlines()[1] == "a.bpmn,1,1,1,1,5,5,1,1,0,0.0"


def test_nothing_is_invented_where_nothing_was_measured() -> None:
    empty = FillingReport("toy")
    assert empty.measures() == (None, None, None, None)
    assert "pass@" not in empty.summary()


def test_what_is_no_benchmark(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="filled"):
        list(list_cases(tmp_path))
    (tmp_path / "a.filled.json").write_text("{}")
    with pytest.raises(TruthError, match="no model"):
        list(list_cases(tmp_path))


def test_the_command(tmp_path: Path) -> None:
    if not engine_status().installed:
        missing("n8n's engine is not installed")
    (tmp_path / "a.triples").write_text("T1 Send a message in Slack\nStart -> T1\nT1 -> End\n")
    truth = {"t1": {"operation": "n8n-nodes-base.slack:message:post"}}
    (tmp_path / "a.filled.json").write_text(json.dumps(truth))
    ran = orgflowc("eval", "fill", str(tmp_path))
    assert ran.code == 0, ran.err
    assert "a.triples,1,1,1,1,0,0,1,1,0," in ran.out
    assert "operations-rules" in ran.err


def test_a_wrong_truth_costs_no_call(tmp_path: Path) -> None:
    if not engine_status().installed:
        missing("n8n's engine is not installed")
    (tmp_path / "a.triples").write_text("T1 Send mail\nStart -> T1\nT1 -> End\n")
    truth = {"T1": {"operation": "n8n-nodes-base.slack:message:post"}}
    (tmp_path / "a.filled.json").write_text(json.dumps(truth))
    with model_server(['{"operation": "none"}']) as server:
        env = {"ORGFLOW_MODEL_URL": server.url, "ORGFLOW_MODEL": "toy"}
        ran = orgflowc("eval", "fill", str(tmp_path), "--agent", "operations", env=env)
    assert ran.code == 2
    assert "no task `T1`; the ids of its tasks: `t1`" in ran.err
    assert server.requests == []
