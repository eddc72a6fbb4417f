"""`orgflowc eval discovery`: each figure by hand, ceilings above, the null below."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from orgflow import cli
from orgflow.evaluation.discovery import (
    Truth,
    TruthError,
    assignment,
    dice,
    evaluate,
    pairwise_f1,
    read_truth,
    v_measure,
)
from orgflow.store.embedder import HashedWords
from orgflow.store.messages import MessageStore
from small_corpus import corpus, truth_json


@pytest.mark.parametrize("seed", range(30))
def test_the_assignment_is_the_best_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, columns = (int(number) for number in rng.integers(1, 6, 2))
    values = rng.normal(size=(rows, columns))
    pairs = assignment(values)
    assert len(pairs) == min(rows, columns)
    assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)
    if rows <= columns:
        best = max(
            sum(values[i, c] for i, c in enumerate(chosen))
            for chosen in itertools.permutations(range(columns), rows)
        )
        assert sum(values[a, b] for a, b in pairs) == pytest.approx(best)


def test_figures_by_hand() -> None:
    assert v_measure("aabb", "xxyy") == 1
    assert v_measure("aabb", "xxxx") == 0
    assert v_measure("aabb", "xyzw") == pytest.approx(2 / 3)
    assert pairwise_f1(["a", "a", "a", None], [1, 1, None, 1]) == pytest.approx(2 / 6)
    assert dice("Check the stock levels", "checked stock level") == 1
    assert dice("Send invoice", "Pay rent") == 0


def test_a_truth_is_checked() -> None:
    with pytest.raises(TruthError, match="is no truth"):
        read_truth("[]")
    with pytest.raises(TruthError, match="JSON"):
        read_truth("{")


def test_ceilings_and_null() -> None:
    messages, cases = corpus()
    truth: Truth = read_truth(truth_json(cases))
    rows, thresholds = evaluate(messages, truth, HashedWords(), seeds=(1, 2, 3))
    by = {row.label: row.scores for row in rows}
    (found,), (clusters,), (names,) = (
        by["discovered"], by["true clusters"], by["true names"],
    )  # fmt: skip
    assert (clusters.v_measure, clusters.case_f1, clusters.noise_f1) == (1, 1, 1)
    assert (names.step_recall, names.order) == (1, 1)
    assert found.v_measure == found.case_f1 == found.noise_f1 == 1
    assert found.step_recall > 0.5
    assert all(null.step_recall <= found.step_recall for null in by["null"])
    assert [f for _, f in thresholds] == sorted((f for _, f in thresholds), reverse=True)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    messages, cases = corpus()
    store, truth = str(tmp_path / "store"), tmp_path / "truth.json"
    truth.write_text(truth_json(cases))
    with MessageStore.create(store) as opened:
        opened.add(messages)
        opened.link()
    assert cli.run(["eval", "discovery", store, str(truth), "--seeds", "2"]) == 0
    shown = capsys.readouterr().out
    assert "true number of processes: 2" in shown
    assert "of nine tenths" in shown
    assert cli.run(["eval", "discovery", store]) == 2
    assert cli.run(["eval", "pmo", store, str(truth)]) == 2
    truth.write_text(json.dumps({"x": 1}))
    assert cli.run(["eval", "discovery", store, str(truth)]) == 2
