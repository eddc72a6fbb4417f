"""Every real file at hand is read, without a traceback, and survives the way through JSON."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from orgflow.frontends.bpmn.frontend import BpmnFrontend
from shared_data import shared_cases

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext

CORPORA = {
    "pmo/bpmn": 55,
    "miwg-reference": 21,
    "camunda7-executable": 160,
    "soundness/rust": 51,
    "soundness/gen": 77,
    "soundness/probe": 16,
    "soundness/fbpmn": 70,
}


def files(shared: Path, corpus: str) -> list[Path]:
    found = (shared / "data" / corpus).rglob("*")
    return sorted(p for p in found if p.suffix in (".bpmn", ".xml"))


def read(path: Path, diagram: bool) -> tuple[Model, list[Diagnostic]]:
    ctx = PassContext(options={"diagram": diagram})
    model = BpmnFrontend().parse(SourceFile(path.name, path.read_bytes()), ctx)
    assert model is not None, [d.message for d in ctx.diagnostics]
    return model, ctx.diagnostics


@pytest.mark.parametrize(("corpus", "least"), shared_cases(CORPORA.items()))
def test_a_corpus_is_read(shared: Path, corpus: str, least: int) -> None:
    paths = files(shared, corpus)
    assert len(paths) >= least
    codes: Counter[str] = Counter()
    nodes = flows = shapes = 0
    for path in paths:
        model, found = read(path, diagram=True)
        assert Model.from_json(model.to_json()) == model, path.name
        codes.update(d.code for d in found)
        errors = [d.message for d in found if d.severity == "error"]
        assert errors == [], path.name
        for scope in model.scopes():
            nodes += len(scope.nodes)
            flows += len(scope.flows)
        shapes += len(model.diagram.shapes) if model.diagram else 0
        text = path.read_bytes()
        if b"encoding" not in text[:200].lower() or b"utf-8" in text[:200].lower():
            count = len(re.findall(rb"<(?:[\w.-]+:)?sequenceFlow[\s/>]", text))
            drawn = sum(len(s.flows) for s in model.scopes())
            assert drawn == count, f"{path.name}: {count} flows in the file, {drawn} in the model"
    print(f"\n{corpus}: {len(paths)} files, {nodes} nodes, {flows} flows, {shapes} shapes, "
          f"findings {dict(sorted(codes.items()))}")  # fmt: skip


def test_pmo_models_have_nothing_odd(shared: Path) -> None:
    totals: Counter[str] = Counter()
    for path in files(shared, "pmo/bpmn"):
        model, found = read(path, diagram=False)
        assert found == [], path.name
        totals["processes"] += len(model.processes)
        totals["pools"] += len(model.pools)
        totals["message flows"] += len(model.message_flows)
        for scope in model.scopes():
            totals["flows"] += len(scope.flows)
            totals["lanes"] += len(scope.lanes)
            totals["labelled"] += sum(1 for f in scope.flows if f.name)
            totals.update(n.kind for n in scope.nodes)
    assert totals == {
        "processes": 59, "pools": 12, "message flows": 20, "flows": 1504, "lanes": 6,
        "labelled": 215, "task": 676, "event": 136, "gateway": 464,
    }  # fmt: skip


def test_every_span_of_a_real_file_is_its_element(shared: Path) -> None:
    for path in files(shared, "miwg-reference"):
        data = path.read_bytes()
        model, _ = read(path, diagram=False)
        seen = 0
        for scope in model.scopes():
            for element in (*scope.nodes, *scope.flows, *scope.lanes, *scope.artifacts):
                assert element.loc is not None
                assert element.loc.span is not None
                piece = data[slice(*element.loc.span)]
                assert piece.startswith(b"<"), path.name
                assert piece.endswith(b">"), path.name
                assert f'id="{element.id}"'.encode() in piece, (path.name, element.id)
                line = data[: element.loc.span[0]].count(b"\n") + 1
                assert element.loc.line == line
                seen += 1
        assert seen
