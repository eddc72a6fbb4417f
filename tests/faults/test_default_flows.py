"""The default flow of a decision is kept in triples and Mermaid, and read back."""

from __future__ import annotations

from pathlib import Path

import pytest
from orgflow.api import compile as compile_model
from orgflow.api import read

from orgflow_ir.model import Model
from tests.support.shared_data import shared_data

BPMN = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="t">'
    '<process id="P" isExecutable="true"><startEvent id="S"/>'
    '<exclusiveGateway id="G" name="Which?" default="f3"/><task id="A" name="A"/>'
    '<task id="B" name="B"/><endEvent id="E"/><endEvent id="E2"/>'
    '<sequenceFlow id="f1" sourceRef="S" targetRef="G"/>'
    '<sequenceFlow id="f2" name="a" sourceRef="G" targetRef="A"/>'
    '<sequenceFlow id="f3" {label}sourceRef="G" targetRef="B"/>'
    '<sequenceFlow id="f4" sourceRef="A" targetRef="E"/>'
    '<sequenceFlow id="f5" sourceRef="B" targetRef="E2"/></process></definitions>'
)


def list_defaults(model: Model) -> list[tuple[str, bool]]:
    """The names of labelled and default flows, and whether each is the default."""
    flows = (flow for scope in model.scopes() for flow in scope.flows)
    return sorted((flow.name, flow.default) for flow in flows if flow.name or flow.default)


def read_back(path: Path, target: str, folder: Path) -> Model:
    """The model that is read from what a model becomes."""
    (text,) = compile_model(read(path), target).files.values()
    written = folder / f"out.{'mmd' if target == 'mermaid' else 'triples'}"
    written.write_text(text, "utf-8")
    model = read(written).model
    assert model is not None
    return model


@pytest.mark.parametrize("target", ["triples", "mermaid"])
def test_the_fault_keeps_its_default(tmp_path: Path, target: str) -> None:
    path = Path(shared_data("faults")) / "run" / "e1_default_lost.bpmn"
    assert list_defaults(read_back(path, target, tmp_path)) == [
        ("a", False), ("b", False), ("else", True),
    ]  # fmt: skip


@pytest.mark.parametrize("target", ["triples", "mermaid"])
@pytest.mark.parametrize("label", ["", "no", "otherwise", "else (rest)"])
def test_a_default_flow_is_read_back(tmp_path: Path, target: str, label: str) -> None:
    (path := tmp_path / "m.bpmn").write_text(
        BPMN.format(label=f'name="{label}" ' if label else ""), "utf-8"
    )
    wanted = "" if label == "otherwise" else label
    assert list_defaults(read_back(path, target, tmp_path)) == sorted(
        [("a", False), (wanted, True)]
    )
