"""`orgflowc eval messages`: the chain from messages to executed workflows, link by link."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from orgflow import cli
from orgflow.agents.discovery.discover import Discovery, FoundProcess
from orgflow.compiler import CompileRequest, compile_separately
from orgflow.evaluation.discovery import Truth
from orgflow.evaluation.message_chain import TraceScores, Workflow, score_traces
from orgflow.store.embedder import HashedWords
from orgflow.store.messages import MessageStore
from small_corpus import LEAVE, ORDER, corpus, truth_json

from orgflow_ir.model import Event, Flow, Gateway, Model, Process, Task
from orgflow_ir.model.evidence import Evidence
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry


def _model(id: str, rows: Sequence[str], messages: str = "") -> Model:
    """Tasks and gateways (`x…`) in rows of flows; the task `a` cites the message `a`, unless other
    letters are given."""
    names = list(dict.fromkeys(name for row in rows for name in row.split()))
    nodes = [
        Event(id=f"{id}_{n}", position="start") if n == "s"
        else Event(id=f"{id}_{n}", position="end") if n == "e"
        else Gateway(id=f"{id}_{n}", gateway_kind="exclusive") if n.startswith("x")
        else Task(
            id=f"{id}_{n}", name=f"Step {n}", task_type="user",
            evidence=(Evidence(document=n, quote=n, agent="test"),) if n in messages else (),
        )
        for n in names
    ]  # fmt: skip
    flows = [pair for row in rows for pair in pairwise(row.split())]
    arcs = tuple(
        Flow(id=f"{id}_f{n}", source=f"{id}_{a}", target=f"{id}_{b}")
        for n, (a, b) in enumerate(flows)
    )
    return Model(
        id=id, processes=(Process(id=id, executable=True, nodes=tuple(nodes), flows=arcs),)
    )


TRUE = _model("t", ["s a x1 b x2 d e", "x1 c x2"])
TRUTH = Truth(
    {"t": "Steps"}, {"t": ("Step a", "Step b", "Step d", "Step c")},
    dict.fromkeys("abcd", "t"), dict.fromkeys("abcd", "t-1"),
    {letter: frozenset({f"t_{letter}"}) for letter in "abcd"},
    {"t": (("Step a", "Step b", "Step d"), ("Step a", "Step c", "Step d"))},
)  # fmt: skip
"""A process of four tasks, two of which are a choice, and both of its scenarios."""


def _measure(drawn: Model, *, compiled: bool = True) -> tuple[TraceScores, TraceScores]:
    """The traces of a drawn process, executed by the model of the engine."""
    registry = Registry(outside=False)
    ctx = PassContext(registry=registry)
    backend = registry.backends["n8n"]
    (process,) = drawn.processes
    discovery = Discovery((FoundProcess(process, "", (), (), (tuple("abcd"),)),), ())
    workflows = {
        model.processes[0].id: Workflow(model, emitted)
        for model, emitted in compile_separately(CompileRequest(drawn, backend, {}), ctx)
        if compiled
    }
    runner = backend.engines().model_runner()
    assert runner is not None
    try:
        return score_traces(
            discovery, TRUTH, {"t": TRUE}, workflows, runner, HashedWords(), ctx
        )  # fmt: skip
    finally:
        runner.close()


def test_the_true_model_runs_every_scenario() -> None:
    drawn = _model("p", ["s a x1 b x2 d e", "x1 c x2"], "abcd")
    by_evidence, by_name = _measure(drawn)
    assert (by_evidence.mean, by_evidence.passed) == (1.0, 1)
    assert (by_name.mean, by_name.passed) == (1.0, 1)


def test_a_row_of_all_options_runs_one_task_too_many() -> None:
    by_evidence, _ = _measure(_model("p", ["s a b c d e"], "abcd"))
    # each scenario has three of the four tasks: precision 3/4, recall 1
    assert by_evidence.mean == pytest.approx(2 * 3 / (4 + 3))


def test_a_step_without_evidence_is_paired_by_its_name_alone() -> None:
    by_evidence, by_name = _measure(_model("p", ["s a x1 b x2 d e", "x1 c x2"], "bcd"))
    assert by_name.mean == 1.0
    assert by_evidence.mean == pytest.approx(2 * 2 / (3 + 3))  # the first task is none of the true


def test_a_process_that_does_not_compile_has_no_trace() -> None:
    drawn = _model("p", ["s a x1 b x2 d e", "x1 c x2"], "abcd")
    by_evidence, by_name = _measure(drawn, compiled=False)
    assert (by_evidence.mean, by_evidence.passed, by_name.mean) == (0.0, 0, 0.0)


def _bpmn(lines: Sequence[tuple[str, str]]) -> str:
    ids = ["start", *(f"t{n}" for n in range(len(lines))), "end"]
    nodes = [f'<task id="t{n}" name="{text[:30]}"/>' for n, (_, text) in enumerate(lines)]
    flows = [
        f'<sequenceFlow id="f{n}" sourceRef="{a}" targetRef="{b}"/>'
        for n, (a, b) in enumerate(pairwise(ids))
    ]
    return (
        '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" '
        'targetNamespace="x"><process id="p"><startEvent id="start"/><endEvent id="end"/>'
        f"{''.join(nodes + flows)}</process></definitions>"
    )


def test_the_command_prints_the_chain_beside_the_published_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ORGFLOW_MODEL", "ORGFLOW_MODEL_URL"):
        monkeypatch.delenv(name, raising=False)
    messages, cases = corpus()
    store, truth = str(tmp_path / "store"), tmp_path / "truth.json"
    truth.write_text(truth_json(cases))
    with MessageStore.create(store) as opened:
        opened.add(messages)
        opened.link()
    arguments = ["eval", "messages", store, str(truth), "--engine", "model"]
    assert cli.run(arguments) == 0
    bare = capsys.readouterr().out
    assert "no true models: --true-models DIR measures models and traces" in bare
    assert re.search(r"trace F1 +- +0\.837", bare)

    for name, lines in (("order", ORDER), ("leave", LEAVE)):
        (tmp_path / f"{name}.bpmn").write_text(_bpmn(lines))
    page = tmp_path / "page.html"
    assert cli.run([*arguments, "--html", str(page)]) == 0
    shown = capsys.readouterr().out
    assert "Hungarian F1" in page.read_text("utf-8")
    assert re.search(r"processes, of true ones +2 of 2", shown)
    assert re.search(r"Hungarian F1 +\d\.\d{3} +0\.754", shown)
    assert re.search(r"workflows compiled +2 of 2", shown)
    assert re.search(r"processes with F1 >= 0\.8 +\d of 2 +32 of 55", shown)
    assert "models of 2 of 2 true processes" in shown


def test_a_truth_is_required(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["eval", "messages", str(tmp_path)]) == 2
    assert "required for `discovery` and `messages`" in capsys.readouterr().err
