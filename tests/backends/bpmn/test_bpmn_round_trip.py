"""BPMN → IR → BPMN → IR gives the same model, and files stay valid."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from bpmn_trips import differences, read, read_file, schema_errors, written
from model_gen import Builder
from orgflow.backends.bpmn.document import write_document
from orgflow.backends.bpmn.format import BPMN
from seeds import seeds
from shared_data import shared_cases

from orgflow_ir.model import Event, Flow, Model, Process
from orgflow_ir.testing.conformance.minimal_models import minimal_models

FOLDERS = {
    "miwg-reference": 21, "camunda7-executable": 160, "soundness/fbpmn": 73, "soundness/probe": 16,
    "soundness/rust": 51, "pmo/bpmn": 55,
}  # fmt: skip
MINIMAL = dict(minimal_models())
MADE_FOR_A_TARGET = ("stub",)
"""What legalisation alone makes, for targets that run: no model says it, and BPMN needs no word."""


def files(shared: Path, folder: str) -> list[Path]:
    return sorted(p for p in (shared / "data" / folder).iterdir() if p.suffix in (".bpmn", ".xml"))


@pytest.mark.parametrize("folder", shared_cases(FOLDERS))
def test_real_files_come_back(folder: str, shared: Path) -> None:
    paths = files(shared, folder)
    assert len(paths) == FOLDERS[folder]
    wrong = {}
    for path in paths:
        model = read_file(path, diagram=True)
        text = write_document(model, model.diagram)
        again, _ = read(text, diagram=True)
        if again != model:
            wrong[path.name] = next(differences(model, again))
        elif write_document(again, again.diagram) != text:
            wrong[path.name] = "written again, the bytes differ"
        elif schema_errors(text) and not schema_errors(path.read_bytes()):
            wrong[path.name] = schema_errors(text)[0]
    assert wrong == {}


def test_pme_becomes_valid_bpmn_that_comes_back(shared: Path) -> None:
    paths = sorted((shared / "data" / "pmo" / "pme").glob("*.json"))
    assert len(paths) == 55
    for path in paths:
        model = read_file(path)
        text = written(model)
        assert schema_errors(text) == [], path.name
        again, said = read(text)
        assert list(differences(model, again)) == [], path.name
        assert said == []


@pytest.mark.slow
def test_n8n_workflows_become_valid_bpmn(shared: Path) -> None:
    paths = sorted((shared / "data" / "n8n-workflows").glob("*.json"))
    assert len(paths) == 150
    for path in paths:
        model = read_file(path)
        text = written(model)
        assert schema_errors(text) == [], path.name
        again, said = read(text)
        assert said == []
        for one, other in zip(model.scopes(), again.scopes(), strict=True):
            assert one.nodes == other.nodes, path.name
            assert one.flows == other.flows, path.name
            assert set(one.data_flows) == set(other.data_flows), path.name


@pytest.mark.parametrize("construct", [c for c in MINIMAL if c not in MADE_FOR_A_TARGET])
def test_every_construct_is_valid_and_comes_back(construct: str) -> None:
    model = MINIMAL[construct]
    text = written(model)
    assert schema_errors(text) == []
    again, said = read(text)
    if construct == "lane":  # a set of lanes gets a name
        lanes = [lane.replace(lane_set=None) for lane in again.processes[0].lanes]
        again = again.replace(processes=(again.processes[0].replace(lanes=tuple(lanes)),))
    assert list(differences(model, again)) == []
    assert said == []


@pytest.mark.parametrize("seed", seeds(20))
def test_random_models_come_back(seed: int) -> None:
    builder = Builder(random.Random(seed))
    builder.block(40)
    nodes = (Event(id="start", position="start"), *builder.nodes)
    flows = (*builder.flows, Flow(id="begin", source="start", target=builder.nodes[0].id))
    model = Model(id="M", processes=(Process(id="P", nodes=nodes, flows=flows),))
    text = written(model)
    assert schema_errors(text) == []
    assert list(differences(model, read(text)[0])) == []


def test_written_twice_the_bytes_are_the_same(shared: Path) -> None:
    path = shared / "data" / "pmo" / "pme" / "24.json"
    assert written(read_file(path)) == written(read_file(path))


def test_a_broken_writer_would_be_seen(shared: Path) -> None:
    path = shared / "data" / "miwg-reference" / "C.6.0.bpmn"
    model = read_file(path)
    text = write_document(model, None).replace('triggeredByEvent="true"', "", 1)
    assert list(differences(model, read(text)[0])) != []
    assert schema_errors(write_document(model, None).replace("sequenceFlow", "arrow")) != []


_SHOWN_BY_THE_ROOT = {
    "camunda8": (
        'xmlns:m="http://camunda.org/schema/modeler/1.0" m:executionPlatform="Camunda Cloud"'
    ),
    "jbpm": 'exporter="jBPM Process Modeler"',
    "flowable": 'xmlns:flowable="http://flowable.org/bpmn"',
    "camunda7": (
        'xmlns:activiti="http://activiti.org/bpmn" xmlns:c="http://camunda.org/schema/1.0/bpmn"'
    ),
}


def _of_engine(root: str, process: str = "", inside: str = "") -> str:
    return (
        f'<definitions xmlns="{BPMN}" {root} targetNamespace="t">'
        f'<process id="p" {process}>{inside}<startEvent id="s"/></process></definitions>'
    )


@pytest.mark.parametrize("engine", _SHOWN_BY_THE_ROOT)
def test_the_engine_that_only_the_root_shows_comes_back(engine: str) -> None:
    model, _ = read(_of_engine(_SHOWN_BY_THE_ROOT[engine]))
    (process,) = model.processes
    assert process.dialect is not None
    assert process.dialect.engine == engine
    same = write_document(model, None)
    assert "dialect" not in same  # the root comes back, and shows it
    assert read(same)[0] == model
    for extra in (
        (),
        (("@{http://www.w3.org/2000/xmlns/}zeebe", "http://camunda.org/schema/zeebe/1.0"),),
    ):
        bare = model.replace(extra=extra)  # what a model of another source has
        text = write_document(bare, None)
        again, said = read(text)
        assert said == []
        assert again.processes == model.processes, text
        assert schema_errors(text) == []


def test_processes_of_several_engines_come_back() -> None:
    """As `compile DIR` and `discover` put them into one model."""
    uses = 'xmlns:camunda="http://camunda.org/schema/1.0/bpmn" camunda:versionTag="2"'
    model, _ = read(_of_engine("", uses))
    (one,) = model.processes
    other, _ = read(_of_engine(_SHOWN_BY_THE_ROOT["jbpm"]))
    plain, _ = read(_of_engine(""))
    assert one.dialect is not None
    assert plain.processes[0].dialect is None
    both = (one, other.processes[0].replace(id="q"), plain.processes[0].replace(id="r"))
    text = write_document(model.replace(processes=both), None)
    engines = [p.dialect and p.dialect.engine for p in read(text)[0].processes]
    assert engines == ["camunda7", "jbpm", None]
    assert text.count("orgflow:dialect=") == 2


@pytest.mark.parametrize("engine", ["camunda7", "camunda8"])
def test_how_an_engine_calls_processes_comes_back_without_its_extensions(engine: str) -> None:
    call = '<callActivity id="c" calledElement="q"/>'
    model, _ = read(_of_engine(_SHOWN_BY_THE_ROOT[engine], "", call))
    bare = model.replace(extra=())
    assert read(write_document(bare, None))[0].processes == model.processes


def test_kept_xml_that_names_an_engine_in_its_text_does_not_change_the_engine() -> None:
    inside = (
        '<extensionElements><note xmlns="urn:x">see http://flowable.org/bpmn</note>'
        "</extensionElements>"
    )
    model, _ = read(_of_engine(_SHOWN_BY_THE_ROOT["camunda8"], "", inside))
    bare = model.replace(extra=())
    assert read(write_document(bare, None))[0].processes == model.processes


def test_an_engine_that_does_not_exist_is_reported() -> None:
    _, said = read(_of_engine('xmlns:orgflow="urn:orgflow"', 'orgflow:dialect="camunda9"'))
    (finding,) = said
    assert "`orgflow:dialect` is `camunda9`" in str(finding)
