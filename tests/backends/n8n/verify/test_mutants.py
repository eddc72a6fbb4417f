"""Mutated workflows on n8n's real engine and before `verify`: a part of `make bench-verify`."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from orgflow.backends.n8n.engine.local import LocalEngine

from orgflow_ir.plugins import Registry

MODELS = ("pmo/03", "pmo/10", "examples/leave-request", "examples/order-to-cash")
"""Small and large, with loops, parallel and inclusive parts."""


@pytest.fixture(scope="module")
def bench(root: Path) -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(root / "benchmarks"))
        yield importlib.import_module("verify_mutants")


@pytest.fixture(scope="module")
def subjects(bench: Any, root: Path, shared: Path, registry: Registry) -> list[Any]:
    """Every process of PMo and the examples that compiles."""
    return list(
        bench.subjects(bench.read_models(root, shared / "data" / "pmo", registry), registry)
    )


def named(subjects: list[Any], name: str) -> Any:
    return next(s for s in subjects if s.name == name)


@pytest.fixture(scope="module")
def found(bench: Any, subjects: list[Any], engine: LocalEngine) -> list[Any]:
    """What engine and `verify` say of the mutants of a few models."""
    effort, cache = bench.Effort(runs=6, walks=1), bench.Cache(None)
    result = []
    for subject in (named(subjects, name) for name in MODELS):
        made = list(bench.mutants(subject.workflow, subject.key))
        known = bench.ground_truth(engine, subject, made, effort, cache)
        assert subject.scripts
        assert subject.dropped == 0, "the unmutated workflow does what the model says"
        result += bench.findings(engine, subject, made, known)
    return result


def test_verify_catches_what_differs_and_nothing_else(bench: Any, found: list[Any]) -> None:
    assert bench.reached(found, enough=200) == [], bench.details(found)


def test_some_mutants_differ_in_each_way(found: list[Any]) -> None:
    # never "items": every compiled node takes the first of several
    assert {f.truth.kind for f in found} == {"", "run", "odd"}
    harmless = [f for f in found if f.mutant.mutator.harmless]
    assert [str(f) for f in harmless if f.differs] == []


def test_as_compiled(bench: Any, subjects: list[Any]) -> None:
    """51 of PMo's 53 models of one process can be compiled; all of them are proved."""
    text, faults = bench.as_compiled(subjects, 53)
    assert faults == [], text


@pytest.mark.parametrize(
    ("verdict", "faults"), [("proved", "are caught"), ("different", "false alarm")]
)
def test_a_verify_that_always_says_the_same_does_not_pass(
    bench: Any,
    found: list[Any],
    monkeypatch: pytest.MonkeyPatch,
    engine: LocalEngine,
    verdict: str,
    faults: str,
) -> None:
    monkeypatch.setattr(bench, "opinion", lambda *_: bench.Opinion(verdict))
    some = [f for f in found if f.subject.name == "examples/leave-request"]
    subject = some[0].subject
    again = bench.findings(engine, subject, [f.mutant for f in some], [f.truth for f in some])
    assert any(faults in fault for fault in bench.reached(again, enough=0))


def test_mutants_are_drawn_by_their_seed(bench: Any, subjects: list[Any]) -> None:
    subject = named(subjects, "examples/order-to-cash")
    before = json.dumps(subject.workflow)
    one = list(bench.mutants(subject.workflow, subject.key, each=2))
    assert one == list(bench.mutants(subject.workflow, subject.key, each=2))
    assert {m.what for m in one} != {m.what for m in bench.mutants(subject.workflow, "x", each=2)}
    assert json.dumps(subject.workflow) == before, "the original is left alone"
    texts = [bench.canonical(m.workflow) for m in one]
    assert len({before, *texts}) == len(texts) + 1


def test_every_mutator_makes_workflows_that_n8n_takes(bench: Any, subjects: list[Any]) -> None:
    used = set()
    for subject in subjects[::6]:
        for mutant in bench.mutants(subject.workflow, subject.key):
            used.add(mutant.mutator.name)
            nodes = [n["name"] for n in mutant.workflow["nodes"]]
            assert len(nodes) == len(set(nodes)), mutant.what
            ends = [
                end["node"]
                for kinds in mutant.workflow["connections"].values()
                for wires in kinds["main"]
                for end in wires or ()
            ]
            assert {*ends, *mutant.workflow["connections"]} <= set(nodes), mutant.what
            assert set(mutant.stands) <= set(nodes), mutant.what
            assert set(mutant.stands.values()) <= set(subject.planned), mutant.what
    assert used == {m.name for m in bench.MUTATORS}
