"""`orgflowc eval discovery`: each figure by hand, ceilings above, the null below."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from model_server import model_server
from orgflow import cli
from orgflow.agents.discovery.discover import discover_processes
from orgflow.evaluation.discovery import (
    Truth,
    TruthError,
    assign_pairs,
    compare_words,
    evaluate_corpus,
    pairwise_f1,
    read_truth,
    score_discovery,
    v_measure,
)
from orgflow.evaluation.text_metrics import score_behaviour
from orgflow.store.embedder import HashedWords
from orgflow.store.messages import MessageStore
from small_corpus import corpus, truth_json

from orgflow_ir.model import Event, Flow, Model, Process, Task


@pytest.mark.parametrize("seed", range(30))
def test_the_assignment_is_the_best_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, columns = (int(number) for number in rng.integers(1, 6, 2))
    values = rng.normal(size=(rows, columns))
    pairs = assign_pairs(values)
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
    assert compare_words("Check the stock levels", "checked stock level") == 1
    assert compare_words("Send invoice", "Pay rent") == 0


def test_steps_are_found_by_their_messages_whatever_they_are_called() -> None:
    messages, cases = corpus()
    embedder = HashedWords()
    found = discover_processes(messages, embedder)
    truth = read_truth(truth_json(cases))
    assert truth.shows["order-1-4"] == {"4"}
    ids = [m.id for m in messages]

    def share(shows: dict[str, frozenset[str]]) -> float:
        return score_discovery(found, truth._replace(shows=shows), ids, embedder).step_messages

    assert score_discovery(found, truth, ids, embedder).step_messages >= 0.5
    assert share({id_: frozenset("x") for id_ in cases}) == 1, "any step is about the one task"
    assert share({id_: frozenset(("x", "y")) for id_ in cases}) == 1, "two steps, two tasks"
    assert share({id_: frozenset((id_,)) for id_ in cases}) < 0.2, "a step of three tasks is none"
    assert share({}) == 1


def test_a_truth_is_checked() -> None:
    with pytest.raises(TruthError, match="is not a truth file"):
        read_truth("[]")
    with pytest.raises(TruthError, match="JSON"):
        read_truth("{")


def _process(id: str, names: Sequence[str]) -> Process:
    """Tasks one after the other."""
    nodes = [Event(id=f"{id}-start", position="start")]
    nodes += [Task(id=f"{id}-{n}", name=name) for n, name in enumerate(names)]
    nodes += [Event(id=f"{id}-end", position="end")]
    flows = [
        Flow(id=f"{id}-flow-{n}", source=a.id, target=b.id)
        for n, (a, b) in enumerate(itertools.pairwise(nodes))
    ]
    return Process(id=id, nodes=tuple(nodes), flows=tuple(flows))


def _models(truth: Truth) -> dict[str, Model]:
    return {
        name: Model(id=name, processes=(_process(name, tasks),))
        for name, tasks in truth.tasks.items()
    }


def test_behaviour_by_hand() -> None:
    names = ["Order lamps", "Pack lamps", "Ship parcel"]
    true = Model(id="true", processes=(_process("p", names),))
    assert score_behaviour(true, true) == 1
    turned = Model(id="turned", processes=(_process("p", names[::-1]),))
    assert score_behaviour(turned, true) == 0
    swapped = Model(id="swapped", processes=(_process("p", [names[1], names[0], names[2]]),))
    assert score_behaviour(swapped, true) == pytest.approx(2 / 3)  # one of three pairs is turned
    part = Model(id="part", processes=(_process("p", names[:2]),))
    assert score_behaviour(part, true) == pytest.approx(2 * 1 / (1 + 3))
    one = Model(id="one", processes=(_process("p", names[:1]),))
    assert (score_behaviour(one, one), score_behaviour(one, true)) == (1, 0)


def test_a_process_that_nobody_found_counts_nothing() -> None:
    messages, cases = corpus()
    truth = read_truth(truth_json(cases))
    ids, embedder = [m.id for m in messages], HashedWords()
    found = discover_processes(messages, embedder)
    both = score_discovery(found, truth, ids, embedder, _models(truth))
    first = score_discovery(
        found._replace(processes=found.processes[:1]), truth, ids, embedder, _models(truth)
    )
    assert both.task_f1 is not None
    assert first.task_f1 is not None
    assert first.task_f1 <= 0.5 < both.task_f1
    assert score_discovery(found, truth, ids, embedder).behaviour is None


def test_ceilings_and_null() -> None:
    messages, cases = corpus()
    truth: Truth = read_truth(truth_json(cases))
    rows, sweeps = evaluate_corpus(
        messages, truth, HashedWords(), seeds=(1, 2, 3), models=_models(truth)
    )
    by = {row.label: row.scores for row in rows}
    (found,), (clusters,), (names,) = (
        by["discovered"], by["true clusters"], by["true names"],
    )  # fmt: skip
    assert (clusters.v_measure, clusters.case_f1, clusters.noise_f1) == (1, 1, 1)
    assert (names.step_recall, names.order) == (1, 1)
    assert found.v_measure == found.case_f1 == found.noise_f1 == 1
    assert found.step_recall > 0.5
    assert (names.task_f1, names.flow_f1, names.gateway_f1, names.behaviour) == (1, 1, 1, 1)
    assert all(null.step_recall <= found.step_recall for null in by["null"])
    for figure in ("task_f1", "flow_f1", "behaviour"):
        assert max(getattr(n, figure) for n in by["null"]) <= getattr(found, figure)
    assert 0 < found.behaviour < 1  # type: ignore[operator]
    assert [label for label, _ in sweeps] == ["discovered", "true clusters", "true names", "null"]
    assert all(values == sorted(values, reverse=True) for _, values in sweeps)


def _processes(prompt: str) -> str:
    """One process of the first messages that a prompt shows."""
    steps = [{"name": f"Step {n}", "evidence": [f"m{n}"]} for n in range(1, 4)]
    assert "[m3]" in prompt
    return json.dumps({"processes": [{"name": "Handle", "steps": steps}]})


def _bpmn(*tasks: str) -> str:
    ids = ["start", *(f"t{n}" for n in range(len(tasks))), "end"]
    nodes = [f'<task id="t{n}" name="{name}"/>' for n, name in enumerate(tasks)]
    flows = [
        f'<sequenceFlow id="f{n}" sourceRef="{a}" targetRef="{b}"/>'
        for n, (a, b) in enumerate(itertools.pairwise(ids))
    ]
    return (
        '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" '
        'targetNamespace="x"><process id="p"><startEvent id="start"/><endEvent id="end"/>'
        f"{''.join(nodes + flows)}</process></definitions>"
    )


@pytest.mark.slow
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
    assert "tokens in" in shown
    assert re.search(r"task f1 +- ", shown), "no true models, no figure"
    models = tmp_path / "models"
    models.mkdir()
    (models / "order.bpmn").write_text(_bpmn("order lamps", "pack lamps"))
    asked = ["eval", "discovery", store, str(truth), "--seeds", "2", "--true-models"]
    assert cli.run([*asked, str(models)]) == 0
    shown = capsys.readouterr().out
    assert "models of 1 of 2 true processes" in shown
    assert re.search(r"task f1 +0\.[1-9]", shown)
    assert cli.run([*asked, str(tmp_path / "store")]) == 2
    assert cli.run(["eval", "pmo", store, "--true-models", str(models)]) == 2
    assert cli.run(["eval", "discovery", store]) == 2
    assert cli.run(["eval", "pmo", store, str(truth)]) == 2
    baselines = ["eval", "discovery", store, str(truth), "--seeds", "1", "--agent"]
    with model_server(lambda request: _processes(request["messages"][1]["content"])) as server:
        asked = [*baselines, "one-call,clusters", "--model-url", server.url, "--model", "scripted"]
        assert cli.run([*asked, "--samples", "2"]) == 0
        assert len(server.requests) == 2 * (1 + 2)  # as many clusters as true processes
        shown, notes = capsys.readouterr()
        assert " expected in up to 6 calls, " in notes
        assert re.search(r"number +\d+ +\d+ +\d+ \(\d+-\d+\) +\d+ \(\d+-\d+\) ", shown)
        assert cli.run(asked) == 0
        assert len(server.requests) == 3 * (1 + 2)
    shown = capsys.readouterr().out
    header = next(line for line in shown.splitlines() if "discovered" in line)
    assert header.split("  ")[-1].strip() == "null"
    assert "one-call" in header
    assert re.search(r"tokens in +0 +0 +10 +20 +0", shown)
    assert shown.count("one-call") == 2, "a row of the sweep, too"
    assert cli.run([*baselines, "nobody"]) == 2
    assert cli.run([*baselines, "clusters"]) == 2, "no model is configured"
    truth.write_text(json.dumps({"x": 1}))
    assert cli.run(["eval", "discovery", store, str(truth)]) == 2
