"""The second corpus: what it holds, and that its truth is one."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from orgflow.evaluation.discovery import read_truth
from orgflow.evaluation.text_metrics import steps_of
from theatre_corpus import PROCESSES, Description, list_outlines, make_theatre_corpus

from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

REGISTRY = Registry(outside=False)


def test_its_size_and_kinds() -> None:
    records, truth = make_theatre_corpus()
    assert (records, truth) == make_theatre_corpus(), "the same seed gives the same bytes"
    assert 900 <= len(records) <= 1100
    assert len(PROCESSES) >= 12
    known = read_truth(json.dumps(truth))
    cases = Counter({(known.process[id_], case) for id_, case in known.case.items()})
    assert min(Counter(process for process, _ in cases).values()) >= 5
    assert {record["channel"] for record in records} == {"email", "chat", "phone"}
    assert [r["date"] for r in records] == sorted(r["date"] for r in records)


def test_a_hard_corpus_has_neither_roles_nor_threads() -> None:
    records, _ = make_theatre_corpus(hard=True)
    assert all(record["thread"] is None for record in records)
    people = {record["sender"] for record in records} | {r["receivers"][0] for r in records}
    assert not any("(" in person for person in people)


@pytest.mark.parametrize("process", PROCESSES, ids=lambda process: process.name)
def test_a_process_is_a_sound_outline_whose_steps_are_its_acts(process: Description) -> None:
    ctx = PassContext(registry=REGISTRY)
    source = SourceFile("p.outline", list_outlines()[process.name].encode())
    model = REGISTRY.frontends["outline"].parse(source, ctx)
    assert ctx.diagnostics == []
    assert model is not None
    names = {step.id: step.name for step in steps_of(model)}
    assert names == {f"step_{letter}": act.name for letter, act in process.acts.items()}
    assert set("".join(process.ways)) == set(process.acts)
