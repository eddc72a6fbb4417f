"""What flow faults do on n8n, as findings say it, shown on its own engine."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from cli_cases import orgflowc
from n8n_compiled import emitted
from orgflow import compiler
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.plan.target import N8N_TARGET
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.compilation.reading import load_model

from orgflow_ir.flow.token_game.runs import Run, enumerate_runs
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

CASES = Path(__file__).resolve().parents[2] / "diagnostics"


def ran(code: str, engine: LocalEngine) -> list[tuple[Run, str, Counter[str]]]:
    """The runs of a faulty model, compiled by force: how each ends on n8n, and what is executed."""
    (folder,) = CASES.glob(f"{code}-*")
    registry = Registry(outside=False)
    ctx = PassContext(registry=registry)
    model = load_model(str(folder / "bad.bpmn"), registry, ctx, from_="bpmn")
    assert model is not None
    request = compiler.CompileRequest(model, registry.backends["n8n"], force=True)
    legal = compiler.run_stages(compiler.LOWER, request, ctx).legal
    assert legal is not None, [d.message for d in ctx.diagnostics]
    runner = LocalRunner(engine)
    process = legal.processes[0]
    runner.load(emitted(legal), process.id, ctx)
    found = enumerate_runs(legal, process.id, max_runs=4)
    runs = (*found.runs, *found.stuck)
    labels = {n.id: n.label for n in process.nodes}
    result = []
    for run, played in zip(runs, runner.play(runs), strict=True):
        done = Counter(labels[e.element] for e in played.executed if e.element in labels)
        result.append((run, played.status, done))
    assert result
    return result


def test_a_deadlock_ends_green_and_nothing_behind_it_happens(engine: LocalEngine) -> None:
    for _, status, done in ran("OF201", engine):
        assert status == "success"
        assert done["Ship"] == 0
        assert done["Pack"] + done["Reorder"] == 1


def test_what_is_not_waited_for_is_done_twice(engine: LocalEngine) -> None:
    for _, status, done in ran("OF203", engine):
        assert (status, done["Ship"], done["Pack"], done["Bill"]) == ("success", 2, 1, 1)


@pytest.mark.parametrize("code", sorted(N8N_TARGET.consequences))
def test_the_finding_says_so(code: str) -> None:
    (folder,) = CASES.glob(f"{code}-*")
    said = " ".join(orgflowc("check", "--target", "n8n", folder / "bad.bpmn").out.split())
    assert f"also: on n8n {N8N_TARGET.consequences[code]}" in said
    assert "on n8n" not in orgflowc("check", folder / "bad.bpmn").out
