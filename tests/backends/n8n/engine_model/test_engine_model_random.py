"""Random workflows on model and engine; `benchmarks/engine_model_fuzz.py` runs more."""

from __future__ import annotations

import collections
from pathlib import Path

import pytest
from engine_fixture import engine  # noqa: F401
from model_replay import record_of, replay
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.engine_model import EngineModel
from seeds import EVERY

BENCHMARKS = Path(__file__).resolve().parents[4] / "benchmarks"
COUNT = 150 if EVERY else 30
# Found by earlier versions of the model to behave otherwise: a Wait with an error output whose
# timer runs out (107, 261), runs whose last node fails and goes on (1479, 1940, 1999).
SEEDS = (107, 261, 1479, 1940, 1999, *range(20_000, 20_000 + COUNT))


def test_does_what_the_engine_does(
    engine: LocalEngine,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    fuzz = pytest.importorskip("engine_model_fuzz", reason="benchmarks/ is not there")
    found = {}
    counts: collections.Counter[str] = collections.Counter()
    for case, run in fuzz.runs(engine, SEEDS):
        counts.update(case.traits)
        different = fuzz.disagreement(case, run)
        if different is None and run.status != "limit":
            machine = EngineModel(case.case.workflow, case.case.workflows)
            record = record_of(run)
            different = replay(machine, "T", record, run.status, items=case.case.items)
        if different is not None:
            found[case.case.seed] = different
    assert not found
    for name, share in (
        ("irreducible cycle", 0.3),
        ("inclusive", 0.2),
        ("loses or doubles tokens", 0.3),
        ("call waited", 0.1),
        ("errorOutput", 0.1),
        ("disabled", 0.1),
        ("executeOnce", 0.1),
    ):
        assert counts[name] >= share * COUNT, name
