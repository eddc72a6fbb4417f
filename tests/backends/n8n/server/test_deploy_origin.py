"""Which workflow a model may overwrite: the scenarios of `deploy_origins` before a stand-in."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_cases import Ran
from deploy_origins import INVOICE, ORDER, ORIGINS, did, model, refused
from n8n_stand_in import KEY, StandIn
from orgflow.backends.n8n.server.deploy.process_similarity import (
    origin_of,
    project_of,
    steps_of,
)
from orgflow.backends.n8n.server.deployment_marker import marker_of, rename_workflow
from orgflow.cli import run


@pytest.fixture
def server() -> Iterator[StandIn]:
    made = StandIn()
    yield made
    made.close()


def orgflowc(*args: str | Path, stdin: str = "") -> Ran:
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("N8N_API_KEY", KEY)
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        code = run([str(arg) for arg in args])
    out.seek(0)
    err.seek(0)
    return Ran(code, out.read(), err.read())


@pytest.fixture
def deploy(server: StandIn) -> Callable[..., Ran]:
    return lambda *args, **more: orgflowc("deploy", "--url", server.url, *args, **more)


@pytest.mark.parametrize("scenario", ORIGINS, ids=lambda scenario: scenario.__name__)
def test_origin(
    scenario: Callable[..., None], server: StandIn, deploy: Callable[..., Ran], tmp_path: Path
) -> None:
    scenario(deploy, lambda: list(server.workflows.values()), tmp_path)


def test_compiled_files(server: StandIn, deploy: Callable[..., Ran], tmp_path: Path) -> None:
    """The place of a compiled file says nothing of its model; its steps do."""
    one, other = model(tmp_path / "a/order.bpmn", ORDER), model(tmp_path / "b/order.bpmn", INVOICE)
    deploy(one)
    for source in (one, other):
        orgflowc("compile", source, "--target", "n8n", "-o", source.with_suffix(".json"))
    assert deploy(one.with_suffix(".json")).out.startswith("unchanged")
    ran = deploy(other.with_suffix(".json"))
    assert "error OF620" in ran.err
    assert "made from a/order.bpmn" in " ".join(ran.err.split())
    compiled = other.with_suffix(".json")
    assert "OF610" in deploy(compiled, "--as", "Invoice").err, "the path of its webhook stays"
    text = compiled.read_text(encoding="utf-8").replace("order-start", "invoice")
    compiled.write_text(text, encoding="utf-8")
    assert deploy(compiled, "--as", "Invoice").out.startswith("created")
    assert deploy(compiled, "--as", "Invoice").out.startswith("unchanged")
    assert sorted(row["name"] for row in server.workflows.values()) == ["Invoice", "order"]


def test_a_restored_workflow_is_adopted(
    server: StandIn, deploy: Callable[..., Ran], tmp_path: Path
) -> None:
    """A workflow that was deleted and restored by the API has another id, but its name and note."""
    file = model(tmp_path / "a/order.bpmn", ORDER)
    deploy(file)
    ((old, row),) = server.workflows.items()
    del server.workflows[old]
    server.workflows["restored"] = {**row, "id": "restored", "active": False}
    shown = deploy(file, "--dry-run")
    assert shown.out.startswith("update")
    assert "copied to this server" in shown.out
    ran = deploy(file)
    assert did(ran) == ["updated"], ran.err
    assert "N8N016" in ran.err
    assert did(deploy(file)) == ["unchanged"]
    assert [*server.workflows] == ["restored"]


def test_a_copy_with_another_name_is_called_one(
    server: StandIn, deploy: Callable[..., Ran], tmp_path: Path
) -> None:
    """A copy that somebody made in the editor is not updated when the original is gone."""
    file = model(tmp_path / "a/order.bpmn", ORDER)
    deploy(file)
    ((old, row),) = server.workflows.items()
    del server.workflows[old]
    server.workflows["copy"] = {**row, "id": "copy", "active": False, "name": "order copy"}
    ran = deploy(file)
    refused(ran, "OF608")
    said = " ".join(ran.err.split())
    assert f"(id copy) is a copy of a deployed one (its note names id {old})" in said
    shown = deploy(file, "--dry-run").out
    assert "it is a copy of a deployed workflow" in shown
    assert "no note" not in shown
    assert did(deploy(file, "--take-over")) == ["updated"]
    assert did(deploy(file)) == ["unchanged"]


def test_edited_and_of_another_process(
    server: StandIn, deploy: Callable[..., Ran], tmp_path: Path
) -> None:
    """Whoever reads of the edit alone would take over what is another process."""
    deploy(model(tmp_path / "a/order.bpmn", ORDER))
    server.edit("server0001", settings={"executionOrder": "v1", "timezone": "UTC"})
    said = deploy(model(tmp_path / "b/order.bpmn", INVOICE)).err
    assert "error OF607" in said
    assert "error OF620" in said


def test_a_name_is_for_one_workflow(deploy: Callable[..., Ran], tmp_path: Path) -> None:
    files = [model(tmp_path / f"a/{name}.bpmn", ORDER) for name in "ab"]
    assert deploy(*files, "--as", "X").code == 2
    assert deploy(files[0], "--as", " ").code == 2


def test_the_note_names_the_file_and_no_folder_above(
    server: StandIn, deploy: Callable[..., Ran], tmp_path: Path
) -> None:
    deploy(model(tmp_path / "a/order.bpmn", ORDER))
    (row,) = server.workflows.values()
    marker = marker_of(row)
    assert marker is not None
    assert marker.origin == "a/order.bpmn"
    assert str(tmp_path) not in json.dumps(server.workflows)


def test_places(tmp_path: Path) -> None:
    file = model(tmp_path / "here/models/a/order.bpmn", ORDER)
    assert origin_of(str(file)).place == "a/order.bpmn"
    (tmp_path / "here/.git").mkdir()
    origin = origin_of(str(file))
    root = tmp_path / "here"
    assert origin[:3] == (root, "models/a/order.bpmn", project_of(root))
    assert origin.repository.commit_of(origin.place) == "", "no commit has it"
    assert origin.is_there("models/a/order.bpmn")
    for place in ("", "models/a", "a/order.bpmn", "../here/models/a/order.bpmn", str(file),
                  "x" * 5000, "\0"):  # fmt: skip
        assert not origin.is_there(place), place
    assert origin_of("-").place == ""
    assert origin_of("/order.bpmn").place == "order.bpmn"


def rows(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "type": "n8n-nodes-base.noOp"} for name in names]


def test_steps() -> None:
    note = {
        "name": "Note", "type": "n8n-nodes-base.stickyNote",
        "parameters": {"content": 'orgflow-map 1 {"process":"p","nodes":{"Ship":"Task_1",'
                                  '"Pay":"Activity_1k3x9ab","Check":"check_it"}}'},
    }  # fmt: skip
    wires = {name: {"main": [[{"node": "Done"}]]} for name in ("Ship", "Pay", "Check", "Start")}
    found = steps_of({
        "nodes": [note, *rows("Ship", "Pay", "Check", "Start", "Done"),
                  {"name": "T", "type": "n8n-nodes-base.webhook"}],
        "connections": wires,
    })  # fmt: skip
    assert found.process == "p"
    assert found.elements == {"ship": "", "pay": "Activity_1k3x9ab", "check": "check_it"}
    assert steps_of({"nodes": rows("Start", "Done")}).elements == {"start": "", "done": ""}
    for odd in ({}, {"nodes": None}, {"nodes": [1]}, {"nodes": [{}], "connections": {"a": 1}}):
        steps_of(odd)


def test_a_copy_under_a_name() -> None:
    flow = {"id": "x", "name": "Old", "nodes": rows("A")}
    assert rename_workflow(flow, None) == flow
    assert rename_workflow(flow, " New ") == {"name": "New", "nodes": rows("A")}
